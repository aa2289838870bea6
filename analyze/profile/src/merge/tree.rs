//! The merged tree of call paths.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::call_path::{CallPath, Counts, Key, PathId};
use super::modules::PlaceId;
use super::paths::{Paths, Sums};

/// Call paths, each directly before all that lie below it: the first child follows its parent.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Tree {
    /// All paths, in the order of their places.
    pub paths: Paths,
}

impl Tree {
    /// Of paths in this order, each directly before all that lie below it; where those end is found here.
    pub fn of(mut paths: Paths) -> Self {
        paths.find_ends();
        Self { paths }
    }

    /// Whether each path comes after the one above it and those below it end where they can, and all its places are some.
    pub(super) fn is_sound(&self, is_place: impl Fn(PlaceId) -> bool) -> bool {
        let mut open: Vec<(PathId, PathId)> = Vec::new(); // a path that others may be below, and where those end
        (0..).zip(&self.paths).all(|(id, path): (PathId, _)| {
            let CallPath { key, end, target, .. } = path;
            while open.pop_if(|(_, end)| *end <= id).is_some() {}
            let fits = open.last().map_or(self.paths.len() as u64, |(_, end)| u64::from(*end)) >= u64::from(end);
            let above = key.parent == open.last().map(|(above, _)| *above);
            open.push((id, end));
            let are_places = [key.function, key.site, key.hook].into_iter().chain(target).all(&is_place);
            above && fits && end > id && key.folded_into.is_none_or(|into| into < id) && are_places
        })
    }

    /// The paths directly below one.
    #[inline]
    pub fn children(&self, id: PathId) -> impl Iterator<Item = PathId> {
        self.beside(id + 1, self.paths.end(id))
    }

    /// The paths that have none above them.
    pub fn tops(&self) -> impl Iterator<Item = PathId> {
        self.beside(0, self.paths.len() as PathId)
    }

    /// From a path on those that none of them is above, up to an end.
    #[inline]
    fn beside(&self, first: PathId, end: PathId) -> impl Iterator<Item = PathId> {
        let next = move |path: &PathId| Some(self.paths.end(*path)).filter(|next| *next < end);
        std::iter::successors(Some(first).filter(|first| *first < end), next)
    }
}

/// Where paths have come.
pub(super) struct Order {
    /// Of each place, the path that has come there. Nothing, if several have become one.
    pub paths: Vec<PathId>,
    /// Of each path, its place.
    pub new_ids: Vec<PathId>,
}

/// A tree that grows: paths in the order in which they were found.
#[derive(Default)]
pub(super) struct Growing {
    paths: Paths,
    index: Option<Index>,
}

/// By the path above, the number of what a path leads to, and the path that it is folded into.
type Index = FxHashMap<(PathId, u32, PathId), PathId>;

fn indexed_by(parent: Option<PathId>, call: u32, folded_into: Option<PathId>) -> (PathId, u32, PathId) {
    let above = |path: Option<PathId>| path.unwrap_or(PathId::MAX);
    (above(parent), call, above(folded_into))
}

impl Growing {
    /// Makes ready for the paths of an arena. Those of the first are taken to be all new, without an index: to look up each of
    /// millions takes longer than to find the few that are the same when all are put in order.
    pub fn expect(&mut self, paths: usize) {
        if self.paths.is_empty() {
            self.paths.reserve(paths);
        } else {
            self.index();
        }
    }

    fn index(&mut self) -> &mut Index {
        let paths = &self.paths;
        self.index.get_or_insert_with(|| {
            let ids = 0..paths.len() as PathId;
            let key = |id: PathId| indexed_by(paths.parent(id), paths.number_of(id), paths.folded_into(id));
            ids.map(|id| (key(id), id)).collect()
        })
    }

    /// Adds to the path of that key; its parent's key is known already.
    pub fn add(&mut self, key: Key, target: Option<PlaceId>, counts: &Counts) -> PathId {
        let call = self.number(&key);
        self.add_numbered(key.parent, call, key.folded_into, target, Sums::of(counts))
    }

    /// The number of what a path of this key leads to, which many do.
    pub fn number(&mut self, key: &Key) -> u32 {
        self.paths.number(key)
    }

