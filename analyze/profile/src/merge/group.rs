//! What is reported together: a tree of call paths, and histograms.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use diytrace_format::node;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::By;
use super::addend::{Added, Addends};
use super::call_path::{Key, PathId};
use super::modules::{PlaceId, Resolver};
use super::pair_list::PackedPairs;
use super::part::{Calibrated, Filed, GrowingPart, Overhead, Part, PartKey};
use super::since::Counted;
use super::tree::{Growing, Tree};
use crate::histogram::{Histogram, Refinement};
use crate::load::timed::Timing;
use crate::load::{Arena, Family, Node};
use crate::process::State;
use crate::timeline::{Origin, Timelines};

/// What is reported together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// What sets it apart from others, if that is neither a process nor a thread.
    pub label: Option<String>,
    /// The process, if it is one.
    pub process: Option<Process>,
    /// The thread, if it is one.
    pub thread: Option<Thread>,
    /// Processes in here.
    pub processes: u64,
    /// Their programs' files.
    pub programs: BTreeSet<String>,
    /// Calls entered.
    pub calls: u64,
    /// Calls that no path has counted.
    pub lost_calls: u64,
    /// Calls counted on paths that stand for several.
    pub folded_calls: u64,
    /// Calls left without an exit.
    pub unwound: u64,
    /// Whether counters of a family here were reset.
    pub was_reset: bool,
    /// Calls that windows have left untimed.
    pub left_out: u64,
    /// Which calls were timed, over the families here.
    pub timing: BTreeSet<Timing>,
    /// Call paths.
    pub tree: Tree,
    /// The hook pairs in their times, and what tells what those cost.
    pub parts: Vec<Part>,
    /// Times of each function's calls.
    pub functions: BTreeMap<PlaceId, FunctionTimes>,
}

impl Group {
    /// What is told of it beside all that was counted.
    pub fn without_sums(&self) -> Self {
        let Self { label, process, thread, processes, programs, was_reset, timing, .. } = self;
        Self {
            label: label.clone(),
            process: process.clone(),
            thread: thread.clone(),
            processes: *processes,
            programs: programs.clone(),
            was_reset: *was_reset,
            timing: timing.clone(),
            ..Self::default()
        }
    }

    /// What orders groups that are the same in all else.
    pub(super) fn distributions(&self) -> impl Iterator<Item = impl Ord> {
        self.functions.iter().map(|(place, times)| (*place, times.histogram.order()))
    }

    /// The same, after that.
    pub(super) fn pairs(&self) -> impl Iterator<Item = impl Ord> {
        self.parts.iter().map(|part| (&part.key, &part.paths))
    }

    /// What the hooks of all timed calls cost; of all calls where none are.
    pub fn overhead(&self) -> Overhead {
        let is_timed = |part: &&Part| part.key.timing == Timing::All;
        let are_some = self.parts.iter().any(|part| is_timed(&part));
        let parts = self.parts.iter().filter(|part| !are_some || is_timed(part));
        parts.map(Part::overhead).fold(Overhead::default(), |sum, part| Overhead {
            calls: sum.calls.saturating_add(part.calls),
            inner: sum.inner + part.inner,
            outer: sum.outer + part.outer,
            error: sum.error + part.error,
            windows: sum.windows + part.windows,
        })
    }

    /// What is known of what a function's calls cost beyond what the recorder has taken off.
    pub fn refinement(&self, function: PlaceId) -> Refinement {
        let mut refinement = Refinement::default();
        for part in &self.parts {
            if let Some(filed) = part.filed.get(&function) {
                refinement.add(&part.refinement(filed));
            }
        }
        refinement
    }
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Process {
    /// When it began to record, in nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// Its number, as it saw it.
    pub pid: u32,
    /// Its parent's.
    pub ppid: u32,
    /// Its program.
    pub exe: String,
    /// Its arguments.
    pub cmdline: Vec<String>,
    /// What became of it.
    pub state: State,
    /// The profile that it is in.
    pub profile: PathBuf,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Thread {
    /// Its number.
    pub tid: u32,
    /// Its name.
    pub name: String,
}

/// The distribution of a function's calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionTimes {
    /// Times of calls that returned, as the recorder has filed them.
    pub histogram: Histogram,
    /// Calls that returned, as far as the histograms count them one by one.
    pub returned: u64,
    /// Of what is told since an earlier moment: calls that were open then.
    pub open_before: i64,
    /// Processes that have called it; those that share an arena count as one.
    pub processes: u64,
    /// When it ran, if it is a root.
    pub timelines: Timelines,
}

impl FunctionTimes {
    /// Adds those of the same function elsewhere.
    pub fn add(&mut self, other: &Self) {
        self.histogram.merge(&other.histogram);
        self.returned = self.returned.saturating_add(other.returned);
        self.open_before = self.open_before.saturating_add(other.open_before);
        self.processes = self.processes.saturating_add(other.processes);
        self.timelines.merge(&other.timelines);
    }
}

/// Which group an arena belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum GroupKey {
    /// Everything, or what belongs to no single process.
    Shared,
    /// A process, by its family and number in it.
    Process { family: usize, process: u32 },
    /// A thread, by its arena too; or several that cannot be told apart.
    Thread { family: usize, process: u32, arena: Option<usize> },
    /// Whatever has a label, by its number.
    Labelled(usize),
}

