//! HTTP/2: over TLS where the server agrees to it (ALPN), else with prior knowledge (h2c).
//!
//! ```text
//! [`Streams`]: what is sent ─▶ [`Exchange`]: a connection's frames, by the crate h2 ◀─▶ [`Pipe`]: bytes from and for a socket
//! ```
//!
//! A connection has one request at a time, as with HTTP/1.1: a free connection means that a request is sent at its planned time, and no
//! answer waits behind another's bytes or for a share of a window. More at once are more connections.

mod check;
mod exchange;
mod pipe;
mod request;
mod streams;

pub use exchange::{Asked, Exchange};
pub use streams::Streams;
