//! The bytes of a profile's file: what of them is the profile's, and when they were read.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use rayon::prelude::*;

use super::clock::Clock;
use super::doubt::Doubt;
use super::ending::Ending;
use super::moment::Moment;
use super::state::Seen;
use super::{Error, Family, parse, returned, state};

/// What was read of a profile's file.
pub struct Bytes {
    /// What has been handed out: what follows may be a hole that the recorder left to grow into.
    pub profile: Vec<u8>,
    /// If the file is a snapshot: of which moment.
    pub snapshot: Option<Moment>,
    /// When reading began, by `CLOCK_MONOTONIC`. What is counted later may be in the bytes or not.
    pub read_monotonic_ns: u64,
    /// Whether paths gave way to others meanwhile.
    pub is_torn: bool,
}

impl Bytes {
    /// The file again: a snapshot's moment is behind its profile.
    pub fn whole(self) -> Vec<u8> {
        let mut bytes = self.profile;
        bytes.extend(self.snapshot.iter().flat_map(Moment::bytes));
        bytes
    }
}

/// Reads a profile's file.
pub fn read(path: &Path) -> io::Result<Bytes> {
    read_into(path, Vec::new())
}

/// The same, into memory that was used for it before.
///
/// Where a running program has paths give way to others, sums move in its file while that is copied. Then it is asked to leave that
/// for a moment, and copied again.
pub fn read_into(path: &Path, profile: Vec<u8>) -> io::Result<Bytes> {
    const TIMES: u32 = 3;
    let mut bytes = copy(path, profile)?;
    for time in 1..=TIMES {
        if !bytes.is_torn || !hold(path, &bytes, time) {
            break;
        }
        bytes = copy(path, bytes.profile)?;
    }
    Ok(bytes)
}

/// Asks the recorders to leave the sums in a file where they are, for as long as to copy it may take. False if that may not be
/// written.
fn hold(path: &Path, bytes: &Bytes, time: u32) -> bool {
    /// What is done in the moment that this is written takes no longer.
    const UNDER_WAY: Duration = Duration::from_millis(1);
    let took = state::monotonic_ns().saturating_sub(bytes.read_monotonic_ns);
    let Ok(file) = diytrace_format::reader::File::open(&bytes.profile) else { return false };
    let Some(clock) = Clock::of(file.header()) else { return false };
    let until = state::monotonic_ns() + UNDER_WAY.as_nanos() as u64 + (took << time).min(LONGEST_NS);
    let at = std::mem::offset_of!(diytrace_format::Header, copied_until) as u64;
    let written = OpenOptions::new().write(true).open(path);
    let is_written = written.and_then(|file| file.write_all_at(&clock.ticks_at(until).to_le_bytes(), at)).is_ok();
    std::thread::sleep(UNDER_WAY);
    is_written
}

/// The longest that recorders heed.
const LONGEST_NS: u64 = 900_000_000;

fn copy(path: &Path, mut profile: Vec<u8>) -> io::Result<Bytes> {
    let read_monotonic_ns = state::monotonic_ns();
    let mut file = File::open(path)?;
    profile.clear();
    if let Some((moment, start)) = Moment::at_the_end(&mut file)? {
        file.seek(SeekFrom::Start(0))?;
        file.take(start).read_to_end(&mut profile)?;
        return Ok(Bytes { profile, snapshot: Some(moment), read_monotonic_ns, is_torn: false });
    }
    file.seek(SeekFrom::Start(0))?;
    file.by_ref().take(diytrace_format::BLOCKS_START as u64).read_to_end(&mut profile)?;
    // Twice: what was read may name what a running program has been handed out meanwhile.
    for _ in 0..2 {
        let mut start = vec![0; profile.len().min(diytrace_format::BLOCKS_START)];
        file.seek(SeekFrom::Start(0))?;
        file.read_exact(&mut start)?;
        if let Ok(start) = diytrace_format::reader::File::open(&start) {
            let rest = start.header().used.saturating_sub(profile.len() as u64);
            file.seek(SeekFrom::Start(profile.len() as u64))?;
            let there = file.metadata()?.len().saturating_sub(profile.len() as u64);
            read_on(&mut file, rest.min(there) as usize, &mut profile)?;
        }
    }
    returned::read_again(&file, &mut profile);
    let mut start = vec![0; profile.len().min(diytrace_format::BLOCKS_START)];
    file.read_exact_at(&mut start, 0)?;
    let recycled = |bytes: &[u8]| diytrace_format::reader::File::open(bytes).ok().map(|file| file.header().recycled);
    let is_torn = recycled(&start).is_some_and(|now| recycled(&profile).is_some_and(|before| now != before));
    Ok(Bytes { profile, snapshot: None, read_monotonic_ns, is_torn })
}

