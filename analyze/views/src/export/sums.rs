//! Sums by function: calls, times with recursion counted once, percentiles, timelines.

use std::collections::{BTreeMap, HashMap};

use rustc_hash::FxHashMap;

use super::profile::whole;
use super::profile::{Edge, Frame, Spread, Sums};
use crate::calltree::CallTree;
use diytrace_profile::functions::FunctionId;
use diytrace_profile::functions::Ran;
use diytrace_profile::histogram::Histogram;
use diytrace_profile::time::Time;

/// What frames add up to, for that many functions.
pub fn of_frames(frames: &[Frame], functions: usize) -> Vec<Sums> {
    let mut sums = vec![Sums::default(); functions];
    // By caller and callee, with how many of its calls are open.
    let mut places: FxHashMap<(u32, u32), usize> = FxHashMap::default();
    let mut edges: Vec<(usize, u32, Edge)> = Vec::new();
    let mut open = vec![0u32; functions];
    let mut above: Vec<Open> = Vec::new();
    for (id, frame) in frames.iter().enumerate() {
        while let Some(Open { function, edge, .. }) = above.pop_if(|open| open.end <= id) {
            open[function] -= 1;
            if let Some(edge) = edge {
                edges[edge].1 -= 1;
            }
        }
        let function = &mut sums[frame.function];
        function.calls = function.calls.saturating_add(frame.calls);
        function.self_ns += frame.self_ns;
        function.self_error_ns += frame.self_error_ns;
        if open[frame.function] == 0 {
            function.total_ns += frame.total_ns;
            function.error_ns += frame.error_ns;
        }
        let place = above.last().map(|&Open { function: caller, .. }| {
            *places.entry((caller as u32, frame.function as u32)).or_insert_with(|| {
                edges.push((caller, 0, Edge { callee: frame.function, ..Edge::default() }));
                edges.len() - 1
            })
        });
        if let Some((_, is_open, edge)) = place.map(|place| &mut edges[place]) {
            edge.calls = edge.calls.saturating_add(frame.calls);
            if *is_open == 0 {
                edge.total_ns += frame.total_ns;
                edge.error_ns += frame.error_ns;
            }
            *is_open += 1;
        }
        open[frame.function] += 1;
        above.push(Open { end: frame.end, function: frame.function, edge: place });
    }
    for (caller, _, edge) in edges {
        sums[caller].callees.push(edge);
    }
    sums.iter_mut().for_each(|sums| sums.callees.sort_unstable_by_key(|edge| edge.callee));
    sums
}

/// A frame above the one that is looked at.
struct Open {
    end: usize,
    function: usize,
    /// The place of the edge to it.
    edge: Option<usize>,
}

/// Adds the distributions of functions' times.
pub fn add_spreads(sums: &mut [Sums], tree: &CallTree, ids: &HashMap<FunctionId, usize>) {
    let mut histograms: BTreeMap<usize, Calls> = BTreeMap::new();
    for (id, function) in &tree.functions {
        let Some(&new) = ids.get(id) else { continue };
        let calls = histograms.entry(new).or_default();
        calls.histogram.merge(&function.histogram);
        calls.with_times = calls.with_times.saturating_add(function.returned.saturating_sub(function.without_times));
        calls.has_unwound |= function.unwound > 0;
        calls.closed += function.corrected.closed;
    }
    for (new, calls) in histograms {
        sums[new].spread = calls.spread();
    }
}

/// A function's calls that returned.
#[derive(Default)]
struct Calls {
    histogram: Histogram,
    /// Those of them that were not only counted.
    with_times: u64,
    /// Whether `closed` has the time of calls that were left, too.
    has_unwound: bool,
    closed: Time,
}

impl Calls {
    fn spread(&self) -> Option<Spread> {
        let Self { histogram, with_times, has_unwound, closed } = self;
        let [p50, p90, p99, p999] = histogram.percentiles([0.5, 0.9, 0.99, 0.999])?.map(Time::ns);
        let (min, max) = (histogram.min()?.ns(), histogram.max()?.ns());
        // As the report has it: the sums tell the mean, also of calls that were not timed and of which the histogram knows
        // nothing.
        let exact = (*with_times > 0 && !has_unwound).then(|| (closed.ns() / *with_times as f64).clamp(min, max));
        let mean = exact.or(histogram.mean().map(Time::ns))?;
        Some(Spread { mean, min, p50, p90, p99, p999, max })
    }
}

/// Adds when functions ran.
pub fn add_timelines(sums: &mut [Sums], tree: &CallTree, ids: &HashMap<FunctionId, usize>, is_raw: bool) {
    let mut all: BTreeMap<usize, Ran> = BTreeMap::new();
    for (id, function) in &tree.functions {
        let Some(&new) = ids.get(id) else { continue };
        all.entry(new).or_default().add(function);
    }
    for (new, ran) in all {
        sums[new].timeline = ran.finish(is_raw);
    }
}

/// Replaces totals by what a report says, which knows what a folded recursion hides from its frames.
pub fn set_totals(sums: &mut [Sums], tree: &CallTree, ids: &HashMap<FunctionId, usize>, is_raw: bool) {
    let mut parts = vec![0; sums.len()];
    for id in tree.functions.keys() {
        parts[ids[id]] += 1;
    }
    for (id, function) in &tree.functions {
        let new = ids[id];
        if parts[new] == 1 {
            sums[new].total_ns = whole(if is_raw { function.raw.total } else { function.corrected.total });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diytrace_profile::testing::histogram_of;

    fn frame(parent: Option<usize>, end: usize, function: usize, self_ns: u64, total_ns: u64) -> Frame {
        Frame { parent, end, function, calls: 1, self_ns, total_ns, ..Frame::default() }
    }

    #[test]
    fn the_mean_is_that_of_all_calls_also_of_those_that_were_not_timed() {
        let histogram = histogram_of(&[50, 200], 1e9);
        let calls = Calls { histogram, with_times: 4, has_unwound: false, closed: Time::from_ns(400.0) };
        assert_eq!(calls.spread().unwrap().mean, 100.0);
        let left = Calls { has_unwound: true, ..calls };
        assert!(left.spread().unwrap().mean > 120.0); // that of the bins
    }

    #[test]
    fn recursion_is_counted_once() {
        // f → g → f → h
        let frames = [
            frame(None, 4, 0, 1, 15),
            frame(Some(0), 4, 1, 2, 14),
            frame(Some(1), 4, 0, 4, 12),
            frame(Some(2), 4, 2, 8, 8),
        ];
        let sums = of_frames(&frames, 3);
        let found: Vec<_> = sums.iter().map(|sums| (sums.calls, sums.self_ns, sums.total_ns)).collect();
        assert_eq!(found, [(2, 5, 15), (1, 2, 14), (1, 8, 8)]);
        let edge = |callee, total_ns| Edge { callee, calls: 1, total_ns, error_ns: 0 };
        assert_eq!(sums[0].callees, [edge(1, 14), edge(2, 8)]);
    }
}
