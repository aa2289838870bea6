//! Tokens: what requests show to read or to write.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use axum::http::{HeaderMap, Method, header};

use crate::Error;

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

    /// One to write with, for who sends, from such a file.
    pub fn to_write(path: &Path) -> Result<String, Error> {
        let token = Self::read(path)?.write.into_iter().next();
        token.ok_or_else(|| Error::Tokens { path: path.to_owned(), why: "it has no line `write TOKEN`".to_owned() })
    }

    /// Whether a request may go on, by the token that it shows.
    pub fn let_in(&self, method: &Method, headers: &HeaderMap) -> Permission {
        let shown = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let (scheme, token) = shown.split_once(' ').unwrap_or_default();
        let shown = if scheme.eq_ignore_ascii_case("bearer") { token.trim() } else { "" };
        // All are compared, whichever fits.
        let is_among =
            |known: &[String]| known.iter().fold(false, |any, token| any | is_same(token.as_bytes(), shown.as_bytes()));
        let (may_read, may_write) = (is_among(&self.read), is_among(&self.write));
        let reads = matches!(*method, Method::GET | Method::HEAD);
        match (if reads { may_read } else { may_write }, may_read || may_write) {
            (true, _) => Permission::Granted,
            (false, true) => Permission::Denied,
            (false, false) => Permission::Unknown,
        }
    }
}

/// What a token permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// What is asked.
    Granted,
    /// It is known, but is for the other: to read, or to write.
    Denied,
    /// It is not known, or none was shown.
    Unknown,
}

/// Compares in a time that does not tell where two differ.
fn is_same(token: &[u8], shown: &[u8]) -> bool {
    let difference = token.iter().zip(shown).fold(0, |sum, (a, b)| sum | (a ^ b));
    std::hint::black_box(difference) == 0 && token.len() == shown.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_for_reading_or_for_writing() {
        let tokens = Tokens { read: vec!["a".repeat(20)], write: vec!["b".repeat(20)] };
        let let_in = |method: Method, token: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, token.parse().unwrap());
            tokens.let_in(&method, &headers)
        };
        let token = |letter: &str, count: usize| format!("Bearer {}", letter.repeat(count));
        let [read, write] = ["a", "b"].map(|letter| token(letter, 20));
        assert_eq!([let_in(Method::GET, &read), let_in(Method::POST, &write)], [Permission::Granted; 2]);
        assert_eq!([let_in(Method::POST, &read), let_in(Method::GET, &write)], [Permission::Denied; 2]);
        for wrong in [
            "",
            "Bearer",
            "Bearer ",
            &token("a", 19),
            &token("a", 21),
            &"a".repeat(20),
            &read.replace("Bearer", "Basic"),
        ] {
            assert_eq!(let_in(Method::GET, wrong), Permission::Unknown, "{wrong}");
        }
        assert_eq!(let_in(Method::GET, &read.replace("Bearer", "bearer")), Permission::Granted, "schemes have no case");
    }
}
