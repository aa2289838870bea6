//! Merges profiles: by module and address in it, into trees of call paths and histograms.
//!
//! ```text
//! [`Family`]s ──[modules]──▶ places ──[measure]──▶ sums of each path ──[tree]──▶ [`Merged`]
//!                                                  hook pairs in them ──[part]──┘
//! ```
//!
//! Nothing is taken off here for what recording cost: all is sums, and the correction is made of those that are asked for.
//! The result is the same in whatever order the profiles come. What a family has counted between two readings of it is
//! merged likewise ([`Merging::add_since`]): all that is summed up is first taken off path by path (`since`).

mod addend;
mod call_path;
mod changed;
mod followed;
mod gone;
mod group;
mod idle;
mod latest;
mod measure;
mod modules;
mod moved;
mod off_cpu;
mod pair_list;
mod pairs;
mod part;
mod paths;
mod row;
mod since;
mod tree;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::load::{Arena, Family};
pub use crate::module::ModuleFile;
use crate::time::Time;
pub use call_path::{CallPath, Counts, Key, PathId};
use changed::Changed;
pub use followed::{Addition, Followed, Known};
pub use group::{FunctionTimes, Group, Process, Thread};
use group::{GroupKey, Growth};
pub use latest::Bound;
use latest::latest;
pub use modules::{Module, ModuleId, Place, PlaceId};
use modules::{ModuleTable, PlaceTable, Resolver};
pub use moved::Move;
pub use off_cpu::{OffCpu, Split};
pub use pair_list::PairList;
pub use pairs::{Pairs, PathPairs};
use part::Calibration;
pub use part::{Filed, Overhead, Part, PartKey};
pub use paths::Paths;
pub use row::Row;
use since::{Before, Earlier};
pub use tree::Tree;

/// What is reported together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Everything.
    #[default]
    All,
    /// Each process.
    Process,
    /// Each thread.
    Thread,
}

/// Profiles, merged: a value that can be written and read (by serde), and added to others ([`Merging::add_merged`]).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Merged {
    /// Programs and libraries.
    pub modules: Vec<Module>,
    /// What numbers of places stand for.
    pub places: Vec<Place>,
    /// What is reported together, in the order in which the processes started.
    pub groups: Vec<Group>,
}

impl Merged {
    /// Whether all numbers in it stand for something that is there, as they do unless its bytes were damaged.
    pub fn is_sound(&self) -> bool {
        let (modules, places) = (self.modules.len() as u64, self.places.len() as u64);
        let is_place = |place: PlaceId| u64::from(place) < places;
        let is_sound = |group: &Group| {
            let paths = group.tree.paths.len() as u64;
            let are_functions = group.functions.keys().all(|place| is_place(*place));
            let is_part = |part: &Part| {
                let are_paths = part.paths.iter().all(|(path, _)| u64::from(path) < paths);
                are_paths && part.paths.is_sorted() && part.filed.keys().all(|at| is_place(*at))
            };
            are_functions && group.tree.is_sound(is_place) && group.parts.iter().all(is_part)
        };
        let are_modules = self.places.iter().all(|place| place.module.is_none_or(|id| u64::from(id) < modules));
        are_modules && self.groups.iter().all(is_sound)
    }

    /// Where all functions that paths lead to begin.
    pub fn function_places(&self) -> Vec<Place> {
        self.functions().map(|id| self.places[id as usize]).collect()
    }

    /// The places of all functions that paths lead to.
    pub fn functions(&self) -> impl Iterator<Item = PlaceId> {
        let mut is_function = vec![false; self.places.len()];
        for end in self.groups.iter().flat_map(|group| group.tree.paths.ends()) {
            is_function[end.function as usize] = true;
        }
        (0..).zip(is_function).filter(|(_, is_function)| *is_function).map(|(place, _)| place)
    }
}

/// Merges profiles; with `pid`, only what that process has recorded.
pub fn merge(families: &[Family], by: By, pid: Option<u32>) -> Merged {
    let mut merging = Merging::new(by, pid);
    families.iter().for_each(|family| merging.add(family));
    merging.finish()
}

