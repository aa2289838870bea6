//! What an arena's counters say of each path, in units that can be added: times as measured, and the hook pairs in them.
//!
//! Where not all calls of a path were timed, the times of those that were are scaled up to all of them.

use std::ops::Range;

use diytrace_format::Slot;
use diytrace_format::node::mark;
use rayon::prelude::*;

use super::call_path::Counts;
use super::latest::Latest;
use super::off_cpu::OffCpu;
use super::pairs::{Pairs, PathPairs};
use crate::cores::WORTH_ANOTHER_CORE;
use crate::load::timed::{Timed, Timing};
use crate::load::{Arena, Family, Node, Nodes};
use crate::time::{Time, float};

/// Sums over the calls of a path in an arena.
#[derive(Clone, Copy)]
pub struct Measured {
    pub counts: Counts,
    /// In the times.
    pub pairs: PathPairs,
}

impl Measured {
    /// What has come since an earlier reading of the same path. Open calls have taken at most `longest`.
    pub fn since(&self, earlier: &Self, longest: Time) -> Self {
        Self { counts: self.counts.since(&earlier.counts, longest), pairs: self.pairs.since(&earlier.pairs) }
    }
}

/// What a path's sums follow from, if they are the usual ones: all its calls were timed and have ended, none of them inside a folded
/// recursion, and all that they made are recorded.
#[derive(Clone, Copy)]
pub struct UsualSums {
    pub calls: u64,
    /// Calls that its own code has made.
    pub made: i64,
    /// Calls inside its own, at any depth.
    pub inside: i64,
    /// Its times, in the unit that sums are exact in.
    pub own: i64,
    pub inclusive: i64,
}

/// The sums of a path, in as few words as they have.
pub enum Sum<'a> {
    Usual(UsualSums),
    Other(&'a Measured),
}

/// The paths of an arena whose open calls last until `latest`.
pub struct Measures<'a> {
    family: &'a Family,
    arena: &'a Arena,
    latest: Latest,
    below: Below,
    tail: Option<Tail>,
    /// How many pairs there are below each path in paths that are not among these; empty if that makes no difference.
    beside: &'a [u64],
}

impl<'a> Measures<'a> {
    pub fn of(family: &'a Family, arena: &'a Arena, latest: Latest) -> Self {
        let below = Below::of(arena, latest.ticks, family.clock.ns_per_tick());
        Self { family, arena, latest, below, tail: Tail::of(family, arena, latest.ticks), beside: &[] }
    }

    /// The same, where the arena has some of the paths alone, of which differences are asked for. `beside`: how many pairs there are below
    /// each in the others; empty if that makes no difference.
    pub fn of_some(family: &'a Family, arena: &'a Arena, latest: Latest, beside: &'a [u64]) -> Self {
        Self { beside, ..Self::of(family, arena, latest) }
    }

    /// Sums of all paths. Those of a large arena take more memory than the file: see [`Self::each_of`].
    pub fn all(&self) -> Vec<Measured> {
        let make = |index: usize| self.of_path(index);
        let paths = 0..self.arena.nodes.len();
        match paths.len() < WORTH_ANOTHER_CORE {
            true => paths.map(make).collect(),
            false => paths.into_par_iter().map(make).collect(),
        }
    }

    /// What is made of the sums of some paths.
    pub fn each_of<T: Send>(&self, paths: Range<usize>, make: impl Fn(usize, Sum) -> T + Sync) -> Vec<T> {
        let make = |index: usize| match self.usual(index) {
            Some(sums) => make(index, Sum::Usual(sums)),
            None => make(index, Sum::Other(&self.of_path(index))),
        };
        match paths.len() < WORTH_ANOTHER_CORE {
            true => paths.map(make).collect(),
            false => paths.into_par_iter().map(make).collect(),
        }
    }

    /// The sums of a path that has the usual ones, as nearly all have: what [`Self::of_path`] tells, in a fraction of the time.
    #[inline]
    fn usual(&self, index: usize) -> Option<UsualSums> {
        let Self { family, arena, below, .. } = self;
        let slot = arena.nodes.usual(index)?;
        let own = &below.own[index];
        // Of a head of a folded recursion, calls that are counted elsewhere are among its own.
        let has_others = own.pairs != slot.calls || at(&below.untimed, index) != 0 || arena.is_by_function();
        if has_others {
            return None;
        }
        let ns_per_tick = family.clock.ns_per_tick();
        let units = |ticks: i64| i64::try_from(Time::from_ns(ticks as f64 * ns_per_tick).units()).ok();
        Some(UsualSums {
            calls: slot.calls,
            made: signed(own.child_pairs),
            inside: signed(slot.descendants),
            own: units(i64::try_from(own.ticks).ok()?)?,
            inclusive: units(i64::try_from(slot.ticks).ok()?)?,
        })
    }

