//! A database, opened.

use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use super::client::Client;
use super::place::Place;
use super::schema;
use crate::Error;

/// How long a writer believes that what it has put in of a dictionary is still there. What nothing refers to is swept away
/// only when nobody has begun to put in for longer than this: see [`super::sweep`].
pub const TRUST: Duration = Duration::from_secs(600);

/// A store in a database.
pub struct ClickHouse {
    pub client: Client,
    /// By series: what a writer knows to be there.
    pub known: FxHashMap<u64, Known>,
}

/// What is there for the frames of a series.
pub struct Known {
    pub since: Instant,
    pub modules: FxHashSet<u64>,
    pub places: FxHashSet<u64>,
    pub paths: FxHashSet<u64>,
}

impl ClickHouse {
    /// Opens a store; makes it if there is none and `create` is asked for.
    pub fn open(place: &Place, create: bool) -> Result<Self, Error> {
        let client = Client::new(place);
        schema::make(&client, create)?;
        Ok(Self { client, known: FxHashMap::default() })
    }

    /// That something in this store is damaged.
    pub fn damaged(&self, what: &str) -> Error {
        self.client.damaged(what)
    }
}

/// Numbers, as a query lists them.
pub fn listed(ids: impl IntoIterator<Item = u64>) -> String {
    let ids: Vec<String> = ids.into_iter().map(|id| id.to_string()).collect();
    if ids.is_empty() { "(0)".to_owned() } else { format!("({})", ids.join(",")) }
}
