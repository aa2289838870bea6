//! A connection's requests and answers, as HTTP/2 has them: frames are the crate h2's, and nobody ever waits.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::client::{Builder, Connection, ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};

use super::pipe::Pipe;
use crate::failure::Failure;
use crate::socket::{Dialogue, End, Progress};

/// So much of an answer may be on its way; as each connection has one, it is the same for both windows.
const WINDOW: u32 = 2 << 20;

/// A frame has at least so many bytes; the first is the server's settings.
const SHORTEST: usize = 9;

/// A request.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Its head.
    pub request: http::Request<()>,
    /// What it carries.
    pub body: Option<Bytes>,
}

/// What a connection knows of what has come.
#[derive(Debug)]
pub struct Exchange {
    pipe: Pipe,
    /// Nothing where it has ended.
    session: Option<(Connection<Pipe, Bytes>, SendRequest<Bytes>)>,
    /// Bytes that have come before it was open.
    come: usize,
    is_open: bool,
    /// A request that waits for that.
    held: Option<Asked>,
    answer: Answer,
}

/// An answer of which some may have come.
#[derive(Debug)]
enum Answer {
    /// None is waited for.
    None,
    Head {
        answer: ResponseFuture,
        sent: Option<SendStream<Bytes>>,
    },
    /// What is sent lasts as long: dropped, it would end what has found no room in the server's window yet.
    Body {
        status: u16,
        body: RecvStream,
        _sent: Option<SendStream<Bytes>>,
    },
}

impl Exchange {
    /// Of a new connection: what is said first goes to `out`.
    pub fn begin(out: &mut Vec<u8>) -> Self {
        let pipe = Pipe::default();
        let mut builder = Builder::new();
        builder.initial_window_size(WINDOW).initial_connection_window_size(WINDOW).enable_push(false);
        // Writing to memory waits for nothing.
        let session = match pin!(builder.handshake(pipe.clone())).poll(&mut context()) {
            Poll::Ready(Ok((sender, connection))) => Some((connection, sender)),
            Poll::Ready(Err(_)) | Poll::Pending => None,
        };
        let mut exchange = Self { pipe, session, come: 0, is_open: false, held: None, answer: Answer::None };
        // What is wrong with it is found out when something comes.
        let _ = exchange.go_on(out);
        exchange
    }

    fn ask(&mut self, Asked { request, body }: Asked) -> Result<(), Failure> {
        let (_, sender) = self.session.as_mut().ok_or(Failure::Closed)?;
        let (answer, sent) = sender.send_request(request, body.is_none()).map_err(|error| failure(&error))?;
        let mut sent = body.is_some().then_some(sent);
        if let (Some(sent), Some(body)) = (&mut sent, body) {
            // What the server's window does not have room for, waits until it has.
            sent.send_data(body, true).map_err(|error| failure(&error))?;
        }
        self.answer = Answer::Head { answer, sent };
        Ok(())
    }

    /// Lets frames come and go, as far as that goes; the status of an answer that is complete now.
    fn go_on(&mut self, out: &mut Vec<u8>) -> Result<Option<u16>, Failure> {
        loop {
            let ended = self.drive(out);
            match self.answer.advance() {
                Ok(Advance::Waits) => return ended.map(|()| None),
                Ok(Advance::Moved) => {}
                Ok(Advance::Done(status)) => {
                    self.answer = Answer::None;
                    // Windows are opened again, and whether the connection has ended is no matter of this answer's.
                    let _ = self.drive(out);
                    return Ok(Some(status));
                }
                // Why the connection ended says more than that it did.
                Err(why) => return Err(ended.err().unwrap_or(why)),
            }
        }
    }

    fn drive(&mut self, out: &mut Vec<u8>) -> Result<(), Failure> {
        let Some((connection, _)) = &mut self.session else { return Ok(()) };
        let polled = Pin::new(connection).poll(&mut context());
        self.pipe.give(out);
        match polled {
            Poll::Pending => Ok(()),
            Poll::Ready(ended) => {
                self.session = None;
                ended.map_err(|error| failure(&error))
            }
        }
    }

