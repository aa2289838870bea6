//! A database, opened.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use super::client::Client;
use super::cluster;
use super::place::Place;
use super::schema;
use crate::Error;
use crate::dictionary::Dictionary;

/// How long a writer believes that what it has put in of a dictionary is still there. What nothing refers to is swept away
/// only when nobody has begun to put in for longer than this: see [`super::sweep`].
pub const TRUST: Duration = Duration::from_secs(600);

/// A store in a database.
pub struct ClickHouse {
    pub client: Client,
    /// [`Self::shards`], once they were asked for.
    shards: OnceLock<Vec<Client>>,
    /// When a writer said last that a series is in use.
    pub in_use: FxHashMap<u64, Instant>,
    /// By build: what a writer knows to be there.
    pub known: FxHashMap<u64, Known>,
    /// Most bytes of that.
    pub most_bytes: usize,
}

/// Most bytes of what a writer knows, unless told.
const MOST_BYTES: usize = 320 << 20;

/// What is there of a build.
pub struct Known {
    pub since: Instant,
    pub modules: FxHashSet<u64>,
    pub places: FxHashSet<u64>,
    pub paths: FxHashSet<u64>,
    /// What this writer has met of it, and by the numbers there: those in the store, and how deep paths are.
    pub dictionary: Dictionary,
    pub place_ids: Vec<u64>,
    pub path_ids: Vec<u64>,
    pub depths: Vec<u32>,
}

impl Known {
    /// The memory that it takes.
    fn bytes(&self) -> usize {
        let ids = self.modules.capacity() + self.places.capacity() + self.paths.capacity();
        let numbers = self.place_ids.capacity() + self.path_ids.capacity();
        self.dictionary.bytes() + (ids + numbers) * (size_of::<u64>() + 1) + self.depths.capacity() * size_of::<u32>()
    }
}

impl ClickHouse {
    /// Opens a store; makes it if there is none and `create` is asked for.
    pub fn open(place: &Place, create: bool) -> Result<Self, Error> {
        let client = Client::new(place)?;
        schema::make(&client, create)?;
        Ok(Self {
            client,
            shards: OnceLock::new(),
            in_use: FxHashMap::default(),
            known: FxHashMap::default(),
            most_bytes: MOST_BYTES,
        })
    }

    /// The ClickHouses that have a part of the store.
    pub fn shards(&self) -> Result<&[Client], Error> {
        match self.shards.get() {
            Some(shards) => Ok(shards),
            None => {
                let found = self.client.shards()?;
                Ok(self.shards.get_or_init(|| found))
            }
        }
    }

    /// What a table is called that has the rows of one shard.
    pub fn on_shard(&self, table: &str) -> String {
        if self.client.place.cluster.is_some() { cluster::on_shard(table) } else { table.to_owned() }
    }

    /// Forgets what is known of builds if that is too much: what is there is asked for once more.
    pub fn make_room(&mut self) {
        let bytes: usize = self.known.values().map(Known::bytes).sum();
        if bytes > self.most_bytes {
            self.known.clear();
        }
    }

    /// Nothing is known to be there any more.
    pub fn forget(&mut self) {
        self.in_use.clear();
        self.known.clear();
    }

    /// That something in this store is damaged.
    pub fn damaged(&self, what: &str) -> Error {
        self.client.damaged(what)
    }
}
