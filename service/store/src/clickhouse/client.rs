//! ClickHouse over HTTP: a query, and its answer when all of it is there.

use std::time::Duration;

use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

use super::native::Block;
use super::place::Place;
use crate::Error;
use crate::certificates::certificates;

/// How long a connection may take.
const TO_CONNECT: Duration = Duration::from_secs(10);

/// How long an answer may.
const TO_ANSWER: Duration = Duration::from_secs(600);

/// Most bytes of a query that need no permission.
const USUAL_QUERY: usize = 200_000;

/// Most bytes of a query with the numbers in it.
const MOST_QUERY: &str = "1073741824";

/// What ClickHouse calls its reasons.
pub mod reason {
    pub const UNKNOWN_TABLE: u32 = 60;
    pub const UNKNOWN_DATABASE: u32 = 81;
    pub const NO_CLUSTER: u32 = 701;
    pub const SHARD_AWAY: u32 = 279;
    const UNKNOWN_USER: u32 = 192;
    const WRONG_PASSWORD: u32 = 193;
    const REQUIRED_PASSWORD: u32 = 194;
    const FAILED: u32 = 516;
    pub const DENIED: [u32; 4] = [UNKNOWN_USER, WRONG_PASSWORD, REQUIRED_PASSWORD, FAILED];
}

/// Why there is no answer.
pub enum Failure {
    /// ClickHouse says so.
    Said { reason: u32, why: String },
    /// It is not even asked.
    Error(Error),
}

/// A ClickHouse.
#[derive(Clone)]
pub struct Client {
    agent: Agent,
    pub place: Place,
}

impl Client {
    /// Of a place; it is asked only when there is a question.
    pub fn new(place: &Place) -> Result<Self, Error> {
        let mut config = Agent::config_builder()
            .timeout_connect(Some(TO_CONNECT))
            .timeout_recv_response(Some(TO_ANSWER))
            .http_status_as_error(false);
        if let Some(path) = &place.authority {
            let roots = RootCerts::new_with_certs(&certificates(path)?);
            config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
        }
        Ok(Self { agent: config.build().into(), place: place.clone() })
    }

    /// The rows of an answer, as RowBinary.
    pub fn rows(&self, query: &str, parameters: &[(&str, &str)]) -> Result<Vec<u8>, Error> {
        let parameters: Vec<(String, String)> =
            parameters.iter().map(|(name, value)| (format!("param_{name}"), escaped(value))).collect();
        let mut options = vec![("default_format", "RowBinary")];
        if query.len() > USUAL_QUERY {
            options.push(("max_query_size", MOST_QUERY)); // who may only read may not say so
        }
        options.extend(parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        self.ask(true, &options, query.as_bytes()).map_err(|failure| self.failed(failure))
    }

    /// Does something.
    pub fn run(&self, query: &str) -> Result<(), Error> {
        self.rows(query, &[]).map(drop)
    }

    /// Puts rows into a table, all of them or none that are seen before others.
    pub fn insert(&self, into: &str, rows: &[u8]) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        self.put(&format!("INSERT INTO {into} FORMAT RowBinary"), rows)
    }

    /// Puts a block of rows into a table: columns that it has not are 0.
    pub fn insert_block(&self, table: &str, block: &Block) -> Result<(), Error> {
        self.put(&format!("INSERT INTO {table} ({}) FORMAT Native", block.names()), block.bytes())
    }

    fn put(&self, query: &str, rows: &[u8]) -> Result<(), Error> {
        // Answered when the rows are in, whatever is usual there.
        let mut options = vec![("query", query), ("async_insert", "0")];
        if self.place.cluster.is_some() {
            options.push(("distributed_foreground_insert", "1"));
        }
        self.ask(true, &options, rows).map(drop).map_err(|failure| self.failed(failure))
    }

    /// Asks, in the database or beside all of them.
    pub fn ask(&self, in_database: bool, options: &[(&str, &str)], body: &[u8]) -> Result<Vec<u8>, Failure> {
        let Place { database, user, password, .. } = &self.place;
        let away =
            |why: ureq::Error| Failure::Error(Error::Away { store: self.place.to_string(), why: why.to_string() });
        // The answer comes when all of it is there: so an error has a status of its own.
        let mut request = self.agent.post(self.place.url()).query("wait_end_of_query", "1");
        if in_database {
            request = request.query("database", database);
        }
        for (name, value) in options {
            request = request.query(*name, *value);
        }
        for (name, value) in [("X-ClickHouse-User", user), ("X-ClickHouse-Key", password)] {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        let mut answer = request.send(body).map_err(away)?;
        let reason =
            answer.headers().get("x-clickhouse-exception-code").and_then(|code| code.to_str().ok()?.parse().ok());
        let is_clickhouse = answer.headers().keys().any(|name| name.as_str().starts_with("x-clickhouse"));
        let bytes = answer.body_mut().with_config().limit(u64::MAX).read_to_vec().map_err(away)?;
        match (answer.status().as_u16(), reason) {
            (200, None) if is_clickhouse => Ok(bytes),
            (_, Some(reason)) => Err(Failure::Said { reason, why: sentence(&String::from_utf8_lossy(&bytes)) }),
            _ => Err(Failure::Error(Error::Stranger { store: self.place.to_string() })),
        }
    }

    /// What a failure is to who asks.
    pub fn failed(&self, failure: Failure) -> Error {
        let store = self.place.to_string();
        match failure {
            Failure::Error(error) => error,
            Failure::Said { reason, .. } if reason::DENIED.contains(&reason) => {
                Error::Denied { store, user: self.place.user.clone().unwrap_or_else(|| "default".to_owned()) }
            }
            Failure::Said { reason: reason::UNKNOWN_DATABASE, .. } => Error::NoDatabase { store },
            Failure::Said { reason: reason::NO_CLUSTER, .. } if self.place.cluster.is_some() => {
                Error::NoCluster { store }
            }
            Failure::Said { reason: reason::SHARD_AWAY, why } => Error::ShardAway { store, why },
            Failure::Said { why, .. } => Error::ClickHouse { store, why },
        }
    }

    /// That something in this store is damaged.
    pub fn damaged(&self, what: &str) -> Error {
        Error::Damaged { store: self.place.to_string(), what: what.to_owned() }
    }
}

/// The first sentence of what ClickHouse says, without its numbers.
fn sentence(said: &str) -> String {
    let said = said.lines().next().unwrap_or_default();
    let said = said.split_once("DB::Exception: ").map_or(said, |(_, said)| said);
    let said = said.split(" (version ").next().unwrap_or(said);
    said.trim().trim_end_matches('.').chars().take(400).collect()
}

/// A value as the parameters of queries are written.
fn escaped(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for letter in value.chars() {
        match letter {
            '\\' => escaped.push_str("\\\\"),
            '\t' => escaped.push_str("\\t"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\0' => escaped.push_str("\\0"),
            letter => escaped.push(letter),
        }
    }
    escaped
}
