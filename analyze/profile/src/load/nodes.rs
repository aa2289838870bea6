//! The call paths of an arena in little memory: what many lead to is kept once, and what few have lies aside.

use std::fmt;

use diytrace_format::Slot;
use diytrace_format::node::{flag, mark};
use rustc_hash::FxHashMap;

use super::node::{Node, Off};
use super::timed::Timed;

/// A list of [`Node`]s, which are put together when they are asked for.
#[derive(Clone, Default)]
pub struct Nodes {
    list: Vec<Packed>,
    /// What paths lead to, each once: far fewer than paths.
    ends: Vec<End>,
    /// Of each of those, whether its calls are timed and are no other than its own: in a few kilobytes, which every path asks for.
    are_usual: Vec<bool>,
    /// The number of each; none where that was made room of, or was not asked for yet.
    numbers: FxHashMap<End, u32>,
    /// The latest number of those that have a place here, which their call sites tell: nearly always the one that is asked for.
    latest: Vec<u32>,
    /// Of the paths that have more to tell.
    more: Vec<More>,
}

/// A path: 48 bytes, of which there are millions.
#[derive(Clone, Copy, Debug)]
struct Packed {
    /// [`NONE`], if there is none.
    parent: u32,
    end: u32,
    /// Calls that were not timed, of those that all others were.
    untimed: u32,
    /// The place of what more it has, and 1; 0: nothing.
    more: u32,
    slot: Slot,
}

/// What a path leads to, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct End {
    function: u64,
    site: u64,
    hook: u64,
    target: u64,
    module: u32,
    site_module: u32,
    flags: u32,
    is_root: bool,
    has_histogram: bool,
    /// Whether no call is timed.
    is_timeless: bool,
}

/// What few paths have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct More {
    folded_into: Option<u32>,
    is_open_since_reset: bool,
    /// If that many untimed calls have no place in the path.
    timed: Option<Timed>,
    unwound: u64,
    slot: Slot,
    off: Off,
}

/// Stands for no path.
const NONE: u32 = u32::MAX;

const NOTHING: More = More {
    folded_into: None,
    is_open_since_reset: false,
    timed: None,
    unwound: 0,
    slot: Slot { calls: 0, ticks: 0, descendants: 0, mark: 0 },
    off: Off { wait_ns: 0, preempted_ns: 0 },
};

impl End {
    /// Whether this is the other. A chain of `&&` would be made a call of `memcmp`, for each of millions.
    #[inline(always)]
    fn is(&self, other: &Self) -> bool {
        let addresses = (self.function ^ other.function) | (self.site ^ other.site) | (self.hook ^ other.hook);
        let modules = (self.module ^ other.module) | (self.site_module ^ other.site_module);
        let differs = addresses | (self.target ^ other.target) | u64::from(modules | (self.flags ^ other.flags));
        let are = |end: &Self| (end.is_root, end.has_histogram, end.is_timeless);
        differs == 0 && are(self) == are(other)
    }
}

impl Nodes {
    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// One of them. What of it is not asked for is not put together: in line, wherever it is.
    #[inline(always)]
    pub fn get(&self, at: usize) -> Node {
        self.node(&self.list[at])
    }

