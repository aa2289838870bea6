//! Where a server is: a host and its port.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use super::allowed::Allowed;
use crate::Error;

/// A host, and its port if that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// As it is written.
    pub text: String,
    /// How much of that is the host.
    name: usize,
}

impl Host {
    /// `HOST`, `HOST:PORT` or `[ADDRESS]:PORT`; or what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let after_brackets = text.rfind(']').map_or(0, |at| at + 1);
        let name = text[after_brackets..].find(':').map_or(text.len(), |at| after_brackets + at);
        let is_odd = |letter: char| letter.is_whitespace() || letter.is_control();
        if name == 0 || text[..name].contains(is_odd) {
            return Err("the host is missing");
        }
        let port = text[name..].strip_prefix(':');
        if port.is_some_and(|port| !port.parse::<u16>().is_ok_and(|port| port > 0)) {
            return Err("the port is no number from 1 to 65535");
        }
        Ok(Self { text: text.to_owned(), name })
    }

    /// Its name or address, without port and brackets.
    pub fn name(&self) -> &str {
        self.text[..self.name].trim_start_matches('[').trim_end_matches(']')
    }

    /// The first of its addresses that is allowed and at which somebody answers within that time, and a connection to it; at this port,
    /// if none is written.
    pub fn connect(
        &self,
        usual_port: u16,
        patience: Duration,
        allowed: &Allowed,
    ) -> Result<(SocketAddr, TcpStream), Error> {
        let has_port = self.name < self.text.len();
        let host = if has_port { self.text.clone() } else { format!("{}:{usual_port}", self.text) };
        let (mut failed, mut is_refused) = (None, false);
        for address in host.to_socket_addrs().map_err(|source| Error::Unknown { host: host.clone(), source })? {
            if !allowed.lets(self.name(), address) {
                is_refused = true;
                continue;
            }
            match TcpStream::connect_timeout(&address, patience) {
                Ok(stream) => return Ok((address, stream)),
                Err(source) => failed = Some(source),
            }
        }
        if failed.is_none() && is_refused {
            return Err(Error::NotAllowed { host });
        }
        let source = failed.unwrap_or_else(|| std::io::ErrorKind::AddrNotAvailable.into());
        Err(Error::Away { host, source })
    }
}
