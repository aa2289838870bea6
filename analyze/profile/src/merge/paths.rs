//! Call paths in little memory: of the many sums that a path can have, nearly all paths have three.

use std::cmp::Ordering;
use std::fmt;

use diytrace_format::node::flag;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::call_path::{CallPath, Counts, Key, PathId};
use super::modules::PlaceId;
use super::off_cpu::OffCpu;
use crate::cores::WORTH_ANOTHER_CORE;
use crate::time::Time;

mod packed;

use packed::{NONE, Packed, form, from_packed, to_packed};
pub use packed::{Sums, Usual};

/// A list of [`CallPath`]s, which are put together when they are asked for.
#[derive(Clone, Default)]
pub struct Paths {
    list: Vec<Packed>,
    /// What paths lead to, each once: far fewer than paths.
    calls: Vec<Call>,
    numbers: FxHashMap<Call, u32>,
    /// Sums that have more to tell than the usual ones.
    others: Vec<Counts>,
}

/// What a path leads to, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Call {
    function: PlaceId,
    site: PlaceId,
    hook: PlaceId,
    flags: u32,
}

impl Paths {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All, in their order.
    pub fn iter(&self) -> Iter<'_> {
        Iter { paths: self, next: 0, end: self.list.len() }
    }

    /// One of them.
    pub fn get(&self, id: PathId) -> CallPath {
        let packed = &self.list[id as usize];
        CallPath { key: self.key(id), end: packed.end, target: from_packed(packed.target), counts: self.counts(id) }
    }

    /// The enter hook of one.
    #[inline]
    pub fn hook(&self, id: PathId) -> PlaceId {
        self.calls[self.list[id as usize].call as usize].hook
    }

    /// What makes one.
    #[inline]
    pub fn key(&self, id: PathId) -> Key {
        let packed = &self.list[id as usize];
        let Call { function, site, hook, flags } = self.calls[packed.call as usize];
        let (parent, folded_into) = (from_packed(packed.parent), from_packed(packed.folded_into));
        Key { parent, function, site, hook, flags, folded_into }
    }

    /// The sums of one.
    pub fn counts(&self, id: PathId) -> Counts {
        let packed = &self.list[id as usize];
        if packed.form == form::OTHER { self.others[packed.calls as usize] } else { packed.usual() }
    }

    /// Those of one, where they have more to tell than the usual ones: that calls of it are open or were left, that it was off the
    /// processor, or lies both in a folded recursion and elsewhere.
    #[inline]
    pub fn unusual(&self, id: PathId) -> Option<&Counts> {
        let packed = &self.list[id as usize];
        (packed.form == form::OTHER).then(|| &self.others[packed.calls as usize])
    }

    /// All of those that there are.
    pub fn all_unusual(&self) -> impl Iterator<Item = &Counts> {
        self.others.iter()
    }

    /// The times of one: its own, the inclusive ones, and that of calls that have ended.
    #[inline]
    pub fn times(&self, id: PathId) -> (Time, [Time; 2], Time) {
        if let Some(Counts { own, inclusive, closed_time, .. }) = self.unusual(id) {
            return (*own, *inclusive, *closed_time);
        }
        let packed = &self.list[id as usize];
        (Time::from_units(packed.own.into()), packed.inclusive(), Time::from_units(packed.inclusive.into()))
    }

    /// The calls of one that have returned and are in no histogram.
    #[inline]
    pub fn unbinned(&self, id: PathId) -> u64 {
        let packed = &self.list[id as usize];
        match packed.form {
            form::OTHER => self.others[packed.calls as usize].unbinned,
            form if form & form::UNBINNED != 0 => packed.calls,
            _ => 0,
        }
    }

    /// What of the time of one was off the processor.
    #[inline]
    pub fn off(&self, id: PathId) -> OffCpu {
        let packed = &self.list[id as usize];
        match packed.form {
            form::OTHER => self.others[packed.calls as usize].off,
            form if form & form::UNSEEN != 0 => packed.off(),
            _ => OffCpu::default(),
        }
    }

    /// Whether the sums of one are what has come between two readings.
    #[inline]
    pub fn is_between(&self, id: PathId) -> bool {
        let packed = &self.list[id as usize];
        match packed.form {
            form::OTHER => self.others[packed.calls as usize].is_between,
            form => form & form::BETWEEN != 0,
        }
    }

    /// The function of one.
    #[inline]
    pub fn function(&self, id: PathId) -> PlaceId {
        self.calls[self.list[id as usize].call as usize].function
    }

    /// The calls of one.
    #[inline]
    pub fn calls(&self, id: PathId) -> u64 {
        let packed = &self.list[id as usize];
        if packed.form == form::OTHER { self.others[packed.calls as usize].calls } else { packed.calls }
    }

    /// The path above one.
    #[inline]
    pub fn parent(&self, id: PathId) -> Option<PathId> {
        from_packed(self.list[id as usize].parent)
    }

    /// Where the paths below one end.
    #[inline]
    pub fn end(&self, id: PathId) -> PathId {
        self.list[id as usize].end
    }

    /// Of a folded recursion: the path above that its callees are under.
    #[inline]
    pub fn folded_into(&self, id: PathId) -> Option<PathId> {
        from_packed(self.list[id as usize].folded_into)
    }

    /// Whether the calls of one are counted only for what their hooks cost.
    #[inline]
    pub fn is_untimed(&self, id: PathId) -> bool {
        self.calls[self.list[id as usize].call as usize].flags & flag::UNTIMED != 0
    }

    /// The flags of one.
    #[inline]
    pub fn flags(&self, id: PathId) -> u32 {
        self.calls[self.list[id as usize].call as usize].flags
    }

    /// The call site of one.
    #[inline]
    pub fn site(&self, id: PathId) -> PlaceId {
        self.calls[self.list[id as usize].call as usize].site
    }

    /// Whether it stands for what was called from the path above on paths that gave way to others, whatever that was.
    #[inline]
    pub fn is_others(&self, id: PathId) -> bool {
        self.flags(id) & flag::OTHERS != 0
    }

    /// Whether it is no path, but the sums of calls of one function by another, on paths that gave way to others. The function that
    /// made them begins at its call site.
    #[inline]
    pub fn is_edge(&self, id: PathId) -> bool {
        self.flags(id) & flag::EDGE != 0
    }

    /// How many numbers there are of what paths lead to: far fewer than paths.
    pub fn ends(&self) -> impl ExactSizeIterator<Item = Key> {
        self.calls.iter().map(|&Call { function, site, hook, flags }| Key {
            parent: None,
            function,
            site,
            hook,
            flags,
            folded_into: None,
        })
    }

    /// Of one, the place among those.
    #[inline]
    pub fn number_of(&self, id: PathId) -> u32 {
        self.list[id as usize].call
    }

    /// Makes room for so many more.
    pub(super) fn reserve(&mut self, more: usize) {
        self.list.reserve_exact(more);
    }

    /// Adds one at the end.
    pub fn push(&mut self, path: &CallPath) {
        let call = self.number(&path.key);
        let id = self.push_numbered(path.key.parent, call, path.key.folded_into, path.target, Sums::of(&path.counts));
        self.list[id as usize].end = path.end;
    }

    /// The same of one that leads to what has this number.
    pub(super) fn push_numbered(
        &mut self,
        parent: Option<PathId>,
        call: u32,
        folded_into: Option<PathId>,
        target: Option<PlaceId>,
        sums: Sums,
    ) -> PathId {
        let [parent, folded_into, target] = [parent, folded_into, target].map(to_packed);
        let id = self.list.len() as PathId;
        let packed = Packed { parent, call, folded_into, target, ..Packed::default() };
        let other = |others: usize| Usual { form: form::OTHER, calls: others as u64, own: 0, inclusive: 0 };
        self.list.push(packed.with(match sums {
            Sums::Usual(usual) => usual,
            Sums::Other(counts) => {
                self.others.push(*counts);
                other(self.others.len() - 1)
            }
        }));
        id
    }

    /// The number of what a path of this key leads to: with the path above it and the one that it is folded into, that is the key.
    pub(super) fn number(&mut self, key: &Key) -> u32 {
        let Key { function, site, hook, flags, .. } = *key;
        let next = self.calls.len() as u32;
        let call = Call { function, site, hook, flags };
        let number = *self.numbers.entry(call).or_insert(next);
        if number == next {
            self.calls.push(call);
        }
        number
    }

    /// Gives one these sums.
    pub(super) fn set_counts(&mut self, id: PathId, counts: &Counts) {
        let packed = &mut self.list[id as usize];
        match (Usual::of(counts), packed.form) {
            (_, form::OTHER) => self.others[packed.calls as usize] = *counts,
            (Some(usual), _) => *packed = packed.with(usual),
            (None, _) => {
                (packed.form, packed.calls) = (form::OTHER, self.others.len() as u64);
                self.others.push(*counts);
            }
        }
    }

    /// The target of the call to one.
    #[inline]
    pub fn target(&self, id: PathId) -> Option<PlaceId> {
        from_packed(self.list[id as usize].target)
    }

    pub(super) fn set_target(&mut self, id: PathId, target: Option<PlaceId>) {
        self.list[id as usize].target = to_packed(target);
    }

    /// Renumbers all places.
    pub(super) fn renumber_places(&mut self, places: &[PlaceId]) {
        let place = |place: PlaceId| places[place as usize];
        for call in &mut self.calls {
            (call.function, call.site, call.hook) = (place(call.function), place(call.site), place(call.hook));
        }
        self.numbers = FxHashMap::default(); // of old numbers, and asked for no more
        for packed in self.list.iter_mut().filter(|packed| packed.target != NONE) {
            packed.target = place(packed.target);
        }
    }

    /// Of each path, where what it leads to comes in the order of functions, sites, hooks and flags.
    pub(super) fn ranks(&self) -> impl Iterator<Item = u32> {
        let mut order: Vec<u32> = (0..self.calls.len() as u32).collect();
        order.sort_unstable_by_key(|call| self.calls[*call as usize]);
        let mut ranks = vec![0; order.len()];
        for (rank, call) in (0..).zip(order) {
            ranks[call as usize] = rank;
        }
        self.list.iter().map(move |packed| ranks[packed.call as usize])
    }

    /// Puts each path in its place. `order` has the path for each place, and `new_ids` the place of each path.
    pub(super) fn put_in_order(&mut self, order: &[PathId], new_ids: &[PathId]) {
        let new_id = |old: u32| if old == NONE { NONE } else { new_ids[old as usize] };
        let old = &self.list;
        let new = |&id: &PathId| {
            let packed = old[id as usize];
            Packed { parent: new_id(packed.parent), folded_into: new_id(packed.folded_into), ..packed }
        };
        // Into a new list: of millions, one after the other waits for memory least so.
        self.list = match order.len() < WORTH_ANOTHER_CORE {
            true => order.iter().map(new).collect(),
            false => order.par_iter().map(new).collect(),
        };
    }

    /// Finds where the paths below each end, once each is directly before them.
    pub(super) fn find_ends(&mut self) {
        for id in (0..self.list.len()).rev() {
            let Packed { end, parent, .. } = self.list[id];
            let end = end.max(id as PathId + 1);
            self.list[id].end = end;
            if parent != NONE {
                let above = &mut self.list[parent as usize].end;
                *above = end.max(*above);
            }
        }
    }
}

