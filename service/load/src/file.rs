//! A file that was read: its bytes may be understood on another machine, which never opens files for others.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Error;

/// A file's bytes, and where they come from.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// What it is called where something is wrong with it.
    pub path: PathBuf,
    /// What is in it.
    #[serde(with = "octets")]
    pub bytes: Vec<u8>,
}

impl File {
    /// All of a file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), bytes })
    }

    /// Its text.
    pub fn text(&self) -> Result<&str, Error> {
        std::str::from_utf8(&self.bytes).map_err(|error| {
            let source = io::Error::new(io::ErrorKind::InvalidData, error);
            Error::Read { path: self.path.clone(), source }
        })
    }
}

/// Bytes as text, a letter each: most are letters, and a list of numbers would take four times the room.
pub mod octets {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes them.
    pub fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&bytes.iter().map(|byte| char::from(*byte)).collect::<String>())
    }

    /// Reads them.
    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        let bytes: Result<Vec<u8>, _> = text.chars().map(u8::try_from).collect();
        bytes.map_err(|_| D::Error::custom("it is no text of bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_the_same_elsewhere() {
        let file = File { path: "a".into(), bytes: (0..=255).collect() };
        let text = serde_json::to_string(&file).unwrap();
        assert!(serde_json::from_str::<File>(&text).unwrap() == file);
        assert!(serde_json::from_str::<File>(r#"{"path": "a", "bytes": "€"}"#).is_err());
    }
}
