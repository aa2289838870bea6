//! The profile store: what many recordings counted, by labels and time.
//!
//! A selection of it is a profile like any other. Everything up to the correction is sums, so they are kept as they were merged,
//! uncorrected, and what is asked for is added up and corrected once.
//!
//! ```text
//! *.diyt ──[recording]──▶ [`Frame`]: labels, time, Merged ──▶ [`Engine`] ◀── [`Query`]: labels, range
//!                                                               │
//!                                        Loaded, Merged, symbols: what reading files gives, too
//! ```
//!
//! | words | |
//! |---|---|
//! | series | what is labelled alike: `service`, `host` and `build`, and what `--label` adds |
//! | session | one recording: a family of processes; what is told of it as a whole |
//! | frame | what a session counted in one span of time: the sums of the paths that changed |
//! | verdict | what a comparison concluded: its document, and what was compared |
//! | sampled profile | one of others, in pprof's format: a series of its own kind, never added to what recordings counted |
//! | dictionary | what the numbers of paths and places in frames stand for: one for each build of a program |

mod address;
mod among;
mod beyond;
mod blob;
mod certificates;
mod clickhouse;
mod codec;
mod dictionary;
mod engine;
mod error;
mod frame;
mod function_sums;
mod group_by;
mod id;
mod kept;
mod label;
mod moment;
mod open;
mod over;
mod parallel;
mod query;
mod quoted;
mod recording;
mod replicate;
mod residues;
mod rows;
mod sampled;
mod select;
mod several;
mod sqlite;
mod sums;
mod verdict;
mod wire;

pub use address::Address;
pub use certificates::certificates;
pub use engine::{Cell, Deleted, Engine, FrameFacts, Put, Selected, SeriesFacts, Stored, Taken, Tier};
pub use error::Error;
pub use frame::Frame;
pub use group_by::GroupBy;
pub use label::Labels;
pub use moment::Range;
pub use open::open;
pub use over::{Apart, Over, Part, over, sampled_over};
pub use query::Query;
pub use quoted::exactly;
pub use recording::{Labelled, Pushed, Sink, frame, host_name, push, session};
pub use replicate::{Replicate, replicates};
pub use sampled::{Sampled, SampledFacts, TypeTotal, beyond_bytes};
pub use select::open as open_selection;
pub use several::Several;
pub use verdict::{Compared, Verdict, VerdictFacts, VerdictKind, find_verdict, written_moment, written_range};
pub use wire::{
    CONTENT_TYPE, Incoming, Names, Outgoing, Received, Turn, apart, are_together, decode, decode_names, encode,
    encode_names, together,
};
