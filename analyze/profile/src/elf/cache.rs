//! The loader's cache of libraries, `/etc/ld.so.cache`.
//!
//! | where | what |
//! |---|---|
//! | 0 | `glibc-ld.so.cache1.1` |
//! | 20 | how many entries, 32 bits |
//! | 48 | entries of 24 bytes: flags, name's offset, path's offset (32 bits each), and what the processor must have |
//!
//! The older form, `ld.so-1.7.0`, may stand before this one; it has been gone since glibc 2.32.

use std::fs;
use std::path::PathBuf;

const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
const COUNT: usize = 20;
const ENTRIES: usize = 48;
const ENTRY: usize = 24;

/// The cache's bytes, from its magic on. Empty where there is none: a machine need not have one.
#[derive(Debug, Default)]
pub struct Cache(Vec<u8>);

impl Cache {
    /// Reads this machine's cache.
    pub fn read() -> Self {
        Self::parse(fs::read("/etc/ld.so.cache").unwrap_or_default())
    }

    fn parse(mut bytes: Vec<u8>) -> Self {
        match bytes.windows(MAGIC.len()).position(|window| window == MAGIC) {
            Some(start) => {
                bytes.drain(..start);
                Self(bytes)
            }
            None => Self::default(),
        }
    }

    /// The paths that the cache has for a library: one for each class and processor.
    pub fn paths<'a>(&'a self, library: &'a str) -> impl Iterator<Item = PathBuf> + 'a {
        let count = self.word(COUNT).unwrap_or(0) as usize;
        let room = self.0.len().saturating_sub(ENTRIES) / ENTRY;
        (0..count.min(room)).filter_map(move |index| {
            let entry = ENTRIES + index * ENTRY;
            let name = self.string(self.word(entry + 4)?)?;
            (name == library).then(|| self.string(self.word(entry + 8)?).map(PathBuf::from))?
        })
    }

    fn word(&self, at: usize) -> Option<u32> {
        let bytes = self.0.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    fn string(&self, at: u32) -> Option<&str> {
        let rest = self.0.get(at as usize..)?;
        let end = rest.iter().position(|&byte| byte == 0)?;
        str::from_utf8(&rest[..end]).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Vec<u8> {
        let mut bytes = b"ld.so-1.7.0 and its entries".to_vec();
        let start = bytes.len();
        bytes.extend_from_slice(MAGIC);
        bytes.resize(start + ENTRIES, 0);
        bytes[start + COUNT] = 2;
        let strings = (ENTRIES + 2 * ENTRY) as u32;
        for (name, path) in [(0u32, 8u32), (0, 17)] {
            let words = [0x303, strings + name, strings + path, 0, 0, 0];
            bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        }
        bytes.extend_from_slice(b"libx.so\0/a/libx.so"); // the second path is the first one's tail: strings may overlap
        bytes.push(0);
        bytes
    }

    #[test]
    fn a_library_may_have_several_paths() {
        let cache = Cache::parse(example());
        let paths: Vec<_> = cache.paths("libx.so").collect();
        assert_eq!(paths, [PathBuf::from("/a/libx.so"), PathBuf::from("o")]);
        assert_eq!(cache.paths("liby.so").count(), 0);
    }

    #[test]
    fn a_damaged_cache_is_read_as_far_as_it_goes() {
        let whole = example();
        for length in 0..whole.len() {
            let cache = Cache::parse(whole[..length].to_vec());
            assert!(cache.paths("libx.so").count() <= 2);
        }
    }
}
