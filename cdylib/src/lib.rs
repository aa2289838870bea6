//! diytrace's recorder: `LD_PRELOAD=libdiytrace.so` on a program compiled with `-finstrument-functions`.
//!
//! It lives in someone else's process. It may not crash or block it, change its output, its signals, its `errno`, its
//! descriptors or its children, allocate in its hooks, or unwind into it. When it must give up, it stops recording and
//! counts what it missed.
//!
//! # The way of a call
//!
//! Each module uses those below it only.
//!
//! ```text
//! hooks (which way, by the thread's state)
//!   ├▶ hot_path (entry and exit of a call that is recorded)
//!   │     └▶ slow_path (a new call path, calls left by longjmp, signal handlers)
//!   │           └▶ call (open and close), stale_frames (what was left), path (its node) ──▶ arena ──▶ family (the file)
//!   ├▶ noting (calls that are only noted) ──▶ calibration_steps ──▶ ring ──▶ replay (counts them)
//!   └▶ dispatch ──▶ thread_registry ──▶ attach (first call of a thread, a forked child) ──▶ claim (whose arena)
//!                     └▶ creation (the family) ──▶ cost (of the hooks, by a rehearsal)
//! ```
//!
//! `interposed` has the functions of libc's that the program calls by way of us; `seccomp` comes before a program restricts its
//! system calls, `departure` before it becomes another one, `lifecycle` as the library is loaded and as threads and processes end.
//!
//! `thread` is what a thread knows: `shadow_stack`, whose `frame`s are its open calls, a `window` of calibration, the `stretch` that
//! is noted in it. `busy` protects it from the thread's own signal handlers, word by word (`field`). `states` is the list of all.
//!
//! A call's `node` is looked for in `path_cache`, then among its parent's first `children` (a `line` of them), then in an index
//! (`table`). It leads to what its `call_site` and its `function` have in common with others, or to an `extension` for what few have. Where there is no room for another, `recycle` has cold paths (`coldness`) that nobody holds (`held_nodes`) give way: a
//! `journal` moves their sums to nodes that stand for them (`stand_in`), and theirs are `free_nodes`. `distribution` and `timeline`
//! have the calls' times; `switches` tells whether the thread was switched out, and `off_cpu` then asks for how long, which `off_records` keeps. `modules`, `roots`, `filter`, `symbols`, `image` and `maps` know whose code an address is and
//! whether it is a root; `code` and `stack` what `longjmp` has left. `sys`, `memory`, `clock`, `settings` and `arch` are what all stand
//! on.

#![cfg_attr(not(test), no_std)] // the test harness, which lints ask for, brings `std`
#![allow(clippy::missing_safety_doc)] // the hooks' one demand is the compiler's calling convention
#![allow(missing_docs)]

extern crate alloc;

mod address_limit;
mod arch;
mod arena;
mod attach;
mod busy;
mod calibration;
mod calibration_schedule;
mod calibration_steps;
mod call;
mod call_site;
mod chains;
mod children;
mod claim;
mod clock;
mod code;
mod coldness;
mod cost;
mod counted;
mod creation;
mod departure;
mod dispatch;
mod distribution;
mod empty;
mod extension;
mod family;
mod field;
mod filter;
mod fixed;
mod fork;
mod frame;
mod frame_index;
mod free_nodes;
mod function;
mod held_nodes;
mod hooks;
mod hot_path;
mod image;
mod initial_stack;
mod interposed;
mod journal;
mod known;
mod lifecycle;
mod line;
mod mapped_file;
mod maps;
mod memory;
mod mode;
mod modules;
mod node;
mod noting;
mod off_cpu;
mod off_records;
mod path;
mod path_cache;
mod processor;
mod reading;
mod recycle;
mod replay;
mod reset;
mod ring;
mod roots;
mod seccomp;
mod separate;
mod settings;
mod shadow_stack;
mod slow_path;
mod spent;
mod split_functions;
mod stack;
mod stack_switch;
mod stale_frames;
mod stand_in;
mod states;
mod stretch;
mod suspended;
mod switches;
mod symbols;
mod sys;
mod table;
mod thread;
mod thread_registry;
mod timeline;
mod unwind_info;

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