    /// All, in their order.
    #[inline]
    pub fn iter(&self) -> Iter<'_> {
        Iter { nodes: self, list: self.list.iter() }
    }

    /// What one leads to, and how, as a number below [`Self::ends`]: nodes of one number are told apart by what is above them, and by
    /// what they have counted.
    #[inline]
    pub fn end(&self, at: usize) -> u32 {
        self.list[at].end
    }

    /// The counters of a path that has nothing but these to tell, as nearly all have: whose calls have all been timed and have ended, none
    /// of them inside a folded recursion.
    #[inline(always)]
    pub fn usual(&self, at: usize) -> Option<&Slot> {
        let packed = &self.list[at];
        let has_more = (packed.more | packed.untimed) != 0 || packed.slot.mark & mark::OPEN != 0;
        (!has_more && self.are_usual[packed.end as usize]).then_some(&packed.slot)
    }

    /// The path above one, by its place.
    #[inline(always)]
    pub fn parent(&self, at: usize) -> Option<u32> {
        Some(self.list[at].parent).filter(|parent| *parent != NONE)
    }

    /// Of a folded recursion: the path that its calls are counted under.
    #[inline(always)]
    pub fn folded_into(&self, at: usize) -> Option<u32> {
        match self.list[at].more {
            0 => None,
            place => self.more[place as usize - 1].folded_into,
        }
    }

    /// The flags of one.
    #[inline(always)]
    pub fn flags(&self, at: usize) -> u32 {
        self.ends[self.list[at].end as usize].flags
    }

    /// Whether calls can be counted under one: whether it is recorded, and its recursion not folded.
    #[inline(always)]
    pub fn is_above_others(&self, at: usize) -> bool {
        let packed = &self.list[at];
        packed.more == 0 && self.are_usual[packed.end as usize]
    }

    /// Whether the calls of any may be counted only for what their hooks cost.
    pub fn may_any_be_untimed(&self) -> bool {
        self.ends.iter().any(|end| end.flags & flag::UNTIMED != 0)
    }

    /// How many such numbers there may be.
    pub fn ends(&self) -> usize {
        self.ends.len()
    }

    /// Whether any was off the processor.
    pub fn is_any_off(&self) -> bool {
        self.more.iter().any(|more| more.off != Off::default())
    }

    /// Adds one at the end.
    pub fn push(&mut self, node: Node) {
        let packed = self.pack(&node, None);
        self.list.push(packed);
    }

    /// Adds one that leads to what another does, in the same way, and has no more to tell.
    #[inline(always)]
    pub fn push_alike(&mut self, end: u32, parent: Option<u32>, untimed: u32, slot: Slot) {
        self.list.push(Packed { parent: parent.unwrap_or(NONE), end, untimed, more: 0, slot });
    }

    /// Changes one.
    pub fn change(&mut self, at: usize, change: impl FnOnce(&mut Node)) {
        let mut node = self.get(at);
        change(&mut node);
        self.list[at] = self.pack(&node, Some(self.list[at]));
    }

    /// Changes each, by its place.
    pub fn change_each(&mut self, mut change: impl FnMut(usize, &mut Node)) {
        for at in 0..self.len() {
            self.change(at, |node| change(at, node));
        }
    }

    /// Some of them as a list of their own, which has all that they are below. `number`: their places in that.
    pub fn some(&self, places: &[u32], number: impl Fn(u32) -> u32) -> Self {
        let mut some = Self::default();
        some.list.reserve_exact(places.len());
        let mut ends = vec![NONE; self.ends.len()];
        for &at in places {
            let packed = self.list[at as usize];
            let end = &mut ends[packed.end as usize];
            if *end == NONE {
                *end = some.ends.len() as u32;
                some.ends.push(self.ends[packed.end as usize]);
                some.are_usual.push(self.are_usual[packed.end as usize]);
            }
            let mut more = 0;
            if packed.more != 0 {
                let known = self.more[packed.more as usize - 1];
                some.more.push(More { folded_into: known.folded_into.map(&number), ..known });
                more = some.more.len() as u32;
            }
            let parent = if packed.parent == NONE { NONE } else { number(packed.parent) };
            some.list.push(Packed { parent, end: *end, more, ..packed });
        }
        some
    }

    /// Makes room for so many more.
    pub fn reserve(&mut self, more: usize) {
        self.list.reserve(more);
    }

    /// Gives back what was made ready for more.
    pub fn shrink_to_fit(&mut self) {
        self.list.shrink_to_fit();
        self.more.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.are_usual.shrink_to_fit();
        (self.numbers, self.latest) = Default::default();
    }

    #[inline(always)]
    fn node(&self, packed: &Packed) -> Node {
        let end = &self.ends[packed.end as usize];
        let more = if packed.more == 0 { &NOTHING } else { &self.more[packed.more as usize - 1] };
        Node {
            function: end.function,
            site: end.site,
            hook: end.hook,
            target: end.target,
            module: end.module,
            site_module: end.site_module,
            flags: end.flags,
            parent: (packed.parent != NONE).then_some(packed.parent),
            folded_into: more.folded_into,
            is_root: end.is_root,
            has_histogram: end.has_histogram,
            is_open_since_reset: more.is_open_since_reset,
            unwound: more.unwound,
            timed: match (more.timed, packed.untimed) {
                (Some(timed), _) => timed,
                _ if end.is_timeless => Timed::None,
                (None, 0) => Timed::All,
                (None, untimed) => Timed::AllBut(untimed.into()),
            },
            slots: [packed.slot, more.slot],
            off: more.off,
        }
    }

    fn number(&mut self, end: End) -> u32 {
        // There are at least as many places as ends.
        if self.ends.len() >= self.latest.len() {
            self.latest = vec![NONE; (self.ends.len() + 1).next_power_of_two().max(64)];
        }
        let place = (end.site ^ end.hook.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let place = place as usize & (self.latest.len() - 1);
        let latest = &mut self.latest[place];
        if self.ends.get(*latest as usize).is_some_and(|known| known.is(&end)) {
            return *latest;
        }
        if self.numbers.len() < self.ends.len() {
            self.numbers = self.ends.iter().copied().zip(0..).collect();
        }
        let next = self.ends.len() as u32;
        let number = *self.numbers.entry(end).or_insert(next);
        if number == next {
            self.ends.push(end);
            self.are_usual.push(!end.is_timeless && end.flags & (flag::UNTIMED | flag::OTHERS) == 0);
        }
        *latest = number;
        number
    }

    /// As it is kept, if it was kept as this before.
    fn pack(&mut self, node: &Node, before: Option<Packed>) -> Packed {
        let Node { function, site, hook, target, module, site_module, flags, is_root, has_histogram, .. } = *node;
        let is_timeless = node.timed == Timed::None;
        let (untimed, timed) = match node.timed {
            Timed::AllBut(calls @ 1..) => match u32::try_from(calls) {
                Ok(calls) => (calls, None),
                Err(_) => (0, Some(node.timed)),
            },
            Timed::AllBut(0) => (0, Some(node.timed)),
            Timed::All | Timed::None => (0, None),
        };
        let end = End { function, site, hook, target, module, site_module, flags, is_root, has_histogram, is_timeless };
        let number = match before {
            Some(Packed { end: known, .. }) if self.ends[known as usize].is(&end) => known,
            _ => self.number(end),
        };
        let Node { folded_into, is_open_since_reset, unwound, slots: [slot, second], off, .. } = *node;
        let more = More { folded_into, is_open_since_reset, timed, unwound, slot: second, off };
        let place = match before.filter(|before| before.more != 0) {
            Some(Packed { more: place, .. }) => {
                self.more[place as usize - 1] = more;
                place
            }
            None if more == NOTHING => 0,
            None => {
                self.more.push(more);
                self.more.len() as u32
            }
        };
        Packed { parent: node.parent.unwrap_or(NONE), end: number, untimed, more: place, slot }
    }
}

