//! What makes a copy of a profile a snapshot: the moment it is of, and who was running then, behind the profile's bytes.
//!
//! It is found from the end of the file: what was read of a growing profile may be more than its header tells of. To
//! readers that do not ask for it, a snapshot is a profile like any other.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `DIYTSNAP` |
//! | 8 | the moment, in ticks of the profile's clock |
//! | 8 | the same in nanoseconds since 1970 |
//! | 8 | number of processes that were running |
//! | 4 each | which of the family those were, counted from 1 |
//! | 8 | number of all these bytes |
//! | 8 | `DIYTSNAP` |

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

const MAGIC: [u8; 8] = *b"DIYTSNAP";

/// More processes than the kernel can run at once.
const MOST_PROCESSES: u64 = 1 << 22;

/// Bytes of a moment without the processes.
const FIXED: u64 = 48;

/// The moment that a snapshot is of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// In ticks of the profile's clock.
    pub ticks: u64,
    /// In nanoseconds since 1970.
    pub unix_ns: u64,
    /// The processes of the family that were running, ascending.
    pub running: Vec<u32>,
}

/// Whether a file is a snapshot, as far as it can be read.
pub fn is_at(path: &Path) -> bool {
    let moment = File::open(path).and_then(|mut file| Moment::at_the_end(&mut file));
    moment.is_ok_and(|moment| moment.is_some())
}

impl Moment {
    /// The bytes to put behind a profile's.
    pub fn bytes(&self) -> Vec<u8> {
        let words = [self.ticks, self.unix_ns, self.running.len() as u64];
        let words = words.iter().flat_map(|word| word.to_le_bytes());
        let running = self.running.iter().flat_map(|process| process.to_le_bytes());
        let length = FIXED + 4 * self.running.len() as u64;
        MAGIC.into_iter().chain(words).chain(running).chain(length.to_le_bytes()).chain(MAGIC).collect()
    }

    /// The moment at the end of a file, and where it begins there, if there is one.
    pub(super) fn at_the_end(file: &mut File) -> io::Result<Option<(Self, u64)>> {
        let size = file.metadata()?.len();
        if size < FIXED {
            return Ok(None);
        }
        let mut end = [0; 16];
        file.seek(SeekFrom::Start(size - 16))?;
        file.read_exact(&mut end)?;
        let length = u64::from_le_bytes(*end.first_chunk().unwrap_or(&[0; 8]));
        if !end.ends_with(&MAGIC) || !(FIXED..=size.min(FIXED + 4 * MOST_PROCESSES)).contains(&length) {
            return Ok(None);
        }
        let mut bytes = vec![0; length as usize];
        file.seek(SeekFrom::Start(size - length))?;
        file.read_exact(&mut bytes)?;
        Ok(Self::parse(&bytes).map(|moment| (moment, size - length)))
    }

    /// What lies behind a profile's bytes, if that is a moment.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(&MAGIC)?.strip_suffix(&MAGIC)?;
        let (rest, length) = rest.split_last_chunk::<8>()?;
        if u64::from_le_bytes(*length) != bytes.len() as u64 {
            return None;
        }
        let (words, rest) = rest.split_at_checked(24)?;
        let word = |index: usize| words[index * 8..].first_chunk().copied().map(u64::from_le_bytes);
        let (ticks, unix_ns, count) = (word(0)?, word(1)?, word(2)?);
        if count > MOST_PROCESSES || rest.len() as u64 != 4 * count {
            return None;
        }
        let running = rest.as_chunks::<4>().0.iter().map(|process| u32::from_le_bytes(*process)).collect();
        Some(Self { ticks, unix_ns, running })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_as_it_was_written_or_not_at_all() {
        let moment = Moment { ticks: 7, unix_ns: 9, running: vec![1, 4] };
        let bytes = moment.bytes();
        assert_eq!(Moment::parse(&bytes), Some(moment));
        for end in 0..bytes.len() {
            assert_eq!(Moment::parse(&bytes[..end]), None, "{end}");
        }
        assert_eq!(Moment::parse(&[bytes, vec![0]].concat()), None, "nothing follows it");
    }
}
