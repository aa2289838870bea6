//! What an arena has counted, in all or since an earlier reading of the same file.
//!
//! A family's counters only grow, and its arenas and paths keep their names in the file. So what it counted between two
//! readings is the difference, path by path, with the clock and the costs of the later one, which knows them better.

use std::borrow::Cow;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::gone::{self, Gone};
use super::latest::{self, Latest};
use super::measure::{Measured, Measures, Sum};
use crate::load::{Arena, Family, Function};
use crate::time::Time;
use crate::timeline::Slices;

use diytrace_format::Ref;
use diytrace_format::histogram::{SUBS, range};
use diytrace_format::node::mark;

/// An earlier reading.
pub struct Earlier<'a> {
    pub family: &'a Family,
    latest: Vec<Latest>,
    arenas: FxHashMap<Ref, usize>,
}

/// An arena in an earlier reading.
#[derive(Clone, Copy)]
pub struct Before<'a> {
    pub family: &'a Family,
    pub arena: &'a Arena,
    pub latest: Latest,
}

impl<'a> Earlier<'a> {
    pub fn of(family: &'a Family) -> Self {
        let arenas = family.arenas.iter().enumerate().map(|(number, arena)| (arena.name, number)).collect();
        Self { family, latest: latest::latest(family), arenas }
    }

    /// An arena as it was then, if it was there.
    pub fn of_arena(&self, arena: &Arena) -> Option<Before<'a>> {
        let number = *self.arenas.get(&arena.name)?;
        Some(Before { family: self.family, arena: &self.family.arenas[number], latest: self.latest[number] })
    }

    /// Who was running at this reading was so until then, whatever became of it since.
    pub fn outlive(&self, family: &Family, latest: &mut [Latest]) {
        for (arena, latest) in family.arenas.iter().zip(latest) {
            let Some(&before) = self.arenas.get(&arena.name) else { continue };
            let owner = |arena: &Arena| (arena.facts.process, arena.facts.tid);
            if owner(&self.family.arenas[before]) == owner(arena) {
                latest.ticks = self.latest[before].ticks.max(latest.ticks);
            }
        }
    }
}

/// Sums of an arena's paths.
pub enum Paths<'a> {
    /// All that they have counted, as it is asked for.
    Whole(Box<Measures<'a>>),
    /// What has come since an earlier reading.
    Since(Vec<Measured>),
}

impl Paths<'_> {
    /// What is made of the sums of some paths.
    pub fn each_of<T: Send>(&self, paths: Range<usize>, make: impl Fn(usize, Sum) -> T + Sync) -> Vec<T> {
        match self {
            Self::Whole(measures) => measures.each_of(paths, make),
            Self::Since(measured) => paths.map(|index| make(index, Sum::Other(&measured[index]))).collect(),
        }
    }
}

/// What an arena has counted.
pub struct Counted<'a> {
    /// Of each path.
    pub paths: Paths<'a>,
    /// At the earlier reading, calls of each path that had neither been left nor returned outside of histograms.
    pub entered_before: Vec<u64>,
    /// And those of paths that are left out, by function.
    pub entered_elsewhere: &'a [((u64, u32), u64)],
    /// How many calls windows had left untimed then.
    pub left_out_before: u64,
    /// And functions as they were then: with the calls that had returned.
    pub functions_before: &'a [Function],
    /// When roots ran, by the address and module of their functions.
    pub timelines: FxHashMap<(u64, u32), Slices>,
    /// Times of functions.
    pub functions: Cow<'a, [Function]>,
    pub lost_calls: u64,
    pub unwound: u64,
}

