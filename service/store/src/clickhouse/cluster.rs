//! A store over the shards of a cluster: each has tables of its own, `frame_shard` and so on, and all of them the tables that lead to
//! those of all (`Distributed`), so that the store can be asked for at any.
//!
//! What belongs together lies on one shard: a recording's frames, the paths of a series, a build's names. Tables are made, and
//! rows deleted, on one shard after the other, by its own HTTP port: `ON CLUSTER` would need a Keeper.

use super::binary::Reader;
use super::client::Client;
use super::literal::quoted;
use super::place::Place;
use crate::Error;

/// The tables, and what chooses a row's shard.
const KEYS: [(&str, &str); 12] = [
    ("series", "id"),
    ("in_use", "series"),
    ("module", "id"),
    ("place", "build"),
    ("path", "build"),
    ("frame", "session"),
    ("frame_data", "series"),
    ("path_sum", "series"),
    ("sampled", "labels"),
    ("verdict", "id"),
    ("replaced", "frame"),
    ("store", "version"),
];

impl Client {
    /// The ClickHouses that have a part of the store: this one, if it is not over a cluster.
    pub fn shards(&self) -> Result<Vec<Client>, Error> {
        let Some(cluster) = &self.place.cluster else { return Ok(vec![self.clone()]) };
        let query = format!(
            "SELECT host_name, toUInt32(port) FROM system.clusters WHERE cluster = {} ORDER BY shard_num, replica_num",
            quoted(cluster)
        );
        let rows = self.beside(&query)?;
        let mut rows = Reader::of(&rows);
        let mut shards = Vec::new();
        while !rows.is_at_end() {
            let (host, port) = rows.text().zip(rows.u32()).ok_or_else(|| self.damaged("its list of clusters"))?;
            let host_of_url = if host.contains(':') { format!("[{host}]") } else { host };
            let http = self.http_port(&format!("{host_of_url}:{port}"))?;
            let host = format!("{host_of_url}:{http}");
            shards.push(Client::new(&Place { host, cluster: None, ..self.place.clone() })?);
        }
        if shards.is_empty() { Err(Error::NoCluster { store: self.place.to_string() }) } else { Ok(shards) }
    }

    /// The port at which a shard is asked by HTTP, of which a cluster does not tell.
    fn http_port(&self, address: &str) -> Result<u16, Error> {
        let Place { user, password, is_secure, .. } = &self.place;
        let (remote, port) = if *is_secure { ("remoteSecure", "https_port") } else { ("remote", "http_port") };
        let (user, password) = (user.as_deref().unwrap_or("default"), password.as_deref().unwrap_or_default());
        let query = format!(
            "SELECT toUInt32(getServerPort('{port}')) FROM {remote}({}, system.one, {}, {})",
            quoted(address),
            quoted(user),
            quoted(password)
        );
        let rows = self.beside(&query)?;
        let port = Reader::of(&rows).u32().and_then(|port| u16::try_from(port).ok());
        port.ok_or_else(|| self.damaged("what it knows of a shard"))
    }

    /// The rows of an answer that is of no database.
    fn beside(&self, query: &str) -> Result<Vec<u8>, Error> {
        let options = [("default_format", "RowBinary")];
        self.ask(false, &options, query.as_bytes()).map_err(|failure| self.failed(failure))
    }
}

/// What a table is called on a shard.
pub fn on_shard(table: &str) -> String {
    format!("{table}_shard")
}

/// The statement that makes a table, so that it makes the part of it on a shard.
pub fn making_shard(statement: &str) -> String {
    let table = KEYS.iter().map(|(table, _)| table).find(|table| statement.starts_with(&making(table)));
    table.map_or_else(|| statement.to_owned(), |table| statement.replacen(&making(table), &making(&on_shard(table)), 1))
}

fn making(table: &str) -> String {
    format!("CREATE TABLE IF NOT EXISTS {table} (")
}

/// The statements that make the tables of all shards, once each has its own; the one that says that all is there comes last.
pub fn making_all(cluster: &str) -> impl Iterator<Item = String> {
    KEYS.iter().map(move |(table, _)| making_one(table, cluster))
}

/// The statement that makes one of them.
pub fn making_one(table: &str, cluster: &str) -> String {
    let key = KEYS.iter().find(|(known, _)| *known == table).map_or("1", |(_, key)| key);
    format!(
        "CREATE TABLE IF NOT EXISTS {table} AS {0} ENGINE = Distributed({1}, currentDatabase(), {0}, cityHash64({key}))",
        on_shard(table),
        quoted(cluster)
    )
}

/// An expression for the cluster that a store is over; empty if it is of one ClickHouse.
pub const FOUND: &str = "ifNull((SELECT extract(engine_full, '^Distributed\\\\(''([^'']*)''') FROM system.tables \
                         WHERE database = currentDatabase() AND name = 'store'), '')";

/// Refuses a store that is not as it is asked for: over this cluster, or over none.
pub fn check(client: &Client, found: &str) -> Result<(), Error> {
    let why = match &client.place.cluster {
        None if found.is_empty() => return Ok(()),
        Some(cluster) if cluster == found => return Ok(()),
        Some(_) if found.is_empty() => "this store is of one ClickHouse; leave out ?cluster=".to_owned(),
        _ => format!("this store is over the cluster {found}; write ?cluster={found}"),
    };
    Err(Error::OtherCluster { store: client.place.to_string(), why })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clickhouse::schema;

    #[test]
    fn the_statements_of_all_tables_are_made_for_shards() {
        for statement in schema::statements() {
            let made = making_shard(&statement);
            assert!(made.split_once(" (").is_some_and(|(begin, _)| begin.ends_with("_shard")), "{made}");
        }
        assert_eq!(schema::statements().count(), KEYS.len());
    }
}
