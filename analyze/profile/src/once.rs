//! What is there twice counts once: copies of a profile, or an archive beside the profiles that it was made of.

use std::ops::Range;
use std::path::PathBuf;

use rustc_hash::FxHashMap;

use crate::load::interval::{Interval, counted};
use crate::load::{Error, Family, LeftOut};

/// What tells a family from all others, on any machine.
type Identity = ([u8; 16], u32, u64, u64);

/// The families that have been met.
#[derive(Default)]
pub struct Once {
    met: FxHashMap<Identity, Vec<Met>>,
    /// Those that are there once more.
    pub left_out: Vec<LeftOut>,
}

/// A reading of a family, or what lies between two.
struct Met {
    path: PathBuf,
    /// From which moment on it has what the family counted, and until which, in ticks: from 0, the beginning; to `u64::MAX`, all there is.
    moments: Range<u64>,
    calls: u64,
}

impl Once {
    /// Whether this is the first time that a family is met. Two moments of one cannot be added up.
    pub fn is_first(&mut self, family: &Family) -> Result<bool, Error> {
        self.is_first_since(None, family)
    }

    /// The same of what a family has beyond an earlier reading of it, if there is one. What lies beside that in its run can be added.
    pub fn is_first_since(&mut self, earlier: Option<&Family>, family: &Family) -> Result<bool, Error> {
        // Of what has no beginning nothing can be told.
        if family.started_unix_ns == 0 {
            return Ok(true);
        }
        let moment = |family: &Family| family.snapshot.as_ref().map_or(u64::MAX, |moment| moment.ticks);
        let moments = earlier.map_or(0, moment)..moment(family);
        let calls = counted(family);
        let path = match earlier {
            Some(earlier) => Interval::join(&earlier.path, &family.path),
            None => family.path.clone(),
        };
        let identity = (family.boot_id, family.pid, family.started_unix_ns, family.first_ticks);
        let met = self.met.entry(identity).or_default();
        // A whole profile and a copy of it, which may be a snapshot; or the same difference.
        let is_same = |met: &&Met| {
            met.moments.start == moments.start && met.calls == calls && (moments.start == 0 || met.moments == moments)
        };
        if let Some(same) = met.iter().find(is_same) {
            self.left_out.push(LeftOut::Twice { path, first: same.path.clone() });
            return Ok(false);
        }
        if let Some(other) = met.iter().find(|met| met.moments.start < moments.end && moments.start < met.moments.end) {
            return Err(Error::Twice { one: other.path.clone(), other: path });
        }
        met.push(Met { path, moments, calls });
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::snapshot::Moment;
    use crate::testing::{arena, family, node, slot};

    /// A reading with so many calls, of a moment if it is a snapshot.
    fn reading(calls: u64, moment: Option<u64>) -> Family {
        let family = family(vec![arena(vec![node(0x1000, None, slot(calls, 10, 0))])]);
        let snapshot = moment.map(|ticks| Moment::of(&family, ticks));
        Family { started_unix_ns: 5, snapshot, ..family }
    }

    #[test]
    fn what_lies_between_moments_is_told_by_them_and_not_by_calls() {
        // Within one long call nothing is counted.
        let [a, b, c] = [100, 200, 300].map(|moment| reading(7, Some(moment)));
        let mut once = Once::default();
        assert!(once.is_first_since(Some(&a), &b).unwrap() && once.is_first_since(Some(&b), &c).unwrap());
        assert!(!once.is_first_since(Some(&a), &b).unwrap(), "the same again");
        for (earlier, later) in [(Some(&a), &c), (None, &c), (None, &reading(7, None)), (None, &reading(9, None))] {
            assert!(matches!(once.is_first_since(earlier, later), Err(Error::Twice { .. })));
        }
        let mut once = Once::default();
        assert!(once.is_first(&a).unwrap() && once.is_first_since(Some(&a), &b).unwrap());
    }

    #[test]
    fn copies_of_a_whole_count_once_and_two_moments_not_at_all() {
        let mut once = Once::default();
        assert!(once.is_first(&reading(7, None)).unwrap());
        assert!(!once.is_first(&reading(7, None)).unwrap() && !once.is_first(&reading(7, Some(100))).unwrap());
        assert_eq!(once.left_out.len(), 2);
        assert!(matches!(once.is_first(&reading(8, None)), Err(Error::Twice { .. })));
    }
}
