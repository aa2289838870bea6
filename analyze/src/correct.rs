//! The times of call paths without what measuring them cost; no path ever takes longer than the one above it.
//!
//! A path's own time is what was measured less its hooks' cost; below nothing it is nothing. The inclusive time of a
//! path is its own and that of all below: a sum of what is shown, so that it always adds up. Only where recursion was
//! folded (deep recursion is, past a limit) do calls on one path lie inside each other, and there the inclusive time is
//! measured less cost, and at least what the paths below take.

use crate::merge::{CallPath, Counts, Tree};
use crate::time::Time;

/// Times of a tree's paths, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Corrected.
    pub corrected: Vec<PathTimes>,
    /// As measured.
    pub raw: Vec<PathTimes>,
    /// Whether the calls inside a folded recursion lie inside other calls of the same function.
    pub is_on_cycle: Vec<bool>,
}

/// Times of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathTimes {
    /// Of all its calls, without what they called.
    pub own: Time,
    /// Of its calls that are not inside a folded recursion, with all they called.
    pub inclusive: Time,
    /// The same of those that are.
    pub inside: Time,
    /// How far off `inclusive` may be.
    pub error: Time,
}

/// Corrects a tree.
pub fn correct(tree: &Tree) -> Times {
    let folds = Folds::of(tree);
    let corrected = |counts: &Counts| (counts.self_corrected, counts.inclusive_corrected);
    let raw = |counts: &Counts| (counts.self_raw, counts.inclusive_raw);
    Times { corrected: times(tree, &folds, corrected), raw: times(tree, &folds, raw), is_on_cycle: folds.is_on_cycle }
}

fn times(tree: &Tree, folds: &Folds, measured: impl Fn(&Counts) -> (Time, [Time; 2])) -> Vec<PathTimes> {
    #[derive(Clone, Copy, Default)]
    struct Below {
        own: Time,
        inclusive: Time,
        inside: Time,
        error: Time,
    }
    let mut below = vec![Below::default(); tree.paths.len()];
    let mut times = vec![PathTimes::default(); tree.paths.len()];
    // Every path comes after the one above it: in reverse, all below a path are done before it.
    for (id, path) in tree.paths.iter().enumerate().rev() {
        if path.is_untimed() {
            continue;
        }
        let (self_measured, inclusive_measured) = measured(&path.counts);
        let own = match path.key.folded_into {
            Some(_) => Time::ZERO, // counted at the path that it is folded into
            None => self_measured.at_least_zero(),
        };
        let cut = if path.key.folded_into.is_some() { Time::ZERO } else { own - self_measured };
        let all_own = own + below[id].own;
        let summed = if folds.is_head[id] { all_own } else { own + below[id].inclusive };
        let least = if folds.is_inside[id] { inclusive_measured[0] } else { summed };
        let inclusive = least.max(below[id].inclusive).at_least_zero();
        let inside = inclusive_measured[1].max(below[id].inside).at_least_zero();
        let error = path.counts.error + cut + (inclusive - least).at_least_zero() + below[id].error;
        times[id] = PathTimes { own, inclusive, inside, error };
        if let Some(parent) = path.key.parent {
            let above = &mut below[parent as usize];
            above.own += all_own;
            above.inclusive += inclusive;
            above.inside += inside;
            above.error += error;
        }
    }
    times
}

/// Where recursion is folded.
struct Folds {
    /// The path's function calls itself somewhere below, and those calls' callees are counted here.
    is_head: Vec<bool>,
    /// The path lies below a head.
    is_inside: Vec<bool>,
    /// The path lies between a head and the recursive call.
    is_on_cycle: Vec<bool>,
}

impl Folds {
    fn of(tree: &Tree) -> Self {
        let paths = &tree.paths;
        let parent = |path: &CallPath| path.key.parent.map(|parent| parent as usize);
        let mut is_head = vec![false; paths.len()];
        for path in paths {
            if let Some(head) = path.key.folded_into {
                is_head[head as usize] = true;
            }
        }
        let mut is_inside = vec![false; paths.len()];
        let mut depths = vec![0u32; paths.len()];
        for (id, path) in paths.iter().enumerate() {
            if let Some(parent) = parent(path) {
                is_inside[id] = is_inside[parent] || is_head[parent];
                depths[id] = depths[parent] + 1;
            }
        }
        // The highest head that a recursion below leads back to.
        let mut highest = vec![u32::MAX; paths.len()];
        for (id, path) in paths.iter().enumerate().rev() {
            if let Some(head) = path.key.folded_into {
                highest[id] = highest[id].min(depths[head as usize]);
            }
            if let Some(parent) = parent(path) {
                highest[parent] = highest[parent].min(highest[id]);
            }
        }
        let is_on_cycle = highest.iter().zip(&depths).map(|(highest, depth)| highest < depth).collect();
        Self { is_head, is_inside, is_on_cycle }
    }
}
