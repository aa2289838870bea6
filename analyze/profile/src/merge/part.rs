//! What was recorded where the hooks cost the same: one program, on one machine, in one way. However many recordings that are,
//! what tells the cost is of them all.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::call_path::PathId;
use super::modules::PlaceId;
use super::pair_list::{PackedPairs, PairList};
use super::pairs::{Pairs, PathPairs};
use super::tree::Order;
use crate::histogram::Refinement;
use crate::load::Family;
use crate::load::costs::{Costs, Evidence};
use crate::load::timed::Timing;
use crate::time::Time;

/// Where hooks cost the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PartKey {
    /// The program's file.
    pub program: String,
    /// The machine, as it was booted.
    pub boot_id: [u8; 16],
    /// Which calls are timed.
    pub timing: Timing,
}

impl PartKey {
    /// Where a family was recorded.
    pub fn of(family: &Family) -> Self {
        Self { program: family.exe.clone(), boot_id: family.boot_id, timing: family.timing }
    }
}

/// The hook pairs of a part, and what tells what they cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Which it is.
    pub key: PartKey,
    /// Calls entered.
    pub calls: u64,
    /// What tells the cost, in nanoseconds: of all that was merged, whatever of it is in this group.
    pub evidence: Arc<Evidence>,
    /// What that comes to.
    pub costs: Costs,
    /// The pairs in the times of paths, in the paths' order.
    pub paths: PairList,
    /// Of the calls that are in the histograms of functions.
    pub filed: Arc<BTreeMap<PlaceId, Filed>>,
}

/// What hook pairs cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overhead {
    /// Of so many calls.
    pub calls: u64,
    /// Inside the interval that a pair measures.
    pub inner: Time,
    /// For the caller beside that.
    pub outer: Time,
    /// Standard error of the sum of both.
    pub error: Time,
    /// Calibration windows that this comes from, over the families here.
    pub windows: u64,
}

/// Calls that the recorder has filed in a function's histogram: by their time less what the hooks cost as it knew it then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filed {
    /// Calls.
    pub calls: u64,
    /// Their time as measured.
    pub time: Time,
    /// What the recorder has taken off that for their own hooks,
    pub taken: Time,
    /// and for those of calls inside them.
    pub taken_inside: Time,
    /// The pairs whose cost is in their time.
    pub pairs: Pairs,
}

impl Filed {
    /// Adds others.
    pub fn add(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.time += other.time;
        self.taken += other.taken;
        self.taken_inside += other.taken_inside;
        self.pairs = self.pairs.and(&other.pairs);
    }
}

impl Part {
    /// The pairs in a path's times.
    #[inline]
    pub fn pairs(&self, path: PathId) -> Option<PathPairs> {
        self.paths.get(path)
    }

    /// What all its pairs cost.
    pub fn overhead(&self) -> Overhead {
        let cost = |ns: f64| Time::from_ns(ns).times(self.calls);
        let Costs { inner, outer, error, windows, .. } = self.costs;
        Overhead { calls: self.calls, inner: cost(inner), outer: cost(outer), error: cost(error), windows }
    }

    /// What calls in a function's histogram cost beyond what the recorder has taken off them.
    pub fn refinement(&self, filed: &Filed) -> Refinement {
        // Calls without times are in no histogram.
        if self.key.timing == Timing::Off {
            return Refinement::default();
        }
        let (calls, corrected) = (filed.calls, filed.time - Time::from_ns(filed.pairs.cost(&self.costs)));
        let of_own = Time::from_ns(self.costs.inner).times(calls);
        Refinement { calls, own: of_own - filed.taken, filed: filed.time - of_own - filed.taken_inside, corrected }
    }

    /// With paths numbered otherwise: several may have become one.
    pub(super) fn renumbered(self, paths: &[PathId]) -> Self {
        Self { paths: self.paths.renumbered(paths), ..self }
    }
}

/// What tells the cost of hooks in a part, over all groups, while it grows.
#[derive(Default)]
pub(super) struct Calibration {
    evidence: Evidence,
}

/// The same, finished.
pub(super) struct Calibrated {
    evidence: Arc<Evidence>,
    costs: Costs,
}

impl Calibration {
    /// Adds what tells the cost of a family's hooks.
    pub fn add_family(&mut self, family: &Family) {
        self.evidence.add(&family.evidence.scaled(family.clock.ns_per_tick()));
    }

    /// Adds what tells the cost in a part that was merged before.
    pub fn add_part(&mut self, part: &Part) {
        self.evidence.add(&part.evidence);
    }

    /// What it comes to.
    pub fn finish(self) -> Calibrated {
        let evidence = self.evidence.sorted();
        Calibrated { costs: evidence.costs(), evidence: Arc::new(evidence) }
    }
}

/// A part that grows.
#[derive(Default)]
pub(super) struct GrowingPart {
    calls: u64,
    paths: PairList,
    /// Where a path's pairs are in the list, and 1; 0: nowhere. Nothing, as long as each is at its path's own place.
    places: Vec<u32>,
    /// Of calls that are in functions' histograms.
    filed: FxHashMap<PlaceId, Filed>,
}

impl GrowingPart {
    pub fn add_calls(&mut self, calls: u64) {
        self.calls = self.calls.saturating_add(calls);
    }

    /// Makes room for the paths of an arena: those of the first are all new.
    pub fn expect(&mut self, paths: usize) {
        if self.paths.is_empty() {
            self.paths.reserve(paths);
        }
    }

    pub fn add_path(&mut self, path: PathId, pairs: PackedPairs) {
        let path_place = path as usize;
        if self.places.is_empty() {
            if path_place == self.paths.len() {
                return self.paths.push_packed(path, pairs);
            }
            self.places = (1..=self.paths.len() as u32).collect();
        }
        if self.places.len() <= path_place {
            self.places.resize(path_place + 1, 0);
        }
        match self.places[path_place] {
            0 => {
                self.paths.push_packed(path, pairs);
                self.places[path_place] = self.paths.len() as u32;
            }
            place => self.paths.change_at(place as usize - 1, |sum| sum.add(&pairs.pairs())),
        }
    }

    /// Adds calls that are in a function's histogram.
    pub fn file(&mut self, function: PlaceId, filed: &Filed) {
        self.filed.entry(function).or_default().add(filed);
    }

    /// The finished part; `order` tells where its paths have come, and `places` which the final numbers of places are.
    pub fn finish(self, key: PartKey, calibrated: &Calibrated, order: &Order, places: &[PlaceId]) -> Part {
        let Calibrated { evidence, costs } = calibrated;
        let (evidence, costs) = (Arc::clone(evidence), *costs);
        let Self { calls, paths, places: of_paths, filed } = self;
        drop(of_paths);
        let filed = filed.into_iter().map(|(place, filed)| (places[place as usize], filed)).collect();
        Part { key, calls, evidence, costs, paths: paths.in_order(order), filed: Arc::new(filed) }
    }
}
