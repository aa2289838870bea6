//! Frames of many recordings from bytes, with what is known of those by earlier ones.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use diytrace_profile::load::costs::Evidence;
use rustc_hash::FxHashMap;

use super::body::Body;
use super::received::{Received, Told, are_usual};
use super::{FRAME, MOST_NAME, cannot_be, parse, read, wrong};
use crate::Error;
use crate::dictionary::{Entries, ModuleNumber};

/// Most bytes of what is known of recordings. Of one that is forgotten all is asked for once more.
const MOST_BYTES: usize = 192 << 20;

/// Records take more memory than their bytes: a short text, for one, this many times as much at most.
const RECORD_PER_BYTE: usize = 32;

/// How many times somebody has begun to send; nobody has the first number.
static LINEAGES: AtomicU64 = AtomicU64::new(1);

/// What is known of a recording.
#[derive(Default)]
struct Known {
    checksum: u64,
    entries: Arc<Entries>,
    /// See [`Received::lineage`].
    lineage: u64,
    /// The bytes of what is told of it, and what they say.
    fixed: Vec<u8>,
    told: Option<Arc<Told>>,
    /// What the latest whole frame told of what hooks cost.
    evidence: Option<Arc<Evidence>>,
    /// The highest number of a module.
    most_module: Option<ModuleNumber>,
    /// Whether any paths are other than recordings have them.
    are_odd: bool,
    /// When it was asked for last, by the number of frames that had come.
    used: u64,
}

impl Known {
    fn bytes(&self) -> usize {
        let evidence = self.evidence.as_ref().map_or(0, |evidence| evidence.bytes());
        size_of::<Self>() + self.entries.bytes() + self.fixed.capacity() * (1 + RECORD_PER_BYTE) + evidence
    }

    /// What is told of the recording as a whole.
    fn told(&mut self, body: &mut Body, is_turn: bool) -> Result<Arc<Told>, Error> {
        if !is_turn && self.evidence.as_deref() != body.evidence.as_ref() {
            self.evidence = body.evidence.take().map(Arc::new);
            self.told = None;
        }
        if let Some(fixed) = body.news.fixed.take_if(|fixed| *fixed != self.fixed) {
            self.fixed = fixed;
            self.told = None;
        }
        match &self.told {
            Some(told) => Ok(told.clone()),
            None => Ok(self.told.insert(Arc::new(Told::read(&self.fixed, self.evidence.clone())?)).clone()),
        }
    }

    /// Its places and paths, with those that are new, and whether they are what recordings have.
    fn entries(&mut self, body: &Body) -> Result<(Arc<Entries>, bool), Error> {
        if body.news.has_entries() {
            // Nobody else has them: whoever sends the next frame waits for what became of the one before.
            let entries = Arc::make_mut(&mut self.entries);
            let (places, paths) = (entries.places().len(), entries.paths().len());
            body.news.add_to(entries).ok_or_else(cannot_be)?;
            self.most_module = entries.places()[places..]
                .iter()
                .map(|(module, _)| *module)
                .max()
                .max(Some(self.most_module))
                .flatten();
            self.are_odd |= !are_usual(entries, paths);
        }
        Ok((self.entries.clone(), !self.are_odd))
    }
}

/// Frames that come.
pub struct Incoming {
    sessions: Mutex<Sessions>,
    most_bytes: usize,
}

impl Default for Incoming {
    fn default() -> Self {
        Self::bounded(MOST_BYTES)
    }
}

#[derive(Default)]
struct Sessions {
    known: FxHashMap<String, Known>,
    bytes: usize,
    frames: u64,
}

impl Incoming {
    /// With so much room for what is known of recordings.
    pub fn bounded(most_bytes: usize) -> Self {
        Self { sessions: Mutex::default(), most_bytes }
    }

    /// A frame from bytes that anybody may have sent: at most so many when they are inflated.
    pub fn decode(&self, bytes: &[u8], most: u64) -> Result<Received, Error> {
        self.frame(read(FRAME, bytes, most)?, false)
    }

    /// The same of one that came with others: see [`super::apart`].
    pub fn decode_one(&self, bytes: &[u8]) -> Result<Received, Error> {
        self.frame(parse(bytes)?, true)
    }

    /// `is_turn`: what tells what hooks cost is as it was, and not sent again.
    fn frame(&self, mut body: Body, is_turn: bool) -> Result<Received, Error> {
        match &body {
            _ if body.session.is_empty() || body.session.len() > MOST_NAME => {
                return wrong("its recording has no name");
            }
            _ if i64::try_from(body.sequence).is_err() || body.start > body.end => {
                return wrong("it ends before it begins");
            }
            _ => {}
        }
        // Whoever sends the next of this recording waits for the answer to this one.
        let mut known = self.take(&body)?;
        known.checksum = body.news.checksum(body.known);
        let (entries, are_usual) = known.entries(&body)?;
        let told = known.told(&mut body, is_turn)?;
        let are_usual = are_usual && told.has_modules(known.most_module);
        let session = body.session.clone();
        let received = Received::of(body, told, (entries, known.lineage), are_usual)?;
        self.keep(session, known);
        Ok(received)
    }

