//! What to ask a server for, and how.

use std::str::FromStr;

use crate::Error;
use crate::socket::Host;

/// An `http://` or `https://` address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// Host, and port if it is written: what the header says.
    pub host: Host,
    /// Path and query.
    pub path: String,
    /// Whether TLS is spoken.
    pub is_secure: bool,
}

impl FromStr for Url {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |why| Error::Url { text: text.to_owned(), why };
        let (is_secure, rest) = match text.split_once("://") {
            Some(("http", rest)) => (false, rest),
            Some(("https", rest)) => (true, rest),
            Some(_) => return Err(wrong("it is none of http, https, postgres and redis")),
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
        Ok(Self { host: Host::parse(host).map_err(wrong)?, path, is_secure })
    }
}

impl Url {
    /// The port, where none is written.
    pub fn usual_port(&self) -> u16 {
        if self.is_secure { 443 } else { 80 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        for (text, host, name, path) in [
            ("http://127.0.0.1:80", "127.0.0.1:80", "127.0.0.1", "/"),
            ("https://localhost/a/b?c=d#e", "localhost", "localhost", "/a/b?c=d"),
            ("http://[::1]:8080?x", "[::1]:8080", "::1", "/?x"),
            ("http://[::1]", "[::1]", "::1", "/"),
        ] {
            let url: Url = text.parse().unwrap();
            assert_eq!((url.host.text.as_str(), url.host.name(), url.path.as_str()), (host, name, path), "{text}");
            assert_eq!(url.usual_port(), if text.starts_with("https") { 443 } else { 80 });
        }
        for text in [
            "",
            "localhost:80",
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
