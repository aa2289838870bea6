//! A worker tells what its threads count: a frame four times a second, each until it is heard.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;

use diytrace_load::crew::{Frame, Go};
use diytrace_load::{EVERY, Part, Tally};

/// A thread that has not told by then is not waited for.
const LATE_NS: u64 = 50_000_000;

/// What is to be told of a phase.
pub struct Telling {
    worker: String,
    go: Go,
    begins_ns: u64,
    parts: Receiver<Part>,
    /// What is in no frame yet.
    tally: Tally,
    /// Up to when each thread has told, in nanoseconds since the phase began.
    until: BTreeMap<u64, u64>,
    sequence: u64,
    /// When the next frame is due.
    next_ns: u64,
}

impl Telling {
    /// Of a phase that begins at a moment of this machine's clock.
    pub fn of(worker: &str, go: &Go, threads: std::ops::Range<u64>, begins_ns: u64, parts: Receiver<Part>) -> Self {
        Self {
            worker: worker.to_owned(),
            go: go.clone(),
            begins_ns,
            parts,
            tally: Tally::new(0),
            until: threads.map(|thread| (thread, 0)).collect(),
            sequence: 0,
            next_ns: EVERY.as_nanos() as u64,
        }
    }

    /// Takes what threads have counted; the next frame, if it is time for it.
    pub fn due(&mut self, now_ns: u64, clock_error_ns: u64) -> Option<Frame> {
        self.take();
        let age = now_ns.saturating_sub(self.begins_ns);
        let all_have = self.until.values().all(|until| *until >= self.next_ns);
        if age < self.next_ns || !all_have && age < self.next_ns + LATE_NS {
            return None;
        }
        let every = EVERY.as_nanos() as u64;
        self.next_ns += (age - self.next_ns) / every * every + every;
        let until_ns = self.until.values().copied().min().unwrap_or(0);
        Some(self.frame(until_ns, clock_error_ns))
    }

    /// The last frame, with what threads have counted that they had told nobody.
    pub fn last(&mut self, rest: Tally, clock_error_ns: u64, leaves: bool) -> Frame {
        self.take();
        self.tally.merge(rest);
        let length_ns = u64::try_from(self.go.stretch.duration.as_nanos()).unwrap_or(u64::MAX);
        let until_ns = self.until.values().copied().min().unwrap_or(0).max(length_ns);
        Frame { is_last: true, leaves, ..self.frame(until_ns, clock_error_ns) }
    }

    fn take(&mut self) {
        for Part { thread, until_ns, tally } in self.parts.try_iter() {
            self.tally.merge(tally);
            self.until.insert(thread, until_ns.saturating_sub(self.begins_ns));
        }
    }

    fn frame(&mut self, until_ns: u64, clock_error_ns: u64) -> Frame {
        let sequence = self.sequence;
        self.sequence += 1;
        Frame {
            worker: self.worker.clone(),
            run: self.go.run.clone(),
            phase: self.go.phase,
            sequence,
            until_ns,
            clock_error_ns,
            is_last: false,
            leaves: false,
            tally: std::mem::replace(&mut self.tally, Tally::new(0)),
        }
    }
}
