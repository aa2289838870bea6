//! The merged tree of call paths.

use diytrace_format::node::flag;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::latest::Bound;
use super::modules::PlaceId;
use super::off_cpu::OffCpu;
use super::paths::Paths;
use crate::time::Time;

/// A path's place in [`Tree::paths`].
pub type PathId = u32;

/// Call paths, each directly before all that lie below it: the first child follows its parent.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Tree {
    /// All paths, in the order of their places.
    pub paths: Paths,
}

/// A call path, with the sums over all that was merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CallPath {
    /// What makes it another path than others.
    pub key: Key,
    /// Where the paths below it end.
    pub end: PathId,
    /// Target of the call if it was a relative one.
    pub target: Option<PlaceId>,
    /// Sums.
    pub counts: Counts,
}

/// What makes a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// The path above.
    pub parent: Option<PathId>,
    /// The function.
    pub function: PlaceId,
    /// Return address of the physical function that the call is in.
    pub site: PlaceId,
    /// Return address of the enter hook.
    pub hook: PlaceId,
    /// Bits of [`flag`].
    pub flags: u32,
    /// Of a folded recursion: the path above, of the same function, that its callees are under.
    pub folded_into: Option<PathId>,
}

/// Sums over the calls of a path, with times as measured. What the hooks in them cost is another sum: see [`super::Part`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Counts {
    /// Calls entered.
    pub calls: u64,
    /// Calls not yet returned, as far as the path tells: of calls of one path inside each other, which only folded
    /// recursion has, one.
    pub open: u64,
    /// Calls not yet returned that were entered before the counters were reset.
    pub open_since_reset: u64,
    /// Calls that have ended.
    pub closed: u64,
    /// What the inclusive time has of calls not yet returned, as measured.
    pub so_far: Time,
    /// If there are such calls: what that time goes up to.
    pub bound: Option<Bound>,
    /// Calls left without an exit.
    pub unwound: u64,
    /// Calls that returned but are in no histogram.
    pub unbinned: u64,
    /// Calls of which nothing else is known: those that are counted by function only.
    pub without_times: u64,
    /// Whether these are what has come between two readings.
    pub is_between: bool,
    /// Time of all calls whose callees are here, without these.
    pub own: Time,
    /// Time of calls on this very path, and of those inside a folded recursion.
    pub inclusive: [Time; 2],
    /// Time of all calls that have ended.
    pub closed_time: Time,
    /// What of the time of its own code was off the processor.
    pub off: OffCpu,
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
    pub fn children(&self, id: PathId) -> impl Iterator<Item = PathId> {
        let end = self.paths.end(id);
        let next = move |child: &PathId| Some(self.paths.end(*child)).filter(|next| *next < end);
        std::iter::successors(Some(id + 1).filter(|first| *first < end), next)
    }
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.open = self.open.saturating_add(other.open);
        self.open_since_reset = self.open_since_reset.saturating_add(other.open_since_reset);
        self.closed = self.closed.saturating_add(other.closed);
        self.so_far += other.so_far;
        self.bound = self.bound.max(other.bound);
        self.unwound = self.unwound.saturating_add(other.unwound);
        self.unbinned = self.unbinned.saturating_add(other.unbinned);
        self.without_times = self.without_times.saturating_add(other.without_times);
        self.is_between |= other.is_between;
        self.own += other.own;
        for slot in 0..2 {
            self.inclusive[slot] += other.inclusive[slot];
        }
        self.closed_time += other.closed_time;
        self.off += other.off;
    }

    /// What has come since an earlier reading of the same path; what is open is so now, and has taken at most `longest`.
    pub(super) fn since(&self, earlier: &Self, longest: Time) -> Self {
        Self {
            calls: self.calls.saturating_sub(earlier.calls),
            open: self.open,
            open_since_reset: self.open_since_reset,
            closed: self.closed.saturating_sub(earlier.closed),
            so_far: self.so_far.min(longest),
            bound: self.bound,
            unwound: self.unwound.saturating_sub(earlier.unwound),
            unbinned: self.unbinned.saturating_sub(earlier.unbinned),
            without_times: self.without_times.saturating_sub(earlier.without_times),
            is_between: true,
            own: self.own - earlier.own,
            inclusive: [0, 1].map(|slot: usize| self.inclusive[slot] - earlier.inclusive[slot]),
            closed_time: self.closed_time - earlier.closed_time,
            off: self.off.since(earlier.off),
        }
    }
}

