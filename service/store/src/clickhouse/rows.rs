//! The numbers of a frame's paths as the table of paths has them, those that are 0 left out.

use diytrace_profile::merge::Row;

use super::native::Block;
use super::schema::NUMBERS;
use crate::beyond::{beyond, with_parents};
use crate::codec::{self, Below};
use crate::id::mix;

/// A number that is larger than a column can have: its path, its column, and what it is.
pub type Large = (u64, u8, i128);

/// The rows of a frame.
#[derive(Default)]
pub struct Rows {
    /// The paths' numbers in the store.
    paths: Vec<u64>,
    /// Of each path a bit for each column in which it has one of `values`.
    columns: Vec<u32>,
    values: Vec<i64>,
    pub large: Vec<Large>,
    /// The largest of `values`, without its sign.
    pub largest: u64,
    /// The bytes that all this takes if nothing is known of its neighbours.
    pub bytes: u64,
}

impl Rows {
    /// Of paths in order, whose numbers in the store are these, and who is above whom.
    pub fn of(rows: &[(u32, Row)], ids: &[u64], parent: impl Fn(u32) -> Option<u32>) -> Self {
        let mut rows: Vec<(u32, codec::Numbers)> =
            rows.iter().map(|(path, row)| (*path, codec::numbers(row))).collect();
        with_parents(&mut rows, &parent);
        beyond(&mut rows, &parent, &mut Below::default());
        let mut all = Self::default();
        all.paths.reserve(rows.len());
        all.columns.reserve(rows.len());
        all.values.reserve(2 * rows.len()); // calls and self time, mostly
        for (path, numbers) in &rows {
            let mut columns = 0;
            for (at, number) in numbers.iter().enumerate().filter(|(_, number)| **number != 0) {
                match i64::try_from(*number) {
                    Ok(value) => {
                        columns |= 1 << at;
                        all.values.push(value);
                        all.largest = all.largest.max(value.unsigned_abs());
                        all.bytes += u64::from((71 - value.unsigned_abs().leading_zeros()) / 7);
                    }
                    Err(_) => all.large.push((ids[*path as usize], at as u8, *number)),
                }
            }
            all.paths.push(ids[*path as usize]);
            all.columns.push(columns);
            all.bytes += 2;
        }
        all
    }

    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// A bit for each column that is used.
    pub fn columns(&self) -> u32 {
        self.columns.iter().fold(0, |all, columns| all | columns)
    }

    /// What tells them from others, in whatever order they are.
    pub fn digest(&self) -> u64 {
        let mut values = self.values.iter();
        let rows = self.paths.iter().zip(&self.columns).map(|(path, columns)| {
            let values = values.by_ref().take(columns.count_ones() as usize);
            values.fold(mix(*path, u64::from(*columns)), |sum, value| mix(sum, *value as u64))
        });
        rows.fold(0, u64::wrapping_add)
    }
}

/// Rows of many frames on their way into the table, column by column.
#[derive(Default)]
pub struct Gathered {
    series: Vec<u64>,
    ended: Vec<i64>,
    frame: Vec<u64>,
    path: Vec<u64>,
    /// Those of nothing but zeros are empty, others may be too short.
    numbers: [Vec<i64>; NUMBERS.len()],
}

impl Gathered {
    pub fn len(&self) -> usize {
        self.path.len()
    }

    /// Adds those of a frame.
    pub fn add(&mut self, series: u64, ended: i64, frame: u64, rows: &Rows) {
        let before = self.len();
        let all = before + rows.len();
        self.path.extend(&rows.paths);
        self.series.resize(all, series);
        self.ended.resize(all, ended);
        self.frame.resize(all, frame);
        let mut values = rows.values.iter();
        for (at, columns) in (before..).zip(&rows.columns) {
            let mut columns = *columns;
            while columns != 0 {
                let column = &mut self.numbers[columns.trailing_zeros() as usize];
                column.resize(at, 0);
                column.extend(values.next());
                columns &= columns - 1;
            }
        }
    }

    /// All of them, and nothing is left here.
    pub fn take(&mut self) -> Block {
        let rows = self.len();
        let columns = 4 + self.numbers.iter().filter(|numbers| !numbers.is_empty()).count();
        let mut block = Block::of(columns, rows);
        block.u64("series", &self.series);
        block.i64("ended", &self.ended);
        block.u64("frame", &self.frame);
        block.u64("path", &self.path);
        for (name, numbers) in NUMBERS.iter().zip(&mut self.numbers).filter(|(_, numbers)| !numbers.is_empty()) {
            numbers.resize(rows, 0);
            block.i64(name, numbers);
            numbers.clear();
        }
        [&mut self.series, &mut self.frame, &mut self.path].into_iter().for_each(Vec::clear);
        self.ended.clear();
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_left_out_and_put_back() {
        let row = |calls: i128, own: i128| {
            let mut sums = [0; Row::SUMS];
            (sums[0], sums[1], sums[5], sums[6], sums[8]) = (calls, calls, own, own, own);
            (sums[9], sums[12], sums[18], sums[21]) = (calls, calls, calls, calls);
            Row::of(&sums, &[0; Row::OPEN]).unwrap()
        };
        let rows = Rows::of(&[(0, row(0, 0)), (1, row(3, 700)), (2, row(5, 1 << 80))], &[10, 11, 12], |_| None);
        assert_eq!((rows.len(), rows.columns(), rows.largest), (3, 0b10_0001, 700));
        assert_eq!(rows.large, [(12, 5, 1 << 80)]);
        let mut gathered = Gathered::default();
        gathered.add(1, 2, 3, &rows);
        assert_eq!((&gathered.numbers[0][..], &gathered.numbers[5][..]), (&[0, 3, 5][..], &[0, 700][..]));
        assert_eq!(gathered.take().names(), "series, ended, frame, path, calls, own");
        assert_eq!(gathered.len(), 0);
        let other = Rows::of(&[(0, row(0, 0)), (1, row(700, 3))], &[10, 11], |_| None);
        assert_ne!(rows.digest(), other.digest());
    }
}
