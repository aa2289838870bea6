//! What has come since a reading, from what has changed in the file alone: for whoever reads it several times a second.
//!
//! The same as [`super::Merging::add_since`] tells of the changes of one family, and by the same sums ([`super::since`]), but of paths
//! and functions by their numbers in the family, which its reader knows already: no tree is made of them, and nothing is asked of
//! paths that have counted nothing.

use rustc_hash::FxHashMap;

use super::addend::filed;
use super::group::FunctionTimes;
use super::idle::{counts_anything, tells_anything};
use super::latest::{Latest, latest};
use super::measure::{Measured, Measures, entered, pairs_beside};
use super::modules::{ModuleTable, Place, PlaceTable, Resolver};
use super::since::{Before, Earlier, extremes_since, timelines};
use super::{Filed, Module, PathPairs, Row};
use crate::load::costs::Costs;
use crate::load::timed::Timing;
use crate::load::{Arena, ArenaChanges, Changes, Family, Function, FunctionChanges, Node};
use crate::time::Time;
use crate::timeline::{Origin, Slices};
use diytrace_format::Slot;
use diytrace_format::histogram::SUBS;
use diytrace_format::node::{flag, mark};

/// What is known of a family whose changes are asked for.
pub struct Followed {
    /// Functions, by address and module.
    functions: Vec<(u64, u32)>,
    numbers: FxHashMap<(u64, u32), u32>,
    /// Of each function, calls that have entered and not returned.
    open: Vec<i64>,
    arenas: Vec<Standing>,
    /// In which order arenas are: those of a process together.
    order: Vec<usize>,
}

/// What is known of an arena.
struct Standing {
    /// Of each path and each function of it, the number of the function.
    of_nodes: Vec<u32>,
    of_functions: Vec<u32>,
    /// Paths that count in every difference: what is open goes on, and what is off the processor is shared out by all.
    stands: Vec<bool>,
    /// The path that has the latest moment.
    latest: Option<u32>,
    /// For whoever numbers some paths; [`NOWHERE`] in between.
    numbers: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

/// What a family counted between two readings.
pub struct Addition {
    /// The earlier reading and the later, of which there are only paths that have changed, and those that they are below.
    pub before: Family,
    /// See above.
    pub now: Family,
    /// As [`super::Group`] has them, here and below.
    pub calls: u64,
    /// See there.
    pub lost_calls: u64,
    /// See there.
    pub folded_calls: u64,
    /// See there.
    pub unwound: u64,
    /// See there.
    pub left_out: u64,
    /// By arena, and place in that.
    pub paths: Vec<((usize, u32), Row)>,
    /// By their numbers, ascending.
    pub functions: Vec<(u32, FunctionTimes)>,
    /// Likewise.
    pub filed: Vec<(u32, Filed)>,
}

/// A family's places, as others number them.
pub struct Known {
    /// Its modules.
    pub modules: Vec<Module>,
    /// Of each function that is followed.
    pub functions: Vec<Place>,
    /// Of each arena's paths: the places of function, site and hook.
    pub paths: Vec<Vec<[Place; 3]>>,
}

fn latest_mark(node: &Node) -> u64 {
    node.slots.iter().map(|slot| slot.mark & !mark::BITS).max().unwrap_or(0)
}

fn stands(node: &Node) -> bool {
    let is_open = node.is_open_since_reset || node.slots.iter().any(|slot| slot.mark & mark::OPEN != 0);
    is_open || node.off != Default::default()
}

impl Followed {
    /// Of a family as it was read.
    pub fn of(family: &Family) -> Self {
        let (mut functions, mut numbers): (Vec<(u64, u32)>, FxHashMap<_, u32>) = Default::default();
        let mut number = |function: (u64, u32)| {
            *numbers.entry(function).or_insert_with(|| {
                functions.push(function);
                functions.len() as u32 - 1
            })
        };
        let arenas: Vec<Standing> = (family.arenas.iter())
            .map(|arena| Standing {
                of_nodes: arena.nodes.iter().map(|node| number((node.function, node.module))).collect(),
                of_functions: arena.functions.iter().map(|of| number((of.address, of.module))).collect(),
                stands: arena.nodes.iter().map(|node| stands(&node)).collect(),
                latest: (0..arena.nodes.len() as u32).max_by_key(|at| latest_mark(&arena.nodes.get(*at as usize))),
                numbers: vec![NOWHERE; arena.nodes.len()],
            })
            .collect();
        let mut open = vec![0i64; functions.len()];
        for (arena, standing) in family.arenas.iter().zip(&arenas) {
            for (node, of) in arena.nodes.iter().zip(&standing.of_nodes).filter(|(node, _)| !node.is_untimed()) {
                open[*of as usize] = open[*of as usize].saturating_add_unsigned(entered_of(arena, &node));
            }
            for (function, of) in arena.functions.iter().zip(&standing.of_functions) {
                let returned = returned(family.timing, function.unbinned, &function.octaves);
                open[*of as usize] = open[*of as usize].saturating_sub_unsigned(returned);
            }
        }
        let mut order: Vec<usize> = (0..arenas.len()).collect();
        order.sort_by_key(|at| family.arenas[*at].facts.process);
        Self { functions, numbers, open, arenas, order }
    }

