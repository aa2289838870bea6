//! From call paths to functions and the calls between them; recursion is counted once.

use std::collections::BTreeMap;

use diytrace_format::node::flag;
use rustc_hash::FxHashMap;

use super::function::{Function, FunctionId, Sums};
use super::summing::{Call, Frame, Summing};
use crate::correct::{PathTimes, Times};
use crate::histogram::Refinement;
use crate::merge::{Group, PathId, PlaceId};

/// Sums up paths by function. `ids` has each place's function, and `is_inlined` says which paths' bodies are inlined.
pub fn functions(
    group: &Group,
    times: &Times,
    ids: &FxHashMap<PlaceId, FunctionId>,
    is_inlined: impl Fn(PathId) -> bool,
) -> BTreeMap<FunctionId, Function> {
    let mut sums = Summing::of(ids);
    // What is counted inside a folded recursion may lie in another call of these.
    for (id, _) in (0..).zip(&times.is_on_cycle).filter(|(_, is_on_cycle)| **is_on_cycle) {
        let function = sums.functions_by_place[group.tree.paths.function(id) as usize];
        sums.functions[function as usize].is_open_in_recursion = true;
    }
    let paths = &group.tree.paths;
    let mut latest = vec![None; paths.ends().len()];
    let mut above: Vec<Frame> = Vec::new();
    for (id, (corrected, raw)) in (0..).zip(times.corrected.iter().zip(times.raw.iter())) {
        while let Some(left) = above.pop_if(|frame| frame.end <= id) {
            sums.leave(&left, above.last_mut());
        }
        let off = paths.off(id);
        // What others stand for is told by edges.
        if paths.is_untimed(id) || paths.is_others(id) {
            if let Some(caller) = above.last_mut() {
                caller.off += off;
            }
            continue;
        }
        let function_index = sums.functions_by_place[paths.function(id) as usize];
        let caller = match paths.is_edge(id) {
            true => sums.caller_of_edge(paths.site(id), paths.flags(id)),
            false => above.last().map(|frame| frame.call),
        };
        // What leads to the same function from the same place is mostly called by the same.
        let known: &mut Option<(u32, u32)> = &mut latest[paths.number_of(id) as usize];
        let edge_index = caller.map(|Call { function, .. }| match *known {
            Some((caller, edge)) if caller == function => edge,
            _ => known.insert((function, sums.edge(function, function_index))).1,
        });
        let function = &mut sums.functions[function_index as usize];
        let is_outermost = function.enter() && paths.flags(id) & flag::NESTED == 0;
        let counts_inside = is_outermost && !function.is_open_in_recursion;
        let call = Call { function: function_index, is_outermost, counts_inside };
        if is_outermost && !counts_inside {
            function.left_out += corrected.inside;
        }

        // Where there is no room calls are counted by function, whoever made them: those inside each other are told apart by nothing.
        function.counts_nested |= paths.flags(id) & (flag::FOLDED | flag::EDGE) == flag::FOLDED;
        let function = &mut function.sums;
        let calls = paths.calls(id);
        function.calls = function.calls.saturating_add(calls);
        function.returned = function.returned.saturating_add(paths.unbinned(id));
        if is_inlined(id) {
            function.inlined_calls = function.inlined_calls.saturating_add(calls);
        }
        function.corrected.add(&corrected, call);
        function.raw.add(&raw, call);
        function.own_error += corrected.own_error;
        function.own_off.add_any(off);
        if is_outermost {
            function.error += corrected.error;
        }
        if let Some(counts) = paths.unusual(id) {
            function.unwound = function.unwound.saturating_add(counts.unwound);
            function.marked_open = function.marked_open.saturating_add(counts.open);
            function.open_since_reset = function.open_since_reset.saturating_add(counts.open_since_reset);
            function.without_times = function.without_times.saturating_add(counts.without_times);
            function.bound = function.bound.max(counts.bound);
            if is_outermost {
                function.so_far += counts.so_far;
            }
        }
        if let Some((caller, edge)) = caller.zip(edge_index) {
            let open = &mut sums.edges[edge as usize];
            open.open += 1;
            let (is_outermost_edge, edge) = (open.open == 1, &mut open.sums);
            edge.calls = edge.calls.saturating_add(calls);
            edge.own_error += corrected.own_error;
            edge.own_off.add_any(off);
            for (sums, times) in [(&mut edge.corrected, &corrected), (&mut edge.raw, &raw)] {
                caller.add_edge(sums, times, is_outermost_edge);
            }
            if caller.is_outermost {
                edge.error += corrected.error;
            }
        }
        above.push(Frame { call, edge: edge_index, end: paths.end(id), off, own: [corrected.own, raw.own] });
    }
    while let Some(left) = above.pop() {
        sums.leave(&left, above.last_mut());
    }
    let mut functions = sums.finish();
    let mut refinements: FxHashMap<FunctionId, Refinement> = FxHashMap::default();
    for (place, times) in &group.functions {
        let Some((id, function)) = ids.get(place).and_then(|id| Some((*id, functions.get_mut(id)?))) else { continue };
        function.histogram.merge(&times.histogram);
        refinements.entry(id).or_default().add(&group.refinement(*place));
        function.returned = function.returned.saturating_add(times.returned);
        function.open_before = function.open_before.saturating_add(times.open_before);
        function.processes = function.processes.max(times.processes);
        function.timelines.merge(&times.timelines);
    }
    for function in functions.values_mut() {
        for sums in [&mut function.corrected, &mut function.raw] {
            // Of calls in each other whose paths gave way, nothing tells which are outermost.
            sums.total = sums.total.max(sums.own);
        }
    }
    for (id, refinement) in refinements {
        if let Some(function) = functions.get_mut(&id) {
            function.refine(refinement);
        }
    }
    functions
}

