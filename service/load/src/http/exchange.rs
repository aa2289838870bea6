//! A connection's requests and answers, as HTTP/1.1 has them.

use super::answer::{Answer, Progress as Read};
use super::mix::Mix;
use crate::failure::Failure;
use crate::socket::{Dialogue, End, Progress, Protocol, Scratch};

/// What a connection knows of its answer.
#[derive(Debug, Default)]
pub struct Exchange {
    answer: Answer,
    is_head: IsHead,
}

/// Whether a request is one to which the answer has no body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IsHead(bool);

impl Protocol for Mix {
    type Dialogue = Exchange;

    fn greet(&self, _out: &mut Vec<u8>) -> Exchange {
        Exchange::default()
    }

    fn request<'a>(&'a self, number: u64, random: &mut fastrand::Rng, scratch: &'a mut Scratch) -> (&'a [u8], IsHead) {
        let prepared = self.next(random);
        let bytes = match prepared.fixed() {
            Some(bytes) => bytes,
            None => {
                let Scratch { request, part } = scratch;
                request.clear();
                prepared.fill(number, random, part, request);
                request
            }
        };
        (bytes, IsHead(prepared.is_head))
    }
}

impl Dialogue for Exchange {
    type Kind = IsHead;

    fn is_open(&self) -> bool {
        true
    }

    fn expect(&mut self, is_head: IsHead, _out: &mut Vec<u8>) -> Result<(), Failure> {
        self.is_head = is_head;
        Ok(())
    }

    fn feed(&mut self, bytes: &[u8], _reply: &mut Vec<u8>) -> Result<Progress, Failure> {
        match self.answer.feed(bytes, self.is_head.0) {
            Ok(Read::More) => Ok(Progress::More),
            Ok(Read::Done { status, keeps_alive, .. }) => Ok(Progress::Done(end(status, keeps_alive))),
            Err(_) => Err(Failure::Malformed),
        }
    }

    /// What a server says to nobody is lost: it has had enough of the connection.
    fn feed_idle(&mut self, _bytes: &[u8], _reply: &mut Vec<u8>) -> bool {
        false
    }

    fn close(&mut self) -> Result<End, Failure> {
        match self.answer.close() {
            Some(Read::Done { status, .. }) => Ok(end(status, false)),
            _ => Err(Failure::Closed),
        }
    }
}

fn end(status: u16, keeps_alive: bool) -> End {
    End { status: Some(status), failure: (status >= 400).then_some(Failure::Status(status)), keeps_alive }
}
