//! The sums of a frame's paths as bytes: few, as most follow from others.
//!
//! A leaf's inclusive time is its self time, and a caller's that and its callees'; the hook pairs in a time follow from the calls.
//! So of each number only what it has beyond such an expectation is written, and which numbers have any.
//!
//! | bytes | what |
//! |---|---|
//! | varint | how many paths |
//! | for each, the last first: varint | the first one's number, then how many are left out down to the next |
//! | varint | a bit for each number of it that is not as expected, in the order of [`ORDER`] |
//! | for each of those: varint | by how much it is more, signs in the lowest bit |

use std::cell::RefCell;
use std::ops::Range;

use diytrace_profile::merge::Row;
use diytrace_profile::varint::{get, get_signed, put, put_signed};

/// Numbers of a path: what there is of open calls, then the sums.
pub const NUMBERS: usize = Row::OPEN + Row::SUMS;

/// In which order they are written: the usual ones first, so that the bits for them take a byte or two. A number is expected from
/// those before it, and from the paths below.
pub const ORDER: [usize; NUMBERS] = {
    const OPEN: usize = Row::SUMS;
    [
        0,
        6,
        7,
        5,
        15,
        16,
        3, // calls, inclusive time, of it inside recursion, own, pairs inside recursion, in no histogram
        OPEN,
        OPEN + 2,
        OPEN + 3,
        2,
        1, // open calls, left ones, closed ones
        9,
        10,
        11,
        12,
        13,
        14,
        8,
        17,
        18,
        19,
        20,
        21,
        4,
        OPEN + 1,
        OPEN + 4,
        22,
        23,
        24,
        25, // off the processor
    ]
};

/// Why bytes are no paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

/// Writes the rows of paths. `rows` are in the order of their paths; a path's parent has a lower number.
pub fn encode(rows: &[(u32, Row)], parent: impl Fn(u32) -> Option<u32>) -> Vec<u8> {
    encode_by(rows.iter().map(|(path, row)| (*path, row)), parent)
}

/// The same of rows that lie elsewhere.
pub fn encode_by<'a>(
    rows: impl DoubleEndedIterator<Item = (u32, &'a Row)> + ExactSizeIterator,
    parent: impl Fn(u32) -> Option<u32>,
) -> Vec<u8> {
    let mut rows = rows.rev().peekable();
    let most = rows.peek().map_or(0, |(path, _)| *path);
    with_below(most, |below| encode_all(rows, parent, below))
}

fn encode_all<'a>(
    rows: impl ExactSizeIterator<Item = (u32, &'a Row)>,
    parent: impl Fn(u32) -> Option<u32>,
    below: &mut Below,
) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(rows.len() * 10);
    put(&mut bytes, rows.len() as u128);
    below.clear();
    let mut before: Option<u32> = None;
    let mut rest = Vec::with_capacity(NUMBERS);
    for (path, row) in rows {
        put(&mut bytes, before.map_or(path, |before| before - path - 1).into());
        before = Some(path);
        let numbers = numbers(row);
        let mut written = [0; NUMBERS];
        let expectation = below.of(path);
        let mut mask = 0u128;
        for (bit, &at) in ORDER.iter().enumerate() {
            written[at] = numbers[at].wrapping_sub(expected(at, &written, &expectation));
            if written[at] != 0 {
                mask |= 1 << bit;
                rest.push(written[at]);
            }
            written[at] = numbers[at];
        }
        put(&mut bytes, mask);
        rest.drain(..).for_each(|number| put_signed(&mut bytes, number));
        below.add(parent(path), &numbers);
    }
    bytes
}

/// The numbers of a path: they add up, see [`add`].
pub type Numbers = [i128; NUMBERS];

/// Adds the numbers of the same path elsewhere.
pub fn add(sums: &mut Numbers, others: &Numbers) {
    const BOUND: usize = Row::SUMS + 3;
    const IS_BETWEEN: usize = Row::SUMS + 4;
    let latest = [BOUND, IS_BETWEEN].map(|at| sums[at].max(others[at]));
    sums.iter_mut().zip(others).for_each(|(sum, other)| *sum = sum.saturating_add(*other));
    [sums[BOUND], sums[IS_BETWEEN]] = latest;
}

