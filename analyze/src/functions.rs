//! From call paths to functions and the calls between them; recursion is counted once.

use std::collections::BTreeMap;

use diytrace::node::flag;
use rustc_hash::FxHashMap;

use crate::correct::{PathTimes, Times};
use crate::histogram::Histogram;
use crate::merge::{Group, PathId, PlaceId};
use crate::time::Time;

/// A function's number: functions that are shown as one have the same.
pub type FunctionId = u32;

/// A function and what it called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Calls entered.
    pub calls: u64,
    /// Of these, calls whose body is inlined in another function.
    pub inlined_calls: u64,
    /// Calls left without an exit.
    pub unwound: u64,
    /// Calls that returned.
    pub returned: u64,
    /// Times, corrected.
    pub corrected: Sums,
    /// Times, as measured.
    pub raw: Sums,
    /// How far off the corrected total may be.
    pub error: Time,
    /// Times of calls that returned.
    pub histogram: Histogram,
    /// Processes that called it; those that share an arena count as one.
    pub processes: u64,
    /// What it called.
    pub callees: BTreeMap<FunctionId, Edge>,
}

/// Times of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Of its outermost calls, with what they called.
    pub total: Time,
    /// Of all its calls, without what they called.
    pub own: Time,
    /// Of all its calls that have ended, with what they called; inside each other or not.
    pub closed: Time,
}

/// Calls of one function by another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    /// Calls entered.
    pub calls: u64,
    /// Times, corrected.
    pub corrected: EdgeSums,
    /// Times, as measured.
    pub raw: EdgeSums,
    /// How far off the corrected total may be.
    pub error: Time,
    /// The paths that these calls are on.
    pub paths: Vec<PathId>,
}

/// Times of the calls of one function by another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeSums {
    /// Of calls by the caller's outermost calls: a part of the caller's total.
    pub total: Time,
    /// Of outermost calls by nested calls of a recursive caller: another view of time in the caller's total.
    pub nested: Time,
    /// Of all calls, without what they called.
    pub own: Time,
}

impl Function {
    /// Calls that have not returned yet, or never will.
    pub fn open(&self) -> u64 {
        self.calls.saturating_sub(self.returned).saturating_sub(self.unwound)
    }

    /// Mean time of calls that returned.
    pub fn mean(&self, sums: &Sums) -> Option<Time> {
        let from_bins = self.histogram.mean();
        if self.returned == 0 || self.unwound > 0 {
            return from_bins; // the sums have the time of calls that were left
        }
        let mean = Time::from_ns(sums.closed.ns() / self.returned as f64);
        match (self.histogram.min(), self.histogram.max()) {
            (Some(min), Some(max)) if !(min..=max).contains(&mean) => from_bins.or(Some(mean)),
            _ => Some(mean.at_least_zero()),
        }
    }
}