/// Profiles on their way to [`Merged`], one by one: none of them is needed once it was added.
#[derive(Default)]
pub struct Merging {
    by: By,
    pid: Option<u32>,
    families: usize,
    modules: ModuleTable,
    places: PlaceTable,
    groups: FxHashMap<GroupKey, Growth>,
    labels: Vec<String>,
    calibrations: FxHashMap<PartKey, Calibration>,
    whole_timelines: bool,
    whole_open_calls: bool,
    changes_only: bool,
}

impl Merging {
    /// Nothing so far; with `pid`, only what that process has recorded will count.
    pub fn new(by: By, pid: Option<u32>) -> Self {
        Self { by, pid, ..Self::default() }
    }

    /// The same, but timelines are of all that was recorded, also where all else is what has come since an earlier reading.
    pub fn with_whole_timelines(self) -> Self {
        Self { whole_timelines: true, ..self }
    }

    /// The same, but what calls have taken that have not returned is told since they began, not since the earlier reading: for
    /// whoever adds up what has come between many readings, of which only the last tells of those.
    pub fn with_whole_open_calls(self) -> Self {
        Self { whole_open_calls: true, ..self }
    }

    /// The same, but of what has come since an earlier reading there are only paths and functions that have counted anything, or
    /// are open: it takes as long as there are of those. Of a call that has ended, time is not converted anew where the rate of the
    /// clock is known better than it was then.
    pub fn with_changes_only(self) -> Self {
        Self { changes_only: true, ..self }
    }

    /// Adds a profile.
    pub fn add(&mut self, family: &Family) {
        self.add_since(None, family);
    }

    /// Adds what a profile has beyond an earlier reading of the same.
    pub fn add_since(&mut self, earlier: Option<&Family>, family: &Family) {
        // After a reset there is nothing to take off.
        let earlier = earlier.filter(|earlier| earlier.resets == family.resets).map(Earlier::of);
        let index = self.families;
        self.families += 1;
        let mut processes: BTreeMap<u32, Vec<(usize, &Arena)>> = BTreeMap::new();
        for (number, arena) in family.arenas.iter().enumerate() {
            processes.entry(arena.facts.process).or_default().push((number, arena));
        }
        let mut resolver = Resolver::new(family, &mut self.modules, &mut self.places);
        let mut latest = latest(family);
        if let Some(earlier) = &earlier {
            earlier.outlive(family, &mut latest);
        }
        let mut is_new = true;
        for arenas in processes.values() {
            for &(number, arena) in arenas {
                if self.pid.is_some_and(|pid| arena.is_merged() || arena.facts.pid != pid) {
                    continue;
                }
                let group = self.groups.entry(key(self.by, index, number, arena)).or_default();
                let longest = self.whole_open_calls.then_some(Time::LONGEST);
                let mut before = earlier.as_ref().and_then(|earlier| earlier.of_arena(arena));
                // Where counters were reset, what had been open is joined up by all that there was.
                // Where paths gave way to others meanwhile, what they had counted has gone elsewhere.
                let is_simple = |before: &Before| {
                    let are_the_same = before.arena.recycling == arena.recycling;
                    are_the_same && !before.arena.is_before_reset && !arena.is_before_reset
                };
                let changed = before.filter(|before| self.changes_only && is_simple(before));
                let changed = changed.map(|before| Changed::of(before.arena, arena));
                let whole = arena;
                let mut arena = arena;
                let (mut entered_elsewhere, mut beside): (&[_], [&[u64]; 2]) = Default::default();
                if let Some((changed, before)) = changed.as_ref().zip(before.as_mut()) {
                    (before.arena, arena, entered_elsewhere) = (&changed.before, &changed.now, &changed.entered);
                    beside = changed.beside.each_ref().map(Vec::as_slice);
                }
                let mut counted = since::counted(family, arena, latest[number], before, longest, beside);
                counted.entered_elsewhere = entered_elsewhere;
                if self.whole_timelines {
                    counted.timelines = since::timelines(family, whole, latest[number]);
                }
                let calibration = self.calibrations.entry(PartKey::of(family)).or_default();
                if std::mem::take(&mut is_new) {
                    calibration.add_family(family);
                }
                group.add_arena(index, family, arena, counted, &mut resolver);
            }
        }
        let is_shared = self.by == By::All || family.lost_calls > 0 || family.arenas.iter().any(Arena::is_merged);
        if self.pid.is_none() && is_shared {
            processes.retain(|_, arenas| !arenas.iter().all(|(_, arena)| arena.is_by_function()));
            let merged = processes.values().filter(|arenas| arenas.iter().all(|(_, arena)| arena.is_merged())).count();
            let shared = self.groups.entry(GroupKey::Shared).or_default();
            shared.add_family(family, self.by, (processes.len() - merged) as u64, merged as u64);
            shared.leave_out_lost(earlier.as_ref().map_or(0, |earlier| earlier.family.lost_calls));
        }
    }