/// The row that numbers are. `None` if they cannot be.
pub fn row(numbers: &Numbers) -> Option<Row> {
    let (sums, open) = numbers.split_at(Row::SUMS);
    Row::of(sums.try_into().ok()?, open.try_into().ok()?)
}

/// Reads the numbers of paths and hands them over, the last path first. `below`: for one frame after the other.
pub fn decode(
    bytes: &[u8],
    parent: impl Fn(u32) -> Option<u32>,
    paths: u32,
    below: &mut Below,
    mut take: impl FnMut(u32, &Numbers),
) -> Result<(), Damaged> {
    look_through(bytes, parent, paths, below, |path, numbers, _| take(path, numbers))
}

/// The same bytes, of paths with other numbers: `paths` are those, the last first, and where each lies. What is written of a path
/// depends on those below it alone, whatever their numbers.
pub fn renumbered(bytes: &[u8], paths: &[(u32, Range<usize>)]) -> Option<Vec<u8>> {
    let mut renumbered = Vec::with_capacity(bytes.len() + paths.len());
    put(&mut renumbered, paths.len() as u128);
    let mut before: Option<u32> = None;
    for (path, range) in paths {
        put(&mut renumbered, before.map_or(Some(*path), |before| before.checked_sub(path + 1))?.into());
        before = Some(*path);
        renumbered.extend(bytes.get(range.clone())?);
    }
    Some(renumbered)
}

/// Reads the numbers of paths, and where in the bytes what is written of each lies.
pub fn look_through(
    bytes: &[u8],
    parent: impl Fn(u32) -> Option<u32>,
    paths: u32,
    below: &mut Below,
    mut take: impl FnMut(u32, &Numbers, Range<usize>),
) -> Result<(), Damaged> {
    below.clear();
    each(bytes, paths, |path, start, mask, rest| {
        let expectation = below.of(path);
        let mut numbers = [0i128; NUMBERS];
        for (bit, &at) in ORDER.iter().enumerate() {
            let mut number = expected(at, &numbers, &expectation);
            if mask >> bit & 1 != 0 {
                number = number.wrapping_add(get_signed(rest).ok_or(Damaged)?);
            }
            numbers[at] = number;
        }
        take(path, &numbers, start..bytes.len() - rest.len());
        below.add(parent(path), &numbers);
        Ok(())
    })
}

/// Reads which paths there are, the last first, where in the bytes what is written of each begins, and which of its numbers are not as
/// expected: a bit for each in [`ORDER`]. `take` reads those.
#[inline(always)]
pub fn each(
    bytes: &[u8],
    paths: u32,
    mut take: impl FnMut(u32, usize, u64, &mut &[u8]) -> Result<(), Damaged>,
) -> Result<(), Damaged> {
    let mut rest = bytes;
    let rows = get(&mut rest).ok_or(Damaged)?;
    let mut before: Option<u32> = None;
    for _ in 0..rows {
        let gap = get(&mut rest).and_then(|gap| u32::try_from(gap).ok()).ok_or(Damaged)?;
        let path = match before {
            None => gap,
            Some(before) => before.checked_sub(gap).and_then(|path| path.checked_sub(1)).ok_or(Damaged)?,
        };
        before = Some(path);
        if path >= paths {
            return Err(Damaged);
        }
        let start = bytes.len() - rest.len();
        let mask = get(&mut rest).filter(|mask| mask >> NUMBERS == 0).ok_or(Damaged)?;
        take(path, start, mask as u64, &mut rest)?;
    }
    if rest.is_empty() { Ok(()) } else { Err(Damaged) }
}

/// The numbers of a row.
pub fn numbers(row: &Row) -> Numbers {
    let mut numbers = [0; NUMBERS];
    numbers[..Row::SUMS].copy_from_slice(&row.sums());
    numbers[Row::SUMS..].copy_from_slice(&row.open());
    numbers
}

