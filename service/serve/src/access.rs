//! Who may do what: tokens, the name that a browser has for us, and pages of others.

use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::service::Service;
use crate::{Error, answer};

/// Fewer letters can be guessed.
const LEAST: usize = 16;

/// What requests are to show: to read, and to write.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    read: Vec<String>,
    write: Vec<String>,
}

impl Tokens {
    /// From a file of lines `read TOKEN` and `write TOKEN`, which only its owner may read.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let wrong = |why: String| Error::Tokens { path: path.to_owned(), why };
        let facts = fs::metadata(path).map_err(|error| wrong(error.to_string()))?;
        if facts.mode() & 0o077 != 0 {
            return Err(wrong("others may read it: chmod 600".to_owned()));
        }
        let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let mut tokens = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                [] => {}
                [first, ..] if first.starts_with('#') => {}
                ["read", token] if token.len() >= LEAST => tokens.read.push(token.to_owned()),
                ["write", token] if token.len() >= LEAST => tokens.write.push(token.to_owned()),
                _ => {
                    let form = format!("write `read TOKEN` or `write TOKEN`, a token of at least {LEAST} letters");
                    return Err(wrong(format!("line {number}: {form}")));
                }
            }
        }
        match tokens.read.is_empty() && tokens.write.is_empty() {
            true => Err(wrong("it has no token: write `read TOKEN` and `write TOKEN`".to_owned())),
            false => Ok(tokens),
        }
    }

    /// Whether a request may go on.
    fn let_in(&self, method: &Method, headers: &HeaderMap) -> bool {
        let shown = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let shown = shown.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        let known = if matches!(*method, Method::GET | Method::HEAD) { &self.read } else { &self.write };
        // All are compared, whichever fits.
        known.iter().fold(false, |any, token| any | is_same(token.as_bytes(), shown.as_bytes()))
    }
}

/// Compares in a time that does not tell where two differ.
fn is_same(token: &[u8], shown: &[u8]) -> bool {
    let difference = token.iter().zip(shown).fold(0, |sum, (a, b)| sum | (a ^ b));
    std::hint::black_box(difference) == 0 && token.len() == shown.len()
}

/// Lets a request in, or says why not.
pub async fn check(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    // A page somewhere may have a name that leads to us: what asks by that name is not ours.
    if service.is_local && !is_loopback(host) {
        return answer::error(StatusCode::FORBIDDEN, "this service is asked by its address on this machine only");
    }
    if let Some(origin) = headers.get(header::ORIGIN) {
        let origin = origin.to_str().unwrap_or_default();
        if origin.split_once("://").is_none_or(|(_, asking)| asking != host) {
            return answer::error(StatusCode::FORBIDDEN, "pages of others may not ask this service");
        }
    }
    let is_public = matches!(request.uri().path(), "/" | "/healthz") || request.uri().path().starts_with("/page/");
    match &service.tokens {
        Some(tokens) if !is_public && !tokens.let_in(request.method(), headers) => {
            let what = if request.method() == Method::GET { "read" } else { "write" };
            answer::error(
                StatusCode::UNAUTHORIZED,
                &format!("show a token that may {what}: Authorization: Bearer TOKEN"),
            )
        }
        _ => next.run(request).await,
    }
}

fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_machine_are_known() {
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:7070", "[::1]:7070", "127.9.9.9"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["", "evil.example", "localhost.evil.example:7070", "10.0.0.1", "[fe80::1]:1"] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn tokens_are_for_reading_or_for_writing() {
        let tokens = Tokens { read: vec!["a".repeat(20)], write: vec!["b".repeat(20)] };
        let let_in = |method: Method, token: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, format!("Bearer {token}").parse().unwrap());
            tokens.let_in(&method, &headers)
        };
        assert!(let_in(Method::GET, &"a".repeat(20)) && let_in(Method::POST, &"b".repeat(20)));
        assert!(!let_in(Method::POST, &"a".repeat(20)) && !let_in(Method::GET, &"b".repeat(20)));
        assert!(
            !let_in(Method::GET, "") && !let_in(Method::GET, &"a".repeat(19)) && !let_in(Method::GET, &"a".repeat(21))
        );
    }
}
