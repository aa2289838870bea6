//! What is to be sent, and to whom: all that a driver needs to know, so that another machine can be told.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::file::File;
use crate::http::{Body, Mix, Request, Requests};
use crate::http2::Streams;
use crate::phase::Patience;
use crate::postgres::{self, Database, Queries};
use crate::redis::{self, Commands, Redis};
use crate::server::{Server, Spoken};
use crate::socket::Tls;
use crate::url::Url;

/// What is to be sent, and to whom. It may hold passwords, and is not shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The server's address: `http://`, `https://`, `postgres://` or `redis://`.
    pub target: String,
    /// Its password, where the address has none.
    pub password: Option<String>,
    /// The method, for HTTP.
    pub method: Option<String>,
    /// Headers of all requests, for HTTP.
    pub headers: Vec<String>,
    /// What each request carries, for HTTP.
    pub body: Option<File>,
    /// What a database is asked.
    pub query: Option<String>,
    /// Requests or queries of several kinds.
    pub requests: Option<Requests>,
    /// Certificates that the server's must come from, for `https://`.
    pub authority: Option<File>,
    /// Whether HTTP/2 is spoken, for HTTP.
    #[serde(default)]
    pub http2: bool,
    /// Whether a connection is used again.
    pub keeps_alive: bool,
    /// An answer that takes longer is none.
    pub timeout: Duration,
    /// A request that waits longer for a connection is not sent.
    pub too_late: Duration,
    /// Connections, of all workers together.
    pub connections: u64,
    /// Threads, of each worker.
    pub threads: u64,
}

impl Job {
    /// The server that it is for, with all that is sent to it; nobody is asked yet.
    pub fn server(&self) -> Result<Server, Error> {
        let patience = Patience { timeout: self.timeout, for_connection: self.too_late };
        let (shown, host, usual_port, spoken) = if postgres::Address::is_one(&self.target) {
            let mut address: postgres::Address = self.target.parse()?;
            address.login.password = address.login.password.or_else(|| self.password.clone());
            let spoken = Spoken::Postgres(self.postgres(&address)?);
            (address.shown(), address.host, postgres::Address::usual_port(), spoken)
        } else if redis::Address::is_one(&self.target) {
            let mut address: redis::Address = self.target.parse()?;
            address.login.password = address.login.password.or_else(|| self.password.clone());
            let spoken = Spoken::Redis(self.redis(&address)?);
            (address.shown(), address.host, redis::Address::usual_port(), spoken)
        } else {
            let url: Url = self.target.parse()?;
            let spoken = self.http(&url)?;
            (self.target.clone(), url.host.clone(), url.usual_port(), spoken)
        };
        Ok(Server { shown, host, usual_port, spoken, keeps_alive: self.keeps_alive, patience })
    }

    fn postgres(&self, address: &postgres::Address) -> Result<Database, Error> {
        self.refuse_what_is_for_http()?;
        let queries = match (&self.query, &self.requests) {
            (Some(query), _) => Queries::one(query)?,
            (None, Some(requests)) => Queries::of(&requests.lines)?,
            (None, None) => return Err(Error::NoQuery),
        };
        Ok(Database::new(address.login.clone(), queries))
    }

    fn redis(&self, address: &redis::Address) -> Result<Redis, Error> {
        self.refuse_what_is_for_http()?;
        let commands = match (&self.query, &self.requests) {
            (Some(command), _) => Commands::one(command)?,
            (None, Some(requests)) => Commands::of(&requests.lines)?,
            (None, None) => Commands::ping(),
        };
        Ok(Redis::new(address.login.clone(), commands))
    }

    fn refuse_what_is_for_http(&self) -> Result<(), Error> {
        for (is_given, option, kind) in [
            (self.method.is_some(), "--method", "http:// and https://"),
            (!self.headers.is_empty(), "--header", "http:// and https://"),
            (self.body.is_some(), "--body", "http:// and https://"),
            (self.authority.is_some(), "--tls-ca", "https://"),
            (self.http2, "--http2", "http:// and https://"),
        ] {
            if is_given {
                return Err(Error::NotForIt { option, kind });
            }
        }
        Ok(())
    }

    fn http(&self, url: &Url) -> Result<Spoken, Error> {
        if self.query.is_some() {
            return Err(Error::NotForIt { option: "--query", kind: "postgres:// and redis://" });
        }
        let tls = match (url.is_secure, &self.authority) {
            (true, authority) => Some(Tls::new(&url.host, authority.as_ref())?),
            (false, None) => None,
            (false, Some(_)) => return Err(Error::NotForIt { option: "--tls-ca", kind: "https://" }),
        };
        let (host, one) = (&url.host.text, self.one_request(&url.path));
        if self.http2 {
            let streams = match &self.requests {
                Some(requests) => Streams::of(requests, &self.headers, host, url.is_secure)?,
                None => Streams::one(&one, host, url.is_secure)?,
            };
            return Ok(Spoken::Http2 { streams, tls: tls.map(Tls::for_http2) });
        }
        let mix = match &self.requests {
            Some(requests) => Mix::of(requests, &self.headers, host, self.keeps_alive)?,
            None => Mix::one(&one, host, self.keeps_alive)?,
        };
        Ok(Spoken::Http { mix, tls })
    }

    fn one_request(&self, path: &str) -> Request {
        let body = self.body.as_ref().map_or(Body::None, |file| Body::Bytes(file.bytes.clone()));
        let usual = if body == Body::None { "GET" } else { "POST" };
        let method = self.method.clone().unwrap_or_else(|| usual.to_owned());
        Request { method, path: path.to_owned(), headers: self.headers.clone(), body }
    }
}