    /// What its functions and paths are to others.
    pub fn known(&self, family: &Family) -> Known {
        let (mut modules, mut places) = (ModuleTable::default(), PlaceTable::default());
        let resolver = Resolver::new(family, &mut modules, &mut places);
        let functions = self.functions.iter().map(|(address, module)| resolver.place_of(*address, *module)).collect();
        let path = |node: Node| {
            let site = resolver.place_of(node.site, node.site_module);
            [resolver.place_of(node.function, node.module), site, resolver.place_of(node.hook, node.module)]
        };
        let paths = family.arenas.iter().map(|arena| arena.nodes.iter().map(path).collect()).collect();
        Known { modules: modules.list, functions, paths }
    }

    /// What has come since, of a family that these are the changes of.
    pub fn since(&mut self, family: &Family, changes: &Changes) -> Addition {
        let mut before = with_no_arenas(family);
        let mut now = Family {
            clock: changes.clock,
            read_ticks: changes.read_ticks,
            last_anchor_ticks: changes.last_anchor_ticks,
            lost_calls: changes.lost_calls,
            ..before.clone()
        };
        let mut places: Vec<Vec<u32>> = Vec::new();
        for ((arena, changes), standing) in family.arenas.iter().zip(&changes.arenas).zip(&mut self.arenas) {
            let stay = standing.staying(arena, &changes.nodes);
            let (then, later) = standing.both(arena, changes, &stay);
            before.arenas.push(then);
            now.arenas.push(later);
            places.push(stay);
        }
        let mut sum = Sum::of(self, &before, &now, family.evidence.of_loop());
        let earlier = Earlier::of(&before);
        let mut latest = latest(&now);
        earlier.outlive(&now, &mut latest);
        for &number in self.order.iter().filter(|number| !now.arenas[**number].is_by_function()) {
            let (arena, stay) = (&now.arenas[number], &places[number]);
            let Some(before) = earlier.of_arena(arena) else { continue };
            let (latest, changes) = (latest[number], &changes.arenas[number]);
            sum.add(
                self,
                &Both { number, stay, now: &now, arena, whole: &family.arenas[number], latest, before, changes },
            );
        }
        let Sum { calls, lost_calls, folded_calls, unwound, left_out, paths, functions: mut all, .. } = sum;
        all.sort_unstable_by_key(|of| of.number);
        let filed = all.iter().filter(|of| of.filed != Filed::default()).map(|of| (of.number, of.filed)).collect();
        let functions =
            all.into_iter().filter(|of| tells_anything(&of.times)).map(|of| (of.number, of.times)).collect();
        Addition { before, now, calls, lost_calls, folded_calls, unwound, left_out, paths, functions, filed }
    }

