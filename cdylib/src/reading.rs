//! Memory of this process that another thread may unmap at any moment: read through the kernel, a stretch at a time.

use crate::sys;
use core::mem::MaybeUninit;

/// Divides a page: a stretch is there as a whole or not at all.
const STRETCH: usize = 1024;

/// What was read lately: symbols are read in turn with their names, so there are two places.
///
/// Zeros are a valid value: nothing read, by process 0.
pub struct Reading {
    process: u32,
    latest: usize,
    stretches: [Stretch; 2],
}

struct Stretch {
    /// 0 = none.
    start: usize,
    bytes: [u8; STRETCH],
}

impl Reading {
    /// Nothing read yet.
    pub fn new() -> Self {
        const NONE: Stretch = Stretch { start: 0, bytes: [0; STRETCH] };
        Self { process: sys::getpid(), latest: 0, stretches: [NONE; 2] }
    }

    /// Forgets what was read: it may be another module's by now.
    pub fn start_anew(&mut self) {
        self.process = sys::getpid();
        self.stretches.iter_mut().for_each(|stretch| stretch.start = 0);
    }

    /// A value of plain integers. `None` if it is not there.
    pub fn value<T: Copy>(&mut self, address: usize) -> Option<T> {
        let mut value = MaybeUninit::<T>::zeroed();
        // SAFETY: the bytes of the value, all set; only plain integers are read this way, for which any bytes will do.
        unsafe {
            let bytes = core::slice::from_raw_parts_mut(value.as_mut_ptr().cast::<u8>(), size_of::<T>());
            self.bytes(address, bytes).then(|| value.assume_init())
        }
    }

    /// Fills a buffer. False if not all of it is there.
    pub fn bytes(&mut self, mut address: usize, mut buffer: &mut [u8]) -> bool {
        while !buffer.is_empty() {
            let start = address & !(STRETCH - 1);
            let Some(stretch) = self.stretch(start) else { return false };
            let from = address - start;
            let len = buffer.len().min(STRETCH - from);
            let (now, later) = buffer.split_at_mut(len);
            now.copy_from_slice(&stretch[from..from + len]);
            (buffer, address) = (later, address.wrapping_add(len));
        }
        true
    }

    fn stretch(&mut self, start: usize) -> Option<&[u8; STRETCH]> {
        if start == 0 {
            return None;
        }
        let place = match self.stretches.iter().position(|stretch| stretch.start == start) {
            Some(place) => place,
            None => {
                let place = 1 - self.latest;
                let stretch = &mut self.stretches[place];
                stretch.start = 0;
                if !sys::read_memory(self.process, start, &mut stretch.bytes) {
                    return None;
                }
                stretch.start = start;
                place
            }
        };
        self.latest = place;
        Some(&self.stretches[place].bytes)
    }
}
