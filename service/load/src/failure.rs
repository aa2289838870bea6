//! What becomes of requests that are not answered well.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::postgres::SqlState;
use crate::redis::ErrorWord;

/// Why a request has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Failure {
    /// No connection could be made.
    Connect,
    /// TLS could not be spoken, or the server's certificate is not believed.
    Tls,
    /// No answer came in time.
    Timeout,
    /// The connection was closed before the answer was complete.
    Closed,
    /// The connection was reset.
    Reset,
    /// What came is not what such a server says.
    Malformed,
    /// The system could not send or read.
    System,
    /// The server says that it cannot: a status of 400 or more.
    Status(u16),
    /// The database says that it cannot.
    Said(Code),
    /// The database did not let us in.
    Login(Code),
    /// A command ended with this status; a signal counts as 128 and its number, as in shells.
    Exit(i32),
}

impl Failure {
    /// Whether the server cannot have seen the request: there was no connection to send it on.
    pub fn is_unseen(self) -> bool {
        matches!(self, Self::Connect | Self::Tls | Self::Login(_))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect => f.write_str("connect"),
            Self::Tls => f.write_str("tls"),
            Self::Timeout => f.write_str("timeout"),
            Self::Closed => f.write_str("closed"),
            Self::Reset => f.write_str("reset"),
            Self::Malformed => f.write_str("malformed"),
            Self::System => f.write_str("system"),
            Self::Status(status) => write!(f, "status {status}"),
            Self::Said(code) => code.fmt(f),
            Self::Login(code) => write!(f, "login: {code}"),
            Self::Exit(status) => write!(f, "exit {status}"),
        }
    }
}

/// What a database calls an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Code {
    /// PostgreSQL's code.
    SqlState(SqlState),
    /// The first word of redis' error.
    Redis(ErrorWord),
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SqlState(code) => write!(f, "SQLSTATE {code}"),
            Self::Redis(word) => write!(f, "error {word}"),
        }
    }
}

/// Why a planned request was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum NotSent {
    /// No connection was free before it would have been too late.
    NoFreeConnection,
    /// It still waited for one when the step ended.
    AtEnd,
    /// The worker whose it was has died, or was not heard of any more.
    WorkerLost,
}

impl fmt::Display for NotSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoFreeConnection => "no free connection",
            Self::AtEnd => "at end",
            Self::WorkerLost => "worker lost",
        })
    }
}
