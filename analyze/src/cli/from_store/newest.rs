//! What came into a profile store last, for `top`.
//!
//! Slices of different recordings end at different moments. Shown is a window that is as long as the longest of the latest slices:
//! of slices that follow each other, one of each recording ends in it, and as many short ones as make one of these.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use diytrace_profile::error::Error as Whole;
use diytrace_profile::merge::By;
use diytrace_store::{self as store, Address, FrameFacts, GroupBy, Query, Range, Stored};

use crate::cli::wanted::Selection;
use crate::ctl::Error;
use crate::top::{Builder, Feed, Frame, Newest};

/// How long before the newest slice others are looked for, in nanoseconds.
const LOOK: i64 = 120_000_000_000;

/// The newest of a selection.
struct Window {
    address: Address,
    query: Query,
    stored: Stored,
    builder: Builder,
    /// Where rates begin, if somebody has chosen that.
    baseline: Option<i64>,
    /// What was there when it was looked last: until when, and how many slices.
    seen: Option<(i64, u64)>,
    frame: Option<Frame>,
}

/// Of a selection.
pub fn newest(selection: &Selection) -> Result<Box<dyn Feed>, Whole> {
    let open = || {
        let address: Address = selection.store.parse()?;
        let query = Query::parse(selection.labels, Range::default())?;
        let stored = store::open(&address, false)?;
        Ok(Window { address, query, stored, builder: Builder::default(), baseline: None, seen: None, frame: None })
    };
    open().map(|window| Box::new(window) as Box<dyn Feed>).map_err(|error: store::Error| Whole::Elsewhere(error.into()))
}

impl Window {
    fn look(&mut self) -> Result<bool, store::Error> {
        let series = self.stored.series()?;
        let name = self.address.to_string();
        self.query.check(&series.iter().map(|facts| &facts.labels).collect::<Vec<_>>(), None, &name)?;
        let chosen = || series.iter().filter(|facts| self.query.selects(&facts.labels));
        let until = chosen().map(|facts| facts.last).max();
        let until = until.ok_or_else(|| store::Error::Nothing { why: self.query.why_nothing() })?;
        let seen = Some((until, chosen().map(|facts| facts.frames).sum()));
        if seen == self.seen {
            return Ok(false);
        }
        let since = match self.baseline {
            Some(baseline) if baseline < until => baseline,
            _ => until - longest(&self.frames(until - LOOK, until)?),
        };
        self.show(since, until)?;
        self.seen = seen;
        Ok(true)
    }

    fn frames(&self, since: i64, until: i64) -> Result<Vec<FrameFacts>, store::Error> {
        self.stored.frames(&Query { range: Range { since, until }, ..self.query.clone() })
    }

    fn show(&mut self, since: i64, until: i64) -> Result<(), store::Error> {
        let range = Range { since, until };
        let query = Query { range, ..self.query.clone() };
        let frames = self.stored.frames(&query)?;
        let recordings: std::collections::BTreeSet<&str> = frames.iter().map(|frame| &*frame.session).collect();
        let opened = store::open_selection(store::open(&self.address, false)?, &query, &GroupBy::All)?;
        let labels = self.query.labels.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>();
        let of = match labels.is_empty() {
            true => self.address.to_string(),
            false => labels.join(","),
        };
        let newest = Newest { recordings: recordings.len() as u64, of, age_ns: 0 };
        let interval_ns = u64::try_from(until.saturating_sub(since)).unwrap_or(0).max(1);
        let (profile, at) = (self.address.to_string().into(), u64::try_from(until).unwrap_or(0));
        self.frame = Some(self.builder.of_newest(&opened, profile, newest, (at, interval_ns)));
        Ok(())
    }
}

/// The longest of the latest slices of recordings, in nanoseconds; at least one.
fn longest(frames: &[FrameFacts]) -> i64 {
    let mut latest: BTreeMap<&str, &FrameFacts> = BTreeMap::new();
    for frame in frames {
        let known = latest.entry(&frame.session).or_insert(frame);
        if frame.ended > known.ended {
            *known = frame;
        }
    }
    latest.values().map(|frame| frame.ended.saturating_sub(frame.started)).max().unwrap_or(1).max(1)
}

impl Feed for Window {
    fn read(&mut self) -> Result<bool, Error> {
        self.look().map_err(|error| Error::Store(Whole::Elsewhere(error.into())))
    }

    fn frame(&mut self, _: By) -> Option<Frame> {
        let mut frame = self.frame.clone()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        if let Some(newest) = &mut frame.newest {
            newest.age_ns = u64::try_from(now).unwrap_or(u64::MAX).saturating_sub(frame.at_unix_ns);
        }
        Some(frame)
    }

    fn rebase(&mut self) -> Result<(), Error> {
        self.baseline = self.seen.map(|(until, _)| until);
        Ok(())
    }

    fn intervals(&mut self) {
        self.baseline = None;
        self.seen = None; // to be looked at anew
    }

    fn has_ended(&self) -> bool {
        false
    }
}
