//! The command `history`: functions over builds, commits or time, and where they changed.
//!
//! ```text
//! parts of a store's selection ──[build]──▶ each function's values ──[steps]──▶ changes that stayed ──▶ [`Document`]
//! ```

mod build;
mod coarse;
mod document;
mod found;
mod part;
mod points;
mod significance;
mod steps;
pub mod view;

pub use build::{Options, history};
pub use coarse::Coarse;
pub use document::{Course, Document, Measure, Point};
pub use found::Found;
pub use part::Part;
pub use points::numbers;
pub use significance::keep_significant;
pub use steps::{LEVEL, Sample, Step, smallest_p, steps};
pub use view::moment_of;