/// Over [`Nodes`].
#[derive(Clone)]
pub struct Iter<'a> {
    nodes: &'a Nodes,
    list: std::slice::Iter<'a, Packed>,
}

impl Iterator for Iter<'_> {
    type Item = Node;

    #[inline(always)]
    fn next(&mut self) -> Option<Node> {
        self.list.next().map(|packed| self.nodes.node(packed))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.list.size_hint()
    }
}

impl DoubleEndedIterator for Iter<'_> {
    #[inline(always)]
    fn next_back(&mut self) -> Option<Node> {
        self.list.next_back().map(|packed| self.nodes.node(packed))
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'a> IntoIterator for &'a Nodes {
    type Item = Node;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

// However they are kept: that depends on what they were before.
impl fmt::Debug for Nodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl Extend<Node> for Nodes {
    fn extend<T: IntoIterator<Item = Node>>(&mut self, nodes: T) {
        let nodes = nodes.into_iter();
        self.reserve(nodes.size_hint().0);
        nodes.for_each(|node| self.push(node));
    }
}

impl FromIterator<Node> for Nodes {
    fn from_iter<T: IntoIterator<Item = Node>>(nodes: T) -> Self {
        let mut all = Self::default();
        all.extend(nodes);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{node, slot};

    #[test]
    fn what_is_kept_is_what_was_told() {
        let usual = node(0x1100, Some(7), slot(3, 40, 5));
        let mut all = vec![usual, node(0x1200, None, Slot::default())];
        all.push(Node { timed: Timed::AllBut(3), ..usual });
        all.push(Node { timed: Timed::AllBut(0), ..usual });
        all.push(Node { timed: Timed::AllBut(1 << 40), ..usual });
        all.push(Node { timed: Timed::None, ..usual });
        all.push(Node { folded_into: Some(0), flags: 1, ..usual });
        all.push(Node { is_open_since_reset: true, is_root: true, ..usual });
        all.push(Node { unwound: 2, has_histogram: true, ..usual });
        all.push(Node { slots: [usual.slots[0], slot(1, 2, 3)], ..usual });
        all.push(Node { off: Off { wait_ns: 1, preempted_ns: 2 }, ..usual });
        let mut nodes: Nodes = all.iter().copied().collect();
        assert!(nodes.iter().eq(all.iter().copied()));
        assert!(nodes.iter().rev().eq(all.iter().rev().copied()));
        assert_eq!((nodes.end(0), nodes.end(2), nodes.ends()), (0, 0, 6));
        // Whatever one becomes, and back.
        for from in 0..all.len() {
            for to in all.clone() {
                nodes.change(from, |node| *node = to);
                assert_eq!(nodes.get(from), to);
            }
        }
        nodes.change_each(|at, node| *node = all[at]);
        assert!(nodes.iter().eq(all.iter().copied()));
        for (at, node) in all.iter().enumerate() {
            assert_eq!(
                (nodes.parent(at), nodes.folded_into(at), nodes.flags(at)),
                (node.parent, node.folded_into, node.flags)
            );
        }
        assert_eq!(format!("{nodes:?}"), format!("{all:?}"));
        // What was made room of is found again: each end has one number.
        nodes.shrink_to_fit();
        for at in 0..all.len() {
            nodes.change(at, |node| *node = all[(at + 1) % all.len()]);
            nodes.change(at, |node| *node = all[at]);
        }
        assert!(nodes.iter().eq(all.iter().copied()));
        assert_eq!(nodes.ends(), 6);
        nodes.push_alike(nodes.end(2), Some(7), 3, usual.slots[0]);
        assert_eq!(nodes.get(all.len()), all[2]);
    }

    #[test]
    fn some_of_them_are_what_they_were_in_other_places() {
        let usual = node(0x1100, Some(1), slot(3, 40, 5));
        let all = [
            node(0x1000, None, slot(9, 9, 9)),
            node(0x1200, None, Slot::default()),
            Node { parent: Some(0), timed: Timed::AllBut(3), ..usual },
            Node { off: Off { wait_ns: 1, preempted_ns: 2 }, ..usual },
            Node { folded_into: Some(1), flags: flag::OTHERS, ..usual },
        ];
        let nodes: Nodes = all.into_iter().collect();
        let places = [1, 3, 4];
        let number = |at: u32| places.iter().position(|place| *place == at).unwrap() as u32;
        let mut some = nodes.some(&places, number);
        let there =
            |node: Node| Node { parent: node.parent.map(number), folded_into: node.folded_into.map(number), ..node };
        let mut expected: Vec<Node> = places.iter().map(|at| there(all[*at as usize])).collect();
        assert!(some.iter().eq(expected.iter().copied()));
        assert_eq!((some.ends(), some.usual(0), some.usual(1)), (3, Some(&Slot::default()), None));
        // They may become others, and there may be more.
        expected[1] = Node { timed: Timed::None, ..expected[1] };
        some.change(1, |node| *node = expected[1]);
        expected.push(expected[2]);
        some.push(expected[2]);
        assert!(some.iter().eq(expected.iter().copied()));
        assert_eq!(some.ends(), 4);
    }

    #[test]
    fn usual_is_what_has_nothing_but_counters_to_tell() {
        let usual = node(0x1100, Some(7), slot(3, 40, 5));
        let open = |bits: u64| Slot { mark: 8 | bits, ..usual.slots[0] };
        let unusual = [
            Node { timed: Timed::AllBut(1), ..usual },
            Node { timed: Timed::AllBut(0), ..usual },
            Node { timed: Timed::None, ..usual },
            Node { folded_into: Some(0), ..usual },
            Node { flags: flag::UNTIMED, ..usual },
            Node { flags: flag::OTHERS, ..usual },
            Node { is_open_since_reset: true, ..usual },
            Node { unwound: 1, ..usual },
            Node { slots: [open(mark::OPEN), Slot::default()], ..usual },
            Node { slots: [open(mark::OPEN | mark::INHERITED), Slot::default()], ..usual },
            Node { slots: [usual.slots[0]; 2], ..usual },
            Node { off: Off { wait_ns: 1, preempted_ns: 0 }, ..usual },
        ];
        let nodes: Nodes = [usual, Node { has_histogram: true, is_root: true, parent: None, ..usual }]
            .into_iter()
            .chain(unusual)
            .collect();
        assert!((0..2).all(|at| nodes.usual(at) == Some(&usual.slots[0]) && nodes.is_above_others(at)));
        assert!((2..nodes.len()).all(|at| nodes.usual(at).is_none()));
        assert!(nodes.may_any_be_untimed());
    }
}
