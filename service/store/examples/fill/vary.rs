//! A recording, varied: so much more or less often called as a whole, and each path again for itself.

use diytrace_profile::merge::{CallPath, Merged, Pairs, PathId, PathPairs, Tree};
use diytrace_profile::time::Time;

/// The first paths of what was recorded. What a path's callers have in their times follows anew from what it has itself.
pub fn vary(merged: &Merged, paths: usize, random: &mut Random) -> Merged {
    let mut merged = merged.clone();
    let group = &mut merged.groups[0];
    let mut list: Vec<CallPath> = group.tree.paths.iter().take(paths).collect();
    let paths = list.len();
    let mut known: Vec<(PathId, PathPairs)> =
        group.parts.first().map_or_else(Vec::new, |part| part.paths.iter().take(paths).collect());
    let factor = random.below(16) + 1;
    let mut below = vec![Below::default(); paths];
    for at in (0..paths).rev() {
        let path = &mut list[at];
        let (counts, of_callees) = (&mut path.counts, below[at]);
        // A quarter more or less often, and each call a tenth slower or faster.
        let calls = (counts.calls as f64 * factor as f64 * random.between(0.75, 1.25)) as u64;
        let calls = calls.max(counts.calls.min(1));
        let slower = calls as f64 / counts.calls.max(1) as f64 * random.between(0.9, 1.1);
        let scaled = |time: Time| Time::from_ns(time.ns() * slower);
        (counts.calls, counts.closed) = (calls, calls - counts.open.min(calls));
        (counts.unbinned, counts.so_far) = (counts.unbinned.min(calls), Time::default());
        counts.own = scaled(counts.own);
        let nested = scaled(counts.inclusive[1]);
        let all = Time::from_units(counts.own.units() + of_callees.time);
        counts.inclusive = [Time::from_units(all.units() - nested.units()), nested];
        counts.closed_time = all;
        let closed = counts.closed as i64;
        let own = Pairs { inner: closed, outer: of_callees.calls, untimed: 0 };
        let pairs = Pairs { inner: closed + of_callees.inner, outer: of_callees.calls + of_callees.outer, untimed: 0 };
        if let Ok(place) = known.binary_search_by_key(&(at as u32), |(path, _)| *path) {
            known[place].1 = PathPairs { own, inclusive: [pairs, Pairs::default()], closed: pairs, calls: closed };
        }
        if let Some(parent) = path.key.parent {
            let above = &mut below[parent as usize];
            above.calls += calls as i64;
            above.time += all.units();
            (above.inner, above.outer) = (above.inner + pairs.inner, above.outer + pairs.outer);
        }
    }
    group.calls = list.iter().map(|path| path.counts.calls).sum();
    list.iter_mut().for_each(|path| path.end = 0);
    group.tree = Tree::of(list.into_iter().collect());
    group.parts.truncate(1);
    group.parts.iter_mut().for_each(|part| part.paths = known.iter().copied().collect());
    // Of the functions, those of roots and whoever is watched have histograms in every frame.
    let functions = std::mem::take(&mut group.functions);
    group.functions = functions.into_iter().take(20).collect();
    merged
}

/// What the paths below one have.
#[derive(Clone, Copy, Default)]
struct Below {
    calls: i64,
    time: i128,
    inner: i64,
    outer: i64,
}

/// Numbers that are the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }

    fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.below(1 << 30) as f64 / (1u64 << 30) as f64
    }
}
