//! What is spoken on a connection: it knows bytes, and no sockets.

use crate::failure::Failure;

/// What is sent, and how that begins.
pub trait Protocol: Send + Sync {
    /// What a connection knows of what has come.
    type Dialogue: Dialogue;

    /// Of a connection that is new; what is to be sent before there can be requests, goes to `out`.
    fn greet(&self, out: &mut Vec<u8>) -> Self::Dialogue;

    /// The bytes of request `number`, and what must be known of it to understand its answer.
    fn request<'a>(
        &'a self,
        number: u64,
        random: &mut fastrand::Rng,
        scratch: &'a mut Scratch,
    ) -> (&'a [u8], <Self::Dialogue as Dialogue>::Kind);
}

/// Room for requests that are not the same each time.
#[derive(Debug, Default)]
pub struct Scratch {
    /// A request.
    pub request: Vec<u8>,
    /// A part of it.
    pub part: Vec<u8>,
}

/// What a connection knows of what has come.
pub trait Dialogue: Send {
    /// What must be known of a request to understand its answer; or all of it, where its bytes depend on the connection.
    type Kind;

    /// Whether requests can be sent: all has been said that comes before them.
    fn is_open(&self) -> bool;

    /// A request of that kind is next; what is to be sent of it beyond its bytes, goes to `out`.
    fn expect(&mut self, kind: Self::Kind, out: &mut Vec<u8>) -> Result<(), Failure>;

    /// Takes what has come; what is to be sent in return goes to `reply`.
    fn feed(&mut self, bytes: &[u8], reply: &mut Vec<u8>) -> Result<Progress, Failure>;

    /// Takes what has come while nobody waits for an answer; whether the connection is still good. What is to be sent in return goes to
    /// `reply`.
    fn feed_idle(&mut self, bytes: &[u8], reply: &mut Vec<u8>) -> bool;

    /// The other side has closed the connection: that may be an answer's end.
    fn close(&mut self) -> Result<End, Failure>;
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// There is more to come.
    More,
    /// Requests can be sent.
    Open,
    /// An answer is complete.
    Done(End),
}

/// How an answer has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Its status, where the protocol has numbers for that.
    pub status: Option<u16>,
    /// The server says that it cannot.
    pub failure: Option<Failure>,
    /// Whether the connection can be used again.
    pub keeps_alive: bool,
}
