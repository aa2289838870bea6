//! HTTP/1.1: what is sent, and what comes back; and what is to be sent in any version.

mod answer;
mod exchange;
mod mix;
mod request;
mod requests;

pub use exchange::{Exchange, IsHead};
pub use mix::Mix;
pub use request::{Body, Request};
pub use requests::Requests;
