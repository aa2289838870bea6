//! Calls that go on longer than what they were called by: those on a coroutine's stack.

use std::ops::Range;

use crate::merge::{PathId, Tree};
use crate::time::Time;

/// Whether what lies directly below a path went on longer than it, so that some was on a coroutine's stack: by calls that were timed
/// themselves, as others are estimates.
#[inline]
pub fn outlasts(tree: &Tree, path: PathId) -> bool {
    let paths = &tree.paths;
    let (own, inclusive, _) = paths.times(path);
    let slack = slack(inclusive[0]);
    if own + slack >= Time::ZERO || paths.is_between(path) {
        return false; // nearly always
    }
    tree.children(path).map(|child| timed(tree, child, paths.times(child).1[0])).sum::<Time>() > inclusive[0] + slack
}

/// The same of a folded recursion, in which calls go on longer than the outermost of them.
pub fn recursion_outlasts(tree: &Tree, recursion: Range<usize>) -> bool {
    let paths = &tree.paths;
    let room = paths.times(recursion.start as PathId).1[0];
    let ids = recursion.map(|id| id as PathId).filter(|&id| !paths.is_untimed(id));
    !ids.clone().any(|id| paths.is_between(id))
        && ids.map(|id| timed(tree, id, paths.times(id).0.at_least_zero())).sum::<Time>() > room + slack(room)
}

/// What of a path's time is of calls that were timed themselves.
fn timed(tree: &Tree, path: PathId, time: Time) -> Time {
    let calls = tree.paths.calls(path);
    let timed = calls.saturating_sub(tree.paths.unbinned(path));
    Time::from_ns(time.ns() * timed as f64 / calls.max(1) as f64)
}

/// What times may differ by without any coroutine: a call that is open as a calibration window ends has begun somewhere in that, and those
/// that were left are closed by whoever finds them.
fn slack(time: Time) -> Time {
    const LONGEST_WINDOW_NS: f64 = 30e6;
    Time::from_ns(LONGEST_WINDOW_NS + time.ns() / 16.0)
}
