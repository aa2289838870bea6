//! What a database is asked.

use std::path::Path;

use crate::Error;
use crate::file::File;
use crate::template::Template;
use crate::weighted::Weighted;

/// Queries, each as often as its weight says.
#[derive(Clone, Debug)]
pub struct Queries {
    all: Weighted<Query>,
}

/// A query: the message, if it is the same each time; else its text.
#[derive(Clone, Debug)]
enum Query {
    Fixed(Vec<u8>),
    Changing(Template),
}

impl Queries {
    /// One; text with places that are filled in.
    pub fn one(text: &str) -> Result<Self, Error> {
        let query = Query::parse(text).map_err(|why| Error::Query { text: text.to_owned(), why })?;
        Ok(Self { all: Weighted::one(query) })
    }

    /// Those of a file: lines `[WEIGHT] QUERY`. A line that begins with `#` or `--` says nothing.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::of(&File::read(path)?)
    }

    /// Those of such a file that was read.
    pub fn of(lines: &File) -> Result<Self, Error> {
        let example = "9 SELECT * FROM items WHERE id = {random:1-1000}";
        let all = Weighted::of(lines, &["#", "--"], example, Query::parse)?;
        Ok(Self { all })
    }

    /// The message of request `number`.
    pub fn next<'a>(&'a self, number: u64, random: &mut fastrand::Rng, out: &'a mut Vec<u8>) -> &'a [u8] {
        match self.all.next(random) {
            Query::Fixed(message) => message,
            Query::Changing(template) => {
                out.clear();
                write(b'Q', out, |out| template.fill(number, random, out));
                out
            }
        }
    }

    /// Writes a message of that kind, whose body is one text.
    pub fn write(kind: u8, text: &[u8], out: &mut Vec<u8>) {
        write(kind, out, |out| out.extend_from_slice(text));
    }
}

fn write(kind: u8, out: &mut Vec<u8>, text: impl FnOnce(&mut Vec<u8>)) {
    let begin = out.len() + 1;
    out.extend_from_slice(&[kind, 0, 0, 0, 0]);
    text(out);
    out.push(0);
    let length = (out.len() - begin) as u32;
    out[begin..begin + 4].copy_from_slice(&length.to_be_bytes());
}

impl Query {
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("there is no query".to_owned());
        }
        if text.contains('\0') {
            return Err("it has a zero byte, which no query can have".to_owned());
        }
        // Braces that are no places are those of arrays and JSON.
        let template = Template::parse(text).0;
        Ok(match template.fixed() {
            Some(bytes) => {
                let mut message = Vec::new();
                Queries::write(b'Q', bytes, &mut message);
                Self::Fixed(message)
            }
            None => Self::Changing(template),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_messages() {
        let of = |text: &str| {
            let (queries, mut out) = (Queries::one(text).unwrap(), vec![1, 2, 3]);
            queries.next(7, &mut fastrand::Rng::with_seed(1), &mut out).to_vec()
        };
        assert_eq!(of(" SELECT 1; "), b"Q\0\0\0\x0eSELECT 1;\0");
        assert_eq!(of("SELECT '{1}', {seq}"), b"Q\0\0\0\x14SELECT '{1}', 7\0");
        for text in ["", "  ", "SELECT '\0'"] {
            assert!(Queries::one(text).is_err(), "{text:?}");
        }
    }
}
