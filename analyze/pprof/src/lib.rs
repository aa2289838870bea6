//! Sampled profiles of others, in pprof's format: read, added up, shown by function and by stack.
//!
//! ```text
//! *.pb.gz ──[read]──▶ [`proto::Profile`] ──[`Profile::add`]──▶ [`Profile`] ──▶ functions, stacks, tags, one *.pb.gz
//! ```
//!
//! Their values are estimates by sampling, or what a runtime has counted; never exact counts of calls. So nothing here meets
//! recordings.

mod error;
mod folded;
mod functions;
#[cfg(test)]
mod fuzz;
mod profile;
pub mod proto;
mod read;
mod strings;
mod tags;
#[cfg(test)]
mod testing;
mod write;

pub use error::Error;
pub use folded::{folded, of_folded};
pub use functions::{Function, Rows, functions};
pub use profile::{Profile, SampleType};
pub use read::{read, unpack};
pub use tags::{Tag, Value, tags};
pub use write::{messages, pack, with_time};
