//! Profiles: read, merged, symbolized, corrected.
//!
//! ```text
//!  *.diyt ──▶ [`load`] ──▶ [`merge`] ──────────▶ [`correct`] ──▶ [`functions`] ──▶ documents, in the crates above
//!             bytes,       one tree, sums         costs taken     recursion
//!             checked      that can be added      off, sums       counted once
//!                                                 that hold          ▲
//!  programs, debug files ──▶ [`elf`] ──▶ [`symbolize`] ──────────────┘
//! ```
//!
//! Each step is a function from plain data to plain data; files are read by [`load`] and [`symbolize`] only (through [`archive`], if
//! they are in one), and none is written but the latter's cache, what
//! [`saving`] puts beside profiles, and the archives of [`pack`]. Times are fixed-point ([`time`]) and
//! histograms ([`histogram`]) counts, so that no result depends on the order of files, threads or processes.
//!
//! [`spent`] leaves one kind of time of them, on the processor or waiting. [`run`] finds what lies in a folder; [`opened`] is the way's first half, for all commands; in [`left_inline`], debug information corrects what it says of calls that an
//! exception has left. [`warnings`] are what a reader should know of it.
//!
//! Below all that: [`module`] and [`process`] (what is one), [`units`] and [`human`] (how numbers are written), [`demangle`] and
//! [`short_name`], [`nearest`] ("did you mean"), [`timeline`], [`memory`], [`new_file`], [`progress`], [`varint`], `cores`; and [`error`]
//! for those above.

pub mod archive;
mod ascending;
mod cores;
pub mod correct;
pub mod demangle;
pub mod elf;
pub mod error;
pub mod functions;
pub mod histogram;
pub mod human;
pub mod left_inline;
pub mod load;
pub mod memory;
pub mod merge;
pub mod module;
pub mod moment;
pub mod nearest;
pub mod new_file;
pub mod once;
pub mod opened;
pub mod pack;
pub mod process;
pub mod progress;
pub mod run;
pub mod saving;
pub mod short_name;
pub mod spent;
pub mod symbolize;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod time;
pub mod timeline;
pub mod units;
pub mod varint;
pub mod warnings;
