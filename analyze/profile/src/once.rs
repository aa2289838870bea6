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

/// A reading of a family, or what lies between two: from how many calls on it has them, and to how many.
struct Met {
    path: PathBuf,
    calls: Range<u64>,
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
        let identity = (family.boot_id, family.pid, family.started_unix_ns, family.first_ticks);
        let calls = earlier.map_or(0, counted)..counted(family);
        let path = match earlier {
            Some(earlier) => Interval::join(&earlier.path, &family.path),
            None => family.path.clone(),
        };
        let met = self.met.entry(identity).or_default();
        if let Some(same) = met.iter().find(|met| met.calls == calls) {
            self.left_out.push(LeftOut::Twice { path, first: same.path.clone() });
            return Ok(false);
        }
        if let Some(other) = met.iter().find(|met| met.calls.start < calls.end && calls.start < met.calls.end) {
            return Err(Error::Twice { one: other.path.clone(), other: path });
        }
        met.push(Met { path, calls });
        Ok(true)
    }
}
