//! A recording that is followed.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use diytrace_profile::load::reader::{Reader, Reading};
use diytrace_profile::load::{self, Changes, Family, Watched};
use diytrace_profile::merge::Followed;
use diytrace_profile::process::State;
use diytrace_store::{Frame, Labelled, Outgoing, Turn, frame, session};

use crate::Error;
use crate::client::{Answer, Client, OfOne, Sent};
use crate::memory::{Memory, Remembered, Version};
use crate::names::KnownNames;

/// Readings are remembered no more often: what was sent since is sent once more, as a part of one slice.
const REMEMBERED_EVERY: Duration = Duration::from_secs(30);

/// A recording that is followed.
pub struct Tail {
    path: PathBuf,
    reader: Reader,
    session: String,
    outgoing: Outgoing,
    /// The reading up to which the service has all; `None`: it has nothing.
    acknowledged: Option<Family>,
    /// The number of the next frame.
    next: u64,
    /// Whether frames of that number and later ones may be there: an agent before this one has sent them.
    may_be_there: bool,
    remembered: Option<Instant>,
    /// As which file it had ended, and all of it was sent.
    done: Option<Version>,
    /// What is known of the acknowledged reading, for frames of what has changed alone.
    followed: Option<(Watched, Followed)>,
    /// While such a frame is on its way: how to take back that it was acknowledged.
    changes: Option<Changes>,
}

/// What there is to send of a recording.
pub enum Turned {
    /// Nothing.
    Nothing,
    /// A frame of what has changed, to go with those of others; see [`Tail::taken`].
    Frame(Vec<u8>),
    /// What can be told by a whole frame only: see [`Tail::send`].
    Whole,
}

/// What became of a recording's file.
pub enum Stands {
    /// It is there.
    AsItWas,
    /// It is not there any more.
    Gone,
    /// Its recording had ended, and something else is there.
    Written,
}

impl Tail {
    /// Follows a recording from where an agent before this one has left it.
    ///
    /// `bytes`: memory to read into, for all in turn.
    pub fn new(path: &Path, memory: &Memory, client: &Client, bytes: &mut Vec<u8>) -> Result<Self, Error> {
        let mut reader = Reader::new(path.to_owned());
        let session = session(&lent(&mut reader, bytes, Reader::read)?.family);
        let (mut next, mut acknowledged, mut done) = (0, None, None);
        if let Some((known, reading)) = memory.of(&session, client.service()) {
            done = known.done.filter(|done| Version::of(path) == Some(*done));
            if reading.is_some() {
                (next, acknowledged) = (known.next, reading);
            }
        }
        let path = path.to_owned();
        let (outgoing, remembered, followed, changes) = Default::default();
        let may_be_there = true;
        Ok(Self {
            path,
            reader,
            session,
            outgoing,
            acknowledged,
            next,
            may_be_there,
            remembered,
            done,
            followed,
            changes,
        })
    }

    /// Whether all of it was sent, and there will be no more.
    pub fn is_done(&self) -> bool {
        self.done.is_some()
    }

    /// The recording.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// What became of its file.
    pub fn stands(&self) -> Stands {
        match (Version::of(&self.path), &self.done) {
            (None, _) => Stands::Gone,
            (Some(now), Some(done)) if now != *done => Stands::Written,
            _ => Stands::AsItWas,
        }
    }

    /// What has changed since the last time, as far as a look at that is enough.
    pub fn turn(&mut self) -> Turned {
        self.take_back();
        let Self { reader, session, outgoing, acknowledged, followed, .. } = self;
        // Now and then all is read: what is to be remembered, and what nobody looks at in between.
        let is_due = self.remembered.is_none_or(|at| at.elapsed() >= REMEMBERED_EVERY);
        let (Some((watched, followed)), Some(family), false) = (followed.as_mut(), acknowledged.as_mut(), is_due)
        else {
            return Turned::Whole;
        };
        let Some(mut changes) = reader.look(watched, family) else {
            return Turned::Whole;
        };
        let addition = followed.since(family, &changes);
        if addition.calls + addition.lost_calls == 0 && addition.paths.is_empty() {
            return Turned::Nothing;
        }
        match outgoing.turn(Turn { session, sequence: self.next }, &addition) {
            Some(frame) => {
                // While all that is at hand: nearly always it will be acknowledged.
                followed.note(family, &changes);
                watched.swap(&mut changes, family);
                self.changes = Some(changes);
                Turned::Frame(frame)
            }
            None => Turned::Whole,
        }
    }

    /// What became of the frame of what has changed. Whether a whole one is needed.
    pub fn taken(&mut self, answer: OfOne) -> bool {
        match answer.status {
            200 => {
                self.changes = None;
                self.outgoing.acknowledged();
                self.next = answer.next;
            }
            428 => self.outgoing.forgotten(),
            408 | 429 | 500..=599 => return false, // it may take it later
            _ => {}                                // of a whole one it says why, if it is not taken either
        }
        answer.status != 200
    }