    /// Takes note of changes, before they are made or taken back.
    pub fn note(&mut self, family: &Family, changes: &Changes) {
        let are_made = changes.are_made;
        for ((arena, changes), standing) in family.arenas.iter().zip(&changes.arenas).zip(&mut self.arenas) {
            for (at, node) in &changes.nodes {
                let (before, place) = (arena.nodes.get(*at as usize), *at as usize);
                let open = &mut self.open[standing.of_nodes[place] as usize];
                if !node.is_untimed() {
                    *open = open.saturating_add_unsigned(entered_of(arena, node));
                    *open = open.saturating_sub_unsigned(entered_of(arena, &before));
                }
                standing.stands[place] = stands(node);
            }
            standing.latest = match are_made {
                false => standing.latest_of(arena, &changes.nodes),
                true => standing.latest_before(arena, &changes.nodes),
            };
            for (at, function) in &changes.functions {
                let open = &mut self.open[standing.of_functions[*at as usize] as usize];
                let returned = returned(family.timing, function.unbinned, changes.octaves(function));
                *open = match are_made {
                    false => open.saturating_sub_unsigned(returned),
                    true => open.saturating_add_unsigned(returned),
                };
            }
        }
    }
}

/// Calls of a path that a histogram counts when they return.
fn entered_of(arena: &Arena, node: &Node) -> u64 {
    if arena.is_by_function() { 0 } else { entered(node) }
}

/// Where calls are not timed, what has returned is not told.
fn returned(timing: Timing, unbinned: u64, octaves: &[(u8, [u64; SUBS])]) -> u64 {
    let binned = || octaves.iter().flat_map(|(_, counts)| counts);
    if timing == Timing::All { binned().fold(unbinned, |sum, count| sum.saturating_add(*count)) } else { 0 }
}

/// All of a family that is not its arenas, nor what only a reading as a whole asks for.
fn with_no_arenas(family: &Family) -> Family {
    let (arenas, modules, roots, warnings) = Default::default();
    Family {
        path: family.path.clone(),
        evidence: Default::default(),
        exe: family.exe.clone(),
        cmdline: Vec::new(),
        snapshot: None,
        arenas,
        modules,
        roots,
        warnings,
        ..*family
    }
}

impl Standing {
    fn latest_of(&self, arena: &Arena, changed: &[(u32, Node)]) -> Option<u32> {
        let at = |at: u32| latest_mark(&arena.nodes.get(at as usize));
        let known = self.latest.map(|known| (at(known), known));
        let changed = changed.iter().map(|(at, node)| (latest_mark(node), *at));
        known.into_iter().chain(changed).max().map(|(_, at)| at)
    }

    /// The same where the changes are taken back.
    fn latest_before(&self, arena: &Arena, changed: &[(u32, Node)]) -> Option<u32> {
        let mut changed = changed.iter().peekable();
        let mut latest = None;
        for (at, node) in (0u32..).zip(&arena.nodes) {
            let node = changed.next_if(|(changed, _)| *changed == at).map_or(node, |(_, was)| *was);
            latest = latest.max(Some((latest_mark(&node), at)));
        }
        latest.map(|(_, at)| at)
    }

    /// The places of all paths that count in a difference, and of those that they are below, ascending.
    fn staying(&mut self, arena: &Arena, changed: &[(u32, Node)]) -> Vec<u32> {
        let latest = self.latest_of(arena, changed).into_iter().chain(self.latest);
        let standing = (0u32..).zip(&self.stands).filter(|(_, stands)| **stands).map(|(at, _)| at);
        let mut stay: Vec<u32> = Vec::new();
        for at in changed.iter().map(|(at, _)| *at).chain(standing).chain(latest) {
            if std::mem::replace(&mut self.numbers[at as usize], 0) == NOWHERE {
                stay.push(at);
            }
        }
        let mut next = 0;
        while let Some(at) = stay.get(next) {
            let node = arena.nodes.get(*at as usize);
            for above in node.parent.into_iter().chain(node.folded_into) {
                if std::mem::replace(&mut self.numbers[above as usize], 0) == NOWHERE {
                    stay.push(above);
                }
            }
            next += 1;
        }
        stay.sort_unstable();
        stay
    }

