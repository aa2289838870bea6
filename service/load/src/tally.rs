//! What a phase of load has come to: sums, which add up over threads.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::failure::{Failure, NotSent};
use crate::histogram::{Histogram, MOST_REQUESTS};
use crate::timeline::{Slice, Timeline};

/// What a phase has come to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// When the phase began, in nanoseconds of the run's clock, which another machine does not have.
    #[serde(skip)]
    began_ns: u64,
    /// Requests whose time had come.
    pub planned: u64,
    /// Those that were sent, or for which a connection was tried.
    pub sent: u64,
    /// Those that were answered well.
    pub answered: u64,
    /// Those that were sent, and the run was ended before the answer.
    pub cut_off: u64,
    /// Those that failed.
    #[serde(with = "pairs")]
    pub failures: BTreeMap<Failure, u64>,
    /// Those that were not sent.
    #[serde(with = "pairs")]
    pub not_sent: BTreeMap<NotSent, u64>,
    /// Answers by status.
    #[serde(with = "pairs")]
    pub statuses: BTreeMap<u16, u64>,
    /// Bytes of answers, with their heads.
    pub bytes: u64,
    /// Connections that were made.
    pub connections: u64,
    /// From plan to answer.
    pub latency: Histogram,
    /// From send to answer.
    pub from_send: Histogram,
    /// From plan to send, of those for which a connection was free at the time: what the driver itself is late.
    pub late: Histogram,
    /// When.
    pub timeline: Timeline,
}

/// A request that was sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent {
    /// When it was planned, in nanoseconds of the run's clock.
    pub planned_ns: u64,
    /// When it was sent.
    pub sent_ns: u64,
}

impl Tally {
    /// Of a phase that begins at this moment.
    pub fn new(began_ns: u64) -> Self {
        Self {
            began_ns,
            planned: 0,
            sent: 0,
            answered: 0,
            cut_off: 0,
            failures: BTreeMap::new(),
            not_sent: BTreeMap::new(),
            statuses: BTreeMap::new(),
            bytes: 0,
            connections: 0,
            latency: Histogram::fine(),
            from_send: Histogram::fine(),
            late: Histogram::fine(),
            timeline: Timeline::default(),
        }
    }

    /// One was sent; `waited` for a connection, or not.
    pub fn send(&mut self, sent: Sent, waited: bool) {
        self.sent += 1;
        if !waited {
            self.late.add(sent.sent_ns.saturating_sub(sent.planned_ns));
        }
    }

    /// One was answered well.
    pub fn answer(&mut self, sent: Sent, now_ns: u64) {
        let latency = now_ns.saturating_sub(sent.planned_ns);
        self.answered += 1;
        self.latency.add(latency);
        self.from_send.add(now_ns.saturating_sub(sent.sent_ns));
        self.timeline.at(sent.planned_ns.saturating_sub(self.began_ns)).latency.add(latency);
    }

    /// One has failed.
    pub fn fail(&mut self, sent: Sent, failure: Failure) {
        *self.failures.entry(failure).or_default() += 1;
        self.timeline.at(sent.planned_ns.saturating_sub(self.began_ns)).errors += 1;
    }

    /// One was not sent.
    pub fn skip(&mut self, planned_ns: u64, why: NotSent) {
        *self.not_sent.entry(why).or_default() += 1;
        self.timeline.at(planned_ns.saturating_sub(self.began_ns)).not_sent += 1;
    }

    /// How many have failed.
    pub fn errors(&self) -> u64 {
        self.failures.values().sum()
    }

    /// How many the server may have had: those that were sent, but for what had no connection to be sent on.
    pub fn reached(&self) -> u64 {
        let unseen = self.failures.iter().filter(|(failure, _)| failure.is_unseen());
        self.sent.saturating_sub(unseen.map(|(_, count)| count).sum())
    }

    /// How many were not sent.
    pub fn all_not_sent(&self) -> u64 {
        self.not_sent.values().sum()
    }

    /// Adds what another thread has of the same phase.
    pub fn merge(&mut self, other: Self) {
        self.planned += other.planned;
        self.sent += other.sent;
        self.answered += other.answered;
        self.cut_off += other.cut_off;
        self.bytes += other.bytes;
        self.connections += other.connections;
        other.failures.into_iter().for_each(|(key, count)| *self.failures.entry(key).or_default() += count);
        other.not_sent.into_iter().for_each(|(key, count)| *self.not_sent.entry(key).or_default() += count);
        other.statuses.into_iter().for_each(|(key, count)| *self.statuses.entry(key).or_default() += count);
        self.latency.merge(&other.latency);
        self.from_send.merge(&other.from_send);
        self.late.merge(&other.late);
        self.timeline.merge(other.timeline);
    }
}

impl Tally {
    /// Whether it can be added to others, and is one thing: it may come from anybody.
    pub fn is_sound(&self) -> bool {
        let numbers = [self.planned, self.sent, self.answered, self.cut_off, self.bytes, self.connections];
        let counts = self.failures.values().chain(self.not_sent.values()).chain(self.statuses.values());
        let are_small = numbers.iter().chain(counts).all(|count| *count < MOST_REQUESTS);
        // No server has that many kinds of errors; and sums of so many do not overflow.
        let has_few_kinds = self.failures.len() + self.statuses.len() <= 2000;
        are_small && has_few_kinds && self.has_one_of_each()
    }

    /// Whether each answer and error is in the distributions as often as it is counted.
    fn has_one_of_each(&self) -> bool {
        let histograms = [&self.latency, &self.from_send, &self.late];
        let of = |counted: fn(&Slice) -> u64| {
            self.timeline.slices().iter().try_fold(0u64, |sum, slice| sum.checked_add(counted(slice)))
        };
        histograms.iter().all(|histogram| !histogram.is_coarse())
            && [&self.latency, &self.from_send].iter().all(|histogram| histogram.count() == self.answered)
            && self.late.count() <= self.sent
            && of(|slice| slice.latency.count()) == Some(self.answered)
            && of(|slice| slice.errors) == Some(self.errors())
            && of(|slice| slice.not_sent) == Some(self.all_not_sent())
    }
}

/// Maps whose keys are no text, as pairs.
mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer, K: Serialize>(map: &BTreeMap<K, u64>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(map)
    }

    pub fn deserialize<'a, D: Deserializer<'a>, K: Deserialize<'a> + Ord>(
        from: D,
    ) -> Result<BTreeMap<K, u64>, D::Error> {
        Ok(Vec::<(K, u64)>::deserialize(from)?.into_iter().collect())
    }
}
