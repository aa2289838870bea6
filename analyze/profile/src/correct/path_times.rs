//! Times of many paths in little memory: nearly all fit into half of what a [`Time`] can be.

use rustc_hash::FxHashMap;

use crate::time::Time;

/// Times of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathTimes {
    /// Of all its calls, without what they called.
    pub own: Time,
    /// Of its calls that are not inside a folded recursion, with all they called.
    pub inclusive: Time,
    /// The same of those that are.
    pub inside: Time,
    /// Of all its calls that have ended, with all they called: `inclusive` and `inside`, where all have ended;
    /// else as measured, less what the hooks cost, and not fitted to others.
    pub closed: Time,
    /// How far off `inclusive` may be.
    pub error: Time,
    /// How far off `own` may be.
    pub own_error: Time,
}

/// A list of [`PathTimes`], which are put together when they are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimesList {
    list: Vec<[i64; TIMES]>,
    /// Those that are too long for it, by their places.
    long: FxHashMap<usize, PathTimes>,
}

const TIMES: usize = 6;

/// What the list has of those.
const LONG: [i64; TIMES] = [i64::MIN; TIMES];

/// Whether that is it. The first says so of nearly all, and to compare all of them would be a call of `memcmp` for each of millions.
#[inline(always)]
fn is_long(times: &[i64; TIMES]) -> bool {
    times[0] == LONG[0] && *times == LONG
}

impl PathTimes {
    /// Cuts off what it cannot have taken; what that is, is uncertain. Where all calls have ended, it is theirs.
    pub fn cut(&mut self, time: Time) {
        if self.closed == self.inclusive + self.inside {
            self.closed = self.closed - time;
        }
        self.error += time;
        self.inclusive = self.inclusive - time;
    }

    /// Gives it what all its calls take, of which those that are not inside a folded recursion keep what they had, if it is not more.
    pub fn set_sum(&mut self, sum: Time) {
        let before = self.inclusive + self.inside;
        if self.closed == before {
            self.closed = sum;
        }
        self.error += (sum - before).max(before - sum);
        self.inclusive = self.inclusive.min(sum);
        self.inside = sum - self.inclusive;
    }

    fn times(&self) -> [Time; TIMES] {
        let Self { own, inclusive, inside, closed, error, own_error } = *self;
        [own, inclusive, inside, closed, error, own_error]
    }

    #[inline(always)]
    fn of([own, inclusive, inside, closed, error, own_error]: [Time; TIMES]) -> Self {
        Self { own, inclusive, inside, closed, error, own_error }
    }
}

impl TimesList {
    /// So many paths that have taken no time.
    pub fn of(paths: usize) -> Self {
        Self { list: vec![[0; TIMES]; paths], long: FxHashMap::default() }
    }

    /// How many paths there are.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Those of one.
    #[inline(always)]
    pub fn get(&self, path: usize) -> PathTimes {
        let times = self.list[path];
        if is_long(&times) {
            self.long[&path]
        } else {
            PathTimes::of(times.map(|units| Time::from_units(units.into())))
        }
    }

    /// The inclusive time of one.
    #[inline(always)]
    pub fn inclusive(&self, path: usize) -> Time {
        self.get(path).inclusive
    }

    /// All, in the order of the paths.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = PathTimes> + DoubleEndedIterator {
        (0..self.len()).map(|path| self.get(path))
    }

    /// Gives one these.
    #[inline(always)]
    pub fn set(&mut self, path: usize, times: &PathTimes) {
        if is_long(&self.list[path]) {
            self.long.remove(&path);
        }
        self.set_first(path, times);
    }

    /// The same of one that was given none so far. Nothing is read: memory that is new has a page of its own when it is written to, and
    /// where it is read before, the kernel gives it one twice.
    #[inline(always)]
    pub fn set_first(&mut self, path: usize, times: &PathTimes) {
        let all = times.times();
        let short = all.map(|time| time.units() as i64);
        let is_short = (0..TIMES).all(|at| i128::from(short[at]) == all[at].units());
        let kept = if is_short { short } else { LONG };
        self.list[path] = kept;
        if is_long(&kept) {
            self.long.insert(path, *times);
        }
    }

    /// Changes those of one.
    #[inline(always)]
    pub fn change(&mut self, path: usize, change: impl FnOnce(&mut PathTimes)) {
        let mut times = self.get(path);
        change(&mut times);
        self.set(path, &times);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_kept_is_what_was_told(all in prop::collection::vec((0..4usize, any::<[i128; TIMES]>(), 0u32..120), 1..30)) {
            let mut list = TimesList::of(4);
            let mut expected = [PathTimes::default(); 4];
            for (path, units, shift) in all {
                let times = PathTimes::of(units.map(|units| Time::from_units(units >> shift)));
                list.set(path, &times);
                expected[path] = times;
                prop_assert!(list.iter().eq(expected));
            }
            let mut same = TimesList::of(4);
            (0..4).for_each(|path| same.set(path, &expected[path]));
            prop_assert_eq!(list, same);
        }
    }

    #[test]
    fn the_shortest_of_all_are_told_from_long_ones() {
        let mut list = TimesList::of(1);
        let least = PathTimes::of([Time::from_units(i64::MIN.into()); TIMES]);
        list.set(0, &least);
        assert_eq!(list.get(0), least);
    }
}