    /// What a path has beyond an earlier reading, in which it has the same place.
    pub fn since(&self, earlier: &Self, index: usize, longest: Time) -> Measured {
        self.of_path(index).since(&earlier.of_path(index), longest)
    }

    fn of_path(&self, index: usize) -> Measured {
        let Self { family, arena, latest, below, tail, .. } = self;
        let node = &arena.nodes.get(index);
        if arena.is_by_function() {
            let calls = node.calls();
            let counts = Counts { calls, unbinned: calls, without_times: calls, ..Counts::default() };
            return Measured { counts, pairs: PathPairs::default() };
        }
        let ns_per_tick = family.clock.ns_per_tick();
        let time = |ticks: i128| Time::from_ns(float(ticks) * ns_per_tick);
        let slots = SlotTimes::both(node, latest.ticks, at(&below.off, index));
        let own = &below.own[index];
        let closed_calls = slots[0].closed.saturating_add(slots[1].closed);
        let unbinned = unbinned(node, closed_calls);
        let counts = Counts {
            calls: node.calls(),
            open: node.calls().saturating_sub(closed_calls),
            open_since_reset: node.is_open_since_reset.into(),
            closed: closed_calls,
            so_far: slots.iter().map(|slot| time(slot.ticks - slot.closed_ticks)).sum(),
            bound: slots.iter().any(|slot| slot.is_open).then_some(latest.bound),
            unwound: node.unwound,
            unbinned,
            without_times: if node.timed == Timed::None { unbinned } else { 0 },
            is_between: false,
            own: time(own.ticks),
            inclusive: slots.map(|slot| time(slot.ticks)),
            closed_time: slots.iter().map(|slot| time(slot.closed_ticks)).sum(),
            off: OffCpu::default(),
        };
        let off = match arena.is_unseen() {
            true => OffCpu { unseen: counts.own, ..OffCpu::default() },
            false => {
                let ns = |ns: u64| Time::from_ns(ns as f64);
                let mut off =
                    OffCpu { wait: ns(node.off.wait_ns), preempted: ns(node.off.preempted_ns), ..OffCpu::default() };
                if let Some(tail) = tail.as_ref().filter(|tail| tail.path == index) {
                    off.wait += tail.wait;
                    off.unknown += tail.unknown;
                }
                off
            }
        };
        let counts = Counts { off, ..counts };
        Measured { counts, pairs: self.pairs(index, &slots) }
    }

    fn pairs(&self, index: usize, slots: &[SlotTimes; 2]) -> PathPairs {
        let (below, own) = (&self.below, &self.below.own[index]);
        // There is no time that hooks could be in, nor an error of any.
        if self.family.timing == Timing::Off {
            return PathPairs::default();
        }
        // Exact, whatever is still open: every call here costs its caller the same.
        let of_own = Pairs { inner: signed(own.pairs), outer: signed(own.child_pairs), ..Pairs::default() };
        let mut inclusive = slots.map(|slot| slot.pairs());
        let closed = inclusive[0].and(&inclusive[1]);
        // What those called has given way, too.
        let of_own = if self.arena.nodes.get(index).is_others() { closed } else { of_own };
        // Of a call that is still open the descendants are not counted yet, but the tree has them.
        if slots.iter().any(|slot| slot.is_open) {
            let known = slots.iter().fold(0u64, |sum, slot| sum.saturating_add(slot.descendants));
            let all = at(&below.pairs, index).saturating_add(at(self.beside, index));
            let unknown = all.saturating_sub(known);
            inclusive[0] = inclusive[0].and(&Pairs::of_calls(signed(unknown)));
        }
        let untimed = signed(at(&below.untimed, index));
        if untimed != 0 {
            let first = slots[0].ticks as f64 / (slots[0].ticks + slots[1].ticks).max(1) as f64;
            inclusive[0].untimed = (untimed as f64 * first).round() as i64;
            inclusive[1].untimed = untimed.saturating_sub(inclusive[0].untimed);
        }
        PathPairs {
            own: Pairs { untimed: signed(at(&below.own_untimed, index)), ..of_own },
            inclusive,
            closed: Pairs { untimed, ..closed },
            calls: signed(own.pairs),
        }
    }
}

/// What a thread has done since its last hook, while calls of it are open.
struct Tail {
    /// The path that it was on.
    path: usize,
    /// What it has waited, as far as it was asked after.
    wait: Time,
    /// What nobody knows.
    unknown: Time,
}

