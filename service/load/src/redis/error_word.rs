//! The first word of an error, by which redis' kinds of errors are known: `WRONGTYPE Operation against a key …`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What is longer is cut.
const LONGEST: usize = 16;

/// The first word of an error.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub struct ErrorWord([u8; LONGEST]);

impl ErrorWord {
    /// Of an error's text.
    pub fn of(text: &[u8]) -> Self {
        let mut word = [0; LONGEST];
        let letters = text.iter().take_while(|letter| **letter != b' ').take(LONGEST);
        for (place, letter) in word.iter_mut().zip(letters) {
            // It is shown: a script may make errors of any bytes.
            *place = if letter.is_ascii_graphic() { *letter } else { b'?' };
        }
        Self(word)
    }
}

impl fmt::Display for ErrorWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = self.0.iter().take_while(|letter| **letter != 0);
        letters.into_iter().try_for_each(|letter| write!(f, "{}", char::from(*letter)))
    }
}

impl fmt::Debug for ErrorWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<ErrorWord> for String {
    fn from(word: ErrorWord) -> Self {
        word.to_string()
    }
}

impl From<String> for ErrorWord {
    fn from(text: String) -> Self {
        Self::of(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_known_by_its_first_word() {
        for (text, word) in [
            (&b"WRONGTYPE Operation against a key"[..], "WRONGTYPE"),
            (b"ERR", "ERR"),
            (b"", ""),
            (b"a\x00\xffb c", "a??b"),
            (b"AWORDTHATISLONGERTHANANY", "AWORDTHATISLONGE"),
        ] {
            assert_eq!(ErrorWord::of(text).to_string(), word);
        }
    }
}
