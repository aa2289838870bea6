//! Sums by function: calls, times with recursion counted once, percentiles.

use std::collections::{BTreeMap, HashMap};

use super::prepare::whole;
use super::profile::{Edge, Frame, Spread, Sums};
use crate::calltree::CallTree;
use crate::functions::FunctionId;
use crate::histogram::Histogram;
use crate::time::Time;

/// What frames add up to, for that many functions.
pub fn of_frames(frames: &[Frame], functions: usize) -> Vec<Sums> {
    let mut sums = vec![Sums::default(); functions];
    let mut edges: BTreeMap<(usize, usize), Edge> = BTreeMap::new();
    let mut open = vec![0u32; functions];
    let mut open_edges: HashMap<(usize, usize), u32> = HashMap::new();
    let mut above: Vec<(usize, usize)> = Vec::new(); // (end, function)
    for (id, frame) in frames.iter().enumerate() {
        while let Some((_, function)) = above.pop_if(|(end, _)| *end <= id) {
            open[function] -= 1;
            if let Some((_, caller)) = above.last() {
                *open_edges.entry((*caller, function)).or_default() -= 1;
            }
        }
        let function = &mut sums[frame.function];
        function.calls = function.calls.saturating_add(frame.calls);
        function.self_ns += frame.self_ns;
        if open[frame.function] == 0 {
            function.total_ns += frame.total_ns;
            function.error_ns += frame.error_ns;
        }
        if let Some(&(_, caller)) = above.last() {
            let is_open = open_edges.entry((caller, frame.function)).or_default();
            let edge = edges.entry((caller, frame.function)).or_default();
            edge.callee = frame.function;
            edge.calls = edge.calls.saturating_add(frame.calls);
            if *is_open == 0 {
                edge.total_ns += frame.total_ns;
                edge.error_ns += frame.error_ns;
            }
            *is_open += 1;
        }
        open[frame.function] += 1;
        above.push((frame.end, frame.function));
    }
    for ((caller, _), edge) in edges {
        sums[caller].callees.push(edge);
    }
    sums
}

/// Adds the distributions of functions' times.
pub fn add_spreads(sums: &mut [Sums], tree: &CallTree, ids: &HashMap<FunctionId, usize>) {
    let mut histograms: BTreeMap<usize, (Histogram, u64, Time)> = BTreeMap::new();
    for (id, function) in &tree.functions {
        let Some(&new) = ids.get(id) else { continue };
        let (histogram, returned, closed) = histograms.entry(new).or_default();
        histogram.merge(&function.histogram);
        *returned = returned.saturating_add(if function.unwound > 0 { 0 } else { function.returned });
        *closed += function.corrected.closed;
    }
    for (new, (histogram, returned, closed)) in histograms {
        sums[new].spread = spread(&histogram, returned, closed);
    }
}

fn spread(histogram: &Histogram, returned: u64, closed: Time) -> Option<Spread> {
    let [p50, p90, p99, p999] = histogram.percentiles([0.5, 0.9, 0.99, 0.999])?.map(Time::ns);
    let (min, max) = (histogram.min()?.ns(), histogram.max()?.ns());
    // The sums tell the mean exactly, unless they have calls that the histogram has not.
    let exact = (returned > 0 && returned == histogram.returned()).then(|| closed.ns() / returned as f64);
    let mean = exact.filter(|mean| (min..=max).contains(mean)).or(histogram.mean().map(Time::ns))?;
    Some(Spread { mean, min, p50, p90, p99, p999, max })
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

    fn frame(parent: Option<usize>, end: usize, function: usize, self_ns: u64, total_ns: u64) -> Frame {
        Frame { parent, end, function, calls: 1, self_ns, total_ns, ..Frame::default() }
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