impl Tail {
    fn of(family: &Family, arena: &Arena, latest: u64) -> Option<Self> {
        if arena.is_unseen() || arena.is_by_function() {
            return None;
        }
        let known = arena.last_mark().max(arena.facts.away_until);
        if latest <= known {
            return None;
        }
        let slots = arena.nodes.iter().enumerate().flat_map(|(path, node)| node.slots.map(|slot| (slot.mark, path)));
        // Of calls inside each other the innermost began last, and its path comes after the others'.
        let open = slots.filter(|(mark, _)| mark & mark::OPEN != 0 && mark & !mark::BITS != 0);
        let (_, path) = open.map(|(mark, path)| (mark & !mark::BITS, path)).max()?;
        let ns = |ticks: u64| Time::from_ns(ticks as f64 * family.clock.ns_per_tick());
        let facts = &arena.facts;
        let asked = facts.end_until.min(latest).max(known);
        let wait = match facts.end_until > known {
            true => Time::from_ns(facts.end_away_ns.saturating_sub(facts.away_ns) as f64).min(ns(asked - known)),
            false => Time::ZERO,
        };
        Some(Self { path, wait, unknown: ns(latest - asked) })
    }
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Calls of a path, also those that are open, that a histogram counts one by one when they return.
pub fn entered(node: &Node) -> u64 {
    let closed = node.slots.iter().fold(0, |sum: u64, slot| sum.saturating_add(closed(slot)));
    node.calls().saturating_sub(node.unwound).saturating_sub(unbinned(node, closed))
}

/// Calls that returned but are not counted one by one in a histogram.
fn unbinned(node: &Node, closed_calls: u64) -> u64 {
    match node.timed {
        Timed::All if node.has_histogram => 0,
        Timed::AllBut(calls) if node.has_histogram => calls,
        _ => closed_calls.saturating_sub(node.unwound),
    }
}

/// A slot with its open call.
#[derive(Clone, Copy)]
struct SlotTimes {
    /// Time of all its calls, whether they were timed or not.
    ticks: i128,
    /// The same of those that have ended.
    closed_ticks: i128,
    /// Calls that have ended.
    closed: u64,
    /// Those that were timed.
    timed: u64,
    /// Calls made inside that were timed; scaled as the time is.
    descendants: u64,
    is_open: bool,
}

impl SlotTimes {
    /// `off`: what of its time, with that of calls below, was off the processor, in ticks. A call that is only noted never is
    /// (that ends the stretch), so what stands for such calls is the rest.
    fn both(node: &Node, latest: u64, off: u64) -> [Self; 2] {
        let closed = [0, 1].map(|slot: usize| closed(&node.slots[slot]));
        let all = closed[0].saturating_add(closed[1]);
        [0, 1].map(|slot: usize| {
            let timed = match node.timed {
                Timed::All => closed[slot],
                Timed::AllBut(calls) => {
                    let share = closed[slot] as f64 / all.max(1) as f64;
                    closed[slot].saturating_sub((calls as f64 * share) as u64)
                }
                Timed::None => 0,
            };
            let off = if slot == 0 { off } else { 0 };
            Self::of(&node.slots[slot], latest, closed[slot], timed, off)
        })
    }

    fn of(slot: &Slot, latest: u64, closed: u64, timed: u64, off: u64) -> Self {
        let is_open = slot.mark & mark::OPEN != 0;
        // A call that is not timed has no time in its mark.
        let began = slot.mark & !mark::BITS;
        let so_far = if is_open && began != 0 { latest.saturating_sub(began) } else { 0 };
        let scale = if timed == 0 || closed == timed { 1.0 } else { closed as f64 / timed as f64 };
        let scaled = |count: u64| if scale == 1.0 { count } else { (count as f64 * scale).round() as u64 };
        let ticks = if scale == 1.0 {
            i128::from(slot.ticks)
        } else {
            let off = off.min(slot.ticks);
            i128::from(off) + ((slot.ticks - off) as f64 * scale).round() as i128
        };
        Self {
            ticks: ticks + i128::from(so_far),
            closed_ticks: ticks,
            closed,
            timed,
            descendants: scaled(slot.descendants),
            is_open,
        }
    }

