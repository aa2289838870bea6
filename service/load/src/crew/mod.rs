//! Load from several machines: workers that a service tells what to send, and when.
//!
//! ```text
//! `load --workers` ── [`Job`](crate::Job), [`Go`] ──▶ service: [`Board`] ── [`Order`] ──▶ workers, a [`Post`] each
//!        ▲                                              │   ▲                           │
//!        └────────── sums of all: [`Seen`] ─────────────┘   └── [`Frame`] each 250 ms ──┘ by a [`Clock`] of the service's
//! ```
//!
//! A worker is a range of the run's threads: these share the rate as threads of one machine do, so that what all workers plan together is
//! what one machine would, request by request. Here is no network, and time is told by who asks.

mod board;
mod clock;
mod frames;
mod lost;
mod messages;
mod post;

pub use board::{Board, SILENCE};
pub use clock::Clock;
pub use frames::{Frames, Told};
pub use lost::settle;
pub use messages::{
    Ask, Begun, Frame, Go, Heard, Look, Member, Named, Order, PartSeen, PhaseSeen, Refusal, Seen, Shown, Stage, State,
    Submitted, Task,
};
pub use post::{Post, posts};