impl Sums {
    #[inline]
    fn add(&mut self, times: &PathTimes, call: Call) {
        self.own += times.own;
        self.closed += times.closed;
        if call.is_outermost {
            self.total += times.inclusive;
        }
        if call.counts_inside {
            self.total += times.inside;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::correct::correct;
    use crate::functions::{Edge, EdgeSums};
    use crate::load::Family;
    use crate::load::costs::{Costs, Evidence};
    use crate::merge::{By, Merged, Merging, merge};
    use crate::testing::{Call, Truth, arena, calls, family, function_of, give_way, node, record, slot};
    use crate::time::Time;

    fn summed(merged: &Merged) -> BTreeMap<u64, Function> {
        let group = &merged.groups[0];
        let ids = (0..merged.places.len() as u32).map(|place| (place, place)).collect();
        let functions = functions(group, &correct(group), &ids, |_| false);
        functions.into_iter().map(|(id, function)| (merged.places[id as usize].address + 0x1000, function)).collect()
    }

    type AllSums = Vec<(u64, u64, [f64; 3], [f64; 3], Vec<(u64, u64, [f64; 2], [f64; 2])>)>;

    fn all_sums(merged: &Merged) -> AllSums {
        let address = |id: u32| merged.places[id as usize].address;
        let edge = |(callee, edge): &(u32, Edge)| {
            let sums = |sums: &EdgeSums| [sums.total, sums.own].map(Time::ns);
            (address(*callee), edge.calls, sums(&edge.corrected), sums(&edge.raw))
        };
        let functions = summed(merged).into_iter().map(|(address, function)| {
            let sums = |sums: &Sums| [sums.total, sums.own, sums.closed].map(Time::ns);
            let (corrected, raw) = (sums(&function.corrected), sums(&function.raw));
            (address, function.calls, corrected, raw, function.callees.iter().map(edge).collect::<Vec<_>>())
        });
        functions.collect()
    }

    fn recorded(calls: &[Call], costs: Costs, fold_at: usize) -> Merged {
        let nodes = record(calls, costs, fold_at);
        merge(&[Family { evidence: Evidence::of_costs(costs), ..family(vec![arena(nodes)]) }], By::All, None)
    }

    fn call(function: u64, own: u64, callees: Vec<Call>) -> Call {
        Call { function, own, callees }
    }

    /// What calls itself by way of others adds up to many times what there is, level by level: what is called on each level had been cut
    /// by as much.
    #[test]
    fn what_is_called_in_a_folded_recursion_keeps_its_time() {
        fn branch(levels: u64) -> Call {
            let deeper = |by: u64| call(by, 3, vec![branch(levels - 1)]);
            let leaf = call(0x1300, 7, vec![call(0x1400, 100, Vec::new())]);
            let mut callees = vec![leaf];
            if levels > 0 {
                callees.extend([deeper(0x1100), deeper(0x1200)]);
            }
            call(0x1000, 5, callees)
        }
        for (costs, fold_at) in [(0.0, 1), (0.0, 3), (2.0, 1), (2.0, 3)] {
            let costs = Costs { inner: costs, outer: costs, ..Costs::default() };
            let functions = summed(&recorded(&[branch(7)], costs, fold_at));
            let levels = 255; // 2⁸ - 1
            for (function, total) in [(0x1300, 107 * levels), (0x1400, 100 * levels), (0x1000, 112 * levels + 3 * 254)]
            {
                assert_eq!(
                    functions[&function].corrected.total.ns(),
                    total as f64,
                    "{function:x}, {costs:?}, {fold_at}"
                );
            }
            assert_eq!(functions[&0x1300].callees[0].1.corrected.total.ns(), (100 * levels) as f64);
        }
    }

    /// Where what was taken off for hooks leaves too little for all, each was cut by its share, those as well that take a thousand times
    /// as long as their hooks.
    #[test]
    fn what_takes_much_longer_than_hooks_keeps_its_time_in_a_folded_recursion() {
        fn branch(levels: u64) -> Call {
            let cheap = (0..20).map(|_| call(0x1200, 1, Vec::new()));
            let deeper = (0..2 * levels.min(1)).map(|_| call(0x1100, 3, vec![branch(levels - 1)]));
            call(0x1000, 5, cheap.chain(deeper).chain([call(0x1300, 10_000, Vec::new())]).collect())
        }
        let nodes = record(&[branch(5)], Costs { inner: 20.0, outer: 30.0, ..Costs::default() }, 1);
        // They are taken for twice as dear as they are.
        let costs = Costs { inner: 40.0, outer: 60.0, error: 5.0, ..Costs::default() };
        let merged =
            merge(&[Family { evidence: Evidence::of_costs(costs), ..family(vec![arena(nodes)]) }], By::All, None);
        let long = &summed(&merged)[&0x1300].corrected;
        let (calls, total) = (63.0, long.total.ns());
        assert!((9_800.0 * calls..=10_000.0 * calls).contains(&total) && long.own == long.total, "{long:?}");
    }

    #[test]
    fn recursion_is_counted_once() {
        let calls = [call(0x1000, 1, vec![call(0x1000, 2, vec![call(0x1000, 4, Vec::new())])])];
        for fold_at in [1, 2, 10] {
            let functions = summed(&recorded(&calls, Costs::default(), fold_at));
            let function = &functions[&0x1000];
            assert_eq!((function.calls, function.corrected.total.ns(), function.corrected.own.ns()), (3, 7.0, 7.0));
            let (_, edge) = &function.callees[0];
            assert_eq!((edge.calls, edge.corrected.total.ns(), edge.corrected.nested.ns()), (2, 6.0, 0.0));
        }
    }

    #[test]
    fn calls_by_nested_calls_are_shown_beside_the_total() {
        // f → g → f → h: h is part of g's time in f.
        let inner = call(0x1000, 1, vec![call(0x1200, 8, Vec::new())]);
        let calls = [call(0x1000, 1, vec![call(0x1100, 1, vec![inner])])];
        let functions = summed(&recorded(&calls, Costs::default(), 10));
        let of = |edge: &Edge| (edge.corrected.total.ns(), edge.corrected.nested.ns());
        let edges: Vec<_> = functions[&0x1000].callees.iter().map(|(_, edge)| of(edge)).collect();
        assert_eq!(edges, [(10.0, 0.0), (0.0, 8.0)]);
    }

    /// What deeper calls took that lie in no other of their function was missing, and nothing said so.
    #[test]
    fn the_error_of_a_total_has_what_a_folded_recursion_hides() {
        // f calls itself through g and through k; the g that takes long lies in no other, but that is not told apart.
        let long = call(0x1000, 1, vec![call(0x1100, 1_000, Vec::new())]);
        let ways = vec![call(0x1100, 1, vec![call(0x1000, 1, Vec::new())]), call(0x1200, 1, vec![long])];
        let functions = summed(&recorded(&[call(0x1000, 1, ways)], Costs::default(), 0));
        let Function { corrected, error, .. } = functions[&0x1100];
        assert!((1_002.0 - corrected.total.ns()).abs() <= error.ns(), "{corrected:?} {error:?}");
    }

    #[test]
    fn the_mean_is_of_calls_that_returned_and_within_their_bounds() {
        let calls = [call(0x1000, 10, Vec::new()), call(0x1000, 20, Vec::new())];
        let mut nodes = record(&calls, Costs::default(), 1);
        nodes[0].has_histogram = true;
        let mut arena = arena(nodes);
        arena.functions = vec![function_of(0x1000, &[10, 20])];
        let functions = summed(&merge(&[family(vec![arena])], By::All, None));
        let function = &functions[&0x1000];
        assert_eq!((function.returned, function.open()), (2, 0));
        assert_eq!(function.mean().unwrap().ns(), 15.0);
    }

    #[test]
    fn percentiles_are_of_the_times_that_means_are_of() {
        // Hooks cost 4 + 6 ticks, of which the recorder knew 2 + 3 when it filed the calls.
        let costs = Costs { inner: 4.0, outer: 6.0, windows: 9, ..Costs::default() };
        let leaf = || call(0x1100, 20, Vec::new());
        let calls = [call(0x1000, 100, vec![leaf(), leaf(), leaf(), leaf()])];
        let mut nodes = record(&calls, costs, 1);
        nodes.iter_mut().for_each(|node| node.has_histogram = true);
        let filed = [nodes[0].slots[0].ticks - 2 - 4 * 5, nodes[1].slots[0].ticks / 4 - 2];
        let mut arena = arena(nodes);
        arena.functions = vec![function_of(0x1000, &filed[..1]), function_of(0x1100, &[filed[1]; 4])];
        let evidence = Evidence::of_costs(Costs { inner: 2.0, outer: 3.0, ..Costs::default() });
        let mut merged = merge(&[Family { evidence, ..family(vec![arena]) }], By::All, None);
        merged.groups[0].parts[0].costs = costs;
        let functions = summed(&merged);
        for (address, expected) in [(0x1000, 180.0), (0x1100, 20.0)] {
            let Function { histogram, .. } = &functions[&address];
            let times = [histogram.percentiles([0.5]).unwrap()[0], histogram.min().unwrap(), histogram.max().unwrap()];
            assert_eq!(times.map(Time::ns), [expected; 3]);
            assert_eq!(functions[&address].mean().unwrap().ns(), expected);
        }
    }

    /// Calls of 0x1000, each with leaves inside, filed as a recorder files them that takes a pair for as much as that.
    fn filed_by(nodes: &[crate::load::Node], inside: u64, taken: [u64; 2]) -> Vec<crate::load::Function> {
        let [inner, outer] = taken;
        let of_one = |node: &crate::load::Node, inside: u64| {
            let calls = node.calls();
            let filed = (node.slots[0].ticks / calls).saturating_sub(inner + inside * (inner + outer));
            function_of(node.function, &vec![filed; calls as usize])
        };
        vec![of_one(&nodes[0], inside), of_one(&nodes[1], 0)]
    }

    #[test]
    fn calls_that_were_filed_as_nothing_have_the_mean_that_their_sum_has() {
        // Hooks cost 2 + 3 ticks. A loop that others disturbed has told 20 + 30: more than the calls took with their hooks.
        let (costs, of_loop) = ([2.0, 3.0], [20.0, 30.0]);
        let costs = Costs { inner: costs[0], outer: costs[1], windows: 9, ..Costs::default() };
        let calls = [call(0x1000, 100, (0..9).map(|_| call(0x1100, 5, Vec::new())).collect())];
        let mut nodes = record(&calls, costs, 1);
        nodes.iter_mut().for_each(|node| node.has_histogram = true);
        let mut arena = arena(nodes);
        arena.functions = filed_by(&arena.nodes.iter().collect::<Vec<_>>(), 9, of_loop.map(|ticks| ticks as u64));
        let evidence = Evidence::of_costs(Costs { inner: of_loop[0], outer: of_loop[1], ..Costs::default() });
        let mut merged = merge(&[Family { evidence, ..family(vec![arena]) }], By::All, None);
        merged.groups[0].parts[0].costs = costs;
        let functions = summed(&merged);
        for (address, expected) in [(0x1000, 145.0), (0x1100, 5.0)] {
            let function = &functions[&address];
            let Function { histogram, corrected, .. } = function;
            assert_eq!(corrected.total.ns(), expected * function.calls as f64);
            let times = [histogram.percentiles([0.5]).unwrap()[0], histogram.min().unwrap(), histogram.max().unwrap()];
            assert_eq!(times.map(Time::ns), [expected; 3]);
            assert_eq!(function.mean().unwrap().ns(), expected);
        }
    }

    /// Its total was the sum over all levels: 1.7 s of 62 ms.
    #[test]
    fn a_recursion_that_is_counted_by_function_takes_no_longer_than_all_do() {
        let recursion = |calls: u64, inclusive: u64| {
            let mut node = node(0x1100, None, slot(0, 0, 0));
            (node.flags, node.slots[1]) = (flag::FOLDED, slot(calls, inclusive, calls - 1));
            node
        };
        let functions = |inclusive: u64| {
            let nodes = vec![node(0x1000, None, slot(1, 1_000, 0)), recursion(50, inclusive)];
            summed(&merge(&[family(vec![arena(nodes)])], By::All, None))
        };
        let found = &functions(20_000)[&0x1100];
        let all: Time = functions(20_000).values().map(|function| function.corrected.own).sum();
        assert_eq!((found.corrected.total, found.raw.total), (all, all));
        assert!(found.corrected.total - found.error <= found.corrected.own);
        assert_eq!(functions(900)[&0x1100].corrected.total.ns(), 900.0, "as far as they may be made by others");
    }

    #[test]
    fn what_one_thread_has_inside_its_calls_is_not_in_those_of_another() {
        // The hooks cost what the loop has told, but for what windows add; one thread's call has many calls inside it, the other's none.
        let costs = Costs { inner: 4.0, outer: 6.0, windows: 9, ..Costs::default() };
        let of_loop = Costs { inner: 2.0, outer: 3.0, ..Costs::default() };
        let dense = [call(0x1000, 100, (0..1_000).map(|_| call(0x1100, 1, Vec::new())).collect())];
        let asleep = [call(0x1000, 1_000_000, vec![call(0x1100, 1, Vec::new())])];
        let threads = [(&dense[..], 1_000), (&asleep[..], 1)].map(|(calls, inside)| {
            let mut nodes = record(calls, costs, 1);
            nodes.iter_mut().for_each(|node| node.has_histogram = true);
            let mut arena = arena(nodes);
            arena.functions = filed_by(&arena.nodes.iter().collect::<Vec<_>>(), inside, [2, 3]);
            arena
        });
        let [first, mut second] = threads;
        second.facts.tid += 1;
        let evidence = Evidence::of_costs(of_loop);
        let mut merged = merge(&[Family { evidence, ..family(vec![first, second]) }], By::Thread, None);
        assert_eq!(merged.groups.len(), 2);
        for group in &mut merged.groups {
            group.parts[0].costs = costs;
            let ids = (0..merged.places.len() as u32).map(|place| (place, place)).collect();
            for function in functions(group, &correct(group), &ids, |_| false).into_values() {
                let expected = function.corrected.closed.ns() / function.returned as f64;
                assert_eq!(function.mean().unwrap().ns(), expected);
                assert_eq!(
                    [function.histogram.min(), function.histogram.max()].map(|time| time.unwrap().ns()),
                    [expected; 2]
                );
            }
        }
    }

    /// Whether a call of a function lies in another, of which there are so many.
    fn is_recursive(call: &Call, function: u64, above: usize) -> bool {
        let above = above + usize::from(call.function == function);
        above > 1 || call.callees.iter().any(|callee| is_recursive(callee, function, above))
    }

    proptest! {
        #[test]
        fn sums_are_the_truth(calls in calls()) {
            let truth = Truth::of(&calls);
            let functions = summed(&recorded(&calls, Costs { inner: 2.0, outer: 3.0, ..Costs::default() }, 100));
            for (address, function) in &functions {
                prop_assert_eq!(function.calls, truth.calls[address]);
                prop_assert_eq!(function.corrected.total.ns(), truth.total[address] as f64);
                prop_assert_eq!(function.corrected.own.ns(), truth.own[address] as f64);
            }
        }

        #[test]
        fn paths_that_gave_way_are_in_functions_and_edges(
            calls in calls(),
            turns in prop::collection::vec(0usize..100, 1..12),
        ) {
            let costs = Costs { inner: 2.0, outer: 3.0, ..Costs::default() };
            let whole = recorded(&calls, costs, 100);
            let mut arena = arena(record(&calls, costs, 100));
            give_way(&mut arena, &turns);
            let recycled = Family { evidence: Evidence::of_costs(costs), ..family(vec![arena]) };
            let recycled = merge(&[recycled], By::All, None);
            prop_assert_eq!(all_sums(&recycled), all_sums(&whole));
            prop_assert_eq!(recycled.groups[0].calls, whole.groups[0].calls);
        }

        #[test]
        fn paths_that_gave_way_since_are_in_what_has_come_since(
            calls in calls(),
            more in calls(),
            before in prop::collection::vec(0usize..100, 0..5),
            turns in prop::collection::vec(0usize..100, 1..9),
        ) {
            let costs = Costs { inner: 2.0, outer: 3.0, ..Costs::default() };
            let reading = |calls: &[Call], turns: &[&[usize]]| {
                let mut arena = arena(record(calls, costs, 100));
                turns.iter().for_each(|turns| give_way(&mut arena, turns));
                Family { evidence: Evidence::of_costs(costs), ..family(vec![arena]) }
            };
            let between = |earlier: &Family, later: &Family| {
                let mut merging = Merging::new(By::All, None);
                merging.add_since(Some(earlier), later);
                all_sums(&merging.finish())
            };
            let all: Vec<Call> = calls.iter().chain(&more).cloned().collect();
            let whole = between(&reading(&calls, &[]), &reading(&all, &[]));
            // What gave way before the first reading may do so otherwise in a longer run, and counts for nothing here.
            let is_same_run = before.is_empty() || reading(&all, &[]).arenas[0].nodes.len() == reading(&calls, &[]).arenas[0].nodes.len();
            let before: &[usize] = if is_same_run { &before } else { &[] };
            let recycled = between(&reading(&calls, &[before]), &reading(&all, &[before, &turns]));
            let told = |sums: AllSums| -> Vec<_> {
                let told = sums.into_iter().map(|(address, calls, _, raw, edges)| {
                    let edges: Vec<_> = edges.into_iter().map(|(callee, calls, ..)| (callee, calls)).collect();
                    (address, calls, raw[1].round() as i64, edges.into_iter().filter(|(_, calls)| *calls > 0).collect::<Vec<_>>())
                });
                told.filter(|(_, calls, ..)| *calls > 0).collect()
            };
            prop_assert_eq!(told(recycled), told(whole));
        }

        #[test]
        fn folded_recursion_keeps_calls_and_self_times(calls in calls(), fold_at in 1usize..4) {
            let truth = Truth::of(&calls);
            let merged = recorded(&calls, Costs { inner: 2.0, outer: 3.0, ..Costs::default() }, fold_at);
            let functions = summed(&merged);
            let address = |id: u32| merged.places[id as usize].address + 0x1000;
            for (caller, function) in &functions {
                prop_assert_eq!(function.calls, truth.calls[caller]);
                prop_assert_eq!(function.corrected.own.ns(), truth.own[caller] as f64);
                // Calls that may lie in others of the same function are left out.
                prop_assert!(function.corrected.total.ns() <= truth.total[caller] as f64);
                prop_assert!(function.corrected.total >= function.corrected.own);
                let callees: Time = function.callees.iter().map(|(_, edge)| edge.corrected.total).sum();
                prop_assert!(callees <= function.corrected.total);
                for (callee, edge) in &function.callees {
                    prop_assert_eq!(edge.calls, truth.edge_calls[&(*caller, address(*callee))]);
                }
            }
        }

        #[test]
        fn no_callee_takes_more_than_its_caller(calls in calls(), fold_at in 1usize..4, off in -1.0..4.0f64) {
            let nodes = record(&calls, Costs { inner: 2.0, outer: 3.0, ..Costs::default() }, fold_at);
            // Costs that are estimated too low or too high, so that times must be cut.
            let costs = Costs { inner: 2.0 + off, outer: 3.0 + off, ..Costs::default() };
            let merged = merge(&[Family { evidence: Evidence::of_costs(costs), ..family(vec![arena(nodes)]) }], By::All, None);
            let root_calls: u64 = calls.len() as u64;
            let functions = summed(&merged);
            let is_folded = functions.keys().any(|address| calls.iter().any(|call| is_recursive(call, *address, 0)));
            for function in functions.values() {
                prop_assert!(is_folded || function.corrected.closed == function.corrected.total);
                // One that calls nothing takes what it does by itself, in folded recursions as well.
                prop_assert!(!function.callees.is_empty() || function.corrected.total == function.corrected.own);
            }
            let mut called = 0;
            for function in functions.values() {
                for (sums, edge_sums) in [
                    (&function.corrected, (|edge| &edge.corrected) as fn(&Edge) -> &EdgeSums),
                    (&function.raw, |edge| &edge.raw),
                ] {
                    prop_assert!(Time::ZERO <= sums.own && sums.own <= sums.total);
                    let callees: Time = function.callees.iter().map(|(_, edge)| edge_sums(edge).total).sum();
                    prop_assert!(callees <= sums.total, "{:?} in {:?}", callees, sums);
                }
                called += function.callees.iter().map(|(_, edge)| edge.calls).sum::<u64>();
            }
            let all: u64 = functions.values().map(|function| function.calls).sum();
            prop_assert_eq!(all, called + root_calls);
        }

        #[test]
        fn edges_are_the_truth(calls in calls()) {
            let truth = Truth::of(&calls);
            let merged = recorded(&calls, Costs { inner: 2.0, outer: 3.0, ..Costs::default() }, 100);
            for (caller, function) in &summed(&merged) {
                for (callee, edge) in &function.callees {
                    let pair = (*caller, merged.places[*callee as usize].address + 0x1000);
                    prop_assert_eq!(edge.calls, truth.edge_calls[&pair]);
                    prop_assert_eq!(edge.corrected.total.ns(), truth.edge_total[&pair] as f64);
                }
            }
        }
    }
}
