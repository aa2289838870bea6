//! What the numbers of paths have beyond what is expected of them, added up over frames.
//!
//! What is expected of a number is a sum of others, so what is expected of the sums of frames is the sum of what is expected of
//! each. So of a frame only what its bytes have is added, two or three numbers a path; what follows from them, the other thirty,
//! follows once, of all frames together.

use diytrace_profile::merge::{PathId, Row};
use diytrace_profile::varint::get_signed;

use crate::among::Among;
use crate::codec::{self, Below, Damaged, NUMBERS, Numbers, ORDER};
use crate::dictionary::Entries;

/// How many calls are open; of other numbers, those that less are expected of for each.
const OPEN: usize = Row::SUMS;
const ENDED: [usize; 2] = [1, 9];

/// Those whose sum is the highest of them.
const HIGHEST: [usize; 2] = [Row::SUMS + 3, Row::SUMS + 4];

/// Sums of what is beyond.
#[derive(Default)]
pub struct Residues {
    /// Of each number, by path; empty if no path has any.
    columns: [Vec<i128>; NUMBERS],
    /// Whether any frame has a path.
    met: Vec<bool>,
    /// The last frame in which a path was above another.
    above: Vec<u32>,
    frames: u32,
    /// What the paths below each have, when all frames were added.
    below: Below,
}

impl Residues {
    /// Adds a frame's paths, as bytes have them. Whether they are in: of a path whose callers are not there nothing follows for
    /// those, and so not of sums either.
    pub fn add(&mut self, bytes: &[u8], among: Among, entries: &Entries) -> Result<bool, Damaged> {
        let is_whole = self.pass(bytes, among, entries, |number| number)?;
        if !is_whole {
            self.pass(bytes, among, entries, i128::wrapping_neg)?;
        }
        Ok(is_whole)
    }

    /// Adds the numbers, or what `of` makes of them. Whether each path's caller is there.
    fn pass(
        &mut self,
        bytes: &[u8],
        among: Among,
        entries: &Entries,
        of: impl Fn(i128) -> i128,
    ) -> Result<bool, Damaged> {
        let paths = entries.paths().len();
        grow(&mut self.met, paths);
        grow(&mut self.above, paths);
        self.frames += 1;
        let mut missing = 0u32;
        codec::each(bytes, paths as u32, |path, _, mask, rest| {
            self.met[path as usize] = true;
            // Callers have lower numbers, so they come later.
            missing -= u32::from(self.above[path as usize] == self.frames);
            if let Some(above) = entries.parent(path) {
                let above = &mut self.above[above as usize];
                missing += u32::from(*above != self.frames);
                *above = self.frames;
            }
            let mut bits = mask;
            while bits != 0 {
                let at = ORDER[bits.trailing_zeros() as usize];
                bits &= bits - 1;
                let number = get_signed(rest).ok_or(Damaged)?;
                match at {
                    ..OPEN => self.add_number(path, at, of(number)),
                    _ => self.add_open(path, at, number, among, &of),
                }
            }
            Ok(())
        })?;
        Ok(missing == 0)
    }

    #[inline]
    fn add_number(&mut self, path: PathId, at: usize, number: i128) {
        let column = &mut self.columns[at];
        if column.len() <= path as usize {
            grow(column, self.met.len());
        }
        let sum = &mut column[path as usize];
        *sum = sum.wrapping_add(number);
    }

    /// A number of calls that have not returned: it follows from nothing, but others follow from it whether it counts or not.
    #[cold]
    fn add_open(&mut self, path: PathId, at: usize, number: i128, among: Among, of: impl Fn(i128) -> i128) {
        let mut numbers: Numbers = [0; NUMBERS];
        numbers[at] = number;
        let counted = among.counted(&numbers)[at];
        if at == OPEN {
            ENDED.into_iter().for_each(|ended| self.add_number(path, ended, of(counted.wrapping_sub(number))));
        }
        self.add_number(path, at, 0);
        let sum = &mut self.columns[at][path as usize];
        *sum = if HIGHEST.contains(&at) { counted.max(*sum) } else { sum.wrapping_add(of(counted)) };
    }

    /// All frames were added: finds what the paths below each have.
    pub fn end(&mut self, entries: &Entries) {
        self.above = Vec::new();
        for path in (0..self.met.len() as PathId).rev() {
            if let Some(numbers) = self.numbers(path) {
                self.below.add(entries.parent(path), &numbers);
            }
        }
    }

