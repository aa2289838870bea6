//! Where recursion is folded: deep recursion is, past a limit, into an outer call of the function.

use crate::merge::{PathId, Tree};

/// Where recursion is folded.
pub struct Folds {
    /// The path's function calls itself somewhere below, and those calls' callees are counted here.
    pub is_head: Vec<bool>,
    /// The path lies below a head.
    pub is_inside: Vec<bool>,
    /// The path lies between a head and the recursive call.
    pub is_on_cycle: Vec<bool>,
}

impl Folds {
    /// Finds it.
    pub fn of(tree: &Tree) -> Self {
        let paths = &tree.paths;
        let ids = 0..paths.len();
        let parent = |id: usize| paths.parent(id as PathId).map(|parent| parent as usize);
        let folded_into = |id: usize| paths.folded_into(id as PathId).map(|head| head as usize);
        if !ids.clone().any(|id| folded_into(id).is_some() || paths.is_edge(id as PathId)) {
            let none = || vec![false; paths.len()];
            return Self { is_head: none(), is_inside: none(), is_on_cycle: none() };
        }
        let mut is_head = vec![false; paths.len()];
        ids.clone().filter_map(folded_into).for_each(|head| is_head[head] = true);
        let mut is_inside = vec![false; paths.len()];
        let mut depths = vec![0u32; paths.len()];
        for id in ids.clone() {
            // Nor does anything say what a call lay in whose path gave way: some may lie in each other.
            is_inside[id] = paths.is_edge(id as PathId);
            if let Some(parent) = parent(id) {
                is_inside[id] |= is_inside[parent] || is_head[parent];
                depths[id] = depths[parent] + 1;
            }
        }
        // The highest head that a recursion below leads back to.
        let mut highest = vec![u32::MAX; paths.len()];
        for id in ids.rev() {
            if let Some(head) = folded_into(id) {
                highest[id] = highest[id].min(depths[head]);
            }
            if let Some(parent) = parent(id) {
                highest[parent] = highest[parent].min(highest[id]);
            }
        }
        let is_on_cycle = highest.iter().zip(&depths).map(|(highest, depth)| highest < depth).collect();
        Self { is_head, is_inside, is_on_cycle }
    }
}
