//! What redis is sent.

use std::path::Path;

use super::{message, words};
use crate::Error;
use crate::file::File;
use crate::socket::Scratch;
use crate::template::Template;
use crate::weighted::Weighted;

/// Commands, each as often as its weight says.
#[derive(Clone, Debug)]
pub struct Commands {
    all: Weighted<Command>,
}

/// A command: the message, if it is the same each time; else its words.
#[derive(Clone, Debug)]
enum Command {
    Fixed(Vec<u8>),
    Changing(Vec<Template>),
}

/// After these a connection is not what it was, and the next request has it then; or their answer never ends.
const FOR_ITSELF: [&str; 13] = [
    "AUTH",
    "HELLO",
    "SELECT",
    "RESET",
    "MULTI",
    "WATCH",
    "SUBSCRIBE",
    "PSUBSCRIBE",
    "SSUBSCRIBE",
    "MONITOR",
    "SYNC",
    "PSYNC",
    "REPLCONF",
];

impl Commands {
    /// One; words with places that are filled in.
    pub fn one(text: &str) -> Result<Self, Error> {
        let command = Command::parse(text).map_err(|why| Error::Command { text: text.to_owned(), why })?;
        Ok(Self { all: Weighted::one(command) })
    }

    /// Whether the server is there, and nothing else.
    pub fn ping() -> Self {
        Self { all: Weighted::one(Command::fixed(&[b"PING".to_vec()])) }
    }

    /// Those of a file: lines `[WEIGHT] COMMAND`. A line that begins with `#` says nothing.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::of(&File::read(path)?)
    }

    /// Those of such a file that was read.
    pub fn of(lines: &File) -> Result<Self, Error> {
        let all = Weighted::of(lines, &["#"], "9 GET key:{random:1-1000}", Command::parse)?;
        Ok(Self { all })
    }

    /// The message of request `number`.
    pub fn next<'a>(&'a self, number: u64, random: &mut fastrand::Rng, scratch: &'a mut Scratch) -> &'a [u8] {
        match self.all.next(random) {
            Command::Fixed(message) => message,
            Command::Changing(words) => {
                let Scratch { request, part } = scratch;
                request.clear();
                message::begin(words.len(), request);
                for word in words {
                    part.clear();
                    word.fill(number, random, part);
                    message::write_word(part, request);
                }
                request
            }
        }
    }
}

impl Command {
    fn parse(text: &str) -> Result<Self, String> {
        let words = words::split(text)?;
        let Some(first) = words.first() else { return Err("there is no command".to_owned()) };
        if let Some(name) = FOR_ITSELF.iter().find(|name| name.as_bytes().eq_ignore_ascii_case(first)) {
            return Err(format!(
                "{name} is about a connection itself, and each of these has all kinds of requests; user, password and database \
                 stand in the address"
            ));
        }
        // Braces that are no places are those of keys that are to be in one slot, or JSON.
        let template = |word: &Vec<u8>| match std::str::from_utf8(word) {
            Ok(text) => Template::parse(text).0,
            // Bytes that are no text have no places.
            Err(_) => Template::literal(word.clone()),
        };
        let templates: Vec<Template> = words.iter().map(template).collect();
        let is_fixed = templates.iter().all(|word| word.fixed().is_some());
        Ok(if is_fixed { Self::fixed(&words) } else { Self::Changing(templates) })
    }

    fn fixed(words: &[Vec<u8>]) -> Self {
        let mut message = Vec::new();
        message::write(words.iter().map(Vec::as_slice), &mut message);
        Self::Fixed(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_messages() {
        let of = |text: &str| {
            let (commands, mut scratch) = (Commands::one(text).unwrap(), Scratch::default());
            scratch.request.push(1);
            let message = commands.next(12, &mut fastrand::Rng::with_seed(1), &mut scratch).to_vec();
            String::from_utf8(message).unwrap().replace("\r\n", " ")
        };
        assert_eq!(of("get a"), "*2 $3 get $1 a ");
        assert_eq!(of("SET {user}:{seq} 'x {seq}'"), "*3 $3 SET $9 {user}:12 $4 x 12 ");
        assert_eq!(of("SET '{choice:a b}' \"\""), "*3 $3 SET $3 a b $0  ");
        let mut out = Scratch::default();
        assert_eq!(Commands::ping().next(1, &mut fastrand::Rng::new(), &mut out), b"*1\r\n$4\r\nPING\r\n");
    }

    #[test]
    fn what_is_no_request_is_said() {
        for (text, part) in [
            ("  ", "there is no command"),
            ("GET 'a", "a closing ' is missing"),
            ("multi", "MULTI is about a connection itself"),
            ("SUBSCRIBE news", "SUBSCRIBE is about a connection itself"),
        ] {
            let said = Commands::one(text).unwrap_err().to_string();
            assert!(said.starts_with(&format!("`{text}` cannot be sent: {part}")), "{said}");
        }
    }
}