    /// The hook pairs in the time of its calls that have ended.
    fn pairs(&self) -> Pairs {
        let timed = if self.timed == 0 { 0 } else { signed(self.closed) };
        let inside = signed(self.descendants);
        Pairs { inner: timed.saturating_add(inside), outer: inside, untimed: 0 }
    }
}

/// Calls that have ended.
fn closed(slot: &Slot) -> u64 {
    let is_own_open = slot.mark & mark::OPEN != 0 && slot.mark & mark::INHERITED == 0;
    slot.calls.saturating_sub(u64::from(is_own_open))
}

/// Sums at positions: of the calls that are there, and of the calls they make.
#[derive(Clone, Copy, Default)]
struct Own {
    /// Without those of the calls they make.
    ticks: i128,
    pairs: u64,
    child_pairs: u64,
}

/// Hook pairs of recorded calls below each path of an arena, at any depth.
fn pairs_below(arena: &Arena) -> Vec<u64> {
    let nodes = &arena.nodes;
    let mut below = vec![0u64; nodes.len()];
    for index in 0..nodes.len() {
        let Some(parent) = nodes.parent(index) else { continue };
        let pairs = match nodes.usual(index) {
            Some(slot) => slot.calls,
            None => {
                let node = nodes.get(index);
                let slots = SlotTimes::both(&node, 0, 0); // of which no time is asked
                if node.is_untimed() { 0 } else { slots[0].closed.saturating_add(slots[1].closed) }
            }
        };
        below[parent as usize] = below[parent as usize].saturating_add(pairs);
    }
    add_up(nodes, &mut below);
    below
}

/// How many of those there are in paths that are left out of an arena; `stays`: the places of the others.
///
/// What calls that are open have inside is told by all paths below them less what calls before them had, and by a number once they have
/// ended: so a difference of two readings asks for all.
pub fn pairs_beside(whole: &Arena, some: &Arena, stays: impl Iterator<Item = usize>) -> Vec<u64> {
    let (all, some) = (pairs_below(whole), pairs_below(some));
    stays.zip(some).map(|(at, some)| all[at].saturating_sub(some)).collect()
}

/// Sums over the tree. Of millions of paths, what is nothing for all of them is no list.
struct Below {
    own: Vec<Own>,
    /// Hook pairs of recorded calls below each path, at any depth, if any call is open.
    pairs: Vec<u64>,
    /// Calls that are not recorded which each path makes, if any are;
    own_untimed: Vec<u64>,
    /// and at the path and below it.
    untimed: Vec<u64>,
    /// Time off the processor, at the path and below it, in ticks, if there is any.
    off: Vec<u64>,
}

/// Adds to each path what those below it have.
fn add_up(nodes: &Nodes, list: &mut [u64]) {
    // A path comes before those below it: by now all of this one's are in.
    for index in (0..list.len()).rev() {
        if let Some(parent) = nodes.parent(index).map(|parent| parent as usize) {
            list[parent] = list[parent].saturating_add(list[index]);
        }
    }
}

/// What a list has, if it is one.
fn at(list: &[u64], index: usize) -> u64 {
    list.get(index).copied().unwrap_or(0)
}

impl Below {
    fn of(arena: &Arena, latest: u64, ns_per_tick: f64) -> Self {
        let nodes = &arena.nodes;
        let mut own = vec![Own::default(); nodes.len()];
        let list_if = |is_one: bool| vec![0u64; if is_one { nodes.len() } else { 0 }];
        let mut own_untimed = list_if(nodes.may_any_be_untimed());
        let mut is_any_open = false;
        let off_ns = |node: Node| node.off.wait_ns.saturating_add(node.off.preempted_ns);
        let mut off: Vec<u64> = match nodes.is_any_off() {
            true => nodes.iter().map(|node| (off_ns(node) as f64 / ns_per_tick) as u64).collect(),
            false => Vec::new(),
        };
        add_up(nodes, &mut off);
        for index in 0..nodes.len() {
            let parent = nodes.parent(index).map(|parent| parent as usize);
            if let Some(slot) = nodes.usual(index) {
                let position = &mut own[index];
                position.ticks += i128::from(slot.ticks);
                position.pairs = position.pairs.saturating_add(slot.calls);
                if let Some(parent) = parent {
                    own[parent].ticks -= i128::from(slot.ticks);
                    own[parent].child_pairs = own[parent].child_pairs.saturating_add(slot.calls);
                }
                continue;
            }
            let node = nodes.get(index);
            is_any_open |= node.slots.iter().any(|slot| slot.mark & mark::OPEN != 0);
            if node.is_untimed() {
                if let Some(parent) = parent {
                    own_untimed[parent] = own_untimed[parent].saturating_add(node.calls());
                }
                continue;
            }
            let slots = SlotTimes::both(&node, latest, at(&off, index));
            let ticks = slots[0].ticks + slots[1].ticks;
            let pairs = slots[0].closed.saturating_add(slots[1].closed);
            let position = &mut own[node.folded_into.map_or(index, |position| position as usize)];
            position.ticks += ticks;
            position.pairs = position.pairs.saturating_add(pairs);
            if let Some(parent) = parent {
                own[parent].ticks -= ticks;
                own[parent].child_pairs = own[parent].child_pairs.saturating_add(pairs);
            }
        }
        let pairs = if is_any_open { pairs_below(arena) } else { Vec::new() };
        let mut untimed = own_untimed.clone();
        add_up(nodes, &mut untimed);
        Self { own, pairs, own_untimed, untimed, off }
    }
}
