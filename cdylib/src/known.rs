//! Which modules lie where, as far as a process has seen them.
//!
//! The table is changed in place, so a program that loads and unloads libraries for as long as it runs takes no more memory. Each
//! entry has a version, which is odd while somebody writes the entry. Whoever reads meanwhile finds nothing there, and looks at the mappings
//! again: another thread, or a child that was forked in the middle, for which the entry stays lost.

use crate::sys;
use core::array;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};

/// Most ranges that a process knows.
pub const MOST: usize = 2048;

/// What this process knows. Zeros know nothing.
pub struct Known {
    /// How many entries have ever been used.
    used: AtomicUsize,
    /// How often a module has been added.
    additions: AtomicU64,
    entries: [Entry; MOST],
}

/// Addresses of a module, or of none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The first.
    pub start: usize,
    /// Where they end.
    pub end: usize,
    /// Of the file that is mapped there.
    pub inode: u64,
    /// The module's number in the file; 0 for what is no module, or has no place there.
    pub number: u32,
    /// `Image::unwind_table`.
    pub unwind_table: usize,
}

impl Range {
    /// No addresses.
    const EMPTY: Self = Self::of_none(0, 0);

    /// A range that is no module's.
    pub const fn of_none(start: usize, end: usize) -> Self {
        Self { start, end, inode: 0, number: 0, unwind_table: 0 }
    }

    fn is_empty(&self) -> bool {
        self.start >= self.end
    }

    fn holds(&self, address: usize) -> bool {
        self.start <= address && address < self.end
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}

struct Entry {
    version: AtomicU64,
    /// A range, word by word.
    words: [AtomicU64; 5],
}

impl Entry {
    /// What it holds, which may be empty, and the version of that. `None` while somebody writes it.
    fn read(&self) -> Option<(u64, Range)> {
        loop {
            let version = self.version.load(Ordering::Acquire);
            if !version.is_multiple_of(2) {
                return None;
            }
            let [start, end, inode, number, table] = array::from_fn(|word| self.words[word].load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            if self.version.load(Ordering::Relaxed) == version {
                let (start, end, unwind_table) = (start as usize, end as usize, table as usize);
                return Some((version, Range { start, end, inode, number: number as u32, unwind_table }));
            }
        }
    }

    /// Replaces what it holds, unless that is of another version by now.
    fn replace(&self, version: u64, range: &Range) -> bool {
        if self.version.compare_exchange(version, version + 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return false;
        }
        fence(Ordering::Release);
        let Range { start, end, inode, number, unwind_table } = *range;
        let words = [start as u64, end as u64, inode, number.into(), unwind_table as u64];
        for (place, word) in self.words.iter().zip(words) {
            place.store(word, Ordering::Relaxed);
        }
        self.version.store(version + 2, Ordering::Release);
        true
    }
}

impl Known {
    /// All entries that anything is in: which they are, of which version, and what.
    fn all(&self) -> impl Iterator<Item = (usize, u64, Range)> {
        let used = self.used.load(Ordering::Acquire).min(MOST);
        let found = self.entries[..used].iter().enumerate().filter_map(|(place, entry)| Some((place, entry.read()?)));
        found.map(|(place, (version, range))| (place, version, range)).filter(|(_, _, range)| !range.is_empty())
    }

    /// How often a module has been added so far.
    pub fn additions(&self) -> u64 {
        self.additions.load(Ordering::Acquire)
    }

    /// Whether nothing can be added.
    pub fn is_full(&self) -> bool {
        self.used.load(Ordering::Relaxed) >= MOST && self.all().count() == MOST
    }

    /// The range that an address lies in.
    pub fn find(&self, address: usize) -> Option<Range> {
        self.all().map(|(_, _, range)| range).find(|range| range.holds(address))
    }

    /// Whether it lies in any.
    pub fn holds(&self, address: usize) -> bool {
        self.find(address).is_some()
    }

    /// The number of the module at an address; 0 if it has none.
    pub fn number(&self, address: usize) -> u32 {
        self.find(address).map_or(0, |range| range.number)
    }

    /// Whether it has a range with these addresses, of this file.
    pub fn has(&self, range: &Range) -> bool {
        let of = |range: &Range| (range.start, range.end, range.inode);
        self.all().any(|(_, _, known)| of(&known) == of(range))
    }

    /// Adds a range, while there is room. What was there before is gone.
    pub fn add(&self, range: &Range) {
        let mut place = None;
        for (before, version, _) in self.all().filter(|(_, _, before)| before.overlaps(range)) {
            let is_taken = self.entries[before].replace(version, &Range::EMPTY);
            place = place.or(is_taken.then_some(before));
        }
        let is_placed = place.is_some_and(|place| self.place(place, range)) || self.place_anywhere(range);
        if is_placed && range.number != 0 {
            self.additions.fetch_add(1, Ordering::Release);
        }
    }

    fn place_anywhere(&self, range: &Range) -> bool {
        let used = self.used.load(Ordering::Relaxed).min(MOST);
        if (0..used).any(|place| self.place(place, range)) {
            return true;
        }
        let next =
            self.used.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |used| (used < MOST).then_some(used + 1));
        next.is_ok_and(|place| self.place(place, range))
    }

    /// Puts a range into an entry, if that is empty.
    fn place(&self, place: usize, range: &Range) -> bool {
        let empty = self.entries[place].read().filter(|(_, known)| known.is_empty());
        empty.is_some_and(|(version, _)| self.entries[place].replace(version, range))
    }

    /// Forgets ranges that no mapping begins any more, which `each` goes through; what is added meanwhile stays. Whether there were any.
    pub fn forget_what_is_gone(&self, each: impl FnOnce(&mut dyn FnMut(usize, u64)) -> bool) -> bool {
        let size = size_of::<[u64; MOST]>();
        let Ok(memory) = sys::map_memory(size) else { return false };
        // SAFETY: the mapping is new, zeroed and large enough; zeros are valid.
        let gone = unsafe { &mut *memory.cast::<[u64; MOST]>() };
        for (place, version, _) in self.all() {
            gone[place] = version + 1;
        }
        let is_read = each(&mut |start, inode| {
            let begins = |(_, _, range): &(usize, u64, Range)| (range.start, range.inode) == (start, inode);
            if let Some((place, ..)) = self.all().find(begins) {
                gone[place] = 0;
            }
        });
        let mut any = false;
        for (entry, &version) in self.entries.iter().zip(&*gone).filter(|(_, version)| is_read && **version != 0) {
            any |= entry.replace(version - 1, &Range::EMPTY);
        }
        // SAFETY: nothing refers to it any more.
        unsafe { sys::unmap(memory, size) };
        any
    }
}
