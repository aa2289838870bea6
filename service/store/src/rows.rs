//! The numbers of paths, added up: which there may be millions of.

use diytrace_profile::merge::{CallPath, Key, PairList, PathId, Paths, PlaceId, Row, Tree};

use crate::codec::{self, Numbers};
use crate::dictionary::{Entries, Path};

/// Sums of paths, which there may be millions of.
#[derive(Default)]
pub struct Rows {
    /// Where a path's sums are, and 1; 0: it has none.
    places: Vec<u32>,
    sums: Vec<(PathId, Numbers)>,
}

impl Rows {
    /// Adds a path's numbers.
    pub fn add(&mut self, path: PathId, numbers: &Numbers) {
        if self.places.len() <= path as usize {
            self.places.resize(path as usize + 1, 0);
        }
        match &mut self.places[path as usize] {
            0 => {
                self.sums.push((path, *numbers));
                self.places[path as usize] = self.sums.len() as u32;
            }
            place => codec::add(&mut self.sums[*place as usize - 1].1, numbers),
        }
    }

    /// All of them, in the order of their paths. `None` if they cannot be.
    pub fn all(self) -> Option<Vec<(PathId, Row)>> {
        let rows = self.sums.into_iter().map(|(path, numbers)| Some((path, codec::row(&numbers)?)));
        let mut rows: Vec<(PathId, Row)> = rows.collect::<Option<_>>()?;
        rows.sort_unstable_by_key(|(path, _)| *path);
        Some(rows)
    }

    /// The tree of the paths, with those that they are below, and the hook pairs in their times.
    /// `place` numbers places anew. `None` if they cannot be.
    pub fn tree(mut self, entries: &Entries, mut place: impl FnMut(PlaceId) -> PlaceId) -> Option<(Tree, PairList)> {
        let mut at = 0;
        while let Some((path, _)) = self.sums.get(at) {
            let key = &entries.paths()[*path as usize].key;
            for above in key.parent.into_iter().chain(key.folded_into) {
                if self.places.get(above as usize) == Some(&0) {
                    self.add(above, &[0; _]);
                }
            }
            at += 1;
        }
        // A path's number is higher than that of the one above it: so its place below that is known when it comes.
        let mut sums = std::mem::take(&mut self.sums);
        sums.sort_unstable_by_key(|(path, _)| *path);
        let order = preorder(&sums, entries);
        // Where they have come, in place of where they were.
        let mut numbers = self.places;
        let (mut paths, mut pairs) = (Paths::default(), PairList::default());
        for &at in &order {
            let (path, numbers_of_path) = &sums[at as usize];
            let row = codec::row(numbers_of_path)?;
            let Path { key, target } = &entries.paths()[*path as usize];
            let number = paths.len() as PathId;
            numbers[*path as usize] = number;
            let new = |path: PathId| numbers[path as usize];
            let key = Key {
                parent: key.parent.map(new),
                folded_into: key.folded_into.map(new),
                function: place(key.function),
                site: place(key.site),
                hook: place(key.hook),
                flags: key.flags,
            };
            let target = target.map(|target| place(target));
            paths.push(&CallPath { key, end: 0, target, counts: row.counts });
            pairs.push(number, &row.pairs);
        }
        Some((Tree::of(paths), pairs))
    }
}

/// The order of paths, each directly before those below it: their places in `sums`, which are by number.
fn preorder(sums: &[(PathId, Numbers)], entries: &Entries) -> Vec<u32> {
    let place_of = |path: PathId| sums.binary_search_by_key(&path, |(path, _)| *path).ok();
    let mut below: Vec<Vec<u32>> = vec![Vec::new(); sums.len()];
    let mut next = Vec::new();
    for (at, (path, _)) in (0u32..).zip(sums) {
        match entries.parent(*path).and_then(place_of) {
            Some(above) => below[above].push(at),
            None => next.push(at),
        }
    }
    next.reverse();
    let mut order = Vec::with_capacity(sums.len());
    while let Some(at) = next.pop() {
        order.push(at);
        next.extend(below[at as usize].iter().rev());
    }
    order
}
