//! The times of call paths without what measuring them cost; no path ever takes longer than the one above it.
//!
//! A path's inclusive time is what was measured less the hooks' cost, and its own time is what that leaves beside the paths
//! below it. The cost is an average: where hooks cost less than that, the paths below may seem to take more than there is.
//! Then they are cut down to fit, those first whose times are the least certain; so the sum of all own times is what the
//! outermost calls took, whose cost averages out best. Nothing is cut below what it takes at least (`floors.rs`), nor does what is above it
//! take less.
//! Where recursion was folded (deep recursion is, past a limit) calls on one path lie inside each other: there own times are measured
//! less cost, none below nothing, and add up to the inclusive time of the outermost of them, which all are fitted to.
//!
//! A coroutine's outermost call lies below whatever resumed it first, and goes on longer: as it was measured, longer than anything inside
//! that could. Such calls keep their time, and what is above them has it, too.

mod fit;
mod floors;
mod folds;
mod measured;
mod outlasting;
mod path_times;

use crate::cores::WORTH_ANOTHER_CORE;
use crate::merge::{Group, PathId, Tree};
use crate::time::Time;
use fit::{fit_below, fit_inside, fit_own, set_own};
use floors::{Floor, Floors};
use folds::Folds;
pub use measured::Measured;
use outlasting::{outlasts, recursion_outlasts};
pub use path_times::{PathTimes, TimesList};

/// Times of a tree's paths, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Corrected.
    pub corrected: TimesList,
    /// As measured.
    pub raw: TimesList,
    /// Whether a path leads to a recursion that is folded into one above it: its function is open while that goes on.
    pub is_on_cycle: Vec<bool>,
}

/// Corrects the times of a group's paths.
pub fn correct(group: &Group) -> Times {
    let tree = &group.tree;
    let folds = Folds::of(tree);
    // What was measured fits as it is, and its sums are those of all parts. But between two
    // readings a call may seem to take less than what it calls: while it is open, the profile does not tell what part of its
    // time was the recorder's own work, which is off it once it has ended.
    let paths = &tree.paths;
    let is_short = |id: PathId| paths.is_between(id) && !paths.is_untimed(id) && paths.times(id).0 < Time::ZERO;
    let is_scaled = (0..paths.len() as PathId).any(is_short);
    let corrected = || times(tree, &folds, true, |path| Measured::of(tree, path).without_hooks(&group.parts, path));
    let raw = || times(tree, &folds, is_scaled, |path| Measured::of(tree, path));
    let (corrected, raw) = match tree.paths.len() < WORTH_ANOTHER_CORE {
        true => (corrected(), raw()),
        false => rayon::join(corrected, raw),
    };
    Times { corrected, raw, is_on_cycle: folds.is_on_cycle }
}