    /// Adds what was merged before, of everything, to everything, or to what has this label.
    ///
    /// What it holds must be sound: see [`Merged::is_sound`].
    pub fn add_merged(&mut self, merged: &Merged, label: Option<&str>) {
        let modules: Vec<ModuleId> = merged.modules.iter().map(|module| self.modules.add(module.clone())).collect();
        let here = |place: &Place| Place { module: place.module.map(|module| modules[module as usize]), ..*place };
        let places: Vec<PlaceId> = merged.places.iter().map(|place| self.places.find_or_add(here(place))).collect();
        let key = label.map_or(GroupKey::Shared, |label| GroupKey::Labelled(self.number_of(label)));
        let mut known = BTreeSet::new();
        for group in &merged.groups {
            self.groups.entry(key).or_default().add_group(group, &places);
            // Each group has the evidence of all.
            for part in group.parts.iter().filter(|part| known.insert(&part.key)) {
                self.calibrations.entry(part.key.clone()).or_default().add_part(part);
            }
        }
    }

    fn number_of(&mut self, label: &str) -> usize {
        self.labels.iter().position(|known| known == label).unwrap_or_else(|| {
            self.labels.push(label.to_owned());
            self.labels.len() - 1
        })
    }

    /// Numbers modules, places and groups by what they are, not by when they were met.
    pub fn finish(self) -> Merged {
        let (modules, new_modules) =
            sorted(self.modules.list, |a, b| (&a.files, &a.build_id).cmp(&(&b.files, &b.build_id)));
        let mut renamed = self.places.list;
        for place in &mut renamed {
            place.module = place.module.map(|module| new_modules[module as usize]);
        }
        let (places, new_places) = sorted(renamed, Ord::cmp);
        let calibrated = self.calibrations.into_iter().map(|(key, all)| (key, all.finish())).collect();
        let groups = self.groups.into_iter().map(|(key, growth)| {
            let label = if let GroupKey::Labelled(number) = key { Some(self.labels[number].clone()) } else { None };
            Group { label, ..growth.finish(key, &new_places, &calibrated) }
        });
        let mut groups: Vec<_> = groups.collect();
        groups.sort_by(|a, b| {
            let order = |group: &Group| (group.process.is_none(), group.thread.is_none());
            // The kernel uses numbers of threads again; what these have recorded tells them apart.
            (&a.label, order(a), &a.process, &a.thread)
                .cmp(&(&b.label, order(b), &b.process, &b.thread))
                .then_with(|| a.tree.cmp(&b.tree))
                .then_with(|| a.distributions().cmp(b.distributions()))
                .then_with(|| a.pairs().cmp(b.pairs()))
        });
        Merged { modules, places, groups }
    }
}

fn key(by: By, family: usize, number: usize, arena: &Arena) -> GroupKey {
    let process = arena.facts.process;
    match by {
        By::All => GroupKey::Shared,
        _ if arena.is_merged() => GroupKey::Shared,
        By::Process => GroupKey::Process { family, process },
        // Threads that had one arena after the other cannot be told apart.
        By::Thread => GroupKey::Thread { family, process, arena: (arena.facts.owners <= 1).then_some(number) },
    }
}

