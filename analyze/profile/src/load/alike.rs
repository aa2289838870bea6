//! Nodes that lead to the same, in the same way: of millions, all but some thousands do so as another did.

use diytrace_format::node::flag;
use diytrace_format::{NodeRecord, Ref};

/// What nodes with one call site were found to lead to: the latest of those that have a place here, which tells nearly all.
#[derive(Default)]
pub struct Alike {
    list: Vec<Known>,
    met: usize,
}

/// What was found.
#[derive(Clone, Copy)]
struct Known {
    /// The call site's record; 0: nothing.
    more: Ref,
    flags: u16,
    key: [u64; 2],
    /// The number in [`super::Nodes`].
    end: u32,
}

const NOTHING: Known = Known { more: 0, flags: 0, key: [0; 2], end: 0 };

/// Of fewer paths, making ready for them takes longer than it saves.
const LEAST: usize = 256;

/// As many call sites as most programs have.
const MOST: usize = 1 << 15;

impl Alike {
    /// The number of what a node leads to, if another has led there from the same call site, and no node tells otherwise by itself.
    #[inline]
    pub fn end(&self, record: &NodeRecord) -> Option<u32> {
        let known = self.list.get(self.place(record.more))?;
        let differs = (known.key[0] ^ record.key[0]) | (known.key[1] ^ record.key[1]);
        let differs = differs | u64::from((known.more ^ record.more) | u32::from((known.flags ^ record.flags) & !HELD));
        (differs == 0 && record.more != 0).then_some(known.end)
    }

    /// Adds what one was found to lead to.
    pub fn add(&mut self, record: &NodeRecord, end: u32) {
        self.met += 1;
        // Where those of a folded recursion are counted, each tells by itself.
        if self.met < LEAST || u32::from(record.flags) & flag::RECURSION != 0 {
            return;
        }
        if self.list.len() < MOST.min(self.met.next_power_of_two()) {
            self.list = vec![NOTHING; (4 * self.met).next_power_of_two().min(MOST)];
        }
        let place = self.place(record.more);
        self.list[place] = Known { more: record.more, flags: record.flags, key: record.key, end };
    }

    fn place(&self, more: Ref) -> usize {
        // Records of call sites lie side by side, in blocks.
        (more ^ more >> 15) as usize & self.list.len().wrapping_sub(1)
    }
}

const HELD: u16 = flag::HELD as u16;

#[cfg(test)]
mod tests {
    use diytrace_format::Slot;

    use super::*;

    fn record(more: Ref, key: u64, flags: u32) -> NodeRecord {
        NodeRecord { key: [key, 7], parent: 2, more, flags: flags as u16, children: 0, noted: 0, slot: Slot::default() }
    }

    #[test]
    fn alike_is_what_has_the_same_call_site_key_and_flags() {
        let mut alike = Alike::default();
        let call = record(9, 3, flag::FOLDED);
        (0..LEAST).for_each(|_| alike.add(&call, 5));
        assert_eq!(alike.end(&call), Some(5));
        assert_eq!(alike.end(&record(9, 3, flag::FOLDED | flag::HELD)), Some(5));
        for other in [record(8, 3, flag::FOLDED), record(9, 4, flag::FOLDED), record(9, 3, 0)] {
            assert_eq!(alike.end(&other), None);
        }
        let recursion = record(9, 3, flag::RECURSION);
        alike.add(&recursion, 6);
        assert_eq!(alike.end(&recursion), None);
    }

    #[test]
    fn more_call_sites_than_have_a_place_are_found_out_anew() {
        let mut alike = Alike::default();
        let calls = |more: Ref| record(more, u64::from(more), 0);
        for more in 1..3 * MOST as Ref {
            alike.add(&calls(more), more);
            assert_eq!(alike.end(&calls(more)).unwrap_or(more), more);
        }
        let known = (1..3 * MOST as Ref).filter(|more| alike.end(&calls(*more)) == Some(*more)).count();
        assert!((1..=MOST).contains(&known), "{known}");
        assert_eq!(alike.end(&record(0, 0, 0)), None);
    }
}
