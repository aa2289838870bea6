//! The agent: sends what programs of a host count to a service, while they run.
//!
//! ```text
//! folders ──▶ [`Tail`]: reading ── earlier reading ──▶ frame ──[`Client`]──▶ service
//!                 │                    ▲                              │
//!                 │                    └──── acknowledged ◀───────────┘
//!                 └── what has changed in the file ──▶ frames of many recordings, together
//! ```
//!
//! A program's file is opened for reading only, as `top` does. A frame is what has come since the last reading whose frame the
//! service has acknowledged: one that is lost, or whose answer is, is sent again with what has come since. So nothing is lost,
//! and nothing counts twice; what cannot be sent in time makes slices longer.

mod access;
mod agent;
mod client;
mod crew;
mod error;
mod heap;
mod load_worker;
mod memory;
mod names;
mod tail;
mod telling;

pub use access::{Access, Renewal};
pub use agent::{Agent, Options};
pub use client::Client;
pub use crew::Crew;
pub use error::Error;
pub use load_worker::LoadWorker;
pub use tail::recordings;