/// What an arena, whose open calls last until `latest`, has counted beyond what it had earlier. Open calls have taken no longer
/// than `longest`, or than the time between. `beside`: at both readings, what there is in paths that are left out of the arena
/// ([`super::measure::pairs_beside`]).
pub fn counted<'a>(
    family: &'a Family,
    arena: &'a Arena,
    latest: Latest,
    before: Option<Before<'a>>,
    longest: Option<Time>,
    beside: [&[u64]; 2],
) -> Counted<'a> {
    let Arena { facts, functions, .. } = arena;
    let (lost_calls, unwound) = (facts.lost_calls, facts.unwound);
    let Some(Before { family: earlier, arena: before, latest: latest_before }) = before else {
        let (measures, timelines) = (Measures::of(family, arena, latest), timelines(family, arena, latest));
        let (entered_before, functions_before) = (Vec::new(), [].as_slice());
        let (functions, paths) = (functions.into(), Paths::Whole(Box::new(measures)));
        let left_out_before = 0;
        return Counted {
            paths,
            entered_before,
            entered_elsewhere: &[],
            left_out_before,
            functions_before,
            timelines,
            functions,
            lost_calls,
            unwound,
        };
    };
    let functions_before = &before.functions;
    let (mut before, mut arena) = (Cow::Borrowed(before), Cow::Borrowed(arena));
    if before.is_before_reset && !arena.is_before_reset {
        join_up(before.to_mut(), latest_before.ticks, arena.to_mut());
    }
    let mut timelines = timelines(family, &arena, latest);
    let mut paths = Measures::of_some(family, &arena, latest, beside[1]).all();
    let mut entered_before = vec![0u64; paths.len()];
    let passed = latest.ticks.saturating_sub(latest_before.ticks) as f64 * family.clock.ns_per_tick();
    let longest = longest.unwrap_or_else(|| Time::from_ns(passed));
    let measured_before = Measures::of_some(family, &before, latest_before, beside[0]).all();
    let gone = Gone::of(&before, &arena);
    for (path, measured) in measured_before.iter().enumerate() {
        let counts = &measured.counts;
        let entered = counts.calls.saturating_sub(counts.unwound).saturating_sub(counts.unbinned);
        let (place, others) = match gone.place(path) {
            Some(place) => (Some(place), None),
            None => gone.heirs(path).into(),
        };
        if let Some(place) = place {
            paths[place] = paths[place].since(measured, longest);
            entered_before[place] = entered_before[place].saturating_add(entered);
        }
        if let Some(others) = others {
            paths[others] = paths[others].since(&gone::as_others(measured), longest);
        }
    }
    for (function, before) in self::timelines(earlier, &before, latest_before) {
        if let Some(slices) = timelines.get_mut(&function) {
            slices.since(before);
        }
    }
    Counted {
        paths: Paths::Since(paths),
        entered_before,
        entered_elsewhere: &[],
        left_out_before: before.left_out(),
        timelines,
        functions_before,
        functions: functions_since(functions, functions_before).into(),
        lost_calls: lost_calls.saturating_sub(before.facts.lost_calls),
        unwound: unwound.saturating_sub(before.facts.unwound),
    }
}

/// The owner of an arena has taken up a reset between two readings. For itself it counts the calls it inherited from that
/// moment on, but they were open all the time.
fn join_up(before: &mut Arena, latest_before: u64, now: &mut Arena) {
    const INHERITED: u64 = mark::OPEN | mark::INHERITED;
    for (at, name) in before.names.iter().enumerate() {
        let then = before.nodes.get(at);
        let place = now.place_of(*name);
        for (slot, then) in then.slots.iter().enumerate().filter(|(_, then)| then.mark & !mark::BITS != 0) {
            match place.filter(|place| now.nodes.get(*place).slots[slot].mark & mark::BITS == INHERITED) {
                Some(place) => now.nodes.change(place, |now| now.slots[slot].mark = then.mark),
                // It has ended: what is known of its time is all since then.
                None => before.nodes.change(at, |then| {
                    then.slots[slot].mark = latest_before & !mark::BITS | INHERITED;
                }),
            }
        }
    }
}

/// When the roots of an arena ran, up to `latest`.
pub fn timelines(family: &Family, arena: &Arena, latest: Latest) -> FxHashMap<(u64, u32), Slices> {
    let kept = arena
        .functions
        .iter()
        .filter_map(|function| Some(((function.address, function.module), function.timeline.clone()?)));
    let mut timelines: FxHashMap<_, Slices> = kept.collect();
    let since_beginning = |ticks: u64| ticks.saturating_sub(family.first_ticks);
    for node in arena.nodes.iter().filter(|node| node.is_root) {
        let began = node.slots[0].mark & !mark::BITS;
        if node.slots[0].mark & mark::OPEN == 0 || began == 0 {
            continue;
        }
        let slices = timelines.entry((node.function, node.module)).or_default();
        slices.add_open(since_beginning(began), since_beginning(latest.ticks.max(began)));
    }
    timelines
}

fn functions_since(now: &[Function], before: &[Function]) -> Vec<Function> {
    let known: FxHashMap<_, _> =
        before.iter().map(|function| ((function.address, function.module), function)).collect();
    let since = |function: &Function| match known.get(&(function.address, function.module)) {
        Some(before) => function_since(function, before),
        None => function.clone(),
    };
    now.iter().map(since).collect()
}