/// All numbers of a path, from what they have beyond what is expected.
#[inline]
pub fn whole(beyond: &Numbers, below: &Sums) -> Numbers {
    let mut numbers = [0i128; NUMBERS];
    // One after the other, each by its own rule: in a loop the rule would be looked for each time.
    macro_rules! each {
        ($($bit:literal)*) => {
            $(numbers[ORDER[$bit]] = expected(ORDER[$bit], &numbers, below).wrapping_add(beyond[ORDER[$bit]]);)*
            const { assert!([$($bit),*].len() == NUMBERS) };
        };
    }
    each!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30);
    numbers
}

/// What a number is if nothing is unusual, from those that come before it in [`ORDER`].
#[inline(always)]
fn expected(at: usize, known: &Numbers, below: &Sums) -> i128 {
    let [_, inclusive, nested, ..] = *below;
    let ended = known[0].wrapping_sub(known[Row::SUMS]);
    match at {
        // Closed calls: those that are not open.
        1 => ended,
        // Own time: all inclusive time, without that of callees.
        5 => known[6].wrapping_add(known[7]).wrapping_sub(inclusive).wrapping_sub(nested),
        // In own time, the inner part of a hook pair for each call that has ended.
        9 => ended,
        _ => of_callees(at, known, below),
    }
}

/// What the other sums are if nothing is unusual, wherever they are kept: those of closed calls, and of what callees had.
#[inline(always)]
pub fn of_callees(at: usize, known: &Numbers, below: &Sums) -> i128 {
    let [calls, _, _, inner, outer, untimed, nested_inner, nested_outer] = *below;
    match at {
        // The time of closed calls: all of it.
        8 => known[6].wrapping_add(known[7]),
        // In own time, the outer part of a pair for each callee's call.
        10 => calls,
        // In inclusive time those of callees, too.
        12 => known[9].wrapping_add(inner).wrapping_add(nested_inner).wrapping_sub(known[15]),
        13 => known[10].wrapping_add(outer).wrapping_add(nested_outer).wrapping_sub(known[16]),
        14 => known[11].wrapping_add(untimed),
        18 => known[12].wrapping_add(known[15]),
        19 => known[13].wrapping_add(known[16]),
        21 => known[9],
        _ => 0,
    }
}

/// Of so many paths, what is made ready for the next frame is not worth its memory: 8 MB.
const MOST_READY: u32 = 1 << 16;

thread_local! {
    static READY: RefCell<Below> = RefCell::default();
}

/// Sums below paths of numbers up to this one, made ready: memory for them anew took a good part of the time of each small frame.
pub fn with_below<T>(most: u32, act: impl FnOnce(&mut Below) -> T) -> T {
    match most <= MOST_READY {
        true => READY.with_borrow_mut(act),
        false => act(&mut Below::default()),
    }
}

/// Sums over the paths below each of those that are still to come, by path.
#[derive(Default)]
pub struct Below {
    sums: Vec<Sums>,
    /// Paths that have some.
    touched: Vec<u32>,
}

/// Of numbers that those of the path above follow from: [`SUMMED`], in their order.
pub type Sums = [i128; SUMMED.len()];

/// Calls; inclusive time, and that inside recursion; the pairs in both.
const SUMMED: [usize; 8] = [0, 6, 7, 12, 13, 14, 15, 16];

impl Below {
    pub fn clear(&mut self) {
        for path in self.touched.drain(..) {
            self.sums[path as usize] = Sums::default();
        }
    }

    pub fn of(&self, path: u32) -> Sums {
        self.sums.get(path as usize).copied().unwrap_or_default()
    }

