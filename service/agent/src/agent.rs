//! An agent: follows all recordings in its folders.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use diytrace_profile::load;
use diytrace_store::Labelled;

use crate::client::Client;
use crate::heap::Heap;
use crate::memory::Memory;
use crate::names::KnownNames;
use crate::tail::{Stands, Tail, Turned, recordings};
use crate::{Access, Error};

/// How often frames are sent while the service has not said how often it wants them.
const USUAL: Duration = Duration::from_secs(10);

/// How often folders are looked into for new recordings, at least; as often as frames are sent, but not more often than that.
const LOOK: Duration = Duration::from_secs(1);
const LOOK_AT_MOST: Duration = Duration::from_millis(250);

/// A service that is away, or asks to come again, is asked no sooner: it says so itself (`Retry-After`).
const AGAIN: Duration = Duration::from_secs(1);

/// Frames of so many bytes go together: what they were made of is in memory until they are acknowledged.
const TOGETHER: usize = 128 << 10;

/// What the service has said in a round.
#[derive(Default)]
struct Told {
    every: Option<Duration>,
    trouble: Option<String>,
    /// It is away, or has asked to come again, with some frames at least.
    is_busy: bool,
}

impl Told {
    /// It wants frames so often.
    fn wants(&mut self, every_ms: u64) {
        let wanted = Duration::from_millis(every_ms.clamp(50, 3_600_000));
        self.every = Some(self.every.map_or(wanted, |every| every.min(wanted)));
    }

    fn is_away(&mut self, error: &Error) {
        self.is_busy = true;
        self.trouble = Some(format!("{error}; what is counted meanwhile will be sent later"));
    }
}

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
    /// When it looked for recordings last.
    looked: Option<Instant>,
    /// What recordings are read into, one after the other.
    bytes: Vec<u8>,
    heap: Heap,
    /// What it has said last of what goes wrong.
    trouble: Option<String>,
    /// Files and folders of which it has said that it may not read them.
    denied: BTreeSet<PathBuf>,
    /// The recording that the service did not take in the last round, as it was away.
    last: Option<PathBuf>,
    /// Whether the service was away in the last round, or busy.
    is_to_wait: bool,
    /// Whether the service has ever taken anything: then it may again, whatever stands before it says meanwhile.
    was_taken: bool,
}

impl Agent {
    /// Nothing is sent yet.
    pub fn new(options: Options) -> Result<Self, Error> {
        let client = Client::new(&options.to, &options.access)?;
        let memory = Memory::open(&options.spool, options.spool_bytes)?;
        let every = options.every.unwrap_or(USUAL);
        let (tails, names, bytes, heap, looked, denied) = Default::default();
        Ok(Self {
            options,
            client,
            memory,
            tails,
            names,
            every,
            looked,
            bytes,
            heap,
            trouble: None,
            denied,
            last: None,
            is_to_wait: false,
            was_taken: false,
        })
    }

    /// The service, as it may be shown.
    pub fn service(&self) -> &str {
        self.client.service()
    }