/// The calls that have returned since. The shortest and longest of them are known exactly if none was so before, else as
/// well as their bins tell.
fn function_since(now: &Function, before: &Function) -> Function {
    let since = |(octave, counts): &(u8, [u64; SUBS])| {
        let mut counts = *counts;
        // Of each reading they are in their order, and each once.
        if let Ok(at) = before.octaves.binary_search_by_key(octave, |(octave, _)| *octave) {
            let earlier = before.octaves[at].1;
            counts.iter_mut().zip(earlier).for_each(|(count, before)| *count = count.saturating_sub(before));
        }
        counts.iter().any(|&count| count > 0).then_some((*octave, counts))
    };
    let octaves: Vec<_> = now.octaves.iter().filter_map(since).collect();
    let unbinned = now.unbinned.saturating_sub(before.unbinned);
    let extremes = extremes_since(&octaves, now.extremes, before.extremes);
    // Its timeline is taken off with those of calls that are open: see `timelines`.
    Function { address: now.address, module: now.module, extremes, unbinned, octaves, timeline: None }
}

/// The shortest and longest of calls that are in these bins, where those of all are known as they were, and as they are.
pub fn extremes_since(
    octaves: &[(u8, [u64; SUBS])],
    now: Option<(u64, u64)>,
    before: Option<(u64, u64)>,
) -> Option<(u64, u64)> {
    extremes(octaves).zip(now).map(|((low, high), (shortest, longest))| {
        let (was_shortest, was_longest) = before.unwrap_or((u64::MAX, 0));
        (
            if shortest < was_shortest { shortest } else { low.max(shortest) },
            if longest > was_longest { longest } else { high.min(longest) },
        )
    })
}

/// Between which times the calls in bins lie.
fn extremes(octaves: &[(u8, [u64; SUBS])]) -> Option<(u64, u64)> {
    let is_filled = |count: &u64| *count > 0;
    let ends = octaves.iter().filter_map(|(octave, counts)| {
        let first = range((*octave).into(), counts.iter().position(is_filled)?);
        let last = range((*octave).into(), counts.iter().rposition(is_filled)?);
        Some((first.0, last.0.saturating_add(last.1 - 1)))
    });
    ends.reduce(|(low, high), (other_low, other_high)| (low.min(other_low), high.max(other_high)))
}

#[cfg(test)]
mod tests {
    use diytrace_format::node::mark;

    use super::*;
    use crate::merge::{By, Merged, Merging};
    use crate::process::State;
    use crate::testing::{arena, family, function_of, node, slot};

    fn reading(at: u64, nodes: Vec<crate::load::Node>, times: &[u64]) -> Family {
        let mut arena = arena(nodes);
        (arena.facts.flags, arena.state) = (0, State::Running);
        arena.functions = vec![function_of(0x1100, times)];
        Family { read_ticks: at, ..family(vec![arena]) }
    }

    fn between(earlier: &Family, later: &Family) -> Merged {
        let mut merging = Merging::new(By::Process, None);
        merging.add_since(Some(earlier), later);
        merging.finish()
    }

    #[test]
    fn only_what_has_come_since_is_told() {
        let earlier = reading(100, vec![node(0x1100, None, slot(2, 30, 0))], &[10, 20]);
        let later = reading(
            900,
            vec![node(0x1100, None, slot(5, 630, 0)), node(0x1200, Some(0), slot(7, 70, 0))],
            &[10, 20, 100, 200, 300],
        );
        let merged = between(&earlier, &later);
        let [group] = &merged.groups[..] else { panic!("one process") };
        let paths: Vec<_> = group.tree.paths.iter().map(|path| (path.counts.calls, path.counts.own.ns())).collect();
        assert_eq!((group.calls, paths), (10, vec![(3, 530.0), (7, 70.0)]));
        let times = group.functions.values().find(|times| times.returned > 0).unwrap();
        let bounds = [times.histogram.min(), times.histogram.max()].map(|time| time.unwrap().ns());
        assert_eq!((times.returned, bounds[1]), (3, 300.0));
        assert!((96.0..=100.0).contains(&bounds[0]), "as well as its bin tells: {}", bounds[0]);
        assert_eq!(between(&later, &later).groups[0].calls, 0);
    }

    #[test]
    fn calls_that_were_left_untimed_before_are_none_of_the_interval() {
        let reading = |at: u64, calls: u64, left_out: u64| {
            let mut node = node(0x1100, None, slot(calls, 10 * calls, 0));
            node.timed = crate::load::timed::Timed::AllBut(left_out);
            reading(at, vec![node], &[])
        };
        let merged = between(&reading(100, 50, 8), &reading(900, 90, 11));
        assert_eq!((merged.groups[0].calls, merged.groups[0].left_out), (40, 3));
    }

