//! The hook pairs in the times of many paths, in little memory: nearly all follow from three numbers.

use std::cmp::Ordering;
use std::fmt;

use rayon::prelude::*;
use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::call_path::PathId;
use super::pairs::{Pairs, PathPairs};
use super::tree::Order;
use crate::cores::WORTH_ANOTHER_CORE;

/// Paths with the hook pairs in their times.
#[derive(Clone, Default)]
pub struct PairList {
    list: Vec<Packed>,
    /// Those that do not follow from three numbers.
    others: Vec<PathPairs>,
}

/// What follows from a path's three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// All pairs of calls that have ended, none of them inside a folded recursion.
    Usual,
    /// The same, all of them inside one.
    Inside,
    /// Nothing: they are among the others.
    Other,
}

#[derive(Clone, Copy)]
struct Packed {
    path: PathId,
    form: Form,
    /// That of a path, or the place among the others.
    calls: i64,
    /// Made by its own code.
    made: i64,
    /// Made inside its calls, at any depth.
    inside: i64,
}

impl Packed {
    /// If they follow from three numbers.
    fn of(path: PathId, pairs: &PathPairs) -> Option<Self> {
        let (calls, made, inside) = (pairs.calls, pairs.own.outer, pairs.closed.outer);
        let is_inside = pairs.inclusive[0] == Pairs::default() && pairs.inclusive[1] != Pairs::default();
        let form = if is_inside { Form::Inside } else { Form::Usual };
        let usual = Self { path, form, calls, made, inside };
        (usual.usual() == *pairs).then_some(usual)
    }

    #[inline]
    fn usual(&self) -> PathPairs {
        let Self { calls, made, inside, .. } = *self;
        let all = Pairs { inner: calls.saturating_add(inside), outer: inside, untimed: 0 };
        let own = Pairs { inner: calls, outer: made, untimed: 0 };
        let inclusive = match self.form {
            Form::Inside => [Pairs::default(), all],
            _ => [all, Pairs::default()],
        };
        PathPairs { own, inclusive, closed: all, calls }
    }
}

/// The hook pairs of a path as they are kept.
#[derive(Debug, PartialEq)]
pub enum PackedPairs {
    /// They follow from its calls, and those made by its own code and at any depth.
    Usual(Form, [i64; 3]),
    Other(Box<PathPairs>),
}

impl PackedPairs {
    /// Of calls that have ended, none of them inside a folded recursion: these, those that their own code made, and those inside them at
    /// any depth.
    #[inline]
    pub fn ended(calls: u64, made: i64, inside: i64) -> Self {
        Self::Usual(Form::Usual, [i64::try_from(calls).unwrap_or(i64::MAX), made, inside])
    }

    pub fn of(pairs: &PathPairs) -> Self {
        Packed::of(0, pairs).map_or_else(
            || Self::Other(Box::new(*pairs)),
            |Packed { form, calls, made, inside, .. }| Self::Usual(form, [calls, made, inside]),
        )
    }

    pub fn pairs(self) -> PathPairs {
        match self {
            Self::Usual(form, [calls, made, inside]) => Packed { path: 0, form, calls, made, inside }.usual(),
            Self::Other(pairs) => *pairs,
        }
    }
}

impl PairList {
    /// How many paths there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All, in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (PathId, PathPairs)> {
        self.list.iter().map(|packed| (packed.path, self.unpacked(packed)))
    }

    /// Those of a path, if the list is in the paths' order.
    #[inline]
    pub fn get(&self, path: PathId) -> Option<PathPairs> {
        self.place(path).map(|place| self.unpacked(&self.list[place]))
    }

    /// Changes those of a path likewise.
    pub(super) fn change(&mut self, path: PathId, change: impl FnOnce(&mut PathPairs)) {
        if let Some(place) = self.place(path) {
            self.change_at(place, change);
        }
    }

    #[inline]
    fn place(&self, path: PathId) -> Option<usize> {
        // Where there is one part, all paths are in it.
        match self.list.get(path as usize) {
            Some(packed) if packed.path == path => Some(path as usize),
            _ => self.list.binary_search_by_key(&path, |packed| packed.path).ok(),
        }
    }

    /// Changes those at a place in the list.
    pub(super) fn change_at(&mut self, place: usize, change: impl FnOnce(&mut PathPairs)) {
        let packed = self.list[place];
        let mut pairs = self.unpacked(&packed);
        change(&mut pairs);
        self.list[place] = match packed.form {
            Form::Usual | Form::Inside => packed_as(packed.path, &pairs, &mut self.others),
            Form::Other => {
                self.others[packed.calls as usize] = pairs;
                packed
            }
        };
    }

    /// Adds a path at the end.
    pub fn push(&mut self, path: PathId, pairs: &PathPairs) {
        let packed = packed_as(path, pairs, &mut self.others);
        self.list.push(packed);
    }

    /// The same of pairs that were packed before.
    pub(super) fn push_packed(&mut self, path: PathId, pairs: PackedPairs) {
        match pairs {
            PackedPairs::Usual(form, [calls, made, inside]) => {
                self.list.push(Packed { path, form, calls, made, inside });
            }
            PackedPairs::Other(pairs) => self.push(path, &pairs),
        }
    }

    /// Makes room for so many more.
    pub(super) fn reserve(&mut self, more: usize) {
        self.list.reserve_exact(more);
    }

    /// Whether each path comes once, in their order.
    pub(super) fn is_sorted(&self) -> bool {
        self.list.is_sorted_by_key(|packed| packed.path)
    }

    /// With paths numbered otherwise, in their order; several may have become one.
    pub(super) fn renumbered(mut self, paths: &[PathId]) -> Self {
        for packed in &mut self.list {
            packed.path = paths[packed.path as usize];
        }
        self.list.sort_unstable_by_key(|packed| packed.path);
        if self.list.windows(2).all(|two| two[0].path != two[1].path) {
            return self;
        }
        let mut sums = Self::default();
        for (path, pairs) in self.iter() {
            match sums.list.last() {
                Some(last) if last.path == path => sums.change_at(sums.list.len() - 1, |sum| sum.add(&pairs)),
                _ => sums.push(path, &pairs),
            }
        }
        sums
    }

    /// With paths numbered otherwise, of which none have become one.
    pub(super) fn in_order(self, order: &Order) -> Self {
        let is_path = |(path, packed): (PathId, &Packed)| packed.path == path;
        if self.list.len() != order.paths.len() || !(0..).zip(&self.list).all(is_path) {
            return self.renumbered(&order.new_ids);
        }
        // All paths are here, as they are in one recording: each goes where its path has gone.
        let place = |(place, old): (usize, &PathId)| Packed { path: place as PathId, ..self.list[*old as usize] };
        let list = match order.paths.len() < WORTH_ANOTHER_CORE {
            true => order.paths.iter().enumerate().map(place).collect(),
            false => order.paths.par_iter().enumerate().map(place).collect(),
        };
        Self { list, others: self.others }
    }

    #[inline]
    fn unpacked(&self, packed: &Packed) -> PathPairs {
        if packed.form == Form::Other { self.others[packed.calls as usize] } else { packed.usual() }
    }
}