    /// Whether another request can go over it: the server has not said that it goes.
    fn can_go_on(&mut self) -> bool {
        let Some((_, sender)) = &mut self.session else { return false };
        matches!(sender.poll_ready(&mut context()), Poll::Ready(Ok(())))
    }
}

enum Advance {
    /// For something to come.
    Waits,
    /// There may be more.
    Moved,
    /// With this status.
    Done(u16),
}

impl Answer {
    fn advance(&mut self) -> Result<Advance, Failure> {
        let context = &mut context();
        match self {
            Self::None => Ok(Advance::Waits),
            Self::Head { answer, sent } => match Pin::new(answer).poll(context) {
                Poll::Pending => Ok(Advance::Waits),
                Poll::Ready(head) => {
                    let (head, body) = head.map_err(|error| failure(&error))?.into_parts();
                    *self = Self::Body { status: head.status.as_u16(), body, _sent: sent.take() };
                    Ok(Advance::Moved)
                }
            },
            Self::Body { status, body, .. } => match body.poll_data(context) {
                Poll::Pending => Ok(Advance::Waits),
                Poll::Ready(Some(data)) => {
                    let length = data.map_err(|error| failure(&error))?.len();
                    body.flow_control().release_capacity(length).map_err(|error| failure(&error))?;
                    Ok(Advance::Moved)
                }
                Poll::Ready(None) => match body.poll_trailers(context) {
                    Poll::Pending => Ok(Advance::Waits),
                    Poll::Ready(trailers) => trailers.map(|_| Advance::Done(*status)).map_err(|error| failure(&error)),
                },
            },
        }
    }
}

impl Dialogue for Exchange {
    type Kind = Option<Asked>;

    fn is_open(&self) -> bool {
        self.is_open
    }

    fn expect(&mut self, asked: Option<Asked>, out: &mut Vec<u8>) -> Result<(), Failure> {
        let asked = asked.ok_or(Failure::System)?;
        if !self.is_open {
            self.held = Some(asked);
            return Ok(());
        }
        self.ask(asked)?;
        self.drive(out)
    }

    fn feed(&mut self, bytes: &[u8], reply: &mut Vec<u8>) -> Result<Progress, Failure> {
        self.pipe.take(bytes);
        if let Some(status) = self.go_on(reply)? {
            let failure = (status >= 400).then_some(Failure::Status(status));
            return Ok(Progress::Done(End { status: Some(status), failure, keeps_alive: self.can_go_on() }));
        }
        self.come += bytes.len();
        if self.is_open || self.come < SHORTEST {
            return Ok(Progress::More);
        }
        if self.session.is_none() {
            return Err(Failure::Closed);
        }
        self.is_open = true;
        if let Some(held) = self.held.take() {
            self.ask(held)?;
            self.drive(reply)?;
        }
        Ok(Progress::Open)
    }

    fn feed_idle(&mut self, bytes: &[u8], reply: &mut Vec<u8>) -> bool {
        self.pipe.take(bytes);
        self.go_on(reply).is_ok() && self.can_go_on()
    }

    fn close(&mut self) -> Result<End, Failure> {
        self.pipe.close();
        match self.go_on(&mut Vec::new()) {
            Ok(Some(status)) => {
                let failure = (status >= 400).then_some(Failure::Status(status));
                Ok(End { status: Some(status), failure, keeps_alive: false })
            }
            Ok(None) => Err(Failure::Closed),
            Err(failure) => Err(failure),
        }
    }
}

/// Nobody is woken: whoever brings bytes asks again.
fn context() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

fn failure(error: &h2::Error) -> Failure {
    match error {
        _ if error.is_io() || error.is_go_away() && error.is_remote() => Failure::Closed,
        _ if error.is_reset() && error.is_remote() => Failure::Reset,
        _ => Failure::Malformed,
    }
}
