//! What a path of an arena adds to one of the tree: made of as many at a time as a cache holds, by all cores, and then added in order.

use super::measure::{Measured, Sum, UsualSums};
use super::pair_list::PackedPairs;
use super::pairs::Pairs;
use super::part::Filed;
use super::paths::{Sums, Usual};
use crate::load::costs::Costs;
use crate::load::{Arena, Family};
use crate::time::Time;

/// What a path adds, in as few words as it has.
pub enum Addend {
    /// Nearly always.
    Usual(UsualSums),
    Other(Box<Added>),
}

/// The same, as it is added.
#[derive(Debug, PartialEq)]
pub struct Added {
    pub calls: u64,
    pub sums: Sums,
    pub pairs: PackedPairs,
    /// Of its calls, those that are in a histogram.
    pub filed: Option<Filed>,
}

/// Makes them for an arena.
pub struct Addends<'a> {
    family: &'a Family,
    arena: &'a Arena,
    of_loop: Costs,
    /// What the recorder took off each call for its own hooks.
    taken: Time,
    is_unseen: bool,
}

impl<'a> Addends<'a> {
    pub fn of(family: &'a Family, arena: &'a Arena) -> Self {
        let of_loop = family.evidence.of_loop();
        let taken = Time::from_ns(of_loop.inner * family.clock.ns_per_tick());
        Self { family, arena, of_loop, taken, is_unseen: arena.is_unseen() }
    }

    /// Of one of its paths with these sums.
    #[inline]
    pub fn of_path(&self, index: usize, sums: Sum) -> Addend {
        match sums {
            Sum::Usual(sums) => Addend::Usual(sums),
            Sum::Other(measured) => Addend::Other(Box::new(self.other(index, measured))),
        }
    }

    fn other(&self, index: usize, measured: &Measured) -> Added {
        let node = self.arena.nodes.get(index);
        Added {
            calls: measured.counts.calls,
            sums: Sums::of(&measured.counts),
            pairs: PackedPairs::of(&measured.pairs),
            filed: (node.has_histogram && !node.is_untimed()).then(|| filed(self.family, &self.of_loop, measured)),
        }
    }

    /// What is added. `has_histogram`: whether the calls of that path are in one.
    #[inline]
    pub fn added(&self, addend: Addend, has_histogram: bool) -> Added {
        let sums = match addend {
            Addend::Usual(sums) => sums,
            Addend::Other(other) => return *other,
        };
        let UsualSums { calls, made, inside, own, inclusive } = sums;
        Added {
            calls,
            sums: Sums::Usual(Usual::of_ended(calls, own, inclusive, self.is_unseen, has_histogram)),
            pairs: PackedPairs::ended(calls, made, inside),
            filed: has_histogram.then(|| self.usual_filed(&sums)),
        }
    }

    /// What [`filed`] tells of a path with the usual sums.
    #[inline]
    fn usual_filed(&self, sums: &UsualSums) -> Filed {
        let &UsualSums { calls, inside, inclusive, .. } = sums;
        let timed = i64::try_from(calls).unwrap_or(i64::MAX);
        let pairs = Pairs { inner: timed.saturating_add(inside), outer: inside, untimed: 0 };
        let taken = self.taken.times(calls);
        let all_taken = Time::from_ns(pairs.cost(&self.of_loop) * self.family.clock.ns_per_tick());
        Filed { calls, time: Time::from_units(inclusive.into()), taken, taken_inside: all_taken - taken, pairs }
    }
}

/// The calls of a path that are in a histogram.
pub(super) fn filed(family: &Family, of_loop: &Costs, measured: &Measured) -> Filed {
    let Measured { counts, pairs } = measured;
    let time = |ticks: f64| Time::from_ns(ticks * family.clock.ns_per_tick());
    let taken = time(of_loop.inner).times(counts.closed);
    Filed {
        calls: counts.closed,
        time: counts.closed_time,
        taken,
        taken_inside: time(pairs.closed.cost(of_loop)) - taken,
        pairs: pairs.closed,
    }
}

#[cfg(test)]
mod tests {
    use diytrace_format::node::{flag, mark};
    use proptest::prelude::*;

    use super::*;
    use crate::load::Node;
    use crate::load::costs::Evidence;
    use crate::load::timed::Timed;
    use crate::merge::latest::latest;
    use crate::merge::measure::Measures;
    use crate::testing::{arena, calls, family, record, slot};

    fn change(node: &mut Node, kind: u8) {
        match kind {
            0 => node.flags |= flag::UNTIMED,
            1 => node.slots[0].mark = 100 << 2 | mark::OPEN,
            2 => node.timed = Timed::AllBut(1),
            3 => node.unwound = 1,
            4 => node.slots[1] = slot(3, 50, 2),
            5 => node.slots[0].ticks = 1 << 61,
            6 => node.slots[0] = slot(0, 0, 0),
            _ => node.timed = Timed::None,
        }
    }

    proptest! {
        #[test]
        fn the_usual_sums_are_those_that_any_path_has(
            calls in calls(),
            fold_at in 1usize..4,
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0u8..8), 0..4),
            has_histogram: bool,
            is_seen: bool,
        ) {
            let costs = Costs { inner: 2.0, outer: 3.0, error: 1.0, ..Costs::default() };
            let mut nodes = record(&calls, costs, fold_at);
            nodes.iter_mut().for_each(|node| node.has_histogram = has_histogram);
            for (at, kind) in changes {
                let at = at.index(nodes.len());
                change(&mut nodes[at], kind);
            }
            let mut all = family(vec![arena(nodes)]);
            (all.evidence, all.clock.hz) = (Evidence::of_costs(costs), 2.1e9);
            all.arenas[0].facts.away_ns = is_seen.into();
            let (arena, latest) = (&all.arenas[0], latest(&all)[0]);
            let (measures, addends) = (Measures::of(&all, arena, latest), Addends::of(&all, arena));
            let found = measures.each_of(0..arena.nodes.len(), |index, sums| (index, addends.of_path(index, sums)));
            for ((index, addend), measured) in found.into_iter().zip(measures.all()) {
                let expected = addends.other(index, &measured);
                prop_assert_eq!(addends.added(addend, arena.nodes.get(index).has_histogram), expected);
            }
        }
    }

    #[test]
    fn nearly_all_paths_have_the_usual_sums() {
        let nodes = vec![
            crate::testing::node(0x1000, None, slot(1, 100, 3)),
            crate::testing::node(0x1100, Some(0), slot(3, 60, 0)),
        ];
        let all = family(vec![arena(nodes)]);
        let (arena, latest) = (&all.arenas[0], latest(&all)[0]);
        let are_usual = Measures::of(&all, arena, latest).each_of(0..2, |_, sums| matches!(sums, Sum::Usual(_)));
        assert_eq!(are_usual, [true, true]);
    }
}