    /// How far there are paths.
    pub fn len(&self) -> usize {
        self.met.len()
    }

    /// Whether any frame has a path.
    pub fn has(&self, path: PathId) -> bool {
        self.met.get(path as usize) == Some(&true)
    }

    /// All numbers of a path, if any frame has it. They are found anew each time: that takes less than to keep them.
    pub fn numbers(&self, path: PathId) -> Option<Numbers> {
        self.has(path).then(|| {
            let mut beyond: Numbers = [0; NUMBERS];
            for (beyond, column) in beyond.iter_mut().zip(&self.columns) {
                if let Some(number) = column.get(path as usize) {
                    *beyond = *number;
                }
            }
            codec::whole(&beyond, &self.below.of(path))
        })
    }
}

/// Makes a list as long as this. Of a new one the kernel has the zeros, where nobody looks.
fn grow<T: Clone + Default>(list: &mut Vec<T>, len: usize) {
    match list.is_empty() {
        true => *list = vec![T::default(); len],
        false if list.len() < len => list.resize(len, T::default()),
        false => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use diytrace_profile::merge::Key;
    use diytrace_profile::time::Time;
    use proptest::prelude::*;

    use super::*;
    use crate::dictionary::Path;

    const PATHS: u32 = 24;

    fn entries() -> Entries {
        let mut entries = Entries::default();
        entries.push_place((None, 0));
        for path in 0..PATHS {
            let parent = path.checked_sub(1).map(|above| above / 2);
            let key = Key { parent, function: 0, site: 0, hook: 0, flags: 0, folded_into: None };
            assert!(entries.push_path(Path { key, target: None }));
        }
        entries
    }

    fn row() -> impl Strategy<Value = Row> {
        (any::<[u16; Row::SUMS]>(), any::<[u8; 3]>(), 0..5i128, any::<bool>()).prop_map(
            |(sums, open, bound, is_between)| {
                let [open, since, so_far] = open.map(i128::from);
                Row::of(&sums.map(i128::from), &[open % 3, since % 3, so_far, bound, is_between.into()]).unwrap()
            },
        )
    }

    /// Of any paths, or with all above them.
    fn rows() -> impl Strategy<Value = Vec<(PathId, Row)>> {
        (prop::collection::btree_map(0..PATHS, row(), 0..16), any::<bool>()).prop_map(|(mut rows, with_callers)| {
            for path in (1..PATHS).rev().filter(|_| with_callers) {
                if rows.contains_key(&path) {
                    rows.entry((path - 1) / 2).or_default();
                }
            }
            rows.into_iter().collect()
        })
    }

    proptest! {
        #[test]
        fn sums_are_those_of_all_numbers_of_each_frame(
            frames in prop::collection::vec((rows(), any::<[bool; 3]>()), 0..6),
        ) {
            let entries = entries();
            let mut residues = Residues::default();
            let mut sums: BTreeMap<PathId, Numbers> = BTreeMap::new();
            for (rows, [is_first, is_last, has_begun]) in frames {
                let among = Among { is_first, is_last, longest: has_begun.then_some(Time::from_units(1000)) };
                let bytes = codec::encode(&rows, |path| entries.parent(path));
                let has = |path| rows.iter().any(|(other, _)| *other == path);
                let is_whole = rows.iter().all(|(path, _)| entries.parent(*path).is_none_or(has));
                prop_assert_eq!(residues.add(&bytes, among, &entries).unwrap(), is_whole);
                for (path, row) in rows {
                    // Of those that it does not take it remembers that there are such paths, and the highest numbers.
                    let numbers = among.counted(&codec::numbers(&row));
                    let mut taken = if is_whole { numbers } else { [0; NUMBERS] };
                    HIGHEST.into_iter().for_each(|at| taken[at] = numbers[at]);
                    codec::add(sums.entry(path).or_insert([0; NUMBERS]), &taken);
                }
            }
            residues.end(&entries);
            let numbers = |path: PathId| Some((path, residues.numbers(path)?));
            let whole: BTreeMap<PathId, Numbers> = (0..PATHS).filter_map(numbers).collect();
            prop_assert_eq!(whole, sums);
        }
    }
}
