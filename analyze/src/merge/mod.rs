//! Merges profiles: by module and address in it, into trees of call paths and histograms.
//!
//! ```text
//! [`Family`]s ──[modules]──▶ places ──[measure]──▶ sums of each path ──[tree]──▶ [`Merged`]
//! ```
//!
//! The result is the same in whatever order the profiles come.

mod measure;
mod modules;
mod tree;

use std::collections::BTreeMap;

use diytrace::arena::flag;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::histogram::Histogram;
use crate::load::{Arena, Family, State};
use crate::time::Time;
use modules::{ModuleTable, PlaceTable, Resolver};
pub use modules::{Module, ModuleFile, ModuleId, Place, PlaceId};
use tree::Growing;
pub use tree::{CallPath, Counts, Key, PathId, Tree};

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

/// Profiles, merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Programs and libraries.
    pub modules: Vec<Module>,
    /// What numbers of places stand for.
    pub places: Vec<Place>,
    /// What is reported together, in the order in which the processes started.
    pub groups: Vec<Group>,
}

/// What is reported together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The process, if it is one.
    pub process: Option<Process>,
    /// The thread, if it is one.
    pub thread: Option<Thread>,
    /// Processes in here.
    pub processes: u64,
    /// Calls entered.
    pub calls: u64,
    /// Calls that no path has counted.
    pub lost_calls: u64,
    /// Calls counted on paths that stand for several.
    pub folded_calls: u64,
    /// Calls left without an exit.
    pub unwound: u64,
    /// What one call costs, times `calls`.
    pub overhead: Overhead,
    /// Call paths.
    pub tree: Tree,
    /// Times of each function's calls.
    pub functions: BTreeMap<PlaceId, FunctionTimes>,
}

/// What hook pairs cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overhead {
    /// Inside the interval that a pair measures.
    pub inner: Time,
    /// For the caller beside that.
    pub outer: Time,
    /// Standard error of the sum of both.
    pub error: Time,
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thread {
    /// Its number.
    pub tid: u32,
    /// Its name.
    pub name: String,
}

/// The distribution of a function's calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionTimes {
    /// Times of calls that returned.
    pub histogram: Histogram,
    /// Processes that have called it; those that share an arena count as one.
    pub processes: u64,
}

/// Which group an arena belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum GroupKey {
    /// Everything, or what belongs to no single process.
    Shared,
    Process { family: usize, process: u32 },
    Thread { family: usize, process: u32, arena: Option<usize> },
}

