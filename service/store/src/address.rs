//! Where a store is, as people write it.

use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;
use std::str::FromStr;

use crate::Error;
use crate::clickhouse::Place;

/// Where a store is. What is shown of it has no secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A file that SQLite keeps.
    Sqlite(PathBuf),
    /// A database that ClickHouse keeps.
    ClickHouse(Place),
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.split_once(':') {
            _ if text.is_empty() => Err(Error::Address { text: text.to_owned() }),
            Some((scheme @ ("clickhouse" | "clickhouses"), rest)) if rest.starts_with("//") => {
                Place::parse(scheme, &rest[2..]).map(Self::ClickHouse)
            }
            Some(("sqlite", path)) if !path.is_empty() => Ok(Self::Sqlite(path.into())),
            Some((scheme, rest)) if rest.starts_with("//") => {
                // Who asks may be in it, with a password.
                let at = rest.rsplit_once('@').map_or(&rest[2..], |(_, at)| at);
                Err(Error::Address { text: format!("{scheme}://{at}") })
            }
            _ => Ok(Self::Sqlite(text.into())),
        }
    }
}

impl Display for Address {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        match self {
            Self::Sqlite(path) => Display::fmt(&path.display(), out),
            Self::ClickHouse(place) => Display::fmt(place, out),
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
        let address: Address = "clickhouse://me:secret@host:8123/runs".parse().unwrap();
        assert_eq!(address.to_string(), "clickhouse://host:8123/runs");
        for text in
            ["", "http://me:secret@host/x", "clickhouse://host/diytrace", "clickhouses://me:secret@host/diytrace"]
        {
            let said = text.parse::<Address>().unwrap_err().to_string();
            assert!(!said.contains("secret"), "{said}");
        }
    }
}
