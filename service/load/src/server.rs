//! A server that load is made to: found, let in by, and then driven.

use std::io;
use std::sync::Arc;

use crate::Error;
use crate::http::Mix;
use crate::http2::Streams;
use crate::phase::{Driver, Patience};
use crate::postgres::Database;
use crate::redis::Redis;
use crate::socket::{Allowed, Host, Protocol, Target, Tls, Worker};

/// A server that nobody has asked yet.
pub struct Server {
    /// Its address, without a password.
    pub shown: String,
    /// Where it is.
    pub host: Host,
    /// At which port, if none is written.
    pub usual_port: u16,
    /// What it is sent.
    pub spoken: Spoken,
    /// Whether a connection is used again.
    pub keeps_alive: bool,
    /// How patient the run is.
    pub patience: Patience,
}

/// What a server is sent, and in which protocol.
pub enum Spoken {
    /// HTTP, and how TLS is spoken if it is.
    Http {
        /// Requests.
        mix: Mix,
        /// TLS.
        tls: Option<Tls>,
    },
    /// HTTP/2.
    Http2 {
        /// Requests.
        streams: Streams,
        /// TLS.
        tls: Option<Tls>,
    },
    /// PostgreSQL's.
    Postgres(Database),
    /// That of redis.
    Redis(Redis),
}

/// A server that answers.
pub enum Ready {
    /// By HTTP.
    Http(Arc<Target<Mix>>),
    /// By HTTP/2.
    Http2(Arc<Target<Streams>>),
    /// By PostgreSQL's protocol.
    Postgres(Arc<Target<Database>>),
    /// By that of redis.
    Redis(Arc<Target<Redis>>),
}

impl Server {
    /// Looks whether it may be driven, answers, and is believed or lets us in.
    pub fn connect(self, allowed: &Allowed) -> Result<Ready, Error> {
        let Self { host, usual_port, spoken, keeps_alive, patience, .. } = self;
        let (address, stream) = host.connect(usual_port, patience.timeout, allowed)?;
        Ok(match spoken {
            Spoken::Http { mix, tls } => {
                if let Some(tls) = &tls {
                    tls.check(&host, stream, patience.timeout)?;
                }
                Ready::Http(Arc::new(Target { address, tls, protocol: mix, keeps_alive, patience }))
            }
            Spoken::Http2 { streams, tls } => {
                match &tls {
                    Some(tls) => tls.check(&host, stream, patience.timeout)?,
                    None => streams.check(&host.text, stream, patience.timeout)?,
                }
                Ready::Http2(Arc::new(Target { address, tls, protocol: streams, keeps_alive, patience }))
            }
            Spoken::Postgres(database) => {
                database.check(&host.text, stream, patience.timeout)?;
                Ready::Postgres(Arc::new(Target { address, tls: None, protocol: database, keeps_alive, patience }))
            }
            Spoken::Redis(redis) => {
                redis.check(&host.text, stream, patience.timeout)?;
                Ready::Redis(Arc::new(Target { address, tls: None, protocol: redis, keeps_alive, patience }))
            }
        })
    }
}

impl Ready {
    /// Threads that share so many connections; each has one, at least.
    pub fn drivers(&self, connections: usize, threads: usize) -> Result<Vec<Box<dyn Driver>>, Error> {
        match self {
            Self::Http(target) => drivers(target, connections, threads),
            Self::Http2(target) => drivers(target, connections, threads),
            Self::Postgres(target) => drivers(target, connections, threads),
            Self::Redis(target) => drivers(target, connections, threads),
        }
    }
}

fn drivers<P: Protocol + 'static>(
    target: &Arc<Target<P>>,
    connections: usize,
    threads: usize,
) -> Result<Vec<Box<dyn Driver>>, Error> {
    let threads = threads.clamp(1, connections.max(1));
    let share = |thread: usize| connections / threads + usize::from(thread < connections % threads);
    let driver =
        |thread: usize| -> io::Result<Box<dyn Driver>> { Ok(Box::new(Worker::new(target.clone(), share(thread))?)) };
    let made: io::Result<Vec<Box<dyn Driver>>> = (0..threads).map(driver).collect();
    made.map_err(|source| Error::System { what: "wait for connections", source })
}
