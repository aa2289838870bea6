//! Who is driven: what the options say of it, and that it answers.

use std::env;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use diytrace_load::http::{Body, Mix, Request};
use diytrace_load::postgres::{self, Database, Queries};
use diytrace_load::redis::{self, Redis};
use diytrace_load::socket::{self, Host, Protocol, Tls, Worker};
use diytrace_load::{Commands, Document, Error, Patience, Url};

use super::Arguments;

/// A server that answers.
type Ready<P> = Result<socket::Target<P>, Error>;

impl Arguments {
    /// Drives whom the options name.
    pub(super) fn document(&self) -> Result<Document, Error> {
        let text = match (&self.url, &self.command) {
            (_, Some(command)) => {
                let commands = Commands::new(command.clone(), self.connections as usize, self.patience());
                return self.steps(command, &mut [commands]);
            }
            (url, None) => url.clone().unwrap_or_default(),
        };
        if postgres::Address::is_one(&text) {
            let mut address: postgres::Address = text.parse()?;
            // As psql has it, for those who would not have it in the list of processes.
            address.login.password = address.login.password.or_else(|| env::var("PGPASSWORD").ok());
            let mut drivers = self.workers(self.postgres(&address)?)?;
            self.steps(&address.shown(), &mut drivers)
        } else if redis::Address::is_one(&text) {
            let mut address: redis::Address = text.parse()?;
            // And as redis-cli has it.
            address.login.password = address.login.password.or_else(|| env::var("REDISCLI_AUTH").ok());
            let mut drivers = self.workers(self.redis(&address)?)?;
            self.steps(&address.shown(), &mut drivers)
        } else {
            let mut drivers = self.workers(self.http(&text)?)?;
            self.steps(&text, &mut drivers)
        }
    }

    fn patience(&self) -> Patience {
        Patience { timeout: self.timeout, for_connection: self.too_late.unwrap_or(self.timeout) }
    }

    /// PostgreSQL that lets us in.
    fn postgres(&self, address: &postgres::Address) -> Ready<Database> {
        self.refuse_what_is_for_http()?;
        let queries = match (&self.query, &self.requests) {
            (Some(query), _) => Queries::one(query)?,
            (None, Some(path)) => Queries::read(path)?,
            (None, None) => return Err(Error::NoQuery),
        };
        let database = Database::new(address.login.clone(), queries);
        let usual_port = postgres::Address::usual_port();
        self.database(&address.host, usual_port, database, |database, stream| {
            database.check(&address.host.text, stream, self.timeout)
        })
    }

    /// Redis that lets us in.
    fn redis(&self, address: &redis::Address) -> Ready<Redis> {
        self.refuse_what_is_for_http()?;
        let commands = match (&self.query, &self.requests) {
            (Some(command), _) => redis::Commands::one(command)?,
            (None, Some(path)) => redis::Commands::read(path)?,
            (None, None) => redis::Commands::ping(),
        };
        let server = Redis::new(address.login.clone(), commands);
        self.database(&address.host, redis::Address::usual_port(), server, |server, stream| {
            server.check(&address.host.text, stream, self.timeout)
        })
    }

    /// A database that passes a check.
    fn database<P>(
        &self,
        host: &Host,
        usual_port: u16,
        protocol: P,
        check: impl FnOnce(&P, std::net::TcpStream) -> Result<(), Error>,
    ) -> Ready<P> {
        let (address, stream) = host.connect(usual_port, self.timeout)?;
        check(&protocol, stream)?;
        let (keeps_alive, patience) = (!self.no_keep_alive, self.patience());
        Ok(socket::Target { address, tls: None, protocol, keeps_alive, patience })
    }

    fn refuse_what_is_for_http(&self) -> Result<(), Error> {
        for (is_given, option, kind) in [
            (self.method.is_some(), "--method", "http:// and https://"),
            (!self.headers.is_empty(), "--header", "http:// and https://"),
            (self.body.is_some(), "--body", "http:// and https://"),
            (self.tls_ca.is_some(), "--tls-ca", "https://"),
        ] {
            if is_given {
                return Err(Error::NotForIt { option, kind });
            }
        }
        Ok(())
    }

    /// A server that speaks HTTP: it answers, and is believed.
    fn http(&self, text: &str) -> Ready<Mix> {
        let url: Url = text.parse()?;
        if self.query.is_some() {
            return Err(Error::NotForIt { option: "--query", kind: "postgres:// and redis://" });
        }
        let keeps_alive = !self.no_keep_alive;
        let mix = match &self.requests {
            Some(path) => Mix::read(path, &self.headers, &url.host.text, keeps_alive)?,
            None => {
                let read =
                    |path: &PathBuf| std::fs::read(path).map_err(|source| Error::Read { path: path.clone(), source });
                let body = self.body.as_ref().map(read).transpose()?.map_or(Body::None, Body::Bytes);
                let usual = if body == Body::None { "GET" } else { "POST" };
                let method = self.method.clone().unwrap_or_else(|| usual.to_owned());
                let request = Request { method, path: url.path.clone(), headers: self.headers.clone(), body };
                Mix::one(&request, &url.host.text, keeps_alive)?
            }
        };
        let tls = match (url.is_secure, &self.tls_ca) {
            (true, authority) => Some(Tls::new(&url.host, authority.as_deref())?),
            (false, None) => None,
            (false, Some(_)) => return Err(Error::NotForIt { option: "--tls-ca", kind: "https://" }),
        };
        let (address, stream) = url.host.connect(url.usual_port(), self.timeout)?;
        if let Some(tls) = &tls {
            tls.check(&url.host, stream, self.timeout)?;
        }
        Ok(socket::Target { address, tls, protocol: mix, keeps_alive, patience: self.patience() })
    }

    /// The threads of a server's load.
    fn workers<P: Protocol>(&self, target: socket::Target<P>) -> Result<Vec<Worker<P>>, Error> {
        let target = Arc::new(target);
        let connections = self.connections as usize;
        let threads = (self.threads as usize).min(connections);
        let share = |thread: usize| connections / threads + usize::from(thread < connections % threads);
        let worker = |thread: usize| Worker::new(target.clone(), share(thread));
        let made: io::Result<Vec<Worker<P>>> = (0..threads).map(worker).collect();
        made.map_err(|source| Error::System { what: "wait for connections", source })
    }
}