    /// What was sent last was not acknowledged.
    fn take_back(&mut self) {
        let (Some(mut changes), Some(family)) = (self.changes.take(), self.acknowledged.as_mut()) else { return };
        if let Some((watched, followed)) = &mut self.followed {
            followed.note(family, &changes);
            watched.swap(&mut changes, family);
        }
    }

    /// Sends what has come since the last time; the service's answer, if there was anything to send.
    pub fn send(
        &mut self,
        client: &Client,
        labelled: &Labelled,
        names: &mut KnownNames,
        memory: &Memory,
        is_last: bool,
        bytes: &mut Vec<u8>,
    ) -> Result<Option<Answer>, Error> {
        std::mem::swap(self.reader.memory(), bytes);
        let sent = self.send_whole(client, labelled, names, memory, is_last);
        std::mem::swap(self.reader.memory(), bytes);
        sent
    }

    fn send_whole(
        &mut self,
        client: &Client,
        labelled: &Labelled,
        names: &mut KnownNames,
        memory: &Memory,
        is_last: bool,
    ) -> Result<Option<Answer>, Error> {
        self.take_back();
        self.followed = None;
        let version = Version::of(&self.path);
        let reading = self.reader.read()?;
        if session(&reading.family) != self.session {
            return Err(Error::Replaced);
        }
        // A snapshot is a copy of what is, or was, sent as itself.
        if reading.family.snapshot.is_some() {
            self.done = version;
            return Ok(None);
        }
        let runs = reading.family.arenas.iter().any(|arena| arena.state == State::Running);
        let has_ended = !runs && !self.reader.is_mapped();
        let mut frame = self.frame(&reading.family, labelled);
        if !has_ended && !tells_anything(&frame) {
            return Ok(None);
        }
        let answer = match client.send(&frame, &mut self.outgoing)? {
            Sent::Acknowledged(answer) => answer,
            Sent::Overlap => {
                (self.acknowledged, self.next) = (None, 0);
                frame = self.frame(&reading.family, labelled);
                match client.send(&frame, &mut self.outgoing)? {
                    Sent::Acknowledged(answer) => answer,
                    Sent::Overlap => {
                        let said = "it takes no frame of this recording".to_owned();
                        return Err(Error::Refused { service: client.service().to_owned(), said });
                    }
                }
            }
        };
        // A service that was started anew may have another store.
        if self.outgoing.was_forgotten() {
            names.forget();
        }
        if self.outgoing.told_places() {
            names.add(&self.path, &frame.merged);
        }
        names.send(client, is_last || has_ended)?;
        (self.next, self.may_be_there) = (answer.next, false);
        self.done = version.filter(|_| has_ended);
        let is_due = is_last || has_ended || self.remembered.is_none_or(|at| at.elapsed() >= REMEMBERED_EVERY);
        let remembered = if is_due { self.remember(&reading, memory, client) } else { Ok(()) };
        // The service has it, whether that can be remembered or not.
        self.acknowledged = Some(reading.family).filter(|_| !has_ended);
        if let Some(family) = &mut self.acknowledged
            && let Some(watched) = self.reader.watch(family)
        {
            family.shrink();
            let followed = Followed::of(family);
            self.followed = self.outgoing.follow(family, &followed).then_some((watched, followed));
        }
        if has_ended {
            self.outgoing = Outgoing::default(); // what it knew of its paths
        }
        remembered.map(|()| Some(answer))
    }

    fn frame(&self, family: &Family, labelled: &Labelled) -> Frame {
        let since = self.acknowledged.as_ref();
        let holds_later = since.is_none() || self.may_be_there;
        Frame { sequence: self.next, holds_later, ..frame(since, family, labelled) }
    }

    fn remember(&mut self, reading: &Reading, memory: &Memory, client: &Client) -> Result<(), Error> {
        let known = Remembered::new(client.service(), self.next, &self.path, self.done);
        let snapshot = (!self.is_done()).then(|| self.reader.snapshot(reading));
        memory.keep(&self.session, &known, snapshot.as_deref())?;
        self.remembered = Some(Instant::now());
        Ok(())
    }
}

/// What a reader does with memory that is lent to it.
fn lent<T>(reader: &mut Reader, bytes: &mut Vec<u8>, act: impl FnOnce(&mut Reader) -> T) -> T {
    std::mem::swap(reader.memory(), bytes);
    let done = act(reader);
    std::mem::swap(reader.memory(), bytes);
    done
}

/// Whether a frame tells anything beyond that time has passed.
fn tells_anything(frame: &Frame) -> bool {
    let Some(group) = frame.merged.groups.first() else { return false };
    group.calls + group.lost_calls > 0 || !group.tree.paths.is_empty()
}

/// Recordings in a folder. One that cannot be read now may be so later.
pub fn recordings(folder: &Path) -> Result<Vec<PathBuf>, load::Error> {
    match load::find(&[folder.to_owned()]) {
        Ok(found) => Ok(found.into_iter().map(|found| found.path).filter(|path| is_profile(path)).collect()),
        Err(load::Error::Empty { .. } | load::Error::Missing { .. }) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn is_profile(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "diyt")
}
