//! What the stories in `tests/` are told with.
//!
//! ```text
//! release    the recorder and the command, built once as users have them
//! browser    Chromium, driven by scripts
//! page       a page in a file, and a story told about it
//! clickhouse a ClickHouse as a process of its own
//! compilers  gcc and clang, at -O0 and -O2
//! faults     a server with a fault, and load that is made to it
//! fixture    a program from c-fixtures/, compiled by the line at its top
//! endless    a run that goes on until it is told to stop
//! waiting    a run that does one step after the other, as it is told
//! recording  a run of it under the recorder, beside one without
//! executable programs and scripts that a test puts somewhere and runs
//! rights     what this user may do, and what is said aloud
//! readers    programs of others that read exports
//! report     what `diytrace report --format json` says of that; counts to compare
//! invariants what must hold in every report
//! service    agents and a service, and what lies between them
//! simulated  runs whose times are made up
//! hosts      hosts with networks of their own
//! eventlog   what an independent log of the same run says
//! totals     what a store has, beside the recordings
//! stepped    a program that has a handler come at every instruction of a hook
//! ```

#![allow(dead_code, unused_imports)] // every test file uses its part

pub mod browser;
pub mod clickhouse;
mod compilers;
mod endless;
mod eventlog;
mod executable;
pub mod faults;
mod fixture;
pub mod hosts;
mod invariants;
pub mod nginx;
pub mod page;
pub mod pprof;
mod readers;
mod recording;
mod release;
mod report;
mod rights;
pub mod service;
pub mod simulated;
pub mod stepped;
pub mod story;
pub mod totals;
mod waiting;

use std::path::Path;

pub use compilers::{Build, builds};
pub use endless::{Endless, wait_until};
pub use executable::{copy_program, write_script};
pub use fixture::{Program, each_build, fixture, fixture_with, line_of};
pub use readers::read;
pub use recording::{Recorded, Recording, diytrace, profiles_in, run_to_end};
pub use release::tool;
pub use report::{Callee, Document, Function, Report, Spent, assert_same_counts, parse_counts};
pub use rights::{is_root, warn};
pub use waiting::Waiting;

/// Records a program, a copy of its own in a folder, into a folder of that name there.
pub fn record_into(here: &Path, source: &str, build: Build, name: &str) -> Program {
    let mut program = fixture(source, build);
    let copy = here.join(program.path.file_name().unwrap());
    if !copy.exists() {
        copy_program(&program.path, &copy);
    }
    program.path = copy;
    let arguments: &[&str] = if source == "forks.c" { &["5", "2"] } else { &[] };
    let recorded = program.record().args(arguments).run();
    std::fs::rename(recorded.out(), here.join(name)).unwrap();
    program
}
