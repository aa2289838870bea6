//! Views: documents made of profiles, and how they are written.
//!
//! ```text
//! [`Opened`](diytrace_profile::opened::Opened) ─┬──────────────▶ [`report`] ──────────┬──▶ [`view`]: tables, CSV, JSON
//!                                              └─▶ [`calltree`] ─┬─▶ [`tree`]        ─┤
//!                                                                ├─▶ [`annotate`]    ─┘
//!                                                                └─▶ [`export`] ──▶ formats of other tools, and a [`page`]
//! ```
//!
//! Documents are plain data in the shape of their JSON; [`subject`] is what they all say of whose calls they tell,
//! and [`names`] how long the names in them are.

pub mod annotate;
mod builds;
pub mod calltree;
pub mod export;
pub mod names;
pub mod page;
pub mod report;
pub mod subject;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod tree;
pub mod view;
