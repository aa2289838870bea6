//! diytrace's recorder: `LD_PRELOAD=libdiytrace.so` on a program compiled with `-finstrument-functions`.
//!
//! It lives in someone else's process. It may not crash or block it, change its output, its signals, its `errno`, its
//! descriptors or its children, allocate in its hooks, or unwind into it. When it must give up, it stops recording and
//! counts what it missed.
//!
//! # The way of a call
//!
//! ```text
//! arch (naked hook) ──▶ hooks (hot path), distribution ──▶ the mapped file
//!                         │ rarely
//!                         ▼
//!                    slow_path ──▶ path (new call path) ──▶ arena (room in the file) ──▶ family (the file)
//!                         │        └▶ modules, roots, symbols, image, maps (whose code is it? is it a root?)
//!                         ├▶ thread_registry, thread, fork (first call of a thread or a forked child)
//!                         └▶ stale_frames, stack, code (did `longjmp` leave calls open?)
//! ```
//!
//! In a `trial` of what timing costs, `ring` notes calls instead, and `replay` counts them when it is over.
//!
//! `switches` tells whether the thread was switched out, and `off_cpu` then asks for how long.
//!
//! A call's node is looked for in `path_cache`, then among its parent's first `children` (a `line` of them), then in an index.
//!
//! A `frame` is an open call, a `table` an index of what an arena holds, and `busy` what protects a thread's state from its own
//! signal handlers, word by word (`field`). `lifecycle` is called when the library is loaded and when threads and processes end,
//! `seccomp` before a program restricts its system calls; `creation` makes a family, and `cost` measures the hooks; `sys`,
//! `memory`, `clock` and `settings` are what it stands on.

#![cfg_attr(not(test), no_std)] // the test harness, which lints ask for, brings `std`
#![allow(clippy::missing_safety_doc)] // the hooks' one demand is the compiler's calling convention
#![allow(missing_docs)]

extern crate alloc;

mod arch;
mod arena;
mod busy;
mod children;
mod clock;
mod code;
mod cost;
mod counted;
mod creation;
mod distribution;
mod empty;
mod family;
mod field;
mod filter;
mod fixed;
mod fork;
mod frame;
mod hooks;
mod image;
mod known;
mod lifecycle;
mod line;
mod mapped_file;
mod maps;
mod memory;
mod mode;
mod modules;
mod noting;
mod off_cpu;
mod path;
mod path_cache;
mod processor;
mod reading;
mod replay;
mod reset;
mod ring;
mod roots;
mod seccomp;
mod separate;
mod settings;
mod slow_path;
mod stack;
mod stale_frames;
mod switches;
mod symbols;
mod sys;
mod table;
mod thread;
mod thread_registry;
mod timeline;
mod trial;

// Where another crate of the workspace asks for libc's `std` feature, the crate leaves this to `std`.
#[link(name = "c")]
unsafe extern "C" {}

/// A panic in what parses other people's bytes leaves that work undone. One anywhere else is our own mistake, and the
/// program's thread cannot go on: it stops here rather than to run on with a broken stack.
#[cfg_attr(not(test), panic_handler)]
#[cfg_attr(test, expect(dead_code))]
fn panic(_: &core::panic::PanicInfo) -> ! {
    memory::give_up();
    loop {
        sys::yield_now();
    }
}
