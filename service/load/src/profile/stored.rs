//! Reads what a profile store has of the server: slices that an agent has sent while load went on.
//!
//! A slice lies between two readings of an agent, and what is in it came at any time between. So each step lies between two
//! rests, in which nothing is on its way, and these last until a slice has ended in them: then no slice has something of a step
//! and something of what was before or after, and calls a request are exact, however long slices are.

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use diytrace_compare::statistics::median;
use diytrace_store::{self as store, Address, FrameFacts, GroupBy, Query, Range};

use super::cost::Costs;
use super::growth::FEWEST;
use super::seen::{Counted, MOMENT, MOMENTS, Moment, Part, REST, SLICES, Seen};
use crate::Error;
use crate::fleet::Going;
use crate::pace::Pace;
use crate::run::{Observer, Step};

/// Clocks of hosts may differ by so much.
const CLOCKS: Duration = Duration::from_millis(100);

/// The store is looked into so often while a slice is waited for.
const POLL: Duration = Duration::from_millis(50);

/// What a recording has counted nothing in is not sent: who has sent nothing yet has so long.
const UNKNOWN: Duration = Duration::from_secs(12);

/// And who has, so many times its slices, and a bit.
const PATIENCE: (f64, Duration) = (3.0, Duration::from_secs(2));

/// Looks into a store at the ends of each step, and hands everything on to whoever looks on, too.
pub struct Stored<'a> {
    address: Address,
    store: store::Stored,
    select: String,
    query: Query,
    inner: &'a mut dyn Observer,
    /// When the last rest was over, by the clock of the slice that ended it.
    rested: i64,
    /// How many requests were done at which moments of this step.
    done: Vec<(i64, u64)>,
    /// Of the steps that are over.
    pub seen: Vec<Seen>,
}

impl<'a> Stored<'a> {
    /// Of the series with these labels. They need not be there yet: a server that nobody has asked anything has counted nothing.
    pub fn open(address: Address, select: &str, inner: &'a mut dyn Observer) -> Result<Self, Error> {
        let store = store::open(&address, false)?;
        let query = Query::parse(select, Range::default())?;
        let (rested, select) = (now_ns(), select.to_owned());
        Ok(Self { address, store, select, query, inner, rested, done: Vec::new(), seen: Vec::new() })
    }

    /// Waits until each recording that has sent something has sent a slice that ended in this rest, or seems to have counted nothing
    /// since its last; up to when all is told.
    fn rest(&mut self) -> Result<i64, Error> {
        let began = now_ns();
        let after = began + ns(REST + CLOCKS);
        loop {
            sleep(POLL);
            let found = self.slices(self.rested, i64::MAX);
            // A server that was never asked anything has no series, and others may.
            let is_unknown =
                matches!(found, Err(store::Error::UnknownLabel { .. } | store::Error::UnknownValue { .. }));
            if is_unknown && now_ns() - began < ns(UNKNOWN) {
                continue;
            }
            let slices = found?;
            let mut latest = BTreeMap::<&str, i64>::new();
            for slice in &slices {
                let latest = latest.entry(&slice.session).or_insert(slice.ended);
                *latest = slice.ended.max(*latest);
            }
            let widths: Vec<f64> = slices.iter().map(|slice| (slice.ended - slice.started) as f64).collect();
            let patience = match widths.is_empty() {
                true => ns(UNKNOWN),
                false => (PATIENCE.0 * median(&widths)) as i64 + ns(PATIENCE.1),
            };
            let is_told = !latest.is_empty() && latest.values().all(|ended| *ended >= after);
            if is_told || now_ns() - began > patience {
                return Ok(latest.into_values().fold(after, i64::max));
            }
        }
    }

    /// Slices that ended after a moment, up to another.
    fn slices(&self, since: i64, until: i64) -> Result<Vec<FrameFacts>, store::Error> {
        match self.store.frames(&self.between(since, until)) {
            Err(store::Error::Empty { .. } | store::Error::Nothing { .. }) => Ok(Vec::new()),
            found => found,
        }
    }

    fn between(&self, since: i64, until: i64) -> Query {
        Query { range: Range { since, until }, ..self.query.clone() }
    }

    fn part(&self, since: i64, until: i64, requests: u64) -> Part {
        let counted = Selected { address: self.address.clone(), query: self.between(since, until) };
        Part { requests, counted: Box::new(counted) }
    }

