//! A connection to redis: logged in, and one command after the other.

use super::commands::Commands;
use super::error_word::ErrorWord;
use super::login::Login;
use super::replies::{Replies, Reply};
use crate::failure::{Code, Failure};
use crate::socket::{Dialogue, End, Progress, Protocol, Scratch};

/// A server that is sent commands.
#[derive(Clone, Debug)]
pub struct Redis {
    pub(super) login: Login,
    commands: Commands,
}

/// What a connection knows of what its server has said.
#[derive(Debug)]
pub struct Talk {
    replies: Replies,
    /// So many answers to the login are still to come.
    login: u64,
}

impl Redis {
    /// That this one logs in to, and sends these.
    pub fn new(login: Login, commands: Commands) -> Self {
        Self { login, commands }
    }
}

impl Protocol for Redis {
    type Dialogue = Talk;

    fn greet(&self, out: &mut Vec<u8>) -> Talk {
        Talk { replies: Replies::default(), login: self.login.begin(out) }
    }

    fn request<'a>(&'a self, number: u64, random: &mut fastrand::Rng, scratch: &'a mut Scratch) -> (&'a [u8], ()) {
        (self.commands.next(number, random, scratch), ())
    }
}

impl Dialogue for Talk {
    type Kind = ();

    fn is_open(&self) -> bool {
        self.login == 0
    }

    fn expect(&mut self, (): (), _out: &mut Vec<u8>) -> Result<(), Failure> {
        Ok(())
    }

    fn feed(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) -> Result<Progress, Failure> {
        while let Some(reply) = self.replies.next(&mut bytes)? {
            let code = match reply {
                Reply::Good => None,
                Reply::Error(text) => Some(Code::Redis(ErrorWord::of(&text))),
            };
            if self.is_open() {
                let keeps_alive = self.feed_idle(bytes, out);
                return Ok(Progress::Done(End { status: None, failure: code.map(Failure::Said), keeps_alive }));
            }
            if let Some(code) = code {
                return Err(Failure::Login(code));
            }
            self.login -= 1;
            if self.is_open() {
                return if bytes.is_empty() { Ok(Progress::Open) } else { Err(Failure::Malformed) };
            }
        }
        Ok(Progress::More)
    }

    /// A server says nothing that nobody asked for; or it is an error, and the end.
    fn feed_idle(&mut self, bytes: &[u8], _reply: &mut Vec<u8>) -> bool {
        bytes.is_empty()
    }

    fn close(&mut self) -> Result<End, Failure> {
        Err(Failure::Closed)
    }
}
