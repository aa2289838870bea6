//! Where a store is, as people write it.

use std::path::PathBuf;
use std::str::FromStr;

use crate::Error;

/// Where a store is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A file that SQLite keeps.
    Sqlite(PathBuf),
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.split_once(':') {
            _ if text.is_empty() => Err(Error::Address { text: text.to_owned() }),
            Some(("clickhouse" | "clickhouses", rest)) if rest.starts_with("//") => {
                Err(Error::Engine { text: text.to_owned() })
            }
            Some(("sqlite", path)) if !path.is_empty() => Ok(Self::Sqlite(path.into())),
            Some((_, rest)) if rest.starts_with("//") => Err(Error::Address { text: text.to_owned() }),
            _ => Ok(Self::Sqlite(text.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_a_store_with_and_without_its_engine() {
        for text in ["runs.db", "sqlite:runs.db"] {
            assert_eq!(text.parse::<Address>().unwrap(), Address::Sqlite("runs.db".into()));
        }
        for text in ["", "http://host/x", "clickhouse://host:8123/diytrace"] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
