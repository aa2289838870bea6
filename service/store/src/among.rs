//! Which of a recording's frames one is, and so what of it counts.

use std::ops::Range;

use diytrace_profile::merge::Row;
use diytrace_profile::time::Time;

use crate::codec::Numbers;

/// Which of its recording's frames one is, of those that are selected.
#[derive(Clone, Copy)]
pub struct Among {
    pub is_first: bool,
    pub is_last: bool,
    /// How long a call that is open can have been so.
    pub longest: Option<Time>,
}

impl Among {
    /// A frame that ended at a moment; since when calls in it can have been open.
    pub fn of(is_first: bool, is_last: bool, began: Option<i64>, ended: i64) -> Self {
        let longest = began.map(|began| Time::from_ns(ended.saturating_sub(began) as f64));
        Self { is_first, is_last, longest }
    }

    /// Whether it is the only one.
    pub fn is_only(self) -> bool {
        self.is_first && self.is_last
    }

    /// What of a path's numbers counts: of calls that have not returned, what the last frame knows; and that they are what has
    /// come between two readings, if the first has no beginning.
    pub fn counted(self, numbers: &Numbers) -> Numbers {
        const OPEN: Range<usize> = Row::SUMS..Row::SUMS + 4;
        const SO_FAR: usize = Row::SUMS + 2;
        const IS_BETWEEN: usize = Row::SUMS + 4;
        let mut counted = *numbers;
        match self.longest {
            _ if !self.is_last => counted[OPEN].fill(0),
            Some(longest) => counted[SO_FAR] = counted[SO_FAR].min(longest.units()),
            None => {}
        }
        if !self.is_first {
            counted[IS_BETWEEN] = 0;
        }
        counted
    }
}