/// The items in order, and the new number of each.
fn sorted<T>(items: Vec<T>, order: impl Fn(&T, &T) -> std::cmp::Ordering) -> (Vec<T>, Vec<u32>) {
    let mut items: Vec<_> = items.into_iter().enumerate().collect();
    items.sort_by(|(_, a), (_, b)| order(a, b));
    let mut numbers = vec![0; items.len()];
    for (new, (old, _)) in items.iter().enumerate() {
        numbers[*old] = new as u32;
    }
    (items.into_iter().map(|(_, item)| item).collect(), numbers)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use diytrace_format::arena::flag::{self, MERGED};
    use proptest::prelude::*;

    use super::*;
    use crate::correct::correct;
    use crate::histogram::Histogram;
    use crate::load::clock::Clock;
    use crate::load::costs::{Costs, Evidence};
    use crate::load::{Module, Node};
    use crate::process::State;
    use crate::testing::{arena, calls, family, function_of, module, node, record, slot};

    fn calls_by_address(merged: &Merged) -> Vec<(&str, u64, u64)> {
        let paths = merged.groups.iter().flat_map(|group| &group.tree.paths);
        let line = |path: CallPath| {
            let place = merged.places[path.key.function as usize];
            let module = place.module.map_or("", |module| merged.modules[module as usize].path());
            (module, place.address, path.counts.calls)
        };
        paths.map(line).collect()
    }

    #[test]
    fn modules_are_one_by_build_id_wherever_they_were_loaded() {
        let here = family(vec![arena(vec![node(0x1100, None, slot(1, 10, 0))])]);
        let mut there = family(vec![arena(vec![node(0x9100, None, slot(2, 10, 0))])]);
        there.modules = vec![module("/other/program", 1, 0x9000)];
        let mut other = family(vec![arena(vec![node(0x1100, None, slot(4, 10, 0))])]);
        other.modules = vec![module("/bin/program", 2, 0x1000)];
        let sites = |node: &mut Node, base: u64| (node.site, node.hook) = (base + 1, base + 2);
        let mut families = [here, there, other];
        for (family, base) in families.iter_mut().zip([0x1000, 0x9000, 0x1000]) {
            family.arenas[0].nodes.change(0, |node| sites(node, base));
        }
        let merged = merge(&families, By::All, None);
        assert_eq!(calls_by_address(&merged), [("/bin/program", 0x100, 4), ("/bin/program", 0x100, 3)]);
    }

    #[test]
    fn of_modules_at_one_address_the_one_that_is_named_counts() {
        let at = |path: &str, build_id, number| Module { number, ..module(path, build_id, 0x1000) };
        let mut nodes = vec![node(0x1100, None, slot(1, 10, 0)); 3];
        for (node, module) in nodes.iter_mut().zip([1, 1, 2]) {
            (node.module, node.site_module) = (module, module);
        }
        let mut family = family(vec![arena(nodes)]);
        family.modules = vec![at("/a", 1, 1), at("/b", 2, 2), at("/later", 3, 3)];
        let merged = merge(&[family], By::All, None);
        assert_eq!(calls_by_address(&merged), [("/a", 0x100, 2), ("/b", 0x100, 1)]);
    }

    #[test]
    fn an_address_in_no_module_stays_what_it_is() {
        let merged = merge(&[family(vec![arena(vec![node(0xdead_0000, None, slot(1, 10, 0))])])], By::All, None);
        assert_eq!(calls_by_address(&merged), [("", 0xdead_0000, 1)]);
    }

    #[test]
    fn by_process_shared_arenas_are_one_report() {
        let with = |process: u32, flags: u32, calls: u64| {
            let mut arena = arena(vec![node(0x1100, None, slot(calls, 10, 0))]);
            (arena.facts.process, arena.facts.pid) = (process, 100 + process);
            arena.facts.process_started = process.into();
            arena.facts.flags |= flags;
            arena
        };
        let mut family =
            family(vec![with(1, 0, 1), with(9, MERGED, 4), with(2, 0, 2), with(8, MERGED, 8), with(1, 0, 3)]);
        family.processes = 20;
        let by_process = merge(&[family.clone()], By::Process, None);
        let found: Vec<_> = (by_process.groups.iter())
            .map(|group| (group.process.as_ref().map(|process| process.pid), group.processes, group.calls))
            .collect();
        assert_eq!(found, [(Some(101), 1, 4), (Some(102), 1, 2), (None, 18, 12)]);
        let all = &merge(&[family.clone()], By::All, None).groups[0];
        assert_eq!((all.processes, all.functions.values().next().map(|times| times.processes)), (20, Some(4)));
        assert_eq!(merge(&[family.clone()], By::Thread, None).groups.len(), 4);
        assert_eq!(merge(&[family], By::All, Some(102)).groups[0].calls, 2);
    }

    /// They were said to be of a process of number 0, beside those of one that shares its arena.
    #[test]
    fn what_was_counted_by_function_is_of_no_process_where_there_are_several() {
        let with = |process: u32, flags: u32, processes: u32| {
            let mut arena = arena(vec![node(0x1100, None, slot(1, 10, 0))]);
            (arena.facts.process, arena.facts.pid, arena.facts.processes) = (process, process, processes);
            arena.facts.flags |= flags;
            arena
        };
        let of = |arenas: Vec<Arena>, processes: u32| Family { processes, ..family(arenas) };
        let pids = |family: &Family, by: By| {
            let merged = merge(std::slice::from_ref(family), by, None);
            merged.groups.iter().map(|group| group.process.as_ref().map(|process| process.pid)).collect::<Vec<_>>()
        };
        let [one, shared, anyones] = [with(1, 0, 1), with(2, MERGED, 1), with(0, MERGED, 0)];
        assert_eq!(pids(&of(vec![one.clone(), shared, anyones.clone()], 2), By::Process), [Some(1), None]);
        let alone = of(vec![one, anyones], 1);
        assert_eq!(pids(&alone, By::Process), [Some(1), None]);
        assert_eq!(pids(&alone, By::All), [Some(1)], "all are of the only one that there was");
    }

    #[test]
    fn families_have_their_own_clock_and_what_hooks_cost_is_of_all() {
        let one = |hz: f64, inner: f64| {
            let mut family = family(vec![arena(vec![node(0x1100, None, slot(1, 100, 0))])]);
            family.clock = Clock { hz, ..family.clock };
            family.evidence = Evidence::of_costs(Costs { inner, ..Costs::default() });
            family
        };
        let merged = merge(&[one(1e9, 10.0), one(2e9, 40.0)], By::All, None);
        // Of 100 and 50 ns. By their clocks the hooks took 10 and 20 ns: 15 in the mean.
        assert_eq!(correct(&merged.groups[0]).corrected.get(0).own.ns(), 85.0 + 35.0);
        assert_eq!(merged.groups[0].overhead().inner.ns(), 15.0 + 15.0);
    }

    /// An arena of one of a few processes and threads, some of which use numbers again.
    fn any_arena() -> impl Strategy<Value = Arena> {
        let process = (1u32..4, 0u32..2, 0u32..4, 1u32..3, any::<prop::sample::Index>());
        (calls(), 1usize..4, prop::collection::vec(1u64..5000, 0..4), process).prop_map(
            |(calls, fold_at, times, (process, tid, flags, owners, latest))| {
                let mut arena = arena(record(&calls, Costs { inner: 2.0, outer: 3.0, ..Costs::default() }, fold_at));
                let facts = &mut arena.facts;
                (facts.process, facts.pid, facts.tid, facts.owners) = (process, 100 + process, tid, owners);
                facts.process_started = process.into();
                facts.flags = [flag::EXITED, flag::ENDED, MERGED, 0][flags as usize];
                arena.state = if process == 3 { State::Running } else { State::Exited };
                let open = latest.index(arena.nodes.len());
                arena.nodes.change(open, |node| node.slots[0].mark = 400 | diytrace_format::node::mark::OPEN);
                arena.functions = vec![function_of(0x1000, &times)];
                arena
            },
        )
    }

    fn any_family() -> impl Strategy<Value = Family> {
        (prop::collection::vec(any_arena(), 1..5), 1u64..4, 0u8..3, 0u64..3).prop_map(
            |(arenas, rate, build_id, lost)| {
                let mut family = family(arenas);
                family.clock.hz = 1e9 + rate as f64 * 123_456.7;
                family.evidence = Evidence::of_costs(Costs { inner: 2.3, outer: 3.1, error: 0.4, ..Costs::default() });
                family.modules[0].build_id = vec![build_id];
                (family.processes, family.lost_calls, family.read_ticks) = (3, lost, 2000);
                family
            },
        )
    }

    fn sum_of(all: impl Iterator<Item = PathPairs>) -> PathPairs {
        all.fold(PathPairs::default(), |mut sum, pairs| {
            sum.add(&pairs);
            sum
        })
    }

    proptest! {
        #[test]
        fn there_is_no_order(
            families in prop::collection::vec(any_family(), 1..5),
            orders in prop::collection::vec(any::<u32>(), 20),
        ) {
            let mut families = families;
            for (number, family) in families.iter_mut().enumerate() {
                family.path = PathBuf::from(number.to_string());
            }
            let mut shuffled: Vec<(u32, Family)> = orders.iter().copied().zip(families.iter().cloned()).collect();
            shuffled.sort_by_key(|(order, _)| *order);
            let mut shuffled: Vec<Family> = shuffled.into_iter().map(|(_, family)| family).collect();
            for family in &mut shuffled {
                let mut arenas: Vec<_> = orders.iter().rev().zip(std::mem::take(&mut family.arenas)).collect();
                arenas.sort_by_key(|(order, _)| **order);
                family.arenas = arenas.into_iter().map(|(_, arena)| arena).collect();
            }
            for by in [By::All, By::Process, By::Thread] {
                prop_assert_eq!(merge(&families, by, None), merge(&shuffled, by, None));
            }
        }

        #[test]
        fn parts_add_up_to_the_whole(families in prop::collection::vec(any_family(), 1..4)) {
            let whole = merge(&families, By::All, None);
            let whole = &whole.groups[0];
            for by in [By::Process, By::Thread] {
                let groups = merge(&families, by, None).groups;
                let sum = |what: fn(&Group) -> u64| groups.iter().map(what).sum::<u64>();
                prop_assert_eq!(sum(|group| group.calls), whole.calls);
                prop_assert_eq!(sum(|group| group.lost_calls), whole.lost_calls);
                prop_assert_eq!(sum(|group| group.folded_calls), whole.folded_calls);
                let of_paths = |group: &Group| {
                    let own: Time = group.tree.paths.iter().map(|path| path.counts.own).sum();
                    let pairs = group.parts.iter().flat_map(|part| part.paths.iter()).map(|(_, pairs)| pairs);
                    (own, sum_of(pairs))
                };
                let parts = groups.iter().map(of_paths).collect::<Vec<_>>();
                let parts = (parts.iter().map(|(own, _)| *own).sum(), sum_of(parts.iter().map(|(_, pairs)| *pairs)));
                prop_assert_eq!(parts, of_paths(whole));
                let mut histogram = Histogram::default();
                let functions = groups.iter().flat_map(|group| group.functions.values());
                functions.for_each(|times| histogram.merge(&times.histogram));
                let mut expected = Histogram::default();
                whole.functions.values().for_each(|times| expected.merge(&times.histogram));
                prop_assert_eq!(histogram, expected);
            }
        }

        #[test]
        fn what_was_merged_adds_up_and_is_the_same_when_it_was_written_and_read(
            families in prop::collection::vec(any_family(), 1..5),
            cuts in prop::collection::vec(1usize..3, 4),
        ) {
            let mut adding = Merging::new(By::All, None);
            let mut rest = &families[..];
            for cut in cuts {
                let (here, others) = rest.split_at(cut.min(rest.len()));
                rest = others;
                let bytes = postcard::to_stdvec(&merge(here, By::All, None)).unwrap();
                let read: Merged = postcard::from_bytes(&bytes).unwrap();
                prop_assert!(read.is_sound());
                adding.add_merged(&read, None);
            }
            adding.add_merged(&merge(rest, By::All, None), None);
            prop_assert_eq!(adding.finish(), merge(&families, By::All, None));
        }

        #[test]
        fn damage_is_found_before_it_is_added(
            family in any_family(),
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
        ) {
            let mut bytes = postcard::to_stdvec(&merge(&[family], By::All, None)).unwrap();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            if let Ok(read) = postcard::from_bytes::<Merged>(&bytes) && read.is_sound() {
                let mut adding = Merging::new(By::All, None);
                adding.add_merged(&read, Some("host=a"));
                adding.finish().groups.iter().for_each(|group| drop(correct(group)));
            }
        }
    }
}