/// Paths of an arena that are measured before they are added.
const PART: usize = 1 << 12; // what a core's cache holds

/// What follows from what nodes lead to, and how: many do so alike, and it is found once.
struct End {
    /// Its number in the tree.
    call: u32,
    function: PlaceId,
    target: Option<PlaceId>,
    has_histogram: bool,
    /// Whether a path stands for several.
    stands_for_many: bool,
    /// Whether calls are those of a function, and not told elsewhere, too.
    counts: bool,
    is_called: bool,
    /// Calls of them that are in the histogram of their function.
    filed: Option<Filed>,
}

impl End {
    fn of(node: &Node, resolver: &mut Resolver, tree: &mut Growing) -> Self {
        let mut place = |address, module| resolver.place(address, module);
        let key = Key {
            parent: None,
            function: place(node.function, node.module),
            site: place(node.site, node.site_module),
            hook: place(node.hook, node.module),
            flags: node.flags,
            folded_into: None,
        };
        let target = (node.target != 0).then(|| place(node.target, node.site_module));
        Self {
            call: tree.number(&key),
            function: key.function,
            target,
            has_histogram: node.has_histogram,
            stands_for_many: node.flags & (node::flag::FOLDED | node::flag::EDGE) == node::flag::FOLDED,
            counts: !node.is_untimed() && !node.is_others(),
            is_called: false,
            filed: None,
        }
    }
}

/// A group that grows.
#[derive(Default)]
pub(super) struct Growth {
    group: Group,
    tree: Growing,
    parts: FxHashMap<PartKey, GrowingPart>,
    processes: Processes,
    /// Processes of the families that are in no other group.
    family_processes: u64,
    /// Whether some of it was counted by function only, for whichever process of a family.
    has_anyones: bool,
    /// Whether that may be of processes that are in other groups.
    has_others: bool,
    functions: FxHashMap<PlaceId, Distribution>,
    process: Option<Process>,
    thread: Option<Thread>,
}

/// Of one function.
#[derive(Default)]
struct Distribution {
    times: FunctionTimes,
    /// Those that are counted here.
    processes: Processes,
}

/// Distinct processes, whose arenas come one process after the other.
#[derive(Default)]
struct Processes {
    count: u64,
    /// By its family and number in it.
    latest: Option<(usize, u32)>,
}

impl Processes {
    fn add(&mut self, process: (usize, u32)) {
        if self.latest.replace(process) != Some(process) {
            self.count += 1;
        }
    }
}

impl Growth {
    /// Adds what a family counted as a whole. Of its processes some have arenas that are theirs (`apart`), some only such
    /// as others have used (`merged`).
    pub fn add_family(&mut self, family: &Family, by: By, apart: u64, merged: u64) {
        self.add_program(family);
        self.group.lost_calls = self.group.lost_calls.saturating_add(family.lost_calls);
        // Processes that share arenas are not told apart: they are what is left of the family's count.
        let all = u64::from(family.processes).max(apart + merged);
        self.family_processes += if by == By::All { all } else { all - apart };
        self.has_others |= self.has_anyones && by != By::All && apart > 0;
    }

    fn add_program(&mut self, family: &Family) {
        if !self.group.programs.contains(&family.exe) {
            self.group.programs.insert(family.exe.clone());
        }
    }

    /// Takes off what a family had lost at an earlier moment.
    pub fn leave_out_lost(&mut self, earlier: u64) {
        self.group.lost_calls = self.group.lost_calls.saturating_sub(earlier);
    }

