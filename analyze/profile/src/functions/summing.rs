//! Functions and the calls between them while paths are added up.

use std::collections::BTreeMap;

use diytrace_format::node::flag;
use rustc_hash::FxHashMap;

use super::function::{Edge, EdgeSums, Function, FunctionId, Sums};
use crate::correct::PathTimes;
use crate::merge::{OffCpu, PathId, PlaceId};
use crate::time::Time;

/// Functions and edges on the way, in lists: every path asks for one of each.
#[derive(Default)]
pub struct Summing {
    pub functions: Vec<OpenFunction>,
    pub functions_by_place: Vec<u32>,
    pub edges: Vec<OpenEdge>,
    /// By the indices of caller and callee.
    edge_indices: FxHashMap<(u32, u32), u32>,
}

pub struct OpenFunction {
    pub id: FunctionId,
    pub sums: Function,
    /// Paths of it above the one that is looked at, with that one.
    pub open: u32,
    pub is_met: bool,
    pub is_open_in_recursion: bool,
    /// Whether calls inside each other may be among those that its total has.
    pub counts_nested: bool,
    /// Inclusive time of calls inside folded recursions that may lie in other calls of it: its total does not have it.
    pub left_out: Time,
    /// What its outermost paths, and those below them, do by themselves, corrected and as measured: no less is its total.
    pub least_total: [Time; 2],
}

pub struct OpenEdge {
    pub caller: u32,
    pub callee: u32,
    pub sums: Edge,
    pub open: u32,
}

impl Summing {
    pub fn of(ids: &FxHashMap<PlaceId, FunctionId>) -> Self {
        let mut sums = Self::default();
        let places = ids.keys().max().map_or(0, |last| *last as usize + 1);
        sums.functions_by_place.resize(places, u32::MAX);
        let mut indices: FxHashMap<FunctionId, u32> = FxHashMap::default();
        for (&place, &id) in ids {
            let index = *indices.entry(id).or_insert_with(|| {
                let function = Function::default();
                sums.functions.push(OpenFunction {
                    id,
                    sums: function,
                    open: 0,
                    is_met: false,
                    is_open_in_recursion: false,
                    counts_nested: false,
                    left_out: Time::ZERO,
                    least_total: [Time::ZERO; 2],
                });
                sums.functions.len() as u32 - 1
            });
            sums.functions_by_place[place as usize] = index;
        }
        sums
    }

    pub fn edge(&mut self, caller: u32, callee: u32) -> u32 {
        let next = self.edges.len() as u32;
        let index = *self.edge_indices.entry((caller, callee)).or_insert(next);
        if index == next {
            self.edges.push(OpenEdge { caller, callee, sums: Edge::default(), open: 0 });
        }
        index
    }

    /// The calls that have made those of an edge, by where their function begins.
    pub fn caller_of_edge(&self, function: PlaceId, flags: u32) -> Option<Call> {
        let function = *self.functions_by_place.get(function as usize)?;
        let is_open_in_recursion = self.functions.get(function as usize)?.is_open_in_recursion;
        let is_outermost = flags & flag::BY_NESTED == 0;
        Some(Call { function, is_outermost, counts_inside: is_outermost && !is_open_in_recursion })
    }

    /// All below a path was met; `caller` is the one above it.
    pub fn leave(&mut self, left: &Frame, caller: Option<&mut Frame>) {
        let function = &mut self.functions[left.call.function as usize];
        function.open -= 1;
        if left.call.is_outermost {
            function.sums.off.add_any(left.off);
            add_both(&mut function.least_total, left.own);
        }
        if let Some(edge) = left.edge {
            let edge = &mut self.edges[edge as usize];
            edge.open -= 1;
            if caller.as_ref().is_some_and(|caller| caller.call.is_outermost) {
                edge.sums.off.add_any(left.off);
            }
        }
        if let Some(caller) = caller {
            caller.off.add_any(left.off);
            add_both(&mut caller.own, left.own);
        }
    }

    pub fn finish(mut self) -> BTreeMap<FunctionId, Function> {
        // Where a folded recursion hides which calls are outermost, and how long those took.
        for OpenFunction { sums, left_out, least_total: [corrected, raw], .. } in &mut self.functions {
            let more = (*corrected - sums.corrected.total).at_least_zero();
            sums.corrected.total += more;
            *left_out = (*left_out - more).at_least_zero();
            sums.raw.total = sums.raw.total.max(*raw);
        }
        for OpenEdge { caller, callee, sums, .. } in self.edges {
            let callee = self.functions[callee as usize].id;
            self.functions[caller as usize].sums.callees.push((callee, sums));
        }
        for function in &mut self.functions {
            function.sums.callees.sort_unstable_by_key(|(callee, _)| *callee);
        }
        let all_own = |of: fn(&Function) -> &Sums| self.functions.iter().map(|function| of(&function.sums).own).sum();
        let all_own = [all_own(|function| &function.corrected), all_own(|function| &function.raw)];
        for function in self.functions.iter_mut().filter(|function| function.counts_nested) {
            function.sums.fit_total(all_own);
        }
        for OpenFunction { sums, left_out, .. } in &mut self.functions {
            let rest = (all_own[0] - sums.corrected.total).at_least_zero();
            sums.error += (*left_out).min(rest);
        }
        let met = self.functions.into_iter().filter(|function| function.is_met);
        met.map(|function| (function.id, function.sums)).collect()
    }
}

impl OpenFunction {
    /// Whether a call of it lies in no other.
    pub fn enter(&mut self) -> bool {
        self.is_met = true;
        self.open += 1;
        self.open == 1
    }
}

fn add_both(sums: &mut [Time; 2], times: [Time; 2]) {
    sums.iter_mut().zip(times).for_each(|(sum, time)| *sum += time);
}

/// A path above the one that is looked at.
pub struct Frame {
    pub call: Call,
    /// The index of the edge to it.
    pub edge: Option<u32>,
    pub end: PathId,
    /// Time off the processor, with that of the paths below it as far as they were met.
    pub off: OffCpu,
    /// The same of own time, corrected and as measured.
    pub own: [Time; 2],
}

/// The calls of a path, of the function that has this index.
#[derive(Clone, Copy)]
pub struct Call {
    pub function: u32,
    pub is_outermost: bool,
    /// Whether what of their inclusive time lies inside a folded recursion counts for the function, too.
    pub counts_inside: bool,
}

impl Call {
    /// Adds a call by this one. Only calls by outermost calls are part of the caller's total, and only once: the
    /// callees' times then never add up to more than the caller's.
    pub fn add_edge(&self, sums: &mut EdgeSums, times: &PathTimes, is_outermost_edge: bool) {
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