    /// Sends until `wait` says that it is to end, then what there is; fails if the service says no to all of it.
    pub fn run(&mut self, mut wait: impl FnMut(Instant) -> bool) -> Result<(), Error> {
        for folder in self.options.folders.iter().filter(|folder| !folder.exists()) {
            tracing::info!("{} is not there yet: what is recorded in it later is sent", folder.display());
        }
        loop {
            let began = Instant::now();
            self.round(false)?;
            let next = began + if self.is_to_wait { self.every.max(AGAIN) } else { self.every };
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
        if is_last {
            self.looked = None; // what has come a moment ago is sent, too
        }
        self.look();
        let mut told = Told::default();
        let mut whole = if is_last { self.tails.keys().cloned().collect() } else { self.turn(&mut told)? };
        // One that takes too long over a slow network does not keep the others waiting for ever.
        if let Some(last) = self.last.take() {
            let behind = whole.iter().position(|path| *path > last).unwrap_or(0);
            whole.rotate_left(behind);
        }
        let has_whole = !whole.is_empty();
        for path in whole {
            let Some(tail) = self.tails.get_mut(&path).filter(|tail| !tail.is_done()) else { continue };
            let (names, bytes) = (&mut self.names, &mut self.bytes);
            match tail.send(&self.client, &self.options.labelled, names, &self.memory, is_last, bytes) {
                Ok(Some(answer)) => {
                    self.was_taken = true;
                    told.wants(answer.every_ms);
                }
                Ok(None) => {}
                Err(error @ Error::Refused { .. }) if !self.was_taken || is_last => return Err(error),
                // The service is asked once a round; others begin the next one.
                Err(error @ (Error::Away { .. } | Error::Refused { .. })) => {
                    told.is_away(&error);
                    self.last = Some(path);
                    break;
                }
                Err(error @ (Error::Spool { .. } | Error::TooLarge { .. } | Error::Denied { .. })) => {
                    told.trouble = Some(format!("{}: {error}", path.display()));
                }
                Err(Error::Replaced) => {
                    tracing::warn!("{}: {}", path.display(), Error::Replaced);
                    self.memory.forget(tail.session());
                    self.tails.remove(&path);
                    self.looked = None; // it is followed from the next round on
                }
                // It is told when recordings are looked for.
                Err(Error::Load(_)) if !path.exists() => {}
                Err(error @ Error::Load(_)) => tracing::warn!("{error}"),
                Err(error) => tracing::warn!("{}: {error}", path.display()),
            }
        }
        if told.trouble.is_none() {
            match self.names.send(&self.client, is_last) {
                Err(error @ Error::Refused { .. }) if !self.was_taken || is_last => return Err(error),
                Err(error) => told.is_away(&error),
                Ok(()) => {}
            }
        }
        if has_whole {
            self.heap.give_back();
        }
        let Told { every, trouble, is_busy } = told;
        self.is_to_wait = is_busy;
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

    /// Sends what has changed in recordings, many together; those of which a whole frame is needed.
    fn turn(&mut self, told: &mut Told) -> Result<Vec<PathBuf>, Error> {
        let Self { tails, client, was_taken, .. } = self;
        let mut whole = Vec::new();
        let mut together: Vec<(&PathBuf, &mut Tail, Vec<u8>)> = Vec::new();
        let mut size = 0;
        let mut rest = tails.iter_mut().filter(|(_, tail)| !tail.is_done()).peekable();
        while let Some((path, tail)) = rest.next() {
            match tail.turn() {
                Turned::Nothing => {}
                Turned::Whole => whole.push(path.clone()),
                Turned::Frame(frame) => {
                    size += frame.len();
                    together.push((path, tail, frame));
                }
            }
            let is_full = size >= TOGETHER || rest.peek().is_none();
            if !is_full || together.is_empty() {
                continue;
            }
            size = 0;
            let frames: Vec<&[u8]> = together.iter().map(|(_, _, frame)| frame.as_slice()).collect();
            match client.send_together(&frames) {
                Ok((answers, every_ms)) => {
                    *was_taken = true;
                    told.wants(every_ms);
                    for ((path, tail, _), answer) in together.drain(..).zip(answers) {
                        told.is_busy |= matches!(answer.status, 408 | 429 | 500..=599);
                        if tail.taken(answer) {
                            whole.push(path.clone());
                        }
                    }
                }
                Err(error @ Error::Away { .. }) => {
                    told.is_away(&error);
                    return Ok(Vec::new());
                }
                // It may be one that takes frames alone only, and if it takes none it says so then.
                Err(Error::Refused { .. } | Error::TooLarge { .. }) => {
                    whole.extend(together.drain(..).map(|(path, _, _)| path.clone()))
                }
                Err(error) => return Err(error),
            }
        }
        Ok(whole)
    }

    /// Finds recordings, if it is time for that; whether there are new ones.
    fn look(&mut self) -> bool {
        let mut is_new = false;
        if self.looked.is_some_and(|at| at.elapsed() < self.every.clamp(LOOK_AT_MOST, LOOK)) {
            return false;
        }
        self.looked = Some(Instant::now());
        let memory = &self.memory;
        self.tails.retain(|path, tail| match tail.stands() {
            Stands::AsItWas => true,
            Stands::Written => false,
            Stands::Gone => {
                if !tail.is_done() {
                    tracing::warn!(
                        "{} was deleted while it was followed: what it had counted since it was sent last is lost",
                        path.display()
                    );
                }
                memory.forget(tail.session());
                false
            }
        });
        for folder in &self.options.folders {
            let found = recordings(folder).unwrap_or_else(|error| {
                tell(&mut self.denied, folder, &error);
                Vec::new()
            });
            for path in found {
                if self.tails.contains_key(&path) {
                    continue;
                }
                match Tail::new(&path, &self.memory, &self.client, &mut self.bytes) {
                    Ok(tail) => {
                        if !tail.is_done() {
                            tracing::info!("follows {}", path.display());
                        }
                        is_new |= !tail.is_done();
                        self.tails.insert(path, tail);
                    }
                    Err(Error::Load(error)) => tell(&mut self.denied, &path, &error),
                    Err(error) => tracing::debug!("{error}"),
                }
            }
        }
        self.denied.retain(|path| path.exists());
        is_new
    }
}

/// Tells why a file or folder is not read, once where that is not allowed; else it may be so in a moment.
fn tell(denied: &mut BTreeSet<PathBuf>, path: &Path, error: &load::Error) {
    let is_denied =
        matches!(error, load::Error::Unreadable { source, .. } if source.kind() == ErrorKind::PermissionDenied);
    if is_denied && denied.insert(path.to_owned()) {
        tracing::warn!("{error}: run the agent as the user that the program runs as, or as root");
    } else {
        tracing::debug!("{error}");
    }
}
