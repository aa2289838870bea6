//! Who runs near a function, and so decides what it finds in the processor's caches.

use std::collections::BTreeSet;

use super::comparison::{Edge, Relation};

/// Who calls whom, by places.
pub struct Neighbours {
    callers: Vec<BTreeSet<usize>>,
    callees: Vec<BTreeSet<usize>>,
}

impl Neighbours {
    /// Of so many functions.
    pub fn of(functions: usize, edges: &[Edge]) -> Self {
        let mut all = Self { callers: vec![BTreeSet::new(); functions], callees: vec![BTreeSet::new(); functions] };
        for (caller, callee) in edges.iter().map(|edge| edge.ends) {
            all.callers[callee].insert(caller);
            all.callees[caller].insert(callee);
        }
        all
    }

    /// Those of these that are nearest to a function, and what they are to it.
    pub fn nearest(&self, function: usize, these: &BTreeSet<usize>) -> Option<(Relation, Vec<usize>)> {
        let siblings = || self.callees_of(&self.callers[function]);
        let near = [
            (Relation::Caller, self.callers[function].clone()),
            (Relation::Callee, self.callees[function].clone()),
            (Relation::Sibling, siblings()),
            (Relation::Path, self.on_path(function)),
        ];
        near.into_iter().find_map(|(relation, near)| {
            let found: Vec<usize> = near.intersection(these).copied().filter(|one| *one != function).collect();
            (!found.is_empty()).then_some((relation, found))
        })
    }

    fn callees_of(&self, callers: &BTreeSet<usize>) -> BTreeSet<usize> {
        callers.iter().flat_map(|caller| &self.callees[*caller]).copied().collect()
    }

    /// All above, what those call, and all below.
    fn on_path(&self, function: usize) -> BTreeSet<usize> {
        let above = reached(function, &self.callers);
        let mut all = self.callees_of(&above);
        all.extend(above);
        all.extend(reached(function, &self.callees));
        all
    }
}

fn reached(from: usize, next: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let mut all = BTreeSet::new();
    let mut open = vec![from];
    while let Some(one) = open.pop() {
        open.extend(next[one].iter().copied().filter(|next| all.insert(*next)));
    }
    all
}
