//! An agent: follows all recordings in its folders.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use diytrace_store::Labelled;

use crate::client::Client;
use crate::memory::Memory;
use crate::names::KnownNames;
use crate::tail::{Tail, recordings};
use crate::{Access, Error};

/// How often frames are sent while the service has not said how often it wants them.
const USUAL: Duration = Duration::from_secs(10);

/// How often folders are looked into for new recordings, at least.
const LOOK: Duration = Duration::from_secs(1);

/// What an agent sends, and where.
#[derive(Clone, Debug)]
pub struct Options {
    /// The service: `http://HOST:PORT`.
    pub to: String,
    /// What it asks to be shown.
    pub access: Access,
    /// Folders that recordings are in; they need not be there yet.
    pub folders: Vec<PathBuf>,
    /// Labels of all that is sent.
    pub labelled: Labelled,
    /// How often; `None`: as the service wants it.
    pub every: Option<Duration>,
    /// Where it remembers how far it has got.
    pub spool: PathBuf,
    /// Most bytes there.
    pub spool_bytes: u64,
}

/// An agent.
pub struct Agent {
    options: Options,
    client: Client,
    memory: Memory,
    tails: BTreeMap<PathBuf, Tail>,
    names: KnownNames,
    every: Duration,
    /// What it has said last of what goes wrong.
    trouble: Option<String>,
}

impl Agent {
    /// Nothing is sent yet.
    pub fn new(options: Options) -> Result<Self, Error> {
        let client = Client::new(&options.to, &options.access)?;
        let memory = Memory::open(&options.spool, options.spool_bytes)?;
        let every = options.every.unwrap_or(USUAL);
        let (tails, names) = Default::default();
        Ok(Self { options, client, memory, tails, names, every, trouble: None })
    }

    /// Sends until `wait` says that it is to end, then what there is; fails if the service says no, and would again.
    pub fn run(&mut self, mut wait: impl FnMut(Instant) -> bool) -> Result<(), Error> {
        loop {
            let began = Instant::now();
            self.round(false)?;
            let next = began + self.every;
            while Instant::now() < next {
                if wait(next.min(Instant::now() + LOOK)) {
                    return self.round(true);
                }
                if self.look() {
                    break; // a program that has just started is sent at once
                }
            }
            if wait(Instant::now()) {
                return self.round(true);
            }
        }
    }

    /// Sends what has come of every recording.
    fn round(&mut self, is_last: bool) -> Result<(), Error> {
        self.look();
        let mut every = None;
        let mut trouble = None;
        for (path, tail) in &mut self.tails {
            if tail.is_done() {
                continue;
            }
            match tail.send(&self.client, &self.options.labelled, &mut self.names, &self.memory, is_last) {
                Ok(Some(answer)) => {
                    let wanted = Duration::from_millis(answer.every_ms.clamp(50, 3_600_000));
                    every = Some(every.map_or(wanted, |every: Duration| every.min(wanted)));
                }
                Ok(None) => {}
                Err(error @ Error::Refused { .. }) => return Err(error),
                // The service is asked once a round.
                Err(error @ Error::Away { .. }) => {
                    trouble = Some(format!("{error}; what is counted meanwhile will be sent later"));
                    break;
                }
                Err(error @ Error::Spool { .. }) => trouble = Some(error.to_string()),
                Err(error) => tracing::warn!("{}: {error}", path.display()),
            }
        }
        if trouble != self.trouble {
            match &trouble {
                Some(trouble) => tracing::warn!("{trouble}"),
                None => tracing::info!("{}: all is well again", self.client.service()),
            }
            self.trouble = trouble;
        }
        if self.options.every.is_none() {
            self.every = every.unwrap_or(self.every);
        }
        Ok(())
    }

    /// Finds recordings; whether there are new ones.
    fn look(&mut self) -> bool {
        let mut is_new = false;
        for folder in &self.options.folders {
            let found = recordings(folder).unwrap_or_else(|error| {
                tracing::debug!("{error}");
                Vec::new()
            });
            for path in found {
                if self.tails.contains_key(&path) {
                    continue;
                }
                match Tail::new(&path, &self.memory, &self.client) {
                    Ok(tail) => {
                        if !tail.is_done() {
                            tracing::info!("follows {}", path.display());
                        }
                        is_new |= !tail.is_done();
                        self.tails.insert(path, tail);
                    }
                    Err(error) => tracing::debug!("{error}"),
                }
            }
        }
        let memory = &self.memory;
        self.tails.retain(|_, tail| {
            let is_there = tail.is_there();
            if !is_there {
                memory.forget(tail.session());
            }
            is_there
        });
        is_new
    }
}
