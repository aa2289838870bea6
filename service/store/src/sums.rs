//! Adds frames up.

use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use diytrace_profile::load::Summary;
use diytrace_profile::load::costs::Evidence;
use diytrace_profile::merge::{Filed, FunctionTimes, Group, Merged, Module, Part, PartKey, PathId, Place, PlaceId};
use diytrace_profile::module::ModuleKey;
use rustc_hash::FxHashMap;

use crate::among::Among;
use crate::codec::{Damaged, Numbers};
use crate::dictionary::{self, Entries};
use crate::kept::{Head, OfFunction, Sums, Totals};
use crate::rows::Rows;

/// What the frames of a series add up to.
#[derive(Default)]
pub struct OfSeries {
    /// What is told of each recording, by its number.
    pub profiles: Vec<(i64, Summary)>,
    modules: Vec<Module>,
    /// Of each session.
    pub groups: Vec<Group>,
    evidence: Evidence,
    totals: Totals,
    rows: Rows,
    functions: BTreeMap<PlaceId, FunctionTimes>,
    filed: BTreeMap<PlaceId, Filed>,
    /// Whether it is to be kept, for others to ask for a part of the time: open calls are told since they began.
    pub is_to_keep: bool,
    /// How many processes of the present session have called a function, in any of its frames.
    processes: BTreeMap<PlaceId, u64>,
}

impl OfSeries {
    /// Nothing yet; what it comes to is to be kept.
    pub fn to_keep() -> Self {
        Self { is_to_keep: true, ..Self::default() }
    }

    /// Begins with the next recording; the frames that follow are of it, up to [`Self::end_session`].
    pub fn add_session(&mut self, number: i64, head: Head) {
        self.profiles.push((number, head.summary));
        self.modules.extend(head.modules);
        self.groups.extend(head.group);
        if let Some(evidence) = &head.evidence {
            self.evidence.add(evidence);
        }
    }

    /// Since when calls of a recording can have been open: its first frame that is asked for has this number, and began then.
    pub fn began(&self, sequence: u64, started: i64) -> Option<i64> {
        // A call that is open has lasted no longer than what is asked for, if that does not begin with the recording.
        if sequence == 0 || self.is_to_keep { None } else { Some(started) }
    }

    /// Adds the rows that bytes are.
    pub fn add_paths(&mut self, bytes: &[u8], among: Among, entries: &Entries) -> Result<(), Damaged> {
        self.rows.add_frame(bytes, among, entries)
    }

    /// Adds a path's numbers.
    pub fn add_path(&mut self, path: PathId, numbers: &Numbers) {
        self.rows.add(path, numbers);
    }

    /// Adds what a frame counted as a whole.
    pub fn add_totals(&mut self, other: &Totals) {
        let sums = &mut self.totals;
        sums.calls = sums.calls.saturating_add(other.calls);
        sums.lost_calls = sums.lost_calls.saturating_add(other.lost_calls);
        sums.folded_calls = sums.folded_calls.saturating_add(other.folded_calls);
        sums.unwound = sums.unwound.saturating_add(other.unwound);
        sums.left_out = sums.left_out.saturating_add(other.left_out);
        if let Some(calls) = other.part_calls {
            sums.part_calls = Some(sums.part_calls.unwrap_or(0).saturating_add(calls));
        }
    }

    /// Adds what it has of a function.
    pub fn add_function(&mut self, function: OfFunction<'_>, among: Among) {
        let OfFunction { place, times, filed } = function;
        if let Some(mut times) = times.map(Cow::into_owned) {
            if !among.is_first {
                times.open_before = 0;
            }
            // Of one recording, frame after frame is of the same processes.
            if !among.is_only() {
                let processes = self.processes.entry(place).or_default();
                *processes = times.processes.max(*processes);
                times.processes = 0;
            }
            match self.functions.entry(place) {
                Entry::Vacant(entry) => drop(entry.insert(times)),
                Entry::Occupied(mut sum) => sum.get_mut().add(&times),
            }
        }
        if let Some(filed) = filed {
            self.filed.entry(place).or_default().add(&filed);
        }
    }

