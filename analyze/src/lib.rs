//! The analyzer: from profiles to reports, and the command that records them.
//!
//! ```text
//!  *.diyt ──▶ [`load`] ──▶ [`merge`] ──▶ [`correct`] ──▶ [`functions`] ──▶ [`report`] ──▶ [`view`]
//!             bytes,       modules,      costs taken     recursion          names, rows,    table,
//!             checked      one tree      off, sums       counted once       selection       JSON, CSV
//!                                        that hold                             ▲
//!  programs, debug files ────────────────────────────────────────[`symbolize`]─┘
//! ```
//!
//! Each step is a function from plain data to plain data; files are read by [`load`] and [`symbolize`] only (archives: by [`archive`], for both), and
//! none is written but the latter's cache. Times are fixed-point ([`time`]) and histograms ([`histogram`]) counts, so that no result depends
//! on the order of files, threads or processes.
//!
//! [`opened`] is the way's first half, for all commands; in `left`, debug information corrects what it says of calls that an
//! exception has left. [`calltree`] ends it with call paths instead of functions, for
//! views that show who calls whom below whom: [`tree`] and [`annotate`].
//!
//! Beside that way: [`check`] tells what of a program can be recorded, and [`record`] runs it under the recorder, both
//! with what [`elf`] knows of the program's file.
//! [`export`] writes call trees for other tools, and [`archive`] profiles with what explains them elsewhere.
//! [`similar`] compares two environments by series of runs, of ours or in JSON.
//! [`runs`] are sets of profiles, one of each run, that are compared; [`mod@bench`] makes them.
//! [`ctl`] steers recorders that are running, and [`top`] shows what they count, live.
//! [`diff`] compares such sets, and [`statistics`] tells differences from chance.
//! [`export`] and [`diff`] make pages, whose common parts are in `page`.
//! [`demangle`], [`nearest`] ("did you mean"), [`progress`] and [`error`] serve both.

pub mod annotate;
pub mod archive;
pub mod bench;
pub mod calltree;
pub mod check;
pub mod correct;
pub mod ctl;
pub mod demangle;
pub mod diff;
pub mod elf;
pub mod error;
pub mod export;
pub mod functions;
pub mod histogram;
pub mod human;
mod left;
pub mod load;
pub mod merge;
pub mod module;
pub mod nearest;
mod new_file;
pub mod opened;
pub mod pack;
mod page;
pub mod process;
pub mod progress;
pub mod record;
pub mod report;
pub mod runs;
mod signals;
pub mod similar;
pub mod statistics;
pub mod subject;
pub mod symbolize;
#[cfg(test)]
mod testing;
pub mod time;
pub mod timeline;
pub mod top;
pub mod tree;
pub mod units;
pub mod view;
pub mod warnings;