impl CallPath {
    /// Whether its calls are counted only for what their hooks cost.
    pub fn is_untimed(&self) -> bool {
        self.key.flags & flag::UNTIMED != 0
    }
}

/// Where paths have come.
pub(super) struct Order {
    /// Of each place, the path that has come there.
    pub paths: Vec<PathId>,
    /// Of each path, its place.
    pub new_ids: Vec<PathId>,
}

/// A tree that grows: paths in the order in which they were found.
#[derive(Default)]
pub(super) struct Growing {
    paths: Paths,
    /// By the path above, the number of what a path leads to, and the path that it is folded into.
    by_key: FxHashMap<(PathId, u32, PathId), PathId>,
}

impl Growing {
    /// Makes room for the paths of an arena: those of the first are all new.
    pub fn expect(&mut self, paths: usize) {
        if self.paths.is_empty() {
            self.paths.reserve(paths);
            self.by_key.reserve(paths);
        }
    }

    /// Adds to the path of that key; its parent's key is known already.
    pub fn add(&mut self, key: Key, target: Option<PlaceId>, counts: &Counts) -> PathId {
        let call = self.number(&key);
        self.add_numbered(key.parent, call, key.folded_into, target, counts)
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
        counts: &Counts,
    ) -> PathId {
        let next = self.paths.len() as PathId;
        let above = |path: Option<PathId>| path.unwrap_or(PathId::MAX);
        let id = *self.by_key.entry((above(parent), call, above(folded_into))).or_insert(next);
        if id == next {
            self.paths.push_numbered(parent, call, folded_into, target, counts);
        } else {
            let mut sum = self.paths.counts(id);
            sum.add(counts);
            self.paths.set_counts(id, &sum);
            self.paths.set_target(id, self.paths.target(id).max(target));
        }
        id
    }

    /// The finished tree, whose order does not tell in which order it grew, and the new places of its paths; `places` are the
    /// final numbers of places.
    pub fn finish(self, places: &[PlaceId]) -> (Tree, Order) {
        let Self { mut paths, by_key } = self;
        drop(by_key);
        paths.renumber_places(places);
        let children = Children::sorted(&paths);
        let order = children.preorder();
        drop(children);
        let mut new_ids = vec![0; paths.len()];
        for (new, &old) in (0..).zip(&order) {
            new_ids[old as usize] = new;
        }
        paths.put_in_order(&order, &new_ids);
        (Tree::of(paths), Order { paths: order, new_ids })
    }
}

/// The paths below each, in a few long lists: there may be millions of paths.
struct Children {
    /// Paths, by the path above them; first those with none.
    list: Vec<PathId>,
    /// Where in the list those below each path begin, and where the last of them end.
    starts: Vec<u32>,
}

impl Children {
    fn sorted(paths: &Paths) -> Self {
        let ids = 0..paths.len() as PathId;
        let parent = |id: PathId| paths.parent(id).map_or(0, |parent| parent as usize + 1);
        let mut depths = vec![0u32; paths.len()];
        let mut starts = vec![0u32; paths.len() + 2];
        for id in ids.clone() {
            depths[id as usize] = paths.parent(id).map_or(0, |parent| depths[parent as usize] + 1);
            starts[parent(id) + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        let mut list = vec![0; paths.len()];
        for id in ids {
            let next = &mut next[parent(id)];
            list[*next as usize] = id;
            *next += 1;
        }
        let rank = paths.ranks();
        // Paths that a recursion folds into lie above each other, so their depths tell them apart.
        let folded = |id: PathId| paths.folded_into(id).map(|position| depths[position as usize]);
        for ends in starts.windows(2).filter(|ends| ends[1] - ends[0] > 1) {
            list[ends[0] as usize..ends[1] as usize].sort_unstable_by_key(|&id| (rank(id), folded(id)));
        }
        Self { list, starts }
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
