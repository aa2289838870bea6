//! What of a running program's file is read once more when its paths are: which of their calls have returned.
//!
//! A file is copied from its front to its end, while its program goes on. Paths tell how many calls were entered, functions' histograms
//! how many returned, and rings what is to be counted on paths still. Read before the paths, both would lie: calls that returned
//! meanwhile would be taken for open ones, and calls that were counted meanwhile would count once more. Read behind them, the
//! worst that can be is that calls of the last moment are missing, which the next reading has.

use std::fs::File;
use std::mem::offset_of;

use diytrace_format::reader::{self, record_of};
use diytrace_format::{Arena, Bins, CallSite, Function, Ref, Ring, RingSlot, UNIT, ring};
use rustc_hash::FxHashSet;

use super::lease::{self, Held};
use super::mapping::{Look, Mapping, lies_at};

/// Reads it once more, of a file of which a copy was made just now. What cannot be read is left as it was.
pub fn read_again(file: &File, copy: &mut [u8]) {
    if lease::ask_of(file) == Held::ByNobody {
        return;
    }
    let records = Records::of(copy);
    let Some(mapping) = Mapping::of(file, copy.len()).filter(|_| !records.arenas.is_empty()) else { return };
    if let Some(look) = mapping.look(file) {
        records.copy(&look, copy);
    }
}

/// Where it lies.
#[derive(Default)]
struct Records {
    arenas: Vec<usize>,
    functions: Vec<usize>,
    rings: Vec<usize>,
}

impl Records {
    fn of(bytes: &[u8]) -> Self {
        let mut records = Self::default();
        let Ok(file) = reader::File::open(bytes) else { return records };
        // Those are of recorders that nobody runs any more.
        if file.has_older_sites() {
            return records;
        }
        let mut functions: FxHashSet<Ref> = FxHashSet::default();
        // Whatever they say, there are no more than the file has room for.
        let mut left = bytes.len() / UNIT;
        for (at, arena) in file.blocks().filter_map(|at| Some((at, file.arena(&at)?))) {
            records.arenas.push(at.offset + UNIT);
            if file.ring(arena.ring).is_some() {
                records.rings.push(lies_at(arena.ring));
            }
            let mut next = at.block.call_sites;
            while next != 0 && left > 0 {
                let Some(site) = bytes.get(lies_at(next)..).and_then(record_of::<CallSite>) else { break };
                functions.insert(site.facts.record);
                (next, left) = (site.next, left - 1);
            }
        }
        functions.remove(&0);
        records.functions = functions.into_iter().map(lies_at).collect();
        records.functions.sort_unstable();
        records
    }

    fn copy(&self, file: &Look, copy: &mut [u8]) {
        for &at in &self.functions {
            copy_function(file, at, copy);
        }
        for &block in &self.rings {
            copy_ring(file, block + UNIT, copy);
        }
        // Behind the histograms: a time that is noted here may be in its bin a moment later, and would count twice the other way round.
        for arena in &self.arenas {
            copy_bytes(file, arena + offset_of!(Arena, pending), size_of::<u64>(), copy);
        }
    }
}

/// Extremes and bins of a function. Its timeline goes by what its paths have.
fn copy_function(file: &Look, at: usize, copy: &mut [u8]) {
    let Some(now) = file.get::<Function>(at) else { return };
    for (octave, bins) in now.octaves.into_iter().enumerate().filter(|(_, bins)| *bins != 0) {
        if copy_bytes(file, lies_at(bins), size_of::<Bins>(), copy) {
            let name = at + offset_of!(Function, octaves) + octave * size_of::<Ref>();
            copy[name..name + size_of::<Ref>()].copy_from_slice(&bins.to_le_bytes());
        }
    }
    for field in [offset_of!(Function, min), offset_of!(Function, max), offset_of!(Function, unbinned)] {
        copy_bytes(file, at + field, size_of::<u64>(), copy);
    }
}

/// A ring in which something was: perhaps it is counted by now.
fn copy_ring(file: &Look, at: usize, copy: &mut [u8]) {
    let sequence = |copy: &[u8]| copy.get(at..).and_then(record_of::<Ring>).map(|ring| ring.sequence);
    let before = sequence(copy);
    copy_bytes(file, at, size_of::<Ring>() + ring::SLOTS * size_of::<RingSlot>(), copy);
    let now = file.get::<Ring>(at).map(|ring| ring.sequence);
    if now != before || sequence(copy) != before {
        // It was emptied, and may be filled anew: what was in it is counted, or is when it is read next.
        let place = at + offset_of!(Ring, sequence);
        copy[place..place + size_of::<u64>()].fill(0);
    }
}

