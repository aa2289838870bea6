//! The command `history`: functions over builds, commits or time, and where they changed.
//!
//! ```text
//! parts of a store's selection ──[build]──▶ each function's values ──[steps]──▶ changes that stayed ──▶ [`Document`]
//! ```

mod build;
mod document;
mod part;
mod points;
mod steps;
pub mod view;

pub use build::{Options, history};
pub use document::{Course, Document, Found, Measure, Point};
pub use part::Part;