/// Sums up paths by function. `ids` has each place's function, and `is_inlined` says which paths' bodies are inlined.
pub fn functions(
    group: &Group,
    times: &Times,
    ids: &FxHashMap<PlaceId, FunctionId>,
    is_inlined: impl Fn(PathId) -> bool,
) -> BTreeMap<FunctionId, Function> {
    let mut functions: BTreeMap<FunctionId, Function> = BTreeMap::new();
    let mut above: Vec<Frame> = Vec::new();
    let mut open_functions: FxHashMap<FunctionId, u32> = FxHashMap::default();
    let mut open_edges: FxHashMap<(FunctionId, FunctionId), u32> = FxHashMap::default();
    for (id, path) in group.tree.paths.iter().enumerate() {
        while let Some(left) = above.pop_if(|frame| frame.end as usize <= id) {
            leave(&mut open_functions, &left.function);
            if let Some(edge) = left.edge {
                leave(&mut open_edges, &edge);
            }
        }
        if path.is_untimed() {
            continue;
        }
        let id = id as PathId;
        let function_id = ids[&path.key.function];
        let caller = above.last().copied();
        let edge_id = caller.map(|caller| (caller.function, function_id));
        let is_outermost = enter(&mut open_functions, function_id);
        let is_outermost_edge = edge_id.is_none_or(|edge| enter(&mut open_edges, edge));
        let counts_inside = is_outermost && !times.is_on_cycle[id as usize];
        let at = At { id: id as usize, times, is_outermost, counts_inside };

        let function = functions.entry(function_id).or_default();
        function.calls = function.calls.saturating_add(path.counts.calls);
        function.unwound = function.unwound.saturating_add(path.counts.unwound);
        function.returned = function.returned.saturating_add(path.counts.unbinned);
        if is_inlined(id) {
            function.inlined_calls = function.inlined_calls.saturating_add(path.counts.calls);
        }
        at.add(&mut function.corrected, &times.corrected, path.counts.closed_corrected);
        at.add(&mut function.raw, &times.raw, path.counts.closed_raw);
        if is_outermost {
            function.error += times.corrected[id as usize].error;
        }
        if let Some(caller) = caller {
            let edge = functions.entry(caller.function).or_default().callees.entry(function_id).or_default();
            edge.calls = edge.calls.saturating_add(path.counts.calls);
            edge.paths.push(id);
            for (sums, all) in [(&mut edge.corrected, &times.corrected), (&mut edge.raw, &times.raw)] {
                caller.add_edge(sums, &all[id as usize], is_outermost_edge);
            }
            if caller.is_outermost {
                edge.error += times.corrected[id as usize].error;
            }
        }
        above.push(Frame { function: function_id, edge: edge_id, end: path.end, is_outermost, counts_inside });
    }
    for (place, times) in &group.functions {
        let Some(function) = ids.get(place).and_then(|id| functions.get_mut(id)) else { continue };
        function.histogram.merge(&times.histogram);
        function.returned = function.returned.saturating_add(times.histogram.returned());
        function.processes = function.processes.max(times.processes);
    }
    functions
}

/// A path above the one that is looked at.
#[derive(Clone, Copy)]
struct Frame {
    function: FunctionId,
    edge: Option<(FunctionId, FunctionId)>,
    end: PathId,
    is_outermost: bool,
    counts_inside: bool,
}

impl Frame {
    /// Adds a call by this frame. Only calls by outermost calls are part of the caller's total, and only once: the
    /// callees' times then never add up to more than the caller's.
    fn add_edge(&self, sums: &mut EdgeSums, times: &PathTimes, is_outermost_edge: bool) {
        sums.own += times.own;
        if self.is_outermost {
            sums.total += times.inclusive;
            if self.counts_inside {
                sums.total += times.inside;
            }
        } else if is_outermost_edge {
            sums.nested += times.inclusive;
        }
    }
}

/// A path and how its times count for its function.
struct At<'a> {
    id: usize,
    times: &'a Times,
    is_outermost: bool,
    counts_inside: bool,
}

impl At<'_> {
    fn add(&self, sums: &mut Sums, times: &[PathTimes], closed: Time) {
        let times = &times[self.id];
        sums.own += times.own;
        sums.closed += closed;
        if self.is_outermost {
            sums.total += times.inclusive;
        }
        if self.counts_inside {
            sums.total += times.inside;
        }
    }
}

fn enter<T: std::hash::Hash + Eq>(open: &mut FxHashMap<T, u32>, what: T) -> bool {
    let count = open.entry(what).or_insert(0);
    *count += 1;
    *count == 1
}

fn leave<T: std::hash::Hash + Eq>(open: &mut FxHashMap<T, u32>, what: &T) {
    if let Some(count) = open.get_mut(what) {
        *count -= 1;
    }
}

/// Whether a path stands for calls on many.
pub fn is_folded(flags: u32) -> bool {
    flags & (flag::RECURSION | flag::FOLDED) != 0
}
