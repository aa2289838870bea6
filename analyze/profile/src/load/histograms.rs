//! Reads the functions' records, so that no byte of the file is used twice: a hostile one could otherwise name a few
//! bytes so often that they fill the memory.

use diytrace_format::histogram::OCTAVES;
use diytrace_format::reader::File;
use diytrace_format::{Bins, Ref, UNIT};
use rustc_hash::FxHashMap;

use super::family::Function;
use crate::timeline::Slices;

/// Reads function records, each once.
pub struct Records<'a> {
    file: File<'a>,
    /// One bit for each unit of the file that belongs to a record.
    taken: Vec<u64>,
    /// Records that led nowhere, or to bytes of others.
    pub damaged: usize,
}

impl<'a> Records<'a> {
    /// Records of a file of that many bytes.
    pub fn new(file: File<'a>, bytes: usize) -> Self {
        Self { file, taken: vec![0; bytes / UNIT / 64 + 1], damaged: 0 }
    }

    /// The place in `functions` of the record that a node of an arena names; reads it if it is not there yet.
    ///
    /// `known` are the records that the arena's nodes have named so far, with their places.
    pub fn find_or_read(
        &mut self,
        record: Ref,
        (address, module): (u64, u32),
        known: &mut FxHashMap<Ref, Option<u32>>,
        functions: &mut Vec<Function>,
    ) -> Option<u32> {
        let place = *known.entry(record).or_insert_with(|| {
            let function = self.read(record, module);
            self.damaged += usize::from(function.is_none());
            functions.push(function?);
            Some(functions.len() as u32 - 1)
        });
        let function = &mut functions[place? as usize];
        if function.address != address {
            self.damaged += 1;
            return None;
        }
        place
    }

    fn read(&mut self, record: Ref, module: u32) -> Option<Function> {
        let raw = self.take(record, size_of::<diytrace_format::Function>()).then(|| self.file.function(record))??;
        let mut octaves = Vec::with_capacity(raw.octaves.iter().filter(|bins| **bins != 0).count());
        for (octave, &bins) in raw.octaves.iter().enumerate().take(OCTAVES) {
            if bins == 0 {
                continue;
            }
            let counts = self.take(bins, size_of::<Bins>()).then(|| self.file.bins(bins)).flatten();
            match counts {
                Some(Bins { counts }) if counts.iter().any(|&count| count != 0) => octaves.push((octave as u8, counts)),
                Some(_) => {}
                None => self.damaged += 1,
            }
        }
        let extremes = (raw.min <= raw.max).then_some((raw.min, raw.max));
        let timeline = (raw.timeline != 0).then(|| {
            let raw = self
                .take(raw.timeline, size_of::<diytrace_format::Timeline>())
                .then(|| self.file.timeline(raw.timeline));
            let slices = raw.flatten().as_ref().and_then(Slices::of);
            self.damaged += usize::from(slices.is_none());
            slices
        });
        let (address, unbinned, timeline) = (raw.address, raw.unbinned, timeline.flatten());
        Some(Function { address, module, extremes, unbinned, octaves, timeline })
    }

    /// Takes the units of a record, unless one of them is taken or lies outside of the file.
    fn take(&mut self, first: Ref, bytes: usize) -> bool {
        let units = first as usize..first as usize + bytes.div_ceil(UNIT);
        let bit = |unit: usize| (unit / 64, 1u64 << (unit % 64));
        let free = units.clone().all(|unit| {
            let (word, mask) = bit(unit);
            self.taken.get(word).is_some_and(|taken| taken & mask == 0)
        });
        if free {
            for unit in units {
                let (word, mask) = bit(unit);
                self.taken[word] |= mask;
            }
        }
        free
    }
}
