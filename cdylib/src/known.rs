//! Which modules lie where, as far as a process has seen them.

/// Most ranges that a process knows.
const MOST: usize = 2048;

/// What this process knows; replaced as a whole, never changed.
#[derive(Clone, Copy)]
pub struct Known {
    len: usize,
    ranges: [Range; MOST],
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
    /// A range that is no module's.
    pub fn of_none(start: usize, end: usize) -> Self {
        Self { start, end, inode: 0, number: 0, unwind_table: 0 }
    }
}

impl Known {
    /// All of them.
    pub fn ranges(&self) -> &[Range] {
        &self.ranges[..self.len]
    }

    /// Whether nothing can be added.
    pub fn is_full(&self) -> bool {
        self.len == MOST
    }

    /// The range that an address lies in.
    pub fn find(&self, address: usize) -> Option<&Range> {
        self.ranges().iter().find(|range| range.start <= address && address < range.end)
    }

    /// Whether it lies in any.
    pub fn holds(&self, address: usize) -> bool {
        self.find(address).is_some()
    }

    /// The number of the module at an address; 0 if it has none.
    pub fn number(&self, address: usize) -> u32 {
        self.find(address).map_or(0, |range| range.number)
    }

    /// Adds all that another knows; to one that knows nothing.
    pub fn copy(&mut self, other: &Self) {
        self.ranges[..other.len].copy_from_slice(other.ranges());
        self.len = other.len;
    }

    /// Adds a range, while there is room.
    pub fn push(&mut self, range: Range) {
        if self.len < MOST {
            // What was there before is gone.
            if let Some(old) = self.ranges().iter().position(|r| r.start < range.end && range.start < r.end) {
                self.ranges[old] = range;
            } else {
                self.ranges[self.len] = range;
                self.len += 1;
            }
        }
    }
}