/// Merges profiles; with `pid`, only what that process has recorded.
pub fn merge(families: &[Family], by: By, pid: Option<u32>) -> Merged {
    let (mut modules, mut places) = (ModuleTable::default(), PlaceTable::default());
    let mut groups: FxHashMap<GroupKey, Growth> = FxHashMap::default();
    for (index, family) in families.iter().enumerate() {
        let mut by_process: FxHashMap<u32, Vec<&Arena>> = FxHashMap::default();
        for arena in &family.arenas {
            by_process.entry(arena.facts.process).or_default().push(arena);
        }
        let latest: FxHashMap<_, _> = by_process.iter().map(|(&id, arenas)| (id, measure::latest(arenas))).collect();
        let latest = |arena: &Arena| match arena.facts.flags & (flag::ENDED | flag::EXITED) {
            flag::ENDED => measure::latest(&[arena]), // the thread ended before its process
            _ => latest[&arena.facts.process],
        };
        let mut resolver = Resolver::new(family, &mut modules, &mut places);
        for (number, arena) in family.arenas.iter().enumerate() {
            if pid.is_some_and(|pid| arena.is_merged() || arena.facts.pid != pid) {
                continue;
            }
            let group = groups.entry(key(by, index, number, arena)).or_default();
            group.add_arena(index, family, arena, latest(arena), &mut resolver);
        }
        if pid.is_none() && (by == By::All || family.lost_calls > 0 || family.arenas.iter().any(Arena::is_merged)) {
            let shared = groups.entry(GroupKey::Shared).or_default();
            shared.add_family(family, by, by_process.values());
        }
    }
    finish(modules, places, groups)
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

/// A group that grows.
#[derive(Default)]
struct Growth {
    group: Group,
    tree: Growing,
    /// Distinct processes, by family and number in it.
    processes: FxHashSet<(usize, u32)>,
    /// Processes of the families that are in no other group.
    family_processes: u64,
    functions: FxHashMap<PlaceId, (Histogram, FxHashSet<(usize, u32)>)>,
    process: Option<Process>,
    thread: Option<Thread>,
}

impl Growth {
    fn add_family<'a>(&mut self, family: &Family, by: By, processes: impl Iterator<Item = &'a Vec<&'a Arena>>) {
        self.group.lost_calls = self.group.lost_calls.saturating_add(family.lost_calls);
        // Processes that share arenas are not told apart: they are what is left of the family's count.
        let (mut apart, mut merged) = (0u64, 0u64);
        for arenas in processes {
            let is_merged = arenas.iter().all(|arena| arena.is_merged());
            *(if is_merged { &mut merged } else { &mut apart }) += 1;
        }
        let all = u64::from(family.processes).max(apart + merged);
        self.family_processes += if by == By::All { all } else { all - apart };
    }

    fn add_arena(&mut self, index: usize, family: &Family, arena: &Arena, latest: u64, resolver: &mut Resolver) {
        let facts = &arena.facts;
        let process = (index, facts.process);
        self.processes.insert(process);
        self.process = Some(process_of(family, arena));
        self.thread = Some(Thread { tid: facts.tid, name: arena.thread_name() });
        self.group.lost_calls = self.group.lost_calls.saturating_add(facts.lost_calls);
        self.group.folded_calls = self.group.folded_calls.saturating_add(facts.folded_calls);
        self.group.unwound = self.group.unwound.saturating_add(facts.unwound);

        let counts = measure::measure(family, arena, latest);
        let mut ids: Vec<PathId> = Vec::with_capacity(arena.nodes.len());
        let mut calls = 0u64;
        for (node, counts) in arena.nodes.iter().zip(&counts) {
            let mut place = |address| resolver.place(address, node.generation);
            let merged = |index: u32| ids[index as usize];
            let key = Key {
                parent: node.parent.map(merged),
                function: place(node.function),
                site: place(node.site),
                hook: place(node.hook),
                flags: node.flags,
                folded_into: node.folded_into.map(merged),
            };
            let target = (node.target != 0).then(|| place(node.target));
            ids.push(self.tree.add(key, target, counts));
            if !node.is_untimed() {
                calls = calls.saturating_add(counts.calls);
                if counts.calls > 0 {
                    self.functions.entry(key.function).or_default().1.insert(process);
                }
            }
        }
        for function in &arena.functions {
            let place = resolver.place(function.address, function.generation);
            self.functions.entry(place).or_default().0.add(function, family.clock.hz);
        }
        self.group.calls = self.group.calls.saturating_add(calls);
        let cost = |ticks: f64| Time::from_ns(ticks * family.clock.ns_per_tick()).times(calls);
        self.group.overhead.inner += cost(family.costs.inner);
        self.group.overhead.outer += cost(family.costs.outer);
        self.group.overhead.error += cost(family.costs.error);
    }

    fn finish(self, key: GroupKey, places: &[PlaceId]) -> Group {
        let processes = self.family_processes.max(self.processes.len() as u64);
        let is_one = match key {
            GroupKey::Shared => processes == 1,
            GroupKey::Process { .. } | GroupKey::Thread { .. } => true,
        };
        let one_thread = matches!(key, GroupKey::Thread { arena: Some(_), .. });
        let functions = self.functions.into_iter().map(|(place, (histogram, processes))| {
            (places[place as usize], FunctionTimes { histogram, processes: processes.len() as u64 })
        });
        Group {
            process: self.process.filter(|_| is_one),
            thread: self.thread.filter(|_| one_thread),
            processes,
            tree: self.tree.finish(places),
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
    }
}

/// Numbers modules, places and groups by what they are, not by when they were met.
fn finish(modules: ModuleTable, places: PlaceTable, groups: FxHashMap<GroupKey, Growth>) -> Merged {
    let (modules, new_modules) = sorted(modules.list, |a, b| {
        (&a.files, &a.build_id).cmp(&(&b.files, &b.build_id))
    });
    let mut renamed = places.list;
    for place in &mut renamed {
        place.module = place.module.map(|module| new_modules[module as usize]);
    }
    let (places, new_places) = sorted(renamed, Ord::cmp);
    let mut groups: Vec<_> = groups.into_iter().map(|(key, growth)| growth.finish(key, &new_places)).collect();
    groups.sort_by(|a, b| {
        let order = |group: &Group| (group.process.is_none(), group.thread.is_none());
        order(a).cmp(&order(b)).then_with(|| (&a.process, &a.thread).cmp(&(&b.process, &b.thread)))
    });
    Merged { modules, places, groups }
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
