//! A connection: one request at a time.

use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;

use mio::{Registry, Token};

use super::protocol::{Dialogue, End, Progress, Protocol};
use super::stream::Stream;
use super::tls::Tls;
use crate::failure::Failure;
use crate::tally::Sent;

/// A connection, open or not.
#[derive(Debug)]
pub struct Connection<D> {
    link: Option<Link<D>>,
    pub state: State,
    /// The request that it is busy with.
    pub sent: Sent,
    /// What could not be written yet.
    unwritten: Vec<u8>,
    written: usize,
    /// A request that waits for it to be open.
    held: Vec<u8>,
}

/// What there is of a connection that is open, or being opened.
#[derive(Debug)]
struct Link<D> {
    stream: Stream,
    dialogue: D,
    /// Whether the stream is open.
    is_through: bool,
}

/// What a connection is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// It is not open.
    #[default]
    Closed,
    /// It is being opened, for a request or ahead of one.
    Opening {
        /// Whether a request waits for it.
        has_request: bool,
    },
    /// It is open, and free.
    Idle,
    /// It waits for an answer.
    Busy,
}

/// What an event has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing yet.
    Nothing,
    /// It is open, and free.
    Opened,
    /// It was free, and is not open any more.
    Left,
    /// An answer.
    Answered(End),
    /// The request has failed.
    Failed(Failure),
}

impl<D: Dialogue> Connection<D> {
    /// That is not open.
    pub fn new() -> Self {
        let (unwritten, held) = (Vec::new(), Vec::new());
        Self { link: None, state: State::Closed, sent: Sent::default(), unwritten, written: 0, held }
    }

    /// Begins to open it.
    pub fn open<P: Protocol<Dialogue = D>>(
        &mut self,
        (address, tls): (SocketAddr, Option<&Tls>),
        protocol: &P,
        registry: &Registry,
        token: Token,
    ) -> Result<(), Failure> {
        self.unwritten.clear();
        self.written = 0;
        let stream = Stream::connect(address, tls, registry, token)?;
        let dialogue = protocol.greet(&mut self.unwritten);
        self.link = Some(Link { stream, dialogue, is_through: false });
        self.state = State::Opening { has_request: false };
        Ok(())
    }

    /// Closes it.
    pub fn close(&mut self) {
        (self.link, self.state) = (None, State::Closed);
    }

    /// Sends a request, at once or when it is open.
    pub fn send(&mut self, bytes: &[u8], kind: D::Kind) -> Result<(), Failure> {
        let Some(link) = &mut self.link else { return Err(Failure::Closed) };
        self.held.clear();
        link.dialogue.expect(kind, &mut self.held)?;
        if let State::Opening { has_request } = &mut self.state {
            *has_request = true;
            self.held.extend_from_slice(bytes);
            return Ok(());
        }
        if self.held.is_empty() {
            return self.send_now(bytes);
        }
        self.held.extend_from_slice(bytes);
        self.send_held()
    }

    fn send_held(&mut self) -> Result<(), Failure> {
        let held = std::mem::take(&mut self.held);
        let sent = self.send_now(&held);
        self.held = held;
        sent
    }