fn packed_as(path: PathId, pairs: &PathPairs, others: &mut Vec<PathPairs>) -> Packed {
    Packed::of(path, pairs).unwrap_or_else(|| {
        others.push(*pairs);
        Packed { path, form: Form::Other, calls: others.len() as i64 - 1, made: 0, inside: 0 }
    })
}

impl FromIterator<(PathId, PathPairs)> for PairList {
    fn from_iter<T: IntoIterator<Item = (PathId, PathPairs)>>(all: T) -> Self {
        let mut list = Self::default();
        all.into_iter().for_each(|(path, pairs)| list.push(path, &pairs));
        list
    }
}

impl fmt::Debug for PairList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

// Two lists are the same if what they tell is, however it is kept.

impl PartialEq for PairList {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for PairList {}

impl PartialOrd for PairList {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PairList {
    fn cmp(&self, other: &Self) -> Ordering {
        self.iter().cmp(other.iter())
    }
}

impl Serialize for PairList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for PairList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = PairList;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("hook pairs of paths")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<PairList, A::Error> {
                let mut list = PairList::default();
                while let Some((path, pairs)) = all.next_element()? {
                    list.push(path, &pairs);
                }
                Ok(list)
            }
        }
        deserializer.deserialize_seq(List)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual(calls: i64, made: i64, inside: i64) -> PathPairs {
        let all = Pairs { inner: calls + inside, outer: inside, untimed: 0 };
        PathPairs {
            own: Pairs { inner: calls, outer: made, untimed: 0 },
            inclusive: [all, Pairs::default()],
            closed: all,
            calls,
        }
    }

    #[test]
    fn what_is_kept_is_what_was_told() {
        let unusual = PathPairs { own: Pairs { untimed: 7, ..Pairs::default() }, ..usual(1, 2, 3) };
        let inside = PathPairs { inclusive: [Pairs::default(), usual(5, 6, 70).closed], ..usual(5, 6, 70) };
        let both = PathPairs { inclusive: [usual(5, 6, 70).closed; 2], ..usual(5, 6, 70) };
        let all = [(4, usual(5, 6, 70)), (2, unusual), (3, PathPairs::default()), (5, inside), (6, both)];
        let list: PairList = all.into_iter().collect();
        assert_eq!(list.others.len(), 2, "what follows from three numbers is kept as these");
        assert!(list.iter().eq(all));
        let bytes = postcard::to_stdvec(&list).unwrap();
        assert_eq!(bytes, postcard::to_stdvec(&all.to_vec()).unwrap());
        assert_eq!(postcard::from_bytes::<PairList>(&bytes).unwrap(), list);
    }

    #[test]
    fn paths_that_have_become_one_are_added_up() {
        let list: PairList = (0..4).map(|path| (path, usual(1 << path, 0, 0))).collect();
        let of = |list: PairList| list.iter().map(|(path, pairs)| (path, pairs.calls)).collect::<Vec<_>>();
        assert_eq!(of(list.clone().renumbered(&[3, 0, 2, 1])), [(0, 2), (1, 8), (2, 4), (3, 1)]);
        assert_eq!(of(list.clone().renumbered(&[2, 0, 2, 1])), [(0, 2), (1, 8), (2, 5)]);
        let order = Order { paths: vec![1, 3, 2, 0], new_ids: vec![3, 0, 2, 1] };
        assert_eq!(of(list.clone().in_order(&order)), [(0, 2), (1, 8), (2, 4), (3, 1)]);
        let mut list = list.renumbered(&[7, 1, 4, 9]);
        list.change(4, |pairs| pairs.own.untimed = 9);
        assert_eq!(list.get(4).map(|pairs| pairs.own.untimed), Some(9));
        assert_eq!(of(list), [(1, 2), (4, 4), (7, 1), (9, 8)]);
    }
}
