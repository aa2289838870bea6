//! A connection to a database: logged in, and one query after the other.

use std::sync::Arc;

use super::login::{Greeting, Login};
use super::messages::{Message, Messages, field};
use super::queries::Queries;
use super::sqlstate::SqlState;
use crate::failure::{Code, Failure};
use crate::socket::{Dialogue, End, Progress, Protocol, Scratch};

/// A database that is asked.
#[derive(Clone, Debug)]
pub struct Database {
    login: Arc<Login>,
    queries: Queries,
}

/// What a connection knows of what its server has said.
pub struct Talk {
    login: Arc<Login>,
    stage: Stage,
    messages: Messages,
    /// The first error of this query.
    failed: Option<SqlState>,
    /// Why the login has failed.
    pub(super) said: Option<String>,
}

enum Stage {
    LoggingIn(Greeting),
    Open,
    /// A query has left a transaction open, which is being ended.
    RollingBack,
}

impl Database {
    /// That this one logs in to, and asks these.
    pub fn new(login: Login, queries: Queries) -> Self {
        Self { login: Arc::new(login), queries }
    }
}

impl Protocol for Database {
    type Dialogue = Talk;

    fn greet(&self, out: &mut Vec<u8>) -> Talk {
        // Names without zero bytes, as addresses have them, go into messages.
        let begun = self.login.begin(out);
        let said = begun.err().map(|error| error.to_string());
        let stage = Stage::LoggingIn(Greeting::default());
        Talk { login: self.login.clone(), stage, messages: Messages::default(), failed: None, said }
    }

    fn request<'a>(&'a self, number: u64, random: &mut fastrand::Rng, scratch: &'a mut Scratch) -> (&'a [u8], ()) {
        (self.queries.next(number, random, &mut scratch.request), ())
    }
}

impl Talk {
    /// What is said last.
    pub(super) fn farewell() -> [u8; 5] {
        *b"X\0\0\0\x04"
    }

    fn greeted(&mut self, message: &Message, reply: &mut Vec<u8>) -> Result<Progress, Failure> {
        let Stage::LoggingIn(greeting) = &mut self.stage else { return Err(Failure::Malformed) };
        match message {
            Message::Authentication(whole) => match greeting.answer(&self.login, whole, reply) {
                Ok(()) => Ok(Progress::More),
                Err(why) => {
                    self.said = Some(why);
                    Err(Failure::Malformed)
                }
            },
            Message::Error(fields) => {
                let text = field(fields, b'M').unwrap_or(b"it says no");
                self.said = Some(String::from_utf8_lossy(text).replace(char::is_control, " "));
                Err(Failure::Login(Code::SqlState(code(fields))))
            }
            Message::Ready { .. } => {
                self.stage = Stage::Open;
                Ok(Progress::Open)
            }
            Message::Told => Ok(Progress::More),
            _ => Err(Failure::Malformed),
        }
    }

    fn answered(&mut self, message: &Message, reply: &mut Vec<u8>) -> Result<Progress, Failure> {
        match message {
            Message::Error(fields) => _ = self.failed.get_or_insert(code(fields)),
            // Nobody has rows for it. (This is an error of the query, which the server will say.)
            Message::CopyIn => Queries::write(b'f', b"load has no rows", reply),
            Message::Ready { is_in_transaction: true } if matches!(self.stage, Stage::Open) => {
                // The next query is one of its own, and must not find a transaction that has failed.
                self.stage = Stage::RollingBack;
                Queries::write(b'Q', b"ROLLBACK", reply);
            }
            Message::Ready { is_in_transaction } => {
                self.stage = Stage::Open;
                let failure = self.failed.take().map(said);
                return Ok(Progress::Done(End { status: None, failure, keeps_alive: !is_in_transaction }));
            }
            Message::Told | Message::OfAnswer => {}
            Message::Authentication(_) => return Err(Failure::Malformed),
        }
        Ok(Progress::More)
    }
}

fn said(code: SqlState) -> Failure {
    Failure::Said(Code::SqlState(code))
}

fn code(fields: &[u8]) -> SqlState {
    field(fields, b'C').and_then(SqlState::parse).unwrap_or(SqlState::UNKNOWN)
}

impl Dialogue for Talk {
    type Kind = ();

    fn is_open(&self) -> bool {
        !matches!(self.stage, Stage::LoggingIn(_))
    }

    fn expect(&mut self, (): (), _out: &mut Vec<u8>) -> Result<(), Failure> {
        self.failed = None;
        Ok(())
    }

    fn feed(&mut self, mut bytes: &[u8], reply: &mut Vec<u8>) -> Result<Progress, Failure> {
        while let Some(message) = self.messages.next(&mut bytes)? {
            let progress = match self.is_open() {
                true => self.answered(&message, reply)?,
                false => self.greeted(&message, reply)?,
            };
            match progress {
                Progress::More => {}
                Progress::Open if self.feed_idle(bytes, reply) => return Ok(Progress::Open),
                Progress::Open => return Err(Failure::Closed),
                Progress::Done(end) => {
                    let keeps_alive = self.feed_idle(bytes, reply) && end.keeps_alive;
                    return Ok(Progress::Done(End { keeps_alive, ..end }));
                }
            }
        }
        Ok(Progress::More)
    }

    /// Servers tell of settings and notices at any time; an error is that they are about to end.
    fn feed_idle(&mut self, mut bytes: &[u8], _reply: &mut Vec<u8>) -> bool {
        loop {
            match self.messages.next(&mut bytes) {
                Ok(None) => return true,
                Ok(Some(Message::Told)) => {}
                _ => return false,
            }
        }
    }

    fn close(&mut self) -> Result<End, Failure> {
        Err(self.failed.take().map_or(Failure::Closed, said))
    }
}