    fn send_now(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.state = State::Busy;
        if self.written < self.unwritten.len() {
            self.unwritten.extend_from_slice(bytes);
            return self.write();
        }
        self.written = 0;
        self.unwritten.clear();
        let Some(link) = &mut self.link else { return Err(Failure::Closed) };
        let written = match link.stream.write(bytes) {
            Ok(written) => written,
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            Err(error) => return Err(failure(&error)),
        };
        if written < bytes.len() {
            self.unwritten.extend_from_slice(&bytes[written..]);
            return self.write();
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), Failure> {
        let Some(link) = &mut self.link else { return Err(Failure::Closed) };
        while self.written < self.unwritten.len() {
            match link.stream.write(&self.unwritten[self.written..]) {
                Ok(written) => self.written += written,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(failure(&error)),
            }
        }
        link.stream.write_out().map(|_| ()).map_err(|error| failure(&error))
    }

    /// Something has happened to it. What comes is read into `buffer`, and its length added to `bytes`.
    pub fn happen(&mut self, event: Happened, buffer: &mut [u8], bytes: &mut u64) -> Outcome {
        if let State::Opening { has_request } = self.state {
            match self.go_on_opening(buffer) {
                Ok(false) => return Outcome::Nothing,
                Ok(true) if !has_request => {
                    self.state = State::Idle;
                    return Outcome::Opened;
                }
                Ok(true) => {
                    if let Err(failure) = self.send_held() {
                        return Outcome::Failed(failure);
                    }
                }
                Err(_) if !has_request => return Outcome::Left,
                Err(failure) => return Outcome::Failed(failure),
            }
        }
        match self.state {
            State::Closed | State::Opening { .. } => return Outcome::Nothing,
            State::Idle => {
                let is_left = event.is_closed
                    || event.is_readable && !self.is_still_good(buffer)
                    // What was said in return may not have found room yet.
                    || self.write().is_err();
                return if is_left { Outcome::Left } else { Outcome::Nothing };
            }
            State::Busy => {}
        }
        if let Err(failure) = self.write() {
            return Outcome::Failed(failure);
        }
        if event.is_readable || event.is_closed { self.read(event.is_closed, buffer, bytes) } else { Outcome::Nothing }
    }

    /// Whether requests can be sent.
    fn go_on_opening(&mut self, buffer: &mut [u8]) -> Result<bool, Failure> {
        let Some(link) = &mut self.link else { return Err(Failure::Connect) };
        if !link.is_through {
            link.is_through = link.stream.open()?;
            if !link.is_through {
                return Ok(false);
            }
        }
        if link.dialogue.is_open() {
            return Ok(true);
        }
        self.write()?;
        loop {
            let Some(link) = &mut self.link else { return Err(Failure::Connect) };
            let read = match link.stream.read(buffer) {
                Ok(0) => return Err(link.lost(&ErrorKind::UnexpectedEof.into())),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(link.lost(&error)),
            };
            let progress = link.dialogue.feed(&buffer[..read], &mut self.unwritten)?;
            self.write()?;
            if progress == Progress::Open {
                return Ok(true);
            }
        }
    }

    /// Whether it can still be used, after something has come that nobody asked for; or the event is that of an answer's last part,
    /// which was read with the part before it.
    fn is_still_good(&mut self, buffer: &mut [u8]) -> bool {
        let Some(link) = &mut self.link else { return false };
        loop {
            match link.stream.read(buffer) {
                Ok(0) => return false,
                Ok(read) if link.dialogue.feed_idle(&buffer[..read], &mut self.unwritten) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
                Ok(_) => return false,
            }
        }
    }

    fn read(&mut self, is_closed: bool, buffer: &mut [u8], bytes: &mut u64) -> Outcome {
        loop {
            let Some(link) = &mut self.link else { return Outcome::Failed(Failure::Closed) };
            let read = match link.stream.read(buffer) {
                Ok(0) => return link.dialogue.close().map_or_else(Outcome::Failed, Outcome::Answered),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Outcome::Nothing,
                Err(error) => return Outcome::Failed(link.lost(&error)),
            };
            *bytes += read as u64;
            // An answer to what was not sent as a whole leaves the rest of that on the way.
            let is_whole = self.written >= self.unwritten.len() && matches!(link.stream.write_out(), Ok(true));
            match link.dialogue.feed(&buffer[..read], &mut self.unwritten) {
                Err(failure) => return Outcome::Failed(failure),
                Ok(Progress::Done(end)) => {
                    let keeps_alive = end.keeps_alive && is_whole && !is_closed && self.write().is_ok();
                    return Outcome::Answered(End { keeps_alive, ..end });
                }
                Ok(Progress::More | Progress::Open) => {
                    let is_empty = read < buffer.len() && link.stream.is_emptied_by_a_short_read();
                    if let Err(failure) = self.write() {
                        return Outcome::Failed(failure);
                    }
                    // The next event tells of what comes.
                    if is_empty && !is_closed {
                        return Outcome::Nothing;
                    }
                }
            }
        }
    }
}

impl<D: Dialogue> Link<D> {
    /// Why there is no answer: what the server has said last, else how the connection ended.
    fn lost(&mut self, error: &io::Error) -> Failure {
        let said = self.dialogue.close().err();
        said.filter(|said| *said != Failure::Closed).unwrap_or_else(|| failure(error))
    }
}

/// What an event tells of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Happened {
    pub is_readable: bool,
    /// The other side sends no more.
    pub is_closed: bool,
}

fn failure(error: &io::Error) -> Failure {
    match error.kind() {
        ErrorKind::ConnectionReset => Failure::Reset,
        ErrorKind::BrokenPipe | ErrorKind::UnexpectedEof => Failure::Closed,
        ErrorKind::InvalidData => Failure::Tls,
        _ => Failure::System,
    }
}