    #[test]
    fn a_call_that_is_open_at_both_moments_took_the_time_between() {
        let open_since = |began: u64| {
            let mut open = node(0x1100, None, slot(1, 0, 0));
            open.has_histogram = true;
            open.slots[0].mark = began << 2 | mark::OPEN;
            open
        };
        let readings = [400, 1000].map(|at| reading(at, vec![open_since(50)], &[]));
        let merged = between(&readings[0], &readings[1]);
        let path = merged.groups[0].tree.paths.get(0);
        assert_eq!((path.counts.calls, path.counts.open, path.counts.own.ns()), (0, 1, 600.0));
        let before: i64 = merged.groups[0].functions.values().map(|times| times.open_before).sum();
        assert_eq!(before, 1);
    }

    #[test]
    fn a_reset_that_is_taken_up_between_two_readings_takes_no_time_off() {
        let inherited = |since: u64| {
            let mut node = node(0x1100, None, slot(0, 0, 0));
            node.slots[0].mark = since << 2 | mark::OPEN | mark::INHERITED;
            node.is_open_since_reset = true;
            node
        };
        let below = |slot| crate::load::Node { parent: Some(0), ..node(0x1200, None, slot) };
        let ended = crate::load::Node { parent: Some(0), ..inherited(200) };
        // Reset at 200, read at 400; taken up at 480, when the inner call ended that lasted until 600; read at 1000.
        let mut earlier = reading(400 << 2, vec![inherited(200), ended], &[]);
        earlier.arenas[0].is_before_reset = true;
        let inner = diytrace_format::Slot { mark: 600 << 2, ..slot(0, 120 << 2, 0) };
        let later = reading(1000 << 2, vec![inherited(480), below(inner)], &[]);
        let [mut earlier, mut later] = [earlier, later];
        for family in [&mut earlier, &mut later] {
            (family.resets, family.reset_ticks) = (1, 200 << 2);
        }
        let merged = between(&earlier, &later);
        let paths = &merged.groups[0].tree.paths;
        let times: Vec<_> = paths.iter().map(|path| (path.counts.inclusive[0].ns(), path.counts.own.ns())).collect();
        assert_eq!(times, [(2400.0, 1920.0), (480.0, 480.0)]);
        let first = paths.counts(0);
        assert_eq!((first.open_since_reset, first.calls), (1, 0));
    }

    #[test]
    fn who_ran_at_the_first_reading_did_so_until_then() {
        let open = || {
            let mut open = node(0x1100, None, slot(1, 0, 0));
            open.slots[0].mark = 50 << 2 | mark::OPEN;
            open
        };
        let (earlier, mut later) = (reading(4000, vec![open()], &[]), reading(0, vec![open()], &[]));
        later.arenas[0].state = State::Killed;
        let merged = between(&earlier, &later);
        assert_eq!(merged.groups[0].tree.paths.counts(0).inclusive[0].ns(), 0.0);
    }

    #[test]
    fn what_was_counted_before_a_reset_is_not_taken_off() {
        let reading = |resets: u32, calls: u64| Family {
            resets,
            ..reading(900, vec![node(0x1100, None, slot(calls, 100 * calls, 0))], &[])
        };
        assert_eq!(between(&reading(0, 70), &reading(1, 3)).groups[0].calls, 3);
    }

    #[test]
    fn what_ended_shorter_than_it_seemed_makes_the_interval_no_longer() {
        let open = |mut node: crate::load::Node, began: u64| {
            node.slots[0].mark = began << 2 | mark::OPEN;
            node.slots[0].calls = 1;
            node
        };
        let nodes = || {
            [
                node(0x1100, None, slot(1, 0, 1)),
                node(0x1200, Some(0), slot(1, 0, 1)),
                node(0x1300, Some(1), slot(1, 0, 0)),
            ]
        };
        let [root, outer, inner] = nodes();
        let earlier = reading(1000 << 2, vec![open(root, 10), open(outer, 100), open(inner, 300)], &[]);
        // Of the time from 100 to 300, 150 were the recorder's own work.
        let [root, mut outer, mut inner] = nodes();
        outer.slots[0] = diytrace_format::Slot { mark: 1100 << 2, ..slot(1, 850 << 2, 1) };
        inner.slots[0] = diytrace_format::Slot { mark: 1100 << 2, ..slot(1, 800 << 2, 0) };
        let later = reading(1200 << 2, vec![open(root, 10), outer, inner], &[]);
        let merged = between(&earlier, &later);
        let times = crate::correct::correct(&merged.groups[0]);
        for times in [times.raw, times.corrected] {
            assert_eq!(times.inclusive(0).ns(), f64::from(200 << 2));
            let own: Time = times.iter().map(|times| times.own).sum();
            assert_eq!(own, times.inclusive(0));
        }
    }
}
