//! Load: drives a server by a schedule, and tells what became of it.
//!
//! ```text
//! [`Rates`] ─▶ [`Plan`]: steps ─▶ phases ─▶ threads: a [`Driver`] each ─▶ [`Tally`] ─▶ [`Document`] ─▶ table, CSV, JSON
//!                                              │  http, http2, postgres, redis, commands  ▲
//!                                              ▼                                     sums │
//!                              server ──▶ its recording ─[`profile`]─▶ cost of functions by step
//! ```
//!
//! [`run`] drives on threads of this process, [`run_on`] on whatever a [`Fleet`] is: [`crew`] has load from several machines.
//!
//! The loop is open: a request has a planned time that does not depend on answers, and its latency counts from there. So a server
//! that stalls is seen as its users would see it, not as a driver that waits for it does. What is not sent, is counted.
//!
//! Nothing here reads the environment or writes to a terminal.

mod commands;
pub mod crew;
mod database_url;
mod document;
mod error;
mod failure;
mod file;
mod fleet;
mod histogram;
pub mod http;
pub mod http2;
mod job;
mod limit;
mod load;
mod pace;
mod percent;
mod phase;
pub mod postgres;
pub mod profile;
pub mod redis;
mod run;
mod server;
#[cfg(test)]
mod simulated;
pub mod socket;
mod tally;
mod template;
mod threads;
mod timeline;
mod url;
pub mod view;
mod weighted;
mod workers;

pub use commands::Commands;
pub use document::{Document, SCHEMA, Target};
pub use error::Error;
pub use failure::{Code, Failure, NotSent};
pub use file::File;
pub use fleet::{Counts, Driven, Fleet, Going, Lost, Share, Stretch};
pub use histogram::Histogram;
pub use job::Job;
pub use limit::Limit;
pub use load::{Load, rate};
pub use pace::{Pace, Rates};
pub use phase::{Driver, EVERY, Part, Patience, Phase, Shared};
pub use run::{Observer, Plan, Step, run, run_on};
pub use server::{Ready, Server, Spoken};
pub use tally::{Sent, Tally};
pub use threads::{Threads, drive};
pub use timeline::{Slice, Timeline};
pub use url::Url;
pub use workers::{Missing, Worker, WorkerLoad};
