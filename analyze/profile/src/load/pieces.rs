//! A file's bytes, of which only those are read that somebody asks for.

use std::fs::File;

use super::bytes::fill;

/// So many are read at once: what is looked at lies here and there, and the kernel has pages.
const PIECE: usize = 4 << 10;

/// A file's bytes.
pub struct Pieces<'a> {
    file: &'a File,
    /// Of all of them; what is not read yet is another file's.
    bytes: &'a mut Vec<u8>,
    is_read: Vec<bool>,
    len: usize,
}

impl<'a> Pieces<'a> {
    /// Of a file of that many; `bytes` is memory for them.
    pub fn of(file: &'a File, bytes: &'a mut Vec<u8>, len: usize) -> Self {
        if bytes.len() < len {
            bytes.resize(len, 0);
        }
        Self { file, bytes, is_read: vec![false; len.div_ceil(PIECE)], len }
    }

    /// Some of them, as they are now or were when others beside them were asked for. `None`: there are not so many.
    #[inline]
    pub fn get(&mut self, start: usize, len: usize) -> Option<&[u8]> {
        let end = start.checked_add(len).filter(|end| *end <= self.len)?;
        let (first, last) = (start / PIECE, end.div_ceil(PIECE));
        if !self.is_read[first..last].iter().all(|is_read| *is_read) {
            self.read(first, last)?;
        }
        self.bytes.get(start..end)
    }

    #[cold]
    fn read(&mut self, first: usize, last: usize) -> Option<()> {
        let (start, end) = (first * PIECE, self.len.min(last * PIECE));
        let read = fill(self.file, start, &mut self.bytes[start..end]).ok()?;
        self.is_read[first..last].fill(true);
        (read == end - start).then_some(())
    }

    /// The same, as they are now in any case.
    pub fn now(&mut self, start: usize, len: usize) -> Option<&[u8]> {
        let end = start.checked_add(len).filter(|end| *end <= self.len)?;
        let into = &mut self.bytes[start..end];
        (fill(self.file, start, into).ok()? == len).then_some(&self.bytes[start..end])
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_is_asked_for_is_the_files() {
        let mut file = tempfile::tempfile().unwrap();
        let all: Vec<u8> = (0..3 * PIECE + 100).map(|at| (at / 7) as u8).collect();
        file.write_all(&all).unwrap();
        let mut memory = vec![99; 5];
        let mut pieces = Pieces::of(&file, &mut memory, all.len());
        for (start, len) in [(0, 1), (PIECE - 1, 2), (2 * PIECE + 5, PIECE + 95), (7, 0)] {
            assert_eq!(pieces.get(start, len), Some(&all[start..start + len]), "{start} {len}");
        }
        assert_eq!(pieces.get(all.len(), 1), None);
        assert_eq!(pieces.get(usize::MAX, 2), None);
        let mut longer = Pieces::of(&file, &mut memory, all.len() + 1);
        assert_eq!(longer.get(all.len() - 1, 2), None, "the file has become shorter");
    }
}