/// From so many bytes on it takes longer to copy them from the kernel's memory than to share that.
const WORTH_ANOTHER_CORE: usize = 32 << 20;

/// What a core reads at a time.
const PIECE: usize = 4 << 20;

/// Reads that much more of a file than there is of it, from where it is.
fn read_on(file: &mut File, more: usize, profile: &mut Vec<u8>) -> io::Result<()> {
    let start = profile.len();
    if more < WORTH_ANOTHER_CORE || profile.capacity() - start >= more {
        profile.reserve_exact(more);
        return file.take(more as u64).read_to_end(profile).map(drop);
    }
    let mut all = vec![0; start + more];
    all[..start].copy_from_slice(profile);
    let pieces = all[start..].par_chunks_mut(PIECE).enumerate();
    let read: Vec<usize> =
        pieces.map(|(piece, bytes)| fill(file, start + piece * PIECE, bytes)).collect::<io::Result<_>>()?;
    // It may have become shorter meanwhile.
    let whole = read.iter().take_while(|read| **read == PIECE).count();
    all.truncate(start + whole * PIECE + read.get(whole).copied().unwrap_or(0));
    *profile = all;
    Ok(())
}

/// Reads as many bytes as there are and are asked for, and says how many that is.
pub(super) fn fill(file: &File, start: usize, bytes: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], (start + filled) as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// A profile from what was read of its file.
pub fn family_of(bytes: &Bytes, path: &Path) -> Result<Family, Error> {
    family_again(bytes, path, &Seen::default())
}

/// The same of one that is read several times a second.
pub fn family_again(bytes: &Bytes, path: &Path, seen: &Seen) -> Result<Family, Error> {
    let mut family = parse_some(&bytes.profile, path)?;
    path.clone_into(&mut family.path);
    family.warnings.extend(bytes.is_torn.then_some(Doubt::Torn));
    match &bytes.snapshot {
        Some(moment) => moment.apply(&mut family),
        None => {
            state::determine(&mut family, bytes.read_monotonic_ns, seen);
            Ending::apply(&mut family);
        }
    }
    Ok(family)
}

/// A profile that has anything to tell.
pub(super) fn parse_some(bytes: &[u8], path: &Path) -> Result<Family, Error> {
    let family = parse(bytes).map_err(|why| Error::not_readable(path, why))?;
    if family.missing_bytes > 0 && family.arenas.iter().all(|arena| arena.nodes.is_empty()) {
        return Err(Error::Truncated { path: path.to_owned() });
    }
    Ok(family)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn of_a_large_file_all_is_read_that_there_is() {
        let mut file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> = (0..WORTH_ANOTHER_CORE + PIECE + 123).map(|at| (at / 1000) as u8).collect();
        file.write_all(&bytes).unwrap();
        for asked in [bytes.len() - 70, bytes.len() - 70 + 3 * PIECE] {
            let mut profile = bytes[..70].to_vec();
            file.seek(SeekFrom::Start(70)).unwrap();
            read_on(&mut file, asked, &mut profile).unwrap();
            assert!(profile == bytes);
        }
    }
}
