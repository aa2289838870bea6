//! The server's own recording beside the load: what a request costs in each function, at each rate.
//!
//! ```text
//! folder of .diyt ─[recording]─▶ readings at both ends of a step, and in between ─[watch]─┐
//! store ─[stored]─▶ slices of a step ────────────────────────────────────────────────────┴▶ [`Seen`]: what lies between
//!        two moments, and how many requests ─[cost]─▶ a request's cost by function
//!        ─[growth]─▶ of which functions it grew with load, and why ─[sentence]─▶ one sentence
//!        ─[spikes]─▶ which functions had more time in moments that were slow
//! ```
//!
//! Times are corrected as those of `diytrace report A..B`, and what they may be off by is that of `diff` for one build.

mod cost;
mod growth;
mod recording;
mod seen;
mod sentence;
mod spikes;
mod stored;
mod watch;

pub use cost::Costs;
pub use growth::{Function, Growth, OfStep, Response, Typical};
pub use recording::Recording;
pub use seen::{Counted, Moment, Part, Seen};
pub use spikes::{Correlated, Spikes};
pub use stored::Stored;
pub use watch::Watch;

pub use growth::Why;
pub(crate) use sentence::{bend, ends, how, sentence, why};
pub(crate) use spikes::{said, spikes};
