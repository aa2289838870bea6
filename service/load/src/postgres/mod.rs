//! PostgreSQL's protocol (version 3): who logs in, what is asked, and where answers end.
//!
//! ```text
//! postgres://… ─[address]─▶ [`Login`] ─┐
//! queries ─[queries]─▶ [`Queries`] ────┴▶ [`Database`] ─[talk]─▶ bytes, cut into [messages]
//!                                           └[check]─▶ what is wrong with the login
//! ```
//!
//! Queries go as simple ones: text, and all that a line has between semicolons at once, as psql sends it.

mod address;
mod check;
mod login;
mod messages;
mod queries;
mod sqlstate;
mod talk;

pub use address::Address;
pub use login::Login;
pub use queries::Queries;
pub use sqlstate::SqlState;
pub use talk::{Database, Talk};
