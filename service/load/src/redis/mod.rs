//! Redis' protocol (RESP, version 2): who logs in, what is sent, and where answers end.
//!
//! ```text
//! redis://… ─[address]─▶ [`Login`] ──────────────┐
//! commands ─[words]─▶ [`Commands`] ─[message]────┴▶ [`Redis`] ─[talk]─▶ bytes, cut into [replies]
//!                                                      └[check]─▶ what is wrong with the login
//! ```
//!
//! The protocol is written by hand: crates for it keep what comes, or bring connections of their own, and load only has to know where an
//! answer ends.

mod address;
mod check;
mod commands;
mod error_word;
mod login;
mod message;
mod replies;
mod talk;
mod words;

pub use address::Address;
pub use commands::Commands;
pub use error_word::ErrorWord;
pub use login::Login;
pub use talk::{Redis, Talk};