/// Times of all paths, from what was measured. `is_estimate`: it may not fit into the time of the path above.
fn times(tree: &Tree, folds: &Folds, is_estimate: bool, measured: impl Fn(PathId) -> Measured) -> TimesList {
    let mut times = TimesList::of(tree.paths.len());
    // What those directly below each path take, if they are to be fitted to it.
    let mut all_below = vec![i64::MAX; if is_estimate { tree.paths.len() } else { 0 }];
    // Every path comes directly before those below it: in reverse, all below a path are done before it, and their sums are
    // the last that were begun.
    let mut sums: Vec<(PathId, Below)> = Vec::new();
    // Paths that stand for calls of their function wherever there was no room for them, the first one last: their time is in that of
    // who called them.
    let mut apart: Vec<usize> = Vec::new();
    // Those below which something went on longer than they did: they are added up, and nothing is fitted to them.
    let mut outlasted: Vec<usize> = Vec::new();
    let mut floors = Floors::new(tree.paths.len());
    let paths = &tree.paths;
    for id in (0..paths.len()).rev() {
        let path = id as PathId;
        let below = sums.pop_if(|(of, _)| *of == path).map_or_else(Below::default, |(_, below)| below);
        if paths.is_untimed(path) {
            continue;
        }
        if let Some(all_below) = all_below.get_mut(id) {
            *all_below = i64::try_from(below.inclusive.units()).unwrap_or(i64::MAX);
        }
        let Measured {
            own: self_measured,
            inclusive: inclusive_measured,
            closed,
            least,
            least_own,
            error,
            own_error,
            ..
        } = measured(path);
        let is_elsewhere = paths.folded_into(path).is_some(); // it is counted at the path that it is folded into
        let is_apart = !folds.is_inside[id] && !folds.is_head[id] && inclusive_measured[1] > Time::ZERO;
        // Of calls that lie inside each other own times are fitted; between two readings a call may seem to take less than what it calls.
        let least = match folds.is_inside[id] || folds.is_head[id] {
            _ if paths.is_between(path) => [Time::ZERO; 2],
            true => [Time::ZERO, least_own],
            false => [least, Time::ZERO],
        };
        let floor = match is_elsewhere || paths.is_edge(path) {
            true => Floor { own: Time::ZERO, all: below.least },
            false if is_apart => Floor::default(),
            false => floors.note(tree, path, least, below.least),
        };
        if is_apart {
            apart.push(id);
            floors.forget(path..paths.end(path));
        }
        let own = if is_elsewhere { Time::ZERO } else { self_measured.max(floor.own) };
        let all_own = own + below.own;
        let goes_on_below = || match folds.is_head[id] {
            true => recursion_outlasts(tree, id..paths.end(path) as usize),
            false => outlasts(tree, path),
        };
        let is_outlasted = !folds.is_inside[id] && (below.is_outlasted || goes_on_below());
        if is_outlasted {
            outlasted.push(id);
        }
        let inclusive = match folds.is_inside[id] {
            true => inclusive_measured[0].max(below.inclusive).at_least_zero(),
            false if (is_estimate || is_apart) && !is_outlasted => inclusive_measured[0].max(floor.all),
            false if folds.is_head[id] => all_own,
            false => own + below.inclusive,
        };
        // What a head's callees do inside its recursion, they do in calls that lie below.
        let inside_below = if folds.is_head[id] { Time::ZERO } else { below.inside };
        let inside = inclusive_measured[1].max(inside_below).at_least_zero();
        let systematic = error + below.error;
        let error = systematic + (inclusive - inclusive_measured[0]).at_least_zero();
        let moved = if is_elsewhere { Time::ZERO } else { own - self_measured };
        let own_error = own_error + moved;
        let have_ended = closed == inclusive_measured[0] + inclusive_measured[1];
        let closed = if have_ended && !is_outlasted { inclusive + inside } else { closed };
        times.set_first(id, &PathTimes { own, inclusive, inside, closed, error, own_error });
        if let Some(parent) = paths.parent(path) {
            let part = Below { own: all_own, least: floor.all, inclusive, inside, error: systematic, is_outlasted };
            match sums.last_mut() {
                Some((of, above)) if *of == parent => above.add(&part),
                _ => sums.push((parent, part)),
            }
        }
    }
    let mut children = Vec::new();
    for id in 0..paths.len() {
        let path = id as PathId;
        let is_apart = apart.pop_if(|next| *next == id).is_some();
        let is_outlasted = outlasted.pop_if(|next| *next == id).is_some();
        if folds.is_inside[id] {
            continue;
        }
        if folds.is_head[id] {
            let recursion = id..paths.end(path) as usize;
            fit_own(recursion.clone(), &floors, &mut times);
            fit_inside(tree, folds, recursion, &mut times);
        } else if (is_estimate || is_apart) && !is_outlasted && !paths.is_untimed(path) {
            // What is no estimate fits: its inclusive times were added up of own ones.
            let room = times.inclusive(id);
            let room_below = room - floors.own(id);
            let taken =
                all_below.get(id).filter(|taken| **taken != i64::MAX).map(|taken| Time::from_units((*taken).into()));
            if let Some(taken) = taken.filter(|taken| *taken <= room_below) {
                times.change(id, |times| set_own(times, room - taken)); // nearly always
                continue;
            }
            children.clear();
            children.extend(tree.children(path).map(|child| child as usize));
            fit_below(&children, id, &floors, &mut times);
        }
    }
    times
}

/// Sums over the paths below one.
#[derive(Clone, Copy, Default)]
struct Below {
    /// Own times, at any depth.
    own: Time,
    /// What they take at least.
    least: Time,
    /// Of the paths directly below.
    inclusive: Time,
    inside: Time,
    error: Time,
    /// Whether anything went on longer than what it is below.
    is_outlasted: bool,
}