/// Over [`Paths`].
#[derive(Clone)]
pub struct Iter<'a> {
    paths: &'a Paths,
    next: usize,
    end: usize,
}

impl Iterator for Iter<'_> {
    type Item = CallPath;

    fn next(&mut self) -> Option<CallPath> {
        let id = (self.next < self.end).then_some(self.next)?;
        self.next += 1;
        Some(self.paths.get(id as PathId))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.end - self.next;
        (left, Some(left))
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<CallPath> {
        if self.next == self.end {
            return None;
        }
        self.end -= 1;
        Some(self.paths.get(self.end as PathId))
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'a> IntoIterator for &'a Paths {
    type Item = CallPath;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl Extend<CallPath> for Paths {
    fn extend<T: IntoIterator<Item = CallPath>>(&mut self, paths: T) {
        paths.into_iter().for_each(|path| self.push(&path));
    }
}

impl FromIterator<CallPath> for Paths {
    fn from_iter<T: IntoIterator<Item = CallPath>>(paths: T) -> Self {
        let mut all = Self::default();
        all.extend(paths);
        all
    }
}

impl fmt::Debug for Paths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

// Two lists are the same if their paths are, however they are kept.

impl PartialEq for Paths {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other)
    }
}

impl Eq for Paths {}

impl PartialOrd for Paths {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Paths {
    fn cmp(&self, other: &Self) -> Ordering {
        self.iter().cmp(other)
    }
}

impl Serialize for Paths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

impl<'de> Deserialize<'de> for Paths {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Paths;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("call paths")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Paths, A::Error> {
                let mut paths = Paths::default();
                while let Some(path) = all.next_element()? {
                    paths.push(&path);
                }
                Ok(paths)
            }
        }
        deserializer.deserialize_seq(List)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::Bound;

    fn path(parent: Option<PathId>, counts: Counts) -> CallPath {
        let key = Key { parent, function: 1, site: 2, hook: 3, flags: 0, folded_into: None };
        CallPath { key, end: 7, target: Some(4), counts }
    }

    fn counts(calls: u64, own: i128, inclusive: i128) -> Counts {
        let [own, inclusive] = [own, inclusive].map(Time::from_units);
        Counts {
            calls,
            closed: calls,
            own,
            inclusive: [inclusive, Time::ZERO],
            closed_time: inclusive,
            ..Counts::default()
        }
    }

    #[test]
    fn what_is_kept_is_what_was_told() {
        let usual = counts(5, 70, 700);
        let unusual = [
            Counts { open: 1, so_far: Time::from_units(3), bound: Some(Bound::Running), ..usual },
            Counts { unbinned: 5, ..usual },
            Counts { unbinned: 2, ..usual },
            Counts { is_between: true, ..usual },
            Counts { off: OffCpu { unseen: usual.own, ..OffCpu::default() }, ..usual },
            Counts { off: OffCpu { wait: usual.own, ..OffCpu::default() }, ..usual },
            counts(5, -70, 1 << 100),
            Counts { inclusive: [Time::ZERO, usual.inclusive[0]], ..usual },
            Counts { inclusive: [usual.own, usual.inclusive[0]], ..usual },
            Counts { inclusive: [Time::ZERO, usual.own], ..usual },
        ];
        let mut all = vec![path(None, usual), path(Some(0), Counts::default())];
        all.extend(unusual.map(|counts| path(Some(0), counts)));
        all.push(CallPath { key: Key { folded_into: Some(1), ..all[1].key }, target: None, ..all[0] });
        let mut paths: Paths = all.iter().copied().collect();
        assert!(paths.iter().eq(all.iter().copied()));
        assert!(paths.iter().rev().eq(all.iter().rev().copied()));
        let read: Paths = postcard::from_bytes(&postcard::to_stdvec(&paths).unwrap()).unwrap();
        assert_eq!(read, paths);
        assert_eq!(postcard::to_stdvec(&paths).unwrap(), postcard::to_stdvec(&all).unwrap());
        paths.set_counts(2, &usual);
        paths.set_counts(0, &unusual[0]);
        assert_eq!([paths.counts(2), paths.counts(0)], [usual, unusual[0]]);
        assert!((0..all.len() as PathId).all(|id| {
            let Counts { own, inclusive, closed_time, .. } = paths.counts(id);
            paths.times(id) == (own, inclusive, closed_time)
        }));
    }
}