    /// Adds to a path that leads to what has this number.
    pub fn add_numbered(
        &mut self,
        parent: Option<PathId>,
        call: u32,
        folded_into: Option<PathId>,
        target: Option<PlaceId>,
        sums: Sums,
    ) -> PathId {
        let next = self.paths.len() as PathId;
        let id = match &mut self.index {
            Some(index) => *index.entry(indexed_by(parent, call, folded_into)).or_insert(next),
            None => next,
        };
        if id == next {
            self.paths.push_numbered(parent, call, folded_into, target, sums);
        } else {
            let mut sum = self.paths.counts(id);
            sum.add(&sums.counts());
            self.paths.set_counts(id, &sum);
            self.paths.set_target(id, self.paths.target(id).max(target));
        }
        id
    }

    /// The finished tree, whose order does not tell in which order it grew, and the new places of its paths; `places` are the
    /// final numbers of places.
    pub fn finish(mut self, places: &[PlaceId]) -> (Tree, Order) {
        self.paths.renumber_places(places);
        self.in_order()
    }

    fn in_order(self) -> (Tree, Order) {
        let Self { mut paths, index } = self;
        drop(index);
        let children = Children::sorted(&paths);
        if children.has_twins {
            return Self::without_twins(&paths);
        }
        let order = children.preorder();
        drop(children);
        let mut new_ids = vec![0; paths.len()];
        for (new, &old) in (0..).zip(&order) {
            new_ids[old as usize] = new;
        }
        paths.put_in_order(&order, &new_ids);
        (Tree::of(paths), Order { paths: order, new_ids })
    }

    /// The same of paths of which some have one key, and become one.
    fn without_twins(paths: &Paths) -> (Tree, Order) {
        let mut all = Self { index: Some(Index::default()), ..Self::default() };
        let mut ids: Vec<PathId> = Vec::with_capacity(paths.len());
        for CallPath { mut key, target, counts, .. } in paths {
            let id = |old: PathId| ids[old as usize];
            (key.parent, key.folded_into) = (key.parent.map(id), key.folded_into.map(id));
            ids.push(all.add(key, target, &counts));
        }
        let (tree, order) = all.in_order();
        let new_ids = ids.into_iter().map(|id| order.new_ids[id as usize]).collect();
        (tree, Order { paths: Vec::new(), new_ids })
    }
}

/// Paths that are worth being shared by the cores.
const WORTH_ANOTHER_CORE: usize = 1 << 14;

/// Does something with each of the lists that lie one after the other in one, by where they start and the last ends: with those of
/// more than one path. Whether it said so of any.
fn each_below(list: &mut [u64], starts: &[u32], of: &(impl Fn(&mut [u64]) -> bool + Sync)) -> bool {
    let (lists, first) = (starts.len() - 1, starts[0]);
    if list.len() > WORTH_ANOTHER_CORE && lists > 1 {
        let (some, others) = list.split_at_mut((starts[lists / 2] - first) as usize);
        let some = || each_below(some, &starts[..=lists / 2], of);
        let (some, others) = rayon::join(some, || each_below(others, &starts[lists / 2..], of));
        return some | others;
    }
    let below = starts.windows(2).map(|ends| (ends[0] - first) as usize..(ends[1] - first) as usize);
    below.filter(|below| below.len() > 1).fold(false, |any, below| of(&mut list[below]) | any)
}

/// Puts paths that are below one in order, by their ranks, which they have before them. Whether any have the same key.
fn sort_below(paths: &Paths, depths: &OnceLock<Vec<u32>>, below: &mut [u64]) -> bool {
    below.sort_unstable();
    if below.windows(2).all(|two| two[0] >> 32 != two[1] >> 32) {
        return false;
    }
    // Paths that a recursion folds into lie above each other, so their depths tell them apart.
    let depths = depths.get_or_init(|| depths_of(paths));
    let folded = |ranked: u64| paths.folded_into(ranked as PathId);
    let depth = |ranked: u64| folded(ranked).map_or(0, |position| depths[position as usize] + 1);
    let key = |ranked: &u64| (ranked >> 32, depth(*ranked), folded(*ranked));
    // In a damaged file they may not, and then others may lie between two that are the same.
    below.sort_by_cached_key(key);
    below.windows(2).any(|two| (two[0] >> 32, folded(two[0])) == (two[1] >> 32, folded(two[1])))
}

/// How many paths are above each.
fn depths_of(paths: &Paths) -> Vec<u32> {
    let mut depths: Vec<u32> = Vec::with_capacity(paths.len());
    for id in 0..paths.len() as PathId {
        depths.push(paths.parent(id).map_or(0, |parent| depths[parent as usize] + 1));
    }
    depths
}