    /// An arena at both readings, with these paths and the functions that have changed.
    fn both(&mut self, arena: &Arena, changes: &ArenaChanges, stay: &[u32]) -> (Arena, Arena) {
        for (number, at) in (0u32..).zip(stay) {
            self.numbers[*at as usize] = number;
        }
        let number = |at: u32| self.numbers[at as usize];
        let names: Vec<_> = stay.iter().map(|at| arena.names[*at as usize]).collect();
        let then = arena.nodes.some(stay, number);
        let mut later = then.clone();
        for (at, now) in &changes.nodes {
            let (parent, folded_into) = (now.parent.map(number), now.folded_into.map(number));
            later.change(number(*at) as usize, |node| *node = Node { parent, folded_into, ..*now });
        }
        stay.iter().for_each(|at| self.numbers[*at as usize] = NOWHERE);
        let of = |facts, names, nodes, functions| Arena {
            recycling: None, // of one in which paths give way all is read
            by_name: Vec::new(),
            facts,
            name: arena.name,
            state: arena.state,
            is_before_reset: false,
            names,
            nodes,
            functions,
        };
        // When they ran; their calls are told already.
        let with_timelines = || changes.functions.iter().filter(|(_, now)| now.timeline.is_some());
        let function = |at: u32, timeline: &Option<Slices>| {
            let Function { address, module, .. } = arena.functions[at as usize];
            let (extremes, unbinned, octaves, timeline) = (None, 0, Vec::new(), timeline.clone());
            Function { address, module, extremes, unbinned, octaves, timeline }
        };
        let was = |(at, _): &(u32, _)| function(*at, &arena.functions[*at as usize].timeline);
        let is = |(at, now): &(u32, FunctionChanges)| function(*at, &now.timeline);
        let before = of(arena.facts, names.clone(), then, with_timelines().map(was).collect());
        (before, of(changes.facts, names, later, with_timelines().map(is).collect()))
    }
}

/// An addition on the way.
#[derive(Default)]
struct Sum {
    calls: u64,
    lost_calls: u64,
    folded_calls: u64,
    unwound: u64,
    left_out: u64,
    paths: Vec<((usize, u32), Row)>,
    /// What hooks cost, as the recorder knows it.
    of_loop: Costs,
    /// Functions that have something to tell, which are few of a large program's.
    functions: Vec<OfFunction>,
    /// The places of all there, by their numbers; [`NOWHERE`] if they have none.
    places: Vec<u32>,
}

/// What has come to a function.
#[derive(Default)]
struct OfFunction {
    number: u32,
    times: FunctionTimes,
    filed: Filed,
    /// The last process that has called it.
    called_by: Option<u32>,
}

/// An arena at both readings, and where its paths are in the whole of it.
struct Both<'a> {
    number: usize,
    stay: &'a [u32],
    now: &'a Family,
    arena: &'a Arena,
    /// All of it, at the earlier one.
    whole: &'a Arena,
    latest: Latest,
    before: Before<'a>,
    changes: &'a ArenaChanges,
}

/// How many pairs are below each path in paths that have not changed ([`pairs_beside`]); empty if that makes no difference.
fn beside(of: &Both) -> Vec<u64> {
    let Both { stay, whole, arena, before, .. } = *of;
    let is_open = |slot: &Slot| slot.mark & mark::OPEN != 0;
    let makes_difference = |(now, before): (Node, Node)| {
        let mut slots = now.slots.iter().zip(&before.slots);
        slots.any(|(now, before)| match (is_open(now), is_open(before)) {
            (true, true) => now.descendants != 0 || before.descendants != 0,
            (now, before) => now != before,
        })
    };
    if !arena.nodes.iter().zip(&before.arena.nodes).any(makes_difference) {
        return Vec::new();
    }
    pairs_beside(whole, before.arena, stay.iter().map(|at| *at as usize))
}

impl Sum {
    fn of(followed: &Followed, before: &Family, now: &Family, of_loop: Costs) -> Self {
        let mut sum = Self {
            lost_calls: now.lost_calls.saturating_sub(before.lost_calls),
            places: vec![NOWHERE; followed.functions.len()],
            of_loop,
            ..Self::default()
        };
        for (number, open) in (0..).zip(&followed.open).filter(|(_, open)| **open != 0) {
            sum.function(number).times.open_before = *open;
        }
        sum
    }

