//! What is sent: requests of several kinds, each on a stream of its own.

use super::exchange::{Asked, Exchange};
use super::request::Prepared;
use crate::Error;
use crate::http::{Request, Requests};
use crate::socket::{Protocol, Scratch};
use crate::weighted::Weighted;

/// Kinds of requests.
#[derive(Clone, Debug)]
pub struct Streams {
    all: Weighted<Prepared>,
}

impl Streams {
    /// One kind, for a server that is called `host`.
    pub fn one(request: &Request, host: &str, is_secure: bool) -> Result<Self, Error> {
        Ok(Self { all: Weighted::one(Prepared::of(request, host, is_secure)?) })
    }

    /// Those of a file, all with these headers.
    pub fn of(requests: &Requests, headers: &[String], host: &str, is_secure: bool) -> Result<Self, Error> {
        Ok(Self { all: requests.kinds(headers, |request| Prepared::of(request, host, is_secure))? })
    }
}

impl Protocol for Streams {
    type Dialogue = Exchange;

    fn greet(&self, out: &mut Vec<u8>) -> Exchange {
        Exchange::begin(out)
    }

    /// Which bytes it is, depends on the connection that it goes over.
    fn request<'a>(
        &'a self,
        number: u64,
        random: &mut fastrand::Rng,
        _scratch: &'a mut Scratch,
    ) -> (&'a [u8], Option<Asked>) {
        (&[], self.all.next(random).asked(number, random))
    }
}
