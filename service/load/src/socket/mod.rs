//! Requests over sockets: threads that drive connections, and what is spoken on these.
//!
//! ```text
//! [`Worker`]: a thread ─▶ connections ─▶ a stream each: TCP, or TLS over it
//!                              ▲
//!                              └─ a [`Protocol`]: what is said first, requests, and where answers end
//! ```

mod allowed;
mod connection;
mod host;
mod protocol;
mod stream;
mod tls;
mod trust;
mod wait;
mod worker;

pub use allowed::Allowed;
pub use host::Host;
pub use protocol::{Dialogue, End, Progress, Protocol, Scratch};
pub use tls::Tls;
pub use worker::{Target, Worker};