impl Below {
    fn add(&mut self, other: &Self) {
        self.is_outlasted |= other.is_outlasted;
        self.own += other.own;
        self.least += other.least;
        self.inclusive += other.inclusive;
        self.inside += other.inside;
        self.error += other.error;
    }
}

#[cfg(test)]
mod tests {
    use diytrace_format::Slot;
    use diytrace_format::node::{OTHERS, flag, mark};
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    use super::*;
    use crate::load::costs::{Costs, Evidence};
    use crate::load::{Arena, Family, Node, Off};
    use crate::merge::{By, merge};
    use crate::testing::{arena, calls, family, node, record, slot};

    const COSTS: Costs = Costs { inner: 2.0, outer: 3.0, error: 1.0, untimed: 4.0, windows: 0 };

    fn with_costs(nodes: Vec<Node>) -> Family {
        Family { evidence: Evidence::of_costs(COSTS), ..family(vec![seen(arena(nodes))]) }
    }

    /// Of a thread of which it is known when it was on a processor.
    fn seen(mut arena: Arena) -> Arena {
        arena.facts.away_ns = 1;
        arena
    }

    fn corrected(family: Family) -> Vec<(f64, f64)> {
        correct(&merge(&[family], By::All, None).groups[0])
            .corrected
            .iter()
            .map(|times| (times.own.ns(), times.inclusive.ns()))
            .collect()
    }

    #[test]
    fn hooks_cost_is_taken_off_where_it_arose() {
        let nodes = vec![node(0x1000, None, slot(1, 1000, 10)), node(0x1100, Some(0), slot(10, 500, 0))];
        // main: 500 without f, less 2 for itself and 3 for each call of f. f: 500, less 2 for each call.
        assert_eq!(corrected(with_costs(nodes)), [(468.0, 948.0), (480.0, 480.0)]);
    }

    #[test]
    fn a_self_time_is_off_by_what_the_hooks_in_it_are_and_by_what_was_moved() {
        let own_errors = |nodes: Vec<Node>| -> Vec<f64> {
            let times = correct(&merge(&[with_costs(nodes)], By::All, None).groups[0]);
            times.corrected.iter().map(|times| times.own_error.ns()).collect()
        };
        // Of a pair, 2 are taken off the function and 3 off its caller, and all 5 may be off by 1.
        let nodes = vec![node(0x1000, None, slot(1, 1000, 10)), node(0x1100, Some(0), slot(10, 500, 0))];
        let near = |found: f64, expected: f64| (found - expected).abs() < 0.01;
        let [main, f] = own_errors(nodes)[..] else { panic!() };
        assert!(near(main, 0.4 + 10.0 * 0.6) && near(f, 10.0 * 0.4), "{main} {f}");
        // Ten calls leave main nothing: it has 0 ± what they seem to take too much.
        let nodes = vec![node(0x1000, None, slot(1, 500, 10)), node(0x1100, Some(0), slot(10, 490, 0))];
        let [main, _] = own_errors(nodes)[..] else { panic!() };
        assert!(main >= 22.0, "10 less 2 and 30, told as 0, is off by 22 or more, not {main}");
    }

    #[test]
    fn the_error_of_a_total_has_the_hooks_in_what_gave_way() {
        // Of ten calls in main, six have no paths of their own: four called them.
        let mut nodes = vec![node(0x1000, None, slot(1, 1000, 10)), node(OTHERS, Some(0), slot(4, 500, 6))];
        nodes[1].flags = flag::OTHERS;
        let times = correct(&merge(&[with_costs(nodes)], By::All, None).groups[0]).corrected;
        assert_eq!(times.get(0).error.ns(), 11.0, "{times:?}");
    }

    #[test]
    fn no_time_is_negative_and_no_child_above_its_parent() {
        let nodes = vec![node(0x1000, None, slot(1, 110, 10)), node(0x1100, Some(0), slot(10, 15, 0))];
        let times = correct(&merge(&[with_costs(nodes)], By::All, None).groups[0]);
        assert_eq!(times.corrected.inclusive(1), Time::ZERO);
        assert_eq!(times.corrected.inclusive(0).ns(), 58.0);
        // Ten pairs whose cost may be off by 1, and 5 that had to be cut off.
        assert_eq!(times.corrected.get(1).error.ns(), 15.0);
        assert_eq!(times.raw.inclusive(1).ns(), 15.0);
    }

