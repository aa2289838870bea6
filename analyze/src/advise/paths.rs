//! How many call paths there are, and how many would be left without some functions.

use std::collections::BTreeSet;

use diytrace_profile::merge::{Merged, Tree};
use diytrace_profile::symbolize::Symbols;
use rustc_hash::FxHashMap;

/// How many there are, and how many without functions of these symbols: what they call is called by who called them, and of two
/// paths that are then one, one is left.
pub fn count(merged: &Merged, symbols: &Symbols, left_out: &BTreeSet<&str>) -> (u64, u64) {
    let is_left_out = |function: &u32| {
        let place = merged.places[*function as usize];
        symbols.function(place).is_some_and(|symbol| left_out.contains(symbol.name))
    };
    let trees = merged.groups.iter().map(|group| &group.tree);
    trees.fold((0, 0), |(all, left), tree| (all + tree.paths.len() as u64, left + of_tree(tree, &is_left_out)))
}

fn of_tree(tree: &Tree, is_left_out: &impl Fn(&u32) -> bool) -> u64 {
    let mut known: FxHashMap<u32, bool> = FxHashMap::default();
    let mut kept = FxHashMap::default();
    let mut stands_for: Vec<Option<usize>> = Vec::with_capacity(tree.paths.len());
    for path in &tree.paths {
        let key = path.key;
        let above = key.parent.and_then(|parent| stands_for[parent as usize]);
        let goes = *known.entry(key.function).or_insert_with(|| is_left_out(&key.function));
        stands_for.push(if goes {
            above
        } else {
            let next = kept.len();
            Some(*kept.entry((above, key.function, key.site, key.hook, key.flags)).or_insert(next))
        });
    }
    kept.len() as u64
}