    /// As those of one frame; nothing if they cannot be.
    pub fn sums(mut self, entries: &Entries) -> Option<Sums<'static>> {
        self.rows.end(entries);
        let rows = self.rows.all()?;
        let mut functions = self.functions;
        let mut all: BTreeMap<PlaceId, OfFunction> = BTreeMap::new();
        for (place, filed) in self.filed {
            let times = functions.remove(&place).map(Cow::Owned);
            all.insert(place, OfFunction { place, times, filed: Some(filed) });
        }
        for (place, times) in functions {
            all.insert(place, OfFunction { place, times: Some(Cow::Owned(times)), filed: None });
        }
        let hz = self.profiles.first().map_or(1e9, |(_, summary)| summary.clock.hz);
        Some(Sums { hz, totals: self.totals, rows, functions: all.into_values().collect() })
    }

    /// All frames of a recording were added.
    pub fn end_session(&mut self) {
        for (place, processes) in std::mem::take(&mut self.processes) {
            self.functions.entry(place).or_default().add(&FunctionTimes { processes, ..FunctionTimes::default() });
        }
    }

    /// The same as what merging the recordings gives; `key` knows modules by their numbers. `None`: it is damaged.
    pub fn merged(
        mut self,
        part: &PartKey,
        entries: &Entries,
        key: impl Fn(i64) -> Option<ModuleKey>,
    ) -> Option<Merged> {
        self.rows.end(entries);
        // Each session tells of its own; merging makes one of those that are.
        let modules = self.modules;
        let mut numbers: FxHashMap<ModuleKey, u32> = FxHashMap::default();
        for (number, module) in (0..).zip(&modules) {
            module.key().map(|key| numbers.entry(key).or_insert(number));
        }
        let mut places = Places::new(entries);
        let (tree, pairs) = self.rows.tree(entries, |place| places.number(place))?;
        let functions = self.functions.into_iter().map(|(place, times)| (places.number(place), times)).collect();
        let filed = self.filed.into_iter().map(|(place, filed)| (places.number(place), filed)).collect();
        let mut known: FxHashMap<i64, Option<u32>> = FxHashMap::default();
        for module in places.modules() {
            known.insert(module, numbers.get(&key(module)?).copied());
        }
        let places = places
            .list
            .iter()
            .map(|&(module, address)| Place { module: module.and_then(|module| known[&module]), address });
        let places = places.collect();
        let group = as_a_whole(&self.groups);
        let part = self.totals.part_calls.map(|calls| Part {
            key: part.clone(),
            calls,
            costs: self.evidence.costs(),
            evidence: Arc::new(self.evidence),
            paths: pairs,
            filed: Arc::new(filed),
        });
        let Totals { calls, lost_calls, folded_calls, unwound, left_out, .. } = self.totals;
        let group = Group {
            calls,
            lost_calls,
            folded_calls,
            unwound,
            left_out,
            tree,
            parts: part.into_iter().collect(),
            functions,
            ..group
        };
        Some(Merged { modules, places, groups: vec![group] })
    }
}

/// What is told of groups beside all that they counted, of all as one.
pub fn as_a_whole(groups: &[Group]) -> Group {
    groups.iter().fold(Group::default(), |sum, group| Group {
        process: group.process.clone(),
        processes: sum.processes.saturating_add(group.processes),
        programs: sum.programs.union(&group.programs).cloned().collect::<BTreeSet<_>>(),
        was_reset: sum.was_reset || group.was_reset,
        timing: sum.timing.union(&group.timing).copied().collect(),
        ..Group::default()
    })
}

/// Places that are in use, numbered as they come.
struct Places<'a> {
    entries: &'a Entries,
    /// Of each place its number, and 1; 0: it has none.
    numbers: Vec<PlaceId>,
    list: Vec<dictionary::Place>,
}

impl<'a> Places<'a> {
    fn new(entries: &'a Entries) -> Self {
        Self { entries, numbers: vec![0; entries.places().len()], list: Vec::new() }
    }

    fn number(&mut self, place: PlaceId) -> PlaceId {
        let Some(number) = self.numbers.get_mut(place as usize) else {
            // One that is nowhere is damage that the check of the whole finds: all that is in frames was numbered.
            self.list.push((None, u64::MAX));
            return self.list.len() as PlaceId - 1;
        };
        if *number == 0 {
            self.list.push(self.entries.places()[place as usize]);
            *number = self.list.len() as PlaceId;
        }
        *number - 1
    }

    fn modules(&self) -> BTreeSet<i64> {
        self.list.iter().filter_map(|(module, _)| *module).collect()
    }
}
