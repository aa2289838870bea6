//! How far recordings have been made coarser: so that of one that sends for weeks nothing is looked at again each minute.
//!
//! It holds for as long as nobody else writes into the store, as all of [`super::sessions`] does.

use rustc_hash::FxHashMap;

use crate::engine::Tier;

/// Most recordings that are remembered, in both tiers: 64 MB. Then all are looked at once more.
const MOST: usize = 1 << 20;

/// Where to go on in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoOn {
    /// With the slice of this number: it is the first of its span.
    pub slice: u64,
    /// Not before it has more slices.
    pub needs_more: bool,
}

/// By recording and by tier.
#[derive(Default)]
pub struct Compacted(FxHashMap<(i64, Tier), GoOn>);

impl Compacted {
    /// The slice to go on with; `None` if nothing has come since there was nothing to do.
    pub fn from(&self, session: i64, tier: Tier) -> Option<u64> {
        match self.0.get(&(session, tier)) {
            None => Some(0),
            Some(GoOn { needs_more: true, .. }) => None,
            Some(GoOn { slice, .. }) => Some(*slice),
        }
    }

    pub fn go_on(&mut self, session: i64, tier: Tier, next: GoOn) {
        if self.0.len() >= MOST {
            self.0.clear();
        }
        self.0.insert((session, tier), next);
    }

    /// A slice of a recording has come, or is another than it was, and what there was behind it may be gone.
    pub fn has_changed(&mut self, session: i64, slice: u64) {
        for tier in Tier::ALL {
            match self.0.get_mut(&(session, tier)) {
                Some(next) if next.slice < slice => next.needs_more = false,
                Some(_) => drop(self.0.remove(&(session, tier))),
                None => {}
            }
        }
    }

    /// Slices of a recording have become one, which has the first one's number.
    pub fn has_joined(&mut self, session: i64, [first, last]: [u64; 2]) {
        for tier in Tier::ALL {
            if let Some(next) = self.0.get_mut(&(session, tier))
                && (first..=last).contains(&next.slice)
            {
                next.slice = first;
            }
        }
    }

    /// Only these recordings are still there.
    pub fn keep(&mut self, is_there: impl Fn(i64) -> bool) {
        self.0.retain(|(session, _), _| is_there(*session));
    }

    /// Any slice of any recording may be another.
    pub fn forget(&mut self) {
        self.0.clear();
    }
}
