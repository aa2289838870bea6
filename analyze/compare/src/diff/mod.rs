//! The command `diff`: what changed between two sets of runs, function by function, and why.
//!
//! ```text
//! all runs' windows ──[pool]──▶ what the hooks cost
//! run's profiles ──[observed]──▶ functions, edges, paths ──[identity]──▶ [sides]: each with the values of every run
//!     ──[tester]──▶ D, T, p ──[decision]──▶ verdicts ──[moved]──▶ what only moved ──[causes]──▶ calls, code or
//!     what else ──[neighbours]──▶ whose doing ──[explained]──▶ how much of the whole that is ──▶ [`Comparison`]
//! ```
//!
//! A comparison is plain data; [`report`] writes it as text, JSON, CSV, a folder of tables, and a page. Self times are
//! tested, so that the callers of what changed are not called changed as well; a function that is called more often only
//! because its callers are follows them. Between builds, a function whose machine code is the same has not changed: its
//! cost has, for a reason that lies elsewhere.

mod candidates;
mod causes;
mod command;
mod compare;
mod comparison;
mod confirm;
mod decision;
mod error;
mod explained;
mod flames;
mod history;
mod loaded;
mod moved;
mod neighbours;
mod options;
mod overlay;
mod pays;
mod pool;
pub mod report;
mod sides;
mod strata;
mod tester;
mod values;

pub use command::{history_folder, run};
pub use compare::compare;
pub use comparison::{
    Cause, CauseKind, Comparison, Confirmation, CountVerdict, Counts, Edge, Explained, Function, Interval, Metric,
    Moved, On, Overhead, Percentile, Query, Relation, Repeat, Side, Split, Test, Total, Verdict, Why,
};
pub use confirm::{confirm, to_confirm};
pub use error::Error;
pub use history::{History, is_name as is_history_name};
pub use options::{Command, FailOn, How, Options, Set};
pub use overlay::{Course, Overlay};
pub use pays::{SoFar, pays, pays_of};
pub use values::test_values;