/// Copies some bytes, multiples of eight; whether they lie in both.
fn copy_bytes(file: &Look, at: usize, len: usize, copy: &mut [u8]) -> bool {
    let words =
        at.checked_add(len).and_then(|end| copy.get_mut(at..end)).map(|to| to.chunks_exact_mut(size_of::<u64>()));
    let Some(words) = words else { return false };
    (at..).step_by(size_of::<u64>()).zip(words).all(|(at, to)| match file.get::<u64>(at) {
        Some(word) => {
            to.copy_from_slice(&word.to_le_bytes());
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::FileExt;

    use diytrace_format::block::BLOCK_MAGIC;
    use diytrace_format::ring::Event;
    use diytrace_format::{Block, Header, kind};
    use zerocopy::{FromZeros, IntoBytes};

    use super::*;
    use crate::load::parse;
    use crate::testing::sample;

    /// Offsets of the only function of [`sample`], of the bins it has and of those that it may come to have, of the first arena and of its
    /// first path's calls.
    fn places(bytes: &[u8]) -> [usize; 5] {
        let function = Records::of(bytes).functions[0];
        let arena = Records::of(bytes).arenas[0];
        let path = arena - UNIT + diytrace_format::ARENA_NODES + offset_of!(diytrace_format::NodeRecord, slot);
        [function, function - size_of::<Bins>(), function - 2 * size_of::<Bins>(), arena, path]
    }

    fn write(bytes: &mut [u8], at: usize, number: u64) {
        bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
    }

    #[test]
    fn calls_that_return_while_a_file_is_read_are_not_taken_for_open() {
        let before = sample();
        let [function, bins, new_bins, arena, path] = places(&before);
        let mut later = before.clone();
        write(&mut later, path, 100);
        write(&mut later, function + offset_of!(Function, max), 5000);
        write(&mut later, function + offset_of!(Function, unbinned), 3);
        write(&mut later, bins, 37);
        write(&mut later, new_bins, 2);
        let octave = function + offset_of!(Function, octaves) + 12 * size_of::<Ref>();
        later[octave..octave + 4].copy_from_slice(&((new_bins / UNIT) as Ref).to_le_bytes());
        let pending = diytrace_format::Pending { record: (function / UNIT) as Ref, value: 300 };
        write(&mut later, arena + offset_of!(Arena, pending), pending.word());

        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&later).unwrap();
        let mut copy = before.clone();
        read_again(file.as_file(), &mut copy);
        let family = parse(&copy).unwrap();
        let of = |family: &crate::load::Family| {
            (family.arenas[0].nodes.get(0).calls(), family.arenas[0].functions[0].clone())
        };
        let (calls, function) = of(&family);
        assert_eq!((calls, function.returned()), (of(&parse(&before).unwrap()).0, 37 + 2 + 3 + 1), "{function:?}");
        assert_eq!((function.extremes, family.warnings), (Some((256, 5000)), parse(&before).unwrap().warnings));
    }

    /// [`sample`] with a ring, in which so much of what is noted is counted.
    fn with_ring(sequence: u64, done: u64, calls: u64) -> Vec<u8> {
        let mut bytes = sample();
        let block = bytes.len();
        bytes.resize(block + ring::BLOCK_SIZE, 0);
        let head = Block { magic: BLOCK_MAGIC, kind: kind::RING, size: ring::BLOCK_SIZE as u32, ..Block::new_zeroed() };
        bytes[block..block + UNIT].copy_from_slice(head.as_bytes());
        let at = block + UNIT;
        write(&mut bytes, offset_of!(Header, used), (block + ring::BLOCK_SIZE) as u64);
        write(&mut bytes, at + offset_of!(Ring, sequence), sequence);
        write(&mut bytes, at + offset_of!(Ring, done), done);
        let [_, _, _, arena, path] = places(&bytes);
        bytes[arena + offset_of!(Arena, ring)..][..4].copy_from_slice(&((block / UNIT) as Ref).to_le_bytes());
        write(&mut bytes, path, 1 + calls);
        for slot in 0..10 {
            let event =
                Event { function: 0x40_0100, site: 0x40_0800, hook: 0x40_0108, sp: 0x7ffe_0000 - 64 * slot as u64 };
            let at = at + size_of::<Ring>() + slot * size_of::<RingSlot>();
            bytes[at..at + size_of::<RingSlot>()].copy_from_slice(RingSlot::enter(event).as_bytes());
        }
        bytes
    }

    #[test]
    fn calls_that_are_counted_while_a_file_is_read_do_not_count_twice() {
        let all = |bytes: &[u8]| parse(bytes).unwrap().arenas[0].of_all(|node| node.calls(), u64::saturating_add);
        let before = with_ring(1, 0, 0);
        let noted = all(&before);
        assert_eq!(noted, all(&sample()) + 10);
        // The paths were read before those ten were counted on them, or when three were.
        for (sequence, done, expected) in [(1, 0, noted), (1, 3, noted - 3), (2, 10, noted - 10), (3, 0, noted - 10)] {
            let later = with_ring(sequence, done, done);
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(&later).unwrap();
            let mut copy = before.clone();
            read_again(file.as_file(), &mut copy);
            assert_eq!(all(&copy), expected, "{sequence}, {done}");
            // All of it was read before, and the paths when all was counted.
            let mut copy = with_ring(1, 0, 10);
            let later = with_ring(sequence, done.max(10), 10);
            file.as_file().write_all_at(&later, 0).unwrap();
            read_again(file.as_file(), &mut copy);
            assert_eq!(all(&copy), noted);
        }
    }

    #[test]
    fn what_a_reading_has_no_room_for_is_left_as_it_was() {
        let before = sample();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&before[..before.len() - 4096]).unwrap();
        let mut copy = before.clone();
        read_again(file.as_file(), &mut copy);
        assert!(copy == before, "the file is shorter than what was read of it");
        for len in (0..before.len()).step_by(64) {
            let mut copy = before[..len].to_vec();
            read_again(file.as_file(), &mut copy);
            assert_eq!(copy, before[..len]);
        }
    }
}