/// The paths below each, in a few long lists: there may be millions of paths.
struct Children {
    /// Paths, by the path above them; first those with none.
    list: Vec<PathId>,
    /// Where in the list those below each path begin, and where the last of them end.
    starts: Vec<u32>,
    /// Whether some below one path have the same key.
    has_twins: bool,
}

impl Children {
    fn sorted(paths: &Paths) -> Self {
        let ids = 0..paths.len() as PathId;
        let parent = |id: PathId| paths.parent(id).map_or(0, |parent| parent as usize + 1);
        let mut starts = vec![0u32; paths.len() + 2];
        for id in ids.clone() {
            starts[parent(id) + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        // Each with the rank of what it leads to before it: that tells nearly all apart, without a look at any other list.
        let mut next = starts.clone();
        let mut ranked = vec![0u64; paths.len()];
        for (id, rank) in ids.zip(paths.ranks()) {
            let next = &mut next[parent(id)];
            ranked[*next as usize] = u64::from(rank) << 32 | u64::from(id);
            *next += 1;
        }
        drop(next);
        let depths = OnceLock::new(); // asked for by few trees
        let sort = |below: &mut [u64]| sort_below(paths, &depths, below);
        let has_twins = each_below(&mut ranked, &starts[..=paths.len() + 1], &sort);
        let list = ranked.into_iter().map(|ranked| ranked as PathId).collect();
        Self { list, starts, has_twins }
    }

    /// All paths, directly before those below them.
    fn preorder(&self) -> Vec<PathId> {
        let below = |index: usize| &self.list[self.starts[index] as usize..self.starts[index + 1] as usize];
        let mut order = Vec::with_capacity(self.list.len());
        let mut next: Vec<PathId> = below(0).iter().rev().copied().collect();
        while let Some(id) = next.pop() {
            order.push(id);
            next.extend(below(id as usize + 1).iter().rev());
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use crate::load::Node;
    use crate::merge::{By, Merged, merge};
    use crate::testing::{arena, family, node, slot};

    fn calls(merged: &Merged) -> Vec<(u64, u64)> {
        let address = |place: u32| merged.places[place as usize].address;
        merged.groups[0].tree.paths.iter().map(|path| (address(path.key.function), path.counts.calls)).collect()
    }

    #[test]
    fn paths_of_one_arena_that_have_one_key_are_one_and_so_are_those_below_them() {
        let nodes = || -> Vec<Node> {
            vec![
                node(0x1000, None, slot(1, 100, 12)),
                node(0x1300, Some(0), slot(2, 30, 1)),
                node(0x1100, Some(0), slot(1, 5, 0)),
                node(0x1300, Some(0), slot(3, 40, 9)),
                node(0x1400, Some(1), slot(1, 10, 0)),
                node(0x1400, Some(3), slot(4, 20, 0)),
                node(0x1200, Some(3), slot(5, 10, 0)),
            ]
        };
        let expected = [(0, 1), (0x100, 1), (0x300, 5), (0x200, 5), (0x400, 5)];
        for arenas in 1..3 {
            let merged = merge(&[family(vec![arena(nodes()); arenas as usize])], By::All, None);
            assert_eq!(calls(&merged), expected.map(|(function, calls)| (function, arenas * calls)));
            let pairs = merged.groups[0].parts[0].paths.iter().map(|(_, pairs)| pairs.calls as u64);
            assert!(pairs.eq(calls(&merged).iter().map(|(_, calls)| *calls)));
        }
    }

    #[test]
    fn many_paths_come_in_the_order_of_their_places() {
        let many = super::WORTH_ANOTHER_CORE as u64 + 7;
        let below = (0..many).rev().flat_map(|index| {
            let place = 1 + 2 * (many - 1 - index) as u32;
            [node(0x10_0000 + index, Some(0), slot(2, 9, 1)), node(0x1100, Some(place), slot(1, 3, 0))]
        });
        let nodes: Vec<Node> = [node(0x1000, None, slot(1, 1_000_000, 3 * many))].into_iter().chain(below).collect();
        let found = calls(&merge(&[family(vec![arena(nodes)])], By::All, None));
        let below = (0..many).flat_map(|index| [(0x10_0000 + index, 2), (0x100, 1)]);
        assert!(found.into_iter().eq([(0, 1)].into_iter().chain(below)));
    }
}