    #[test]
    fn paths_that_seem_to_take_more_than_there_is_are_cut_where_they_are_uncertain() {
        // f was called often, so its hooks' cost may be far off; g was called once.
        let nodes = vec![
            node(0x1000, None, slot(1, 1306, 101)),
            node(0x1100, Some(0), slot(100, 700, 0)),
            node(0x1200, Some(0), slot(1, 402, 0)),
        ];
        // main: 1306, less 2 for itself and 5 for each of 101 calls. f, 500, and g, 400, do not fit into that.
        assert_eq!(corrected(with_costs(nodes)), [(0.0, 799.0), (400.0, 400.0), (399.0, 399.0)]);
    }

    /// A leaf that had a path of its own in no thread once seemed to take twice as long, as measured, as its calls did.
    #[test]
    fn calls_whose_paths_had_no_room_take_their_time_once_and_in_their_callers() {
        let mut nodes = vec![node(0x1000, None, slot(1, 1000, 10)), node(0x1100, None, Slot::default())];
        (nodes[1].flags, nodes[1].slots[1]) = (flag::FOLDED, slot(10, 500, 0));
        let times = correct(&merge(&[with_costs(nodes)], By::All, None).groups[0]);
        for (all, of_main, of_leaf) in [(&times.raw, 1000.0, 500.0), (&times.corrected, 948.0, 480.0)] {
            let [main, leaf] = [0, 1].map(|path| all.get(path));
            assert_eq!([main.own, main.inclusive].map(Time::ns), [of_main; 2]);
            assert_eq!([leaf.own, leaf.inclusive, leaf.inside].map(Time::ns), [0.0, 0.0, of_leaf]);
        }
    }

    /// Where hooks seemed to cost more than there was, calls had less time than the kernel tells that they were off the processor.
    #[test]
    fn what_was_off_the_processor_is_no_hooks_cost() {
        let mut nodes = vec![
            node(0x1000, None, slot(1, 1306, 101)),
            node(0x1100, Some(0), slot(100, 700, 0)),
            node(0x1200, Some(0), slot(1, 402, 0)),
        ];
        // All but 4 of main's own 204, 600 of f's 700.
        nodes[0].off = Off { wait_ns: 200, preempted_ns: 0 };
        nodes[1].off = Off { wait_ns: 0, preempted_ns: 600 };
        // 800 that are known, and most of g: main's 1306 less 507 would have been 799.
        let times = corrected(with_costs(nodes));
        let times: Vec<_> = times.into_iter().map(|(own, all)| (own.round(), all.round())).collect();
        assert_eq!(times, [(200.0, 1194.0), (600.0, 600.0), (394.0, 394.0)]);
    }

    /// A call of 11 ms between short ones, whose hooks had cost less than was taken off, was told as one of 0.04 ms, and its caller's
    /// error did not reach it.
    #[test]
    fn what_takes_much_longer_than_hooks_is_not_cut() {
        let nodes = vec![
            node(0x1000, None, slot(1, 12_000, 1100)),
            node(0x1100, Some(0), slot(100, 11_000, 0)),
            node(0x1200, Some(0), slot(1000, 500, 0)),
        ];
        // main: 12000, less 2 for itself and 5 for each of 1100 calls, is less than what the first hundred took.
        let times = correct(&merge(&[with_costs(nodes)], By::All, None).groups[0]);
        let [main, long, short] = [0, 1, 2].map(|path| times.corrected.get(path));
        assert!((10_160.0..=10_800.0).contains(&long.inclusive.ns()), "{long:?}");
        assert!(main.inclusive >= long.inclusive && short.inclusive == Time::ZERO, "{main:?} {short:?}");
        assert!(main.inclusive.ns() - main.error.ns() <= 10_800.0 + 500.0, "{main:?}");
        // As measured nothing is.
        assert_eq!([0, 1, 2].map(|path| times.raw.inclusive(path).ns()), [12_000.0, 11_000.0, 500.0]);
    }