    pub fn add(&mut self, parent: Option<u32>, numbers: &Numbers) {
        let Some(parent) = parent else { return };
        if self.sums.len() <= parent as usize {
            self.sums.resize(parent as usize + 1, Sums::default());
        }
        self.touched.push(parent);
        for (sum, at) in self.sums[parent as usize].iter_mut().zip(SUMMED) {
            *sum = sum.wrapping_add(numbers[at]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A leaf below a caller, called and timed as calls usually are.
    fn usual() -> Vec<(u32, Row)> {
        let row = |calls: i128, own: i128, below: [i128; 2]| {
            let mut sums = [0; Row::SUMS];
            let inclusive = own + below[1];
            (sums[0], sums[1], sums[5], sums[6], sums[8]) = (calls, calls, own, inclusive, inclusive);
            (sums[9], sums[10], sums[12], sums[13]) = (calls, below[0], calls + below[0], below[0]);
            (sums[18], sums[19], sums[21]) = (sums[12], sums[13], calls);
            Row::of(&sums, &[0; Row::OPEN]).unwrap()
        };
        vec![(3, row(1, 5000, [100, 9000])), (7, row(100, 9000, [0, 0]))]
    }

    fn parent(path: u32) -> Option<u32> {
        (path == 7).then_some(3)
    }

    #[test]
    fn what_follows_from_other_numbers_takes_no_room() {
        let bytes = encode(&usual(), parent);
        // How many; of each its number, which bits, calls and time.
        assert_eq!(bytes.len(), 1 + (2 + 2 + 3) + (2 + 1 + 3), "{bytes:?}");
    }

    proptest! {
        #[test]
        fn any_rows_are_read_as_they_were_written(
            rows in prop::collection::btree_map(0u32..50, (any::<[i32; Row::SUMS]>(), any::<[u16; 4]>(), 0i128..5), 0..40),
        ) {
            let made = |(sums, open, bound): &([i32; Row::SUMS], [u16; 4], i128)| {
                let mut sums = sums.map(i128::from);
                sums[..5].iter_mut().for_each(|count| *count = count.abs());
                let [a, b, c, d] = open.map(i128::from);
                Row::of(&sums, &[a, b, c, *bound, d & 1]).unwrap()
            };
            let rows: Vec<(u32, Row)> = rows.iter().map(|(path, numbers)| (*path, made(numbers))).collect();
            let parent = |path: u32| path.checked_sub(1).map(|above| above / 2);
            let mut read = Vec::new();
            let take = |path, numbers: &Numbers| read.push((path, row(numbers).unwrap()));
            decode(&encode(&rows, parent), parent, 50, &mut Below::default(), take).unwrap();
            read.reverse();
            prop_assert_eq!(&read, &rows);
            // Of the same paths under other numbers, where each is still above those below it: as if they had been written so.
            let other = |path: u32| if path.is_multiple_of(2) { path * 3 } else { path * 3 + 100 };
            let is_above = |path: u32| parent(path).is_none_or(|above| other(above) < other(path));
            let rows: Vec<(u32, Row)> = rows.into_iter().filter(|(path, _)| is_above(*path)).collect();
            let parent = |path: u32| parent(path).filter(|_| is_above(path));
            let bytes = encode(&rows, parent);
            let mut lie = Vec::new();
            look_through(&bytes, parent, 50, &mut Below::default(), |path, _, range| lie.push((other(path), range))).unwrap();
            lie.sort_by_key(|(path, _)| std::cmp::Reverse(*path));
            let mut others: Vec<(u32, Row)> = rows.iter().map(|(path, row)| (other(*path), *row)).collect();
            others.sort_by_key(|(path, _)| *path);
            let back = |path: u32| (0..50).find(|old| other(*old) == path);
            let written = encode(&others, |path| back(path).and_then(parent).map(other));
            prop_assert_eq!(renumbered(&bytes, &lie).unwrap(), written);
        }

        #[test]
        fn damage_is_told(bytes in prop::collection::vec(any::<u8>(), 0..200), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let mut below = Below::default();
            let _ = decode(&bytes, parent, 50, &mut below, |path, _| assert!(path < 50));
            let mut bytes = encode(&usual(), parent);
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let _ = decode(&bytes, parent, 50, &mut below, |path, _| assert!(path < 50));
            prop_assert_eq!(decode(&bytes[..at], parent, 50, &mut below, |_, _| ()), Err(Damaged));
        }
    }
}