    /// Moments at which slices of a step end, of the recording that has most of them, and how many requests were done then.
    fn cuts(&self, slices: &[FrameFacts]) -> Vec<(i64, u64)> {
        let mut cuts = BTreeMap::<&str, Vec<(i64, u64)>>::new();
        for slice in slices {
            if let Some(done) = done_at(&self.done, slice.ended) {
                cuts.entry(&slice.session).or_default().push((slice.ended, done));
            }
        }
        let mut cuts = cuts.into_values().max_by_key(Vec::len).unwrap_or_default();
        cuts.sort_unstable();
        cuts
    }

    /// Parts of a step that begin and end with slices.
    fn parts(&self, cuts: &[(i64, u64)]) -> Vec<Part> {
        let parts = SLICES.min(cuts.len().saturating_sub(1));
        let cut = |number: usize| cuts[number * (cuts.len() - 1) / parts.max(1)];
        let part = |number: usize| {
            let ((since, before), (until, done)) = (cut(number), cut(number + 1));
            (done > before).then(|| self.part(since, until, done - before))
        };
        (0..parts).filter_map(part).collect()
    }

    /// Its moments: slices, or several of them where they are shorter, or too many.
    fn moments(&self, cuts: &[(i64, u64)]) -> Vec<Moment> {
        let Some(began) = self.done.first().map(|(at, _)| *at) else { return Vec::new() };
        let least = ns(MOMENT).max(cuts.last().map_or(0, |(ended, _)| (ended - began) / MOMENTS as i64));
        let mut moments = Vec::new();
        let mut from = cuts.first().copied();
        for to in cuts.iter().copied() {
            let Some((since, before)) = from.filter(|(since, _)| to.0 - since >= least) else { continue };
            let at = |moment: i64| u64::try_from(moment - began).unwrap_or(0);
            moments.push(Moment {
                from_ns: at(since),
                to_ns: at(to.0),
                part: self.part(since, to.0, to.1.saturating_sub(before)),
            });
            from = Some(to);
        }
        moments
    }
}

impl Observer for Stored<'_> {
    fn begin(&mut self, number: usize, pace: Pace) -> Result<(), Error> {
        self.inner.begin(number, pace)?;
        self.rested = self.rest()?;
        self.done.clear();
        Ok(())
    }

    fn look(&mut self, going: Going<'_>) -> Result<(), Error> {
        self.done.push((now_ns(), going.done));
        self.inner.look(going)
    }

    fn end(&mut self, step: &Step) -> Result<(), Error> {
        let (since, until) = (self.rested, self.rest()?);
        let slices = self.slices(since, until)?;
        if slices.is_empty() {
            return Err(Error::NothingSent { select: self.select.clone() });
        }
        let cuts = self.cuts(&slices);
        let parts = self.parts(&cuts);
        if parts.len() < FEWEST && !step.is_cut_short {
            return Err(Error::TooCoarse { select: self.select.clone(), least: FEWEST });
        }
        self.seen.push(Seen {
            whole: self.part(since, until, step.tally.reached()),
            slices: parts,
            moments: self.moments(&cuts),
        });
        self.rested = until;
        self.inner.end(step)
    }
}

/// Slices of a store.
struct Selected {
    address: Address,
    query: Query,
}

impl Counted for Selected {
    fn costs(&self, requests: u64) -> Result<Costs, Error> {
        let store = store::open(&self.address, false)?;
        Costs::of(&store::open_selection(store, &self.query, &GroupBy::All)?, requests)
    }
}

/// How many requests were done at a moment, if it lies in the step: from the last look before it to the next, evenly.
fn done_at(done: &[(i64, u64)], moment: i64) -> Option<u64> {
    let next = done.partition_point(|(at, _)| *at < moment);
    let (before, after) = (done.get(next.checked_sub(1)?)?, done.get(next)?);
    let part = (moment - before.0) as f64 / (after.0 - before.0).max(1) as f64;
    Some(before.1 + ((after.1 - before.1) as f64 * part).round() as u64)
}

fn ns(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// Nanoseconds since 1970, as slices have them.
fn now_ns() -> i64 {
    ns(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_told_between_two_looks() {
        let done = [(100, 10), (200, 20), (300, 60)];
        for (moment, expected) in [(99, None), (100, None), (101, Some(10)), (150, Some(15)), (200, Some(20))] {
            assert_eq!(done_at(&done, moment), expected, "{moment}");
        }
        assert_eq!((done_at(&done, 250), done_at(&done, 300), done_at(&done, 301)), (Some(40), Some(60), None));
    }
}