    /// Adds what an arena counted. Those of one process come one after the other.
    pub fn add_arena(
        &mut self,
        index: usize,
        family: &Family,
        arena: &Arena,
        counted: Counted,
        resolver: &mut Resolver,
    ) {
        let facts = &arena.facts;
        let process = (index, facts.process);
        if arena.is_by_function() {
            self.has_anyones = true;
        } else {
            self.processes.add(process);
            self.process = Some(process_of(family, arena));
        }
        self.add_program(family);
        self.thread = Some(Thread { tid: facts.tid, name: arena.thread_name() });
        self.group.lost_calls = self.group.lost_calls.saturating_add(counted.lost_calls);
        self.group.unwound = self.group.unwound.saturating_add(counted.unwound);

        let mut ids: Vec<PathId> = Vec::with_capacity(arena.nodes.len());
        // By the arena's numbers of them, once a path leads there.
        let mut ends: Vec<Option<End>> = Vec::new();
        ends.resize_with(arena.nodes.ends(), || None);
        let (mut calls, mut folded_calls) = (0u64, 0u64);
        let mut is_folded: Vec<bool> = Vec::with_capacity(arena.nodes.len());
        let part = self.parts.entry(PartKey::of(family)).or_default();
        let addends = Addends::of(family, arena);
        self.tree.expect(arena.nodes.len());
        part.expect(arena.nodes.len());
        for first in (0..arena.nodes.len()).step_by(PART) {
            let part_of = first..arena.nodes.len().min(first + PART);
            // All that needs nothing of what is added is done by all cores, of as many paths as a cache holds.
            let some = counted.paths.each_of(part_of.clone(), |index, sums| addends.of_path(index, sums));
            for (index, path) in part_of.zip(some) {
                let end = &mut ends[arena.nodes.end(index) as usize];
                let end = end.get_or_insert_with(|| End::of(&arena.nodes.get(index), resolver, &mut self.tree));
                let Added { calls: calls_of_path, sums, pairs, filed } = addends.added(path, end.has_histogram);
                let merged = |index: u32| ids[index as usize];
                let parent = arena.nodes.parent(index);
                let folded_into = arena.nodes.folded_into(index).map(merged);
                let id = self.tree.add_numbered(parent.map(merged), end.call, folded_into, end.target, sums);
                part.add_path(id, pairs);
                ids.push(id);
                // A path that stands for several, or is below one.
                let is_below = parent.is_some_and(|parent| is_folded[parent as usize]);
                is_folded.push(end.stands_for_many || is_below);
                if end.counts {
                    calls = calls.saturating_add(calls_of_path);
                    if is_folded[ids.len() - 1] {
                        folded_calls = folded_calls.saturating_add(calls_of_path);
                    }
                    end.is_called |= calls_of_path > 0;
                }
                if let Some(filed) = filed {
                    end.filed.get_or_insert_default().add(&filed);
                }
            }
        }
        for end in ends.iter().flatten() {
            if end.is_called {
                self.functions.entry(end.function).or_default().processes.add(process);
            }
            if let Some(filed) = &end.filed {
                part.file(end.function, filed);
            }
        }
        for (node, entered) in
            arena.nodes.iter().zip(&counted.entered_before).filter(|(node, _)| !node.is_untimed() && !node.is_others())
        {
            let times = &mut self.functions.entry(resolver.place(node.function, node.module)).or_default().times;
            times.open_before = times.open_before.saturating_add_unsigned(*entered);
        }
        for &((address, module), entered) in counted.entered_elsewhere {
            let times = &mut self.functions.entry(resolver.place(address, module)).or_default().times;
            times.open_before = times.open_before.saturating_add_unsigned(entered);
        }
        for function in counted.functions_before.iter().filter(|_| family.timing == Timing::All) {
            let times = &mut self.functions.entry(resolver.place(function.address, function.module)).or_default().times;
            times.open_before = times.open_before.saturating_sub_unsigned(function.returned());
        }
        for function in counted.functions.iter() {
            let place = resolver.place(function.address, function.module);
            let times = &mut self.functions.entry(place).or_default().times;
            times.histogram.add(function, family.clock.hz);
            if family.timing == Timing::All {
                times.returned = times.returned.saturating_add(function.returned());
            }
        }
        let origin = Origin::new(family.started_unix_ns, family.clock.hz);
        for (&(address, module), slices) in &counted.timelines {
            self.functions.entry(resolver.place(address, module)).or_default().times.timelines.add(origin, slices);
        }
        let left_out = arena.left_out().saturating_sub(counted.left_out_before);
        self.group.left_out = self.group.left_out.saturating_add(left_out);
        self.group.calls = self.group.calls.saturating_add(calls);
        // The tree knows as well; the recorder need not count what it can be asked.
        self.group.folded_calls = self.group.folded_calls.saturating_add(folded_calls);
        part.add_calls(calls);
        self.group.timing.insert(family.timing);
        self.group.was_reset |= family.resets > 0;
    }