    /// What is known of its recording.
    fn take(&self, body: &Body) -> Result<Known, Error> {
        let Body { session, known, .. } = body;
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let before = sessions.remove(session);
        if *known == 0 {
            return Ok(Known { lineage: LINEAGES.fetch_add(1, Relaxed), ..Known::default() });
        }
        let unknown = || Error::Unknown { session: session.clone() };
        before.filter(|before| before.checksum == *known).ok_or_else(unknown)
    }

    fn keep(&self, session: String, mut known: Known) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.frames += 1;
        known.used = sessions.frames;
        sessions.bytes += known.bytes();
        if let Some(before) = sessions.known.insert(session, known) {
            sessions.bytes -= before.bytes();
        }
        if sessions.bytes > self.most_bytes {
            sessions.forget(self.most_bytes / 4 * 3);
        }
    }
}

impl Sessions {
    fn remove(&mut self, session: &str) -> Option<Known> {
        let known = self.known.remove(session)?;
        self.bytes -= known.bytes();
        Some(known)
    }

    /// Forgets those that were not asked for the longest, until the others take no more than that: many at once, so that it is seldom
    /// done.
    fn forget(&mut self, bytes: usize) {
        let mut all: Vec<(u64, String)> =
            self.known.iter().map(|(session, known)| (known.used, session.clone())).collect();
        all.sort_unstable();
        for (_, session) in all {
            if self.bytes <= bytes {
                break;
            }
            self.remove(&session);
        }
    }
}

#[cfg(test)]
mod tests {
    use diytrace_profile::load::costs::Costs;
    use diytrace_profile::testing::{Call, arena, family, record};

    use super::*;
    use crate::{Frame, Labelled, Outgoing};

    const MOST: u64 = 1 << 20;

    fn frame(session: &str, functions: u64) -> Frame {
        let call = |function: u64| Call { function: 0x1000 + 16 * function, own: 10, callees: Vec::new() };
        let family = family(vec![arena(record(&(0..functions).map(call).collect::<Vec<_>>(), Costs::default(), 3))]);
        Frame { session: session.to_owned(), ..crate::frame(None, &family, &Labelled::default()) }
    }

    fn calls(decoded: Result<Received, Error>) -> Option<u64> {
        match decoded.and_then(|received| received.frame()) {
            Ok(frame) => Some(frame.merged.groups[0].calls),
            Err(Error::Unknown { .. }) => None,
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn paths_go_once_and_again_only_when_they_are_not_known() {
        let (mut outgoing, incoming) = (Outgoing::default(), Incoming::default());
        let first = outgoing.encode(&frame("a", 100));
        assert_eq!(calls(incoming.decode(&first, MOST)), Some(100));
        outgoing.acknowledged();
        let second = outgoing.encode(&frame("a", 101));
        assert!(second.len() < first.len() / 2, "{} of {}", second.len(), first.len());
        assert_eq!(calls(incoming.decode(&second, MOST)), Some(101));
        // The answer is lost, and the frame comes once more: it tells of more than is known.
        assert_eq!(calls(incoming.decode(&second, MOST)), None);
        assert_eq!(calls(incoming.decode(&second, MOST)), None);
        outgoing.forgotten();
        assert_eq!(calls(incoming.decode(&outgoing.encode(&frame("a", 102)), MOST)), Some(102));
        outgoing.acknowledged();
        assert_eq!(calls(incoming.decode(&outgoing.encode(&frame("a", 103)), MOST)), Some(103));
        // Whoever is started anew knows nothing.
        outgoing.acknowledged();
        assert_eq!(calls(Incoming::default().decode(&outgoing.encode(&frame("a", 104)), MOST)), None);
    }

    #[test]
    fn of_too_many_recordings_those_are_forgotten_that_sent_nothing_the_longest() {
        let incoming = Incoming { most_bytes: 100_000, ..Incoming::default() };
        let sessions: Vec<String> = (0..50).map(|number| number.to_string()).collect();
        let mut all: Vec<Outgoing> = sessions.iter().map(|_| Outgoing::default()).collect();
        for (session, outgoing) in sessions.iter().zip(&mut all) {
            assert_eq!(calls(incoming.decode(&outgoing.encode(&frame(session, 100)), MOST)), Some(100));
            outgoing.acknowledged();
            assert!(incoming.sessions.lock().unwrap().bytes <= 100_000);
        }
        let mut again =
            |number: usize| calls(incoming.decode(&all[number].encode(&frame(&sessions[number], 100)), MOST));
        assert_eq!((again(49), again(0)), (Some(100), None));
    }
}
