//! HTTP/1.1: what is sent, and what comes back.

mod answer;
mod connection;
mod mix;
mod request;
mod template;
mod wait;
mod worker;

pub use mix::Mix;
pub use request::{Body, Request};
pub use worker::{Target, Worker};