    /// Adds what was merged before; `places` are the numbers here of its places.
    pub fn add_group(&mut self, group: &Group, places: &[PlaceId]) {
        let sum = &mut self.group;
        sum.programs.extend(group.programs.iter().cloned());
        sum.calls = sum.calls.saturating_add(group.calls);
        sum.lost_calls = sum.lost_calls.saturating_add(group.lost_calls);
        sum.folded_calls = sum.folded_calls.saturating_add(group.folded_calls);
        sum.unwound = sum.unwound.saturating_add(group.unwound);
        sum.left_out = sum.left_out.saturating_add(group.left_out);
        sum.was_reset |= group.was_reset;
        sum.timing.extend(&group.timing);
        self.family_processes = self.family_processes.saturating_add(group.processes);
        self.process = group.process.clone();
        self.thread = group.thread.clone();

        self.tree.expect(group.tree.paths.len());
        let mut ids: Vec<PathId> = Vec::with_capacity(group.tree.paths.len());
        for path in &group.tree.paths {
            let (place, merged) = (|place: PlaceId| places[place as usize], |path: PathId| ids[path as usize]);
            let key = Key {
                parent: path.key.parent.map(merged),
                function: place(path.key.function),
                site: place(path.key.site),
                hook: place(path.key.hook),
                flags: path.key.flags,
                folded_into: path.key.folded_into.map(merged),
            };
            ids.push(self.tree.add(key, path.target.map(place), &path.counts));
        }
        for part in &group.parts {
            let sum = self.parts.entry(part.key.clone()).or_default();
            sum.add_calls(part.calls);
            let paths = part.paths.iter();
            paths.for_each(|(path, pairs)| sum.add_path(ids[path as usize], PackedPairs::of(&pairs)));
            part.filed.iter().for_each(|(place, filed)| sum.file(places[*place as usize], filed));
        }
        for (place, times) in &group.functions {
            self.functions.entry(places[*place as usize]).or_default().times.add(times);
        }
    }

    /// The finished group; `places` are the final numbers of places, and `calibrated` tells what the hooks of all groups cost.
    pub fn finish(self, key: GroupKey, places: &[PlaceId], calibrated: &FxHashMap<PartKey, Calibrated>) -> Group {
        let processes = self.family_processes.max(self.processes.count);
        let is_one = match key {
            GroupKey::Shared | GroupKey::Labelled(_) => processes == 1 && !self.has_others,
            GroupKey::Process { .. } | GroupKey::Thread { .. } => true,
        };
        let one_thread = matches!(key, GroupKey::Thread { arena: Some(_), .. });
        let functions = self.functions.into_iter().map(|(place, Distribution { mut times, processes })| {
            times.processes = times.processes.saturating_add(processes.count);
            (places[place as usize], times)
        });
        let (tree, order) = self.tree.finish(places);
        let parts = self.parts.into_iter().map(|(key, part)| {
            let calibrated = &calibrated[&key];
            part.finish(key, calibrated, &order, places)
        });
        let mut parts: Vec<Part> = parts.collect();
        parts.sort_by(|a, b| a.key.cmp(&b.key));
        Group {
            process: self.process.filter(|_| is_one),
            thread: self.thread.filter(|_| one_thread),
            processes,
            tree,
            parts,
            functions: functions.collect(),
            ..self.group
        }
    }
}

fn process_of(family: &Family, arena: &Arena) -> Process {
    let facts = &arena.facts;
    Process {
        started_unix_ns: family.unix_ns(facts.process_started),
        pid: facts.pid,
        ppid: facts.ppid,
        exe: family.exe.clone(),
        cmdline: family.cmdline.clone(),
        state: arena.state,
        profile: family.path.clone(),
    }
}
