//! What the numbers of paths have beyond what follows from others, where a database adds them up.
//!
//! As in [`crate::codec`] most follow: inclusive time is self time and that of callees, and the hook pairs in a time follow from the
//! calls. Here nothing follows but what adds up: what paths have beyond it, summed over frames, is what their sums have beyond it. So
//! two or three columns of thirty have numbers, the others nothing but zeros.

use crate::codec::{Below, Numbers, Sums, of_callees};

/// In which order sums follow from others; those that follow from nothing come first.
const ORDER: [usize; 26] =
    [0, 5, 7, 11, 15, 16, 17, 2, 3, 4, 22, 23, 24, 25, 1, 6, 8, 9, 10, 12, 13, 14, 18, 19, 20, 21];

/// Leaves of numbers what they have beyond what follows. `rows` are in the order of their paths; a path's parent has a lower
/// number, and comes with it.
pub fn beyond(rows: &mut [(u32, Numbers)], parent: impl Fn(u32) -> Option<u32>, below: &mut Below) {
    below.clear();
    for (path, numbers) in rows.iter_mut().rev() {
        let all = *numbers;
        let sums = below.of(*path);
        for at in ORDER {
            numbers[at] = all[at].wrapping_sub(follows(at, &all, &sums));
        }
        below.add(parent(*path), &all);
    }
}

/// The numbers of paths from what they have beyond what follows: the other way round.
pub fn whole(rows: &mut [(u32, Numbers)], parent: impl Fn(u32) -> Option<u32>) {
    let mut below = Below::default();
    for (path, numbers) in rows.iter_mut().rev() {
        let sums = below.of(*path);
        for at in ORDER {
            numbers[at] = numbers[at].wrapping_add(follows(at, numbers, &sums));
        }
        below.add(parent(*path), numbers);
    }
}

/// Adds to rows the paths above theirs that are not among them, and puts them in order.
pub fn with_parents(rows: &mut Vec<(u32, Numbers)>, parent: impl Fn(u32) -> Option<u32>) {
    let paths = rows.iter().map(|(path, _)| *path as usize + 1).max().unwrap_or(0);
    let mut is_there = vec![false; paths];
    rows.iter().for_each(|(path, _)| is_there[*path as usize] = true);
    for at in 0..rows.len() {
        // Those above have lower numbers.
        let mut above = parent(rows[at].0);
        while let Some(path) = above.filter(|path| !std::mem::replace(&mut is_there[*path as usize], true)) {
            rows.push((path, [0; _]));
            above = parent(path);
        }
    }
    if !rows.is_sorted_by_key(|(path, _)| *path) {
        rows.sort_by_cached_key(|(path, _)| *path); // they are large: each is moved once
    }
}

/// What a sum is if nothing is unusual, from those that come before it in [`ORDER`], and of the paths below.
#[inline(always)]
fn follows(at: usize, known: &Numbers, below: &Sums) -> i128 {
    let [_, inclusive, nested, ..] = *below;
    match at {
        // Closed calls: all.
        1 => known[0],
        // Inclusive time: own, and all of callees, but for what is inside recursion.
        6 => known[5].wrapping_add(inclusive).wrapping_add(nested).wrapping_sub(known[7]),
        // In own time, the inner part of a hook pair for each call that has ended.
        9 => known[1],
        20 => known[14],
        _ => of_callees(at, known, below),
    }
}

#[cfg(test)]
mod tests {
    use diytrace_profile::merge::Row;
    use proptest::prelude::*;

    use super::*;

    fn parent(path: u32) -> Option<u32> {
        path.checked_sub(1).map(|above| above / 2)
    }

    fn any_rows() -> impl Strategy<Value = Vec<(u32, Numbers)>> {
        prop::collection::btree_map(0u32..30, any::<[i32; Row::SUMS]>(), 0..20).prop_map(|rows| {
            let numbers = |sums: &[i32; Row::SUMS]| {
                let mut numbers = [0; crate::codec::NUMBERS];
                numbers.iter_mut().zip(sums).for_each(|(number, sum)| *number = i128::from(*sum));
                numbers
            };
            let mut rows = rows.iter().map(|(path, sums)| (*path, numbers(sums))).collect();
            with_parents(&mut rows, parent);
            rows
        })
    }

    #[test]
    fn each_sum_comes_after_what_it_follows_from() {
        let mut all = ORDER;
        all.sort_unstable();
        assert!(all.into_iter().eq(0..Row::SUMS));
    }

    proptest! {
        #[test]
        fn what_is_beyond_adds_up(one in any_rows(), other in any_rows()) {
            let mut sums: std::collections::BTreeMap<u32, [Numbers; 2]> = Default::default();
            for mut rows in [one, other] {
                let whole = rows.clone();
                beyond(&mut rows, parent, &mut Below::default());
                for ((path, beyond), (_, whole)) in rows.iter().zip(&whole) {
                    let [sum, of_whole] = sums.entry(*path).or_insert([[0; _]; 2]);
                    sum.iter_mut().zip(beyond).for_each(|(sum, more)| *sum += more);
                    of_whole.iter_mut().zip(whole).for_each(|(sum, more)| *sum += more);
                }
            }
            let mut read: Vec<(u32, Numbers)> = sums.iter().map(|(path, [sum, _])| (*path, *sum)).collect();
            whole(&mut read, parent);
            prop_assert!(read.iter().map(|(_, numbers)| numbers).eq(sums.values().map(|[_, whole]| whole)));
        }
    }
}