    fn function(&mut self, number: u32) -> &mut OfFunction {
        let place = &mut self.places[number as usize];
        if *place == NOWHERE {
            *place = self.functions.len() as u32;
            self.functions.push(OfFunction { number, ..OfFunction::default() });
        }
        &mut self.functions[*place as usize]
    }

    fn add(&mut self, followed: &Followed, of: &Both) {
        let Both { number, stay, now, arena, whole, latest, before, changes } = *of;
        let standing = &followed.arenas[number];
        let facts = [&arena.facts, &before.arena.facts];
        let more = |of: fn(&diytrace_format::Arena) -> u64| of(facts[0]).saturating_sub(of(facts[1]));
        self.lost_calls = self.lost_calls.saturating_add(more(|facts| facts.lost_calls));
        self.unwound = self.unwound.saturating_add(more(|facts| facts.unwound));
        self.left_out = self.left_out.saturating_add(arena.left_out().saturating_sub(before.arena.left_out()));
        // As [`super::since::counted`] does, of paths that have the same places at both readings.
        let beside = beside(of);
        let earlier = Measures::of_some(now, before.arena, before.latest, &beside);
        let later = Measures::of_some(now, arena, latest, &beside);
        self.add_paths(standing, of, |at| later.since(&earlier, at, Time::LONGEST));
        let mut when = timelines(now, arena, latest);
        if !when.is_empty() {
            for (function, before) in timelines(before.family, before.arena, before.latest) {
                if let Some(slices) = when.get_mut(&function) {
                    slices.since(before);
                }
            }
        }
        for (at, function) in &changes.functions {
            let (FunctionChanges { extremes, unbinned, .. }, octaves) = (function, changes.octaves(function));
            let times = &mut self.function(standing.of_functions[*at as usize]).times;
            let extremes = extremes_since(octaves, *extremes, whole.functions[*at as usize].extremes);
            times.histogram.add_calls(*unbinned, extremes, octaves, now.clock.hz);
            times.returned = times.returned.saturating_add(returned(now.timing, *unbinned, octaves));
        }
        let origin = Origin::new(now.started_unix_ns, now.clock.hz);
        for (function, slices) in &when {
            if let Some(function) = followed.numbers.get(function) {
                self.function(*function).times.timelines.add(origin, slices);
            }
        }
        debug_assert_eq!(stay.len(), arena.nodes.len());
    }

    fn add_paths(&mut self, standing: &Standing, of: &Both, measured: impl Fn(usize) -> Measured) {
        let Both { number, stay, now, arena, .. } = *of;
        let process = arena.facts.process;
        let mut is_folded = vec![false; stay.len()];
        let mut counts = vec![false; stay.len()];
        let first = self.paths.len();
        self.paths.reserve(stay.len());
        for (at, node) in arena.nodes.iter().enumerate() {
            let measured = measured(at);
            self.paths.push(((number, stay[at]), Row { counts: measured.counts, pairs: measured.pairs }));
            counts[at] = counts_anything(&measured.counts) || measured.pairs != PathPairs::default();
            let is_above = node.parent.is_some_and(|parent| is_folded[parent as usize]);
            is_folded[at] = node.flags & flag::FOLDED != 0 || is_above;
            if node.is_untimed() {
                continue;
            }
            let (calls, function) = (measured.counts.calls, standing.of_nodes[stay[at] as usize]);
            self.calls = self.calls.saturating_add(calls);
            if is_folded[at] {
                self.folded_calls = self.folded_calls.saturating_add(calls);
            }
            if calls > 0 {
                let function = self.function(function);
                function.times.processes += u64::from(function.called_by.replace(process) != Some(process));
            }
            if node.has_histogram {
                let filed = filed(now, &self.of_loop, &measured);
                self.function(function).filed.add(&filed);
            }
        }
        // A path comes after those that it is below.
        for (at, node) in arena.nodes.iter().enumerate().rev() {
            if counts[at] {
                node.parent.into_iter().chain(node.folded_into).for_each(|above| counts[above as usize] = true);
            }
        }
        let mut counts = std::iter::repeat_n(true, first).chain(counts);
        self.paths.retain(|_| counts.next().unwrap_or(true));
    }
}
