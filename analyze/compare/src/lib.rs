//! Comparisons: what differs between two sets of runs, and whether two environments are alike.
//!
//! ```text
//! folders of profiles ──▶ [`runs`] ─┬─▶ [`diff`] ◀──┬── [`statistics`]: tests, corrections, bounds
//! numbers in JSON ────────────────────▶ [`similar`] ◀──┤
//! recordings of a store, one by one ──▶ [`history`] ◀──┘
//! ```

pub mod diff;
pub mod history;
pub mod observed;
pub mod runs;
pub mod similar;
pub mod statistics;