    /// All of a coroutine's time was cut to that of the short call that had resumed it first, and given to whoever resumed it later.
    #[test]
    fn what_goes_on_on_a_coroutines_stack_keeps_its_time() {
        let mut nodes = vec![
            node(0x1000, None, slot(1, 1_000_000_000, 12)),
            node(0x1100, Some(0), slot(1, 1_000, 1)),
            node(0x1200, Some(1), slot(1, 900_000_000, 10)),
            node(0x1300, Some(2), slot(10, 800_000_000, 0)),
        ];
        nodes.iter_mut().for_each(|node| node.has_histogram = true); // each call was timed
        let times = correct(&merge(&[with_costs(nodes)], By::All, None).groups[0]);
        let ns = |path| [times.corrected.get(path).own, times.corrected.inclusive(path)].map(Time::ns);
        assert_eq!(ns(3), [799_999_980.0; 2]);
        assert_eq!(ns(2), [99_999_968.0, 899_999_948.0]);
        assert_eq!(ns(1), [0.0, 899_999_948.0]);
        // Its own time, in which it had resumed the coroutine, and all that went on there.
        assert_eq!(ns(0), [999_998_995.0, 999_998_995.0 + 899_999_948.0]);
        let error = times.corrected.get(0).error.ns();
        assert!(ns(0)[1] - 1_000_000_000.0 < error, "{error}");
    }

    #[test]
    fn excluded_calls_cost_their_caller() {
        let mut nodes = vec![node(0x1000, None, slot(1, 1000, 0)), node(0x1100, Some(0), slot(10, 0, 0))];
        nodes[1].flags = flag::UNTIMED;
        assert_eq!(corrected(with_costs(nodes)), [(958.0, 958.0), (0.0, 0.0)]);
    }

    #[test]
    fn an_open_call_lasts_until_the_latest_moment_of_its_process() {
        let open = Slot { calls: 1, ticks: 0, descendants: 0, mark: 100 << 2 | mark::OPEN };
        let ended = Slot { mark: 600 << 2, ..slot(1, 200, 0) };
        let nodes = vec![node(0x1000, None, open), node(0x1100, Some(0), ended)];
        // Marks are ticks with their two lowest bits used for something else.
        assert_eq!(corrected(family(vec![arena(nodes)])), [(1800.0, 2000.0), (200.0, 200.0)]);
    }

    #[test]
    fn an_inherited_call_has_time_but_costs_nothing() {
        let inherited = Slot { calls: 0, ticks: 0, descendants: 0, mark: 100 << 2 | mark::OPEN | mark::INHERITED };
        let ended = Slot { mark: 200 << 2, ..slot(1, 102, 0) };
        let nodes = vec![node(0x1000, None, inherited), node(0x1100, Some(0), ended)];
        assert_eq!(corrected(with_costs(nodes)), [(295.0, 395.0), (100.0, 100.0)]);
    }

    proptest! {
        #[test]
        fn sums_hold_whatever_was_called(
            calls in calls(),
            fold_at in 1usize..4,
            off in 0.0..4.0f64,
            waits in vec(option::weighted(0.3, 0u64..200), 1..9),
        ) {
            let recorded = Costs { inner: 2.0, outer: 3.0, ..Costs::default() };
            let mut nodes = record(&calls, recorded, fold_at);
            for (node, wait) in nodes.iter_mut().zip(waits.iter().cycle()) {
                node.off.wait_ns = wait.unwrap_or_default();
            }
            // Costs that are estimated too high, so that some times must be cut.
            let costs = Costs { inner: 2.0 + off, outer: 3.0 + off, ..Costs::default() };
            let family = Family { evidence: Evidence::of_costs(costs), ..family(vec![seen(arena(nodes))]) };
            let group = &merge(&[family], By::All, None).groups[0];
            let (tree, times) = (&group.tree, correct(group));
            for all in [&times.corrected, &times.raw] {
                let mut callees = vec![Time::ZERO; tree.paths.len()];
                for (path, times) in tree.paths.iter().zip(all.iter()) {
                    prop_assert!(times.own >= Time::ZERO);
                    if path.key.folded_into.is_none() {
                        prop_assert!(times.own >= path.counts.off.wait.min(path.counts.own));
                    }
                    if let Some(parent) = path.key.parent {
                        callees[parent as usize] += times.inclusive;
                    }
                }
                for (callees, times) in callees.iter().zip(all.iter()) {
                    prop_assert!(*callees <= times.inclusive);
                }
            }
            for all in [&times.corrected, &times.raw] {
                let own: Time = all.iter().map(|times| times.own).sum();
                let roots = tree.paths.iter().zip(all.iter()).filter(|(path, _)| path.key.parent.is_none());
                let roots: Time = roots.map(|(_, times)| times.inclusive).sum();
                prop_assert_eq!(own, roots);
            }
        }
    }
}
