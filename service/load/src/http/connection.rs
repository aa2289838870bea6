//! A connection: one request at a time.

use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};

use super::answer::{Answer, Malformed, Progress};
use crate::failure::Failure;
use crate::tally::Sent;

/// A connection, open or not.
#[derive(Debug, Default)]
pub struct Connection {
    stream: Option<TcpStream>,
    pub state: State,
    /// The request that it is busy with.
    pub sent: Sent,
    /// Whether that is one to which the answer has no body.
    pub is_head: bool,
    answer: Answer,
    /// What of the request could not be written yet.
    unwritten: Vec<u8>,
    written: usize,
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
    Answered {
        /// Its status.
        status: u16,
        /// Whether the connection can be used again.
        keeps_alive: bool,
    },
    /// The request has failed.
    Failed(Failure),
}

impl Connection {
    /// Begins to open it.
    pub fn open(&mut self, address: SocketAddr, registry: &Registry, token: Token) -> Result<(), Failure> {
        let mut stream = TcpStream::connect(address).map_err(|_| Failure::Connect)?;
        let _ = stream.set_nodelay(true);
        registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE).map_err(|_| Failure::System)?;
        (self.stream, self.state) = (Some(stream), State::Opening { has_request: false });
        (self.answer, self.written) = (Answer::default(), 0);
        self.unwritten.clear();
        Ok(())
    }

    /// Closes it.
    pub fn close(&mut self) {
        (self.stream, self.state) = (None, State::Closed);
    }

    /// Sends a request, at once or when it is open.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.written = 0;
        self.unwritten.clear();
        if let State::Opening { has_request } = &mut self.state {
            *has_request = true;
            self.unwritten.extend_from_slice(bytes);
            return Ok(());
        }
        self.state = State::Busy;
        let Some(stream) = &mut self.stream else { return Err(Failure::Closed) };
        let written = match stream.write(bytes) {
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
        let Some(stream) = &mut self.stream else { return Err(Failure::Closed) };
        while self.written < self.unwritten.len() {
            match stream.write(&self.unwritten[self.written..]) {
                Ok(written) => self.written += written,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(failure(&error)),
            }
        }
        Ok(())
    }

    /// Something has happened to it. What comes is read into `buffer`, and its length added to `bytes`.
    pub fn happen(&mut self, event: Happened, buffer: &mut [u8], bytes: &mut u64) -> Outcome {
        if let State::Opening { has_request } = self.state {
            match self.opened() {
                Ok(false) => return Outcome::Nothing,
                Ok(true) if !has_request => {
                    self.state = State::Idle;
                    return Outcome::Opened;
                }
                Ok(true) => self.state = State::Busy,
                Err(_) if !has_request => return Outcome::Left,
                Err(failure) => return Outcome::Failed(failure),
            }
        }
        match self.state {
            State::Closed | State::Opening { .. } => return Outcome::Nothing,
            // A server that closes a connection that is free has had enough of it, and what it says to nobody is lost.
            State::Idle => {
                let is_left = event.is_closed || event.is_readable && self.has_come(buffer);
                return if is_left { Outcome::Left } else { Outcome::Nothing };
            }
            State::Busy => {}
        }
        if self.written < self.unwritten.len()
            && let Err(failure) = self.write()
        {
            return Outcome::Failed(failure);
        }
        if event.is_readable || event.is_closed { self.read(event.is_closed, buffer, bytes) } else { Outcome::Nothing }
    }

    /// Whether it is open.
    fn opened(&mut self) -> Result<bool, Failure> {
        let Some(stream) = &self.stream else { return Err(Failure::Connect) };
        if !matches!(stream.take_error(), Ok(None)) {
            return Err(Failure::Connect);
        }
        match stream.peer_addr() {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotConnected => Ok(false),
            Err(_) => Err(Failure::Connect),
        }
    }

    /// Whether anything has come that nobody asked for, or the end. The event may be that of an answer's last part, which was read
    /// with the part before it.
    fn has_come(&mut self, buffer: &mut [u8]) -> bool {
        let Some(stream) = &mut self.stream else { return true };
        !matches!(stream.read(buffer), Err(error) if error.kind() == ErrorKind::WouldBlock)
    }

    fn read(&mut self, is_closed: bool, buffer: &mut [u8], bytes: &mut u64) -> Outcome {
        let Some(stream) = &mut self.stream else { return Outcome::Failed(Failure::Closed) };
        loop {
            let read = match stream.read(buffer) {
                Ok(0) => {
                    return match self.answer.close() {
                        Some(Progress::Done { status, .. }) => Outcome::Answered { status, keeps_alive: false },
                        _ => Outcome::Failed(Failure::Closed),
                    };
                }
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Outcome::Nothing,
                Err(error) => return Outcome::Failed(failure(&error)),
            };
            *bytes += read as u64;
            match self.answer.feed(&buffer[..read], self.is_head) {
                Err(Malformed) => return Outcome::Failed(Failure::Malformed),
                Ok(Progress::Done { status, keeps_alive, .. }) => {
                    // An answer to what was not sent as a whole leaves the rest of that on the way.
                    let is_whole = self.written >= self.unwritten.len();
                    return Outcome::Answered { status, keeps_alive: keeps_alive && is_whole && !is_closed };
                }
                // A short read has emptied the socket: the next event tells of what comes.
                Ok(Progress::More) if read < buffer.len() && !is_closed => return Outcome::Nothing,
                Ok(Progress::More) => {}
            }
        }
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
        ErrorKind::BrokenPipe => Failure::Closed,
        _ => Failure::System,
    }
}
