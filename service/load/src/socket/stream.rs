//! A stream of bytes that does not block: TCP, or TLS over it.

use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};

use super::tls::{Secure, Tls};
use crate::failure::Failure;

/// A stream.
#[derive(Debug)]
pub enum Stream {
    Plain(TcpStream),
    Secure(Box<Secure>),
}

impl Stream {
    /// Begins to connect.
    pub fn connect(address: SocketAddr, tls: Option<&Tls>, registry: &Registry, token: Token) -> Result<Self, Failure> {
        let mut socket = TcpStream::connect(address).map_err(|_| Failure::Connect)?;
        let _ = socket.set_nodelay(true);
        registry.register(&mut socket, token, Interest::READABLE | Interest::WRITABLE).map_err(|_| Failure::System)?;
        match tls {
            None => Ok(Self::Plain(socket)),
            Some(tls) => Secure::new(socket, tls).map(|secure| Self::Secure(secure.into())).map_err(|_| Failure::Tls),
        }
    }

    /// Goes on with connecting; whether bytes can be sent.
    pub fn open(&mut self) -> Result<bool, Failure> {
        let socket = match self {
            Self::Plain(socket) => socket,
            Self::Secure(secure) => &mut secure.socket,
        };
        if !matches!(socket.take_error(), Ok(None)) {
            return Err(Failure::Connect);
        }
        match socket.peer_addr() {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotConnected => return Ok(false),
            Err(_) => return Err(Failure::Connect),
        }
        match self {
            Self::Plain(_) => Ok(true),
            Self::Secure(secure) => secure.greet().map_err(|_| Failure::Tls),
        }
    }

    /// Writes what was taken and could not be written yet; whether that is all.
    pub fn write_out(&mut self) -> io::Result<bool> {
        match self {
            Self::Plain(_) => Ok(true),
            Self::Secure(secure) => secure.write_out(),
        }
    }

    /// Whether a read of fewer bytes than there was room for has emptied the socket.
    pub fn is_emptied_by_a_short_read(&self) -> bool {
        matches!(self, Self::Plain(_))
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            Self::Secure(secure) => secure.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Secure(secure) => secure.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_out().map(|_| ())
    }
}
