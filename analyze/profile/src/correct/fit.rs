//! Makes times fit into that of the path above, where what was taken off for hooks leaves them too long.

use std::ops::Range;

use super::floors::Floors;
use super::folds::Folds;
use super::path_times::{PathTimes, TimesList};
use crate::merge::{PathId, Tree};
use crate::time::Time;

/// Gives a path another own time, which fits to others: it may belong there instead.
pub fn set_own(times: &mut PathTimes, own: Time) {
    times.own_error += (own - times.own).max(times.own - own);
    times.own = own;
}

/// Fits the paths directly below one into its time, which is final, and gives it what they leave.
pub fn fit_below(children: &[usize], id: usize, floors: &Floors, times: &mut TimesList) {
    let room = times.inclusive(id);
    if children.is_empty() {
        return times.change(id, |times| set_own(times, room));
    }
    shrink(times, children, room - floors.own(id), |child| floors.all(child));
    let taken: Time = children.iter().map(|&child| times.inclusive(child)).sum();
    times.change(id, |times| set_own(times, room - taken));
}

/// Has times give way by an excess: those first that are uncertain, and none by more than it can. `most` is by how much each can, and how
/// uncertain it is. What is left over.
fn give_way(
    times: &mut TimesList,
    ids: impl Iterator<Item = usize> + Clone,
    mut excess: Time,
    most: impl Fn(usize, &PathTimes) -> [Time; 2],
    cut: impl Fn(&mut PathTimes, Time),
) -> Time {
    for at_most_the_error in [true, false] {
        if excess <= Time::ZERO {
            break;
        }
        let most = |id: usize, times: &TimesList| {
            let [most, error] = most(id, &times.get(id));
            if at_most_the_error { most.min(error) } else { most }
        };
        let all: Time = ids.clone().map(|id| most(id, times)).sum();
        let to_cut = excess.min(all);
        for id in ids.clone() {
            let most = most(id, times);
            // Rounded up, so that nothing is left over.
            let part = if to_cut == all { most } else { (most - most.share(all - to_cut, all)).min(excess) };
            times.change(id, |times| cut(times, part));
            excess = excess - part;
        }
    }
    excess
}

/// Makes times fit into a room, none shorter than it is known to be; what is cut off is uncertain.
fn shrink(times: &mut TimesList, ids: &[usize], room: Time, least: impl Fn(usize) -> Time) {
    let sum: Time = ids.iter().map(|&id| times.inclusive(id)).sum();
    let most = |id: usize, times: &PathTimes| [(times.inclusive - least(id)).at_least_zero(), times.error];
    let mut excess = give_way(times, ids.iter().copied(), (sum - room).at_least_zero(), most, PathTimes::cut);
    // Shares are rounded, and a share of very much may be too much by the smallest part.
    for &id in ids {
        if excess <= Time::ZERO {
            break;
        }
        let cut = excess.min(times.inclusive(id));
        times.change(id, |times| times.cut(cut));
        excess = excess - cut;
    }
}

/// Fits the own times in a folded recursion, and below it, into the inclusive time of its outermost calls.
pub fn fit_own(recursion: Range<usize>, floors: &Floors, times: &mut TimesList) {
    let head = recursion.start;
    let room = times.inclusive(head);
    let own = |times: &TimesList| recursion.clone().map(|id| times.get(id).own).sum::<Time>();
    let most = |id: usize, times: &PathTimes| [(times.own - floors.own(id)).at_least_zero(), times.own_error];
    let excess = own(times) - room;
    give_way(times, recursion.clone(), excess, most, |times, cut| set_own(times, times.own - cut));
    let left = room - own(times);
    times.change(head, |times| set_own(times, times.own + left));
}

/// Fits what was measured inside folded recursions into the time that there is. Calls between a head and the recursive call lie inside
/// each other, level by level, and add up to more than any time: they have no room of their own. All others below the head lie beside each
/// other, whatever level they are called on, and take what they and those below do by themselves, which was fitted to the head's time.
pub fn fit_inside(tree: &Tree, folds: &Folds, recursion: Range<usize>, times: &mut TimesList) {
    let head = recursion.start;
    let mut own: Vec<Time> = recursion.clone().map(|id| times.get(id).own).collect();
    for id in recursion.clone().skip(1).rev() {
        if let Some(above) = tree.paths.parent(id as PathId) {
            let below = own[id - head];
            own[above as usize - head] += below;
        }
    }
    let mut children: Vec<usize> = Vec::new();
    // Every path comes after the one above it, whose time is final by then.
    for id in recursion {
        children.clear();
        children.extend(tree.children(id as PathId).map(|child| child as usize));
        shrink(times, &children, times.inclusive(id), |_| Time::ZERO);
        for child in children.iter().copied().filter(|&child| !folds.is_on_cycle[child]) {
            times.change(child, |times| times.set_sum(own[child - head]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of thousands of coroutines, whose times add up to hours, a self time of less than nothing was left.
    #[test]
    fn what_is_cut_off_is_all_that_is_too_much() {
        let units = |units: i128| Time::from_units(units);
        for whole in (0..1000).map(|n| (1 << 54) + n * 7_919_563_741_231) {
            let mut times = TimesList::of(1);
            times.set_first(0, &PathTimes { inclusive: units(whole), error: units(whole), ..PathTimes::default() });
            shrink(&mut times, &[0], units(whole - 1), |_| Time::ZERO);
            assert_eq!(times.inclusive(0), units(whole - 1));
        }
    }
}
