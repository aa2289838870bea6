//! What a worker has told of a phase: frames added up, each once.

use super::messages::{Frame, Refusal};
use crate::fleet::Counts;
use crate::tally::Tally;

/// A worker's frames of a phase.
#[derive(Clone, Debug)]
pub struct Frames {
    /// The number of the next.
    next: u64,
    /// Their sum.
    tally: Tally,
    /// Up to when they tell, in nanoseconds since the phase began.
    until_ns: u64,
    /// How many requests a nanosecond were done in the latest.
    pace: f64,
    /// Whether the last is there.
    is_done: bool,
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// It was added.
    Added,
    /// It was there before: its answer was lost.
    Known,
}

impl Default for Frames {
    fn default() -> Self {
        Self { next: 0, tally: Tally::new(0), until_ns: 0, pace: 0.0, is_done: false }
    }
}

impl Frames {
    /// Adds a frame, once however often it comes.
    pub fn add(&mut self, frame: Frame) -> Result<Told, Refusal> {
        if frame.sequence < self.next {
            return Ok(Told::Known);
        }
        if frame.sequence > self.next || self.is_done || frame.until_ns < self.until_ns || !frame.tally.is_sound() {
            return Err(Refusal::NoFrame);
        }
        let done = frame.tally.answered + frame.tally.errors();
        let took = frame.until_ns - self.until_ns;
        self.pace = if took > 0 { done as f64 / took as f64 } else { 0.0 };
        let mut tally = self.tally.clone();
        tally.merge(frame.tally);
        // Sums of what was sound may be too large.
        if !tally.is_sound() {
            return Err(Refusal::NoFrame);
        }
        self.tally = tally;
        self.next += 1;
        self.until_ns = frame.until_ns;
        self.is_done = frame.is_last;
        Ok(Told::Added)
    }

    /// Their sum.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The same in numbers.
    pub fn counts(&self) -> Counts {
        Counts::from(&self.tally)
    }

    /// Up to when they tell.
    pub fn until_ns(&self) -> u64 {
        self.until_ns
    }

    /// Requests that were done, and how many more there are up to a moment if it goes on so.
    pub fn done(&self, now_ns: u64) -> (u64, f64) {
        let since = if self.is_done { 0 } else { now_ns.saturating_sub(self.until_ns) };
        (self.tally.answered + self.tally.errors(), self.pace * since as f64)
    }

    /// Whether the last is there.
    pub fn is_done(&self) -> bool {
        self.is_done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::Sent;

    fn frame(sequence: u64, requests: u64) -> Frame {
        let mut tally = Tally::new(0);
        for number in 0..requests {
            let sent = Sent { planned_ns: sequence * 250_000_000 + number, sent_ns: sequence * 250_000_000 + number };
            tally.planned += 1;
            tally.send(sent, false);
            tally.answer(sent, sent.sent_ns + 1_000_000 * number);
        }
        let worker = "a".to_owned();
        Frame {
            worker,
            run: "r".to_owned(),
            phase: 1,
            sequence,
            until_ns: (sequence + 1) * 250_000_000,
            clock_error_ns: 0,
            is_last: sequence == 3,
            leaves: false,
            tally,
        }
    }

    #[test]
    fn a_frame_counts_once_however_often_it_comes() {
        let mut once = Frames::default();
        (0..4).for_each(|sequence| assert_eq!(once.add(frame(sequence, 10 + sequence)), Ok(Told::Added)));
        // Answers are lost, so frames come again; and some come again much later.
        let mut again = Frames::default();
        for sequence in [0, 0, 1, 0, 1, 1, 2, 3, 3, 0, 2] {
            again.add(frame(sequence, 10 + sequence)).unwrap();
        }
        assert!(again.tally() == once.tally() && again.is_done());
        assert_eq!((once.counts().sent, once.counts().answered, once.until_ns()), (46, 46, 1_000_000_000));
        assert_eq!(once.tally().latency.count(), 46);
        assert_eq!(once.tally().timeline.slices().iter().map(|slice| slice.latency.count()).sum::<u64>(), 46);
    }

    #[test]
    fn on_the_way_a_frame_stays_what_it_is() {
        let text = serde_json::to_string(&frame(2, 100)).unwrap();
        let (mut here, mut there) = (Frames::default(), Frames::default());
        for sequence in 0..2 {
            here.add(frame(sequence, 5)).unwrap();
            there.add(serde_json::from_str(&serde_json::to_string(&frame(sequence, 5)).unwrap()).unwrap()).unwrap();
        }
        here.add(frame(2, 100)).unwrap();
        there.add(serde_json::from_str(&text).unwrap()).unwrap();
        assert!(here.tally() == there.tally());
    }

    #[test]
    fn what_is_no_next_frame_changes_nothing() {
        let mut frames = Frames::default();
        frames.add(frame(0, 10)).unwrap();
        let mut unsound = frame(1, 10);
        unsound.tally.answered = 11;
        let mut huge = frame(1, 0);
        huge.tally.planned = u64::MAX;
        let earlier = Frame { until_ns: 1, ..frame(1, 10) };
        for wrong in [frame(2, 10), unsound, huge, earlier] {
            assert_eq!(frames.add(wrong), Err(Refusal::NoFrame));
        }
        assert_eq!(frames.counts().sent, 10);
        (1..4).for_each(|sequence| _ = frames.add(frame(sequence, 1)).unwrap());
        assert_eq!(frames.add(frame(4, 1)), Err(Refusal::NoFrame), "after the last");
        assert_eq!(frames.counts().sent, 13);
    }

    #[test]
    fn what_is_done_since_goes_on_as_it_did() {
        let mut frames = Frames::default();
        frames.add(frame(0, 25)).unwrap();
        let (done, since) = frames.done(350_000_000);
        assert!(done == 25 && (since - 10.0).abs() < 1e-6, "{done} and {since}");
    }
}
