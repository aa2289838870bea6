//! Where a server is.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::str::FromStr;
use std::time::Duration;

use crate::Error;

/// An `http://` address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// Host, and port if it is written: what the header says.
    pub host: String,
    /// Path and query.
    pub path: String,
    has_port: bool,
}

impl FromStr for Url {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |why| Error::Url { text: text.to_owned(), why };
        let rest = match text.split_once("://") {
            Some(("http", rest)) => rest,
            Some(("https", _)) => return Err(wrong("there is no TLS")),
            Some(_) => return Err(wrong("it is not http")),
            None => return Err(wrong("http:// is missing")),
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let (host, path) = match rest.find(['/', '?']) {
            Some(at) if rest[at..].starts_with('?') => (&rest[..at], format!("/{}", &rest[at..])),
            Some(at) => (&rest[..at], rest[at..].to_owned()),
            None => (rest, "/".to_owned()),
        };
        if host.contains('@') {
            return Err(wrong("it has a user: give it as --header 'Authorization: …'"));
        }
        if path.contains(|letter: char| letter.is_whitespace() || letter.is_control()) {
            return Err(wrong("it has a space: write %20"));
        }
        let after_brackets = host.rfind(']').map_or(0, |at| at + 1);
        let (name, port) = match host[after_brackets..].find(':') {
            Some(at) => (&host[..after_brackets + at], Some(&host[after_brackets + at + 1..])),
            None => (host, None),
        };
        if name.is_empty() || name.contains(|letter: char| letter.is_whitespace() || letter.is_control()) {
            return Err(wrong("the host is missing"));
        }
        if port.is_some_and(|port| !port.parse::<u16>().is_ok_and(|port| port > 0)) {
            return Err(wrong("the port is no number from 1 to 65535"));
        }
        Ok(Self { host: host.to_owned(), path, has_port: port.is_some() })
    }
}

impl Url {
    /// The first of its addresses at which somebody answers within that time.
    pub fn connect(&self, patience: Duration) -> Result<SocketAddr, Error> {
        let host = if self.has_port { self.host.clone() } else { format!("{}:80", self.host) };
        let mut failed = None;
        for address in host.to_socket_addrs().map_err(|source| Error::Unknown { host: host.clone(), source })? {
            match TcpStream::connect_timeout(&address, patience) {
                Ok(_) => return Ok(address),
                Err(source) => failed = Some(source),
            }
        }
        let source = failed.unwrap_or_else(|| std::io::ErrorKind::AddrNotAvailable.into());
        Err(Error::Away { host, source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        for (text, host, path) in [
            ("http://127.0.0.1:80", "127.0.0.1:80", "/"),
            ("http://localhost/a/b?c=d#e", "localhost", "/a/b?c=d"),
            ("http://[::1]:8080?x", "[::1]:8080", "/?x"),
        ] {
            let url: Url = text.parse().unwrap();
            assert_eq!((url.host.as_str(), url.path.as_str()), (host, path), "{text}");
        }
        for text in [
            "",
            "localhost:80",
            "https://a",
            "ftp://a",
            "http://",
            "http://:80",
            "http://a:0",
            "http://a:b",
            "http://u@a",
            "http://a/b c",
        ] {
            assert!(text.parse::<Url>().is_err(), "{text}");
        }
    }
}
