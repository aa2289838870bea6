//! The numbers of paths, added up: which there may be millions of.

use diytrace_profile::merge::{CallPath, Key, PairList, PathId, Paths, PlaceId, Row, Tree};

use crate::among::Among;
use crate::codec::{self, Below, Damaged, Numbers};
use crate::dictionary::{Entries, Path};
use crate::residues::Residues;

/// Sums of paths, which there may be millions of.
#[derive(Default)]
pub struct Rows {
    /// Of frames as they come.
    residues: Residues,
    below: Below,
    /// Of other numbers: where a path's sums are, and 1; 0: it has none.
    places: Vec<u32>,
    sums: Vec<Numbers>,
}

impl Rows {
    /// Adds a frame's paths, as bytes have them.
    pub fn add_frame(&mut self, bytes: &[u8], among: Among, entries: &Entries) -> Result<(), Damaged> {
        if self.residues.add(bytes, among, entries)? {
            return Ok(());
        }
        let (paths, mut below) = (entries.paths().len() as u32, std::mem::take(&mut self.below));
        let add = |path, numbers: &Numbers| self.add(path, &among.counted(numbers));
        let decoded = codec::decode(bytes, |path| entries.parent(path), paths, &mut below, add);
        self.below = below;
        decoded
    }

    /// Adds a path's numbers.
    pub fn add(&mut self, path: PathId, numbers: &Numbers) {
        if self.places.len() <= path as usize {
            self.places.resize(path as usize + 1, 0);
        }
        match &mut self.places[path as usize] {
            0 => {
                self.sums.push(*numbers);
                self.places[path as usize] = self.sums.len() as u32;
            }
            place => codec::add(&mut self.sums[*place as usize - 1], numbers),
        }
    }

    /// All was added.
    pub fn end(&mut self, entries: &Entries) {
        self.residues.end(entries);
        self.below = Below::default();
        let paths = self.residues.len().max(self.places.len());
        self.places.resize(paths, 0);
    }

    /// The sums of a path; if there are none, zeros.
    fn row(&self, path: PathId) -> Option<Row> {
        let others = match self.places[path as usize] {
            0 => None,
            place => Some(&self.sums[place as usize - 1]),
        };
        match (self.residues.numbers(path), others) {
            (None, None) => Some(Row::default()),
            (Some(numbers), None) => codec::row(&numbers),
            (None, Some(numbers)) => codec::row(numbers),
            (Some(mut sums), Some(others)) => {
                codec::add(&mut sums, others);
                codec::row(&sums)
            }
        }
    }

    fn has(&self, path: PathId) -> bool {
        self.places[path as usize] != 0 || self.residues.has(path)
    }

    /// All of them, in the order of their paths. `None` if they cannot be.
    pub fn all(&self) -> Option<Vec<(PathId, Row)>> {
        let paths = (0..self.places.len() as PathId).filter(|path| self.has(*path));
        paths.map(|path| Some((path, self.row(path)?))).collect()
    }

    /// The tree of the paths, with those that they are below, and the hook pairs in their times.
    /// `place` numbers places anew. `None` if they cannot be.
    pub fn tree(&self, entries: &Entries, mut place: impl FnMut(PlaceId) -> PlaceId) -> Option<(Tree, PairList)> {
        let order = self.preorder(entries);
        // A path's number is higher than that of the one above it: so its place below that is known when it comes.
        let mut numbers = vec![0; self.places.len()];
        let (mut paths, mut pairs) = (Paths::default(), PairList::default());
        for path in &order {
            let row = self.row(*path)?;
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
            let target = target.map(&mut place);
            paths.push(&CallPath { key, end: 0, target, counts: row.counts });
            pairs.push(number, &row.pairs);
        }
        Some((Tree::of(paths), pairs))
    }

    /// The paths, and those that they are below, each directly before those below it; of those below one the lower numbers first.
    fn preorder(&self, entries: &Entries) -> Vec<PathId> {
        const NONE: PathId = PathId::MAX;
        let (mut first, mut next) = (vec![NONE; self.places.len()], vec![NONE; self.places.len()]);
        let mut is_above = vec![false; self.places.len()];
        let (mut outermost, mut count) = (NONE, 0);
        for path in (0..self.places.len() as PathId).rev() {
            if !self.has(path) && !is_above[path as usize] {
                continue;
            }
            let key = &entries.paths()[path as usize].key;
            key.parent.into_iter().chain(key.folded_into).for_each(|above| is_above[above as usize] = true);
            let list = key.parent.map_or(&mut outermost, |above| &mut first[above as usize]);
            next[path as usize] = std::mem::replace(list, path);
            count += 1;
        }
        let mut order = Vec::with_capacity(count);
        let mut waiting = Vec::from_iter((outermost != NONE).then_some(outermost));
        while let Some(path) = waiting.pop() {
            order.push(path);
            let of = [next[path as usize], first[path as usize]];
            waiting.extend(of.into_iter().filter(|path| *path != NONE));
        }
        order
    }
}
