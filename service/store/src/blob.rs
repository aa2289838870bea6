//! Columns of bytes: deflated, and records as postcard writes them.

use std::cell::RefCell;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// For what stays: zlib-rs has one code for all bytes below this.
pub const LASTING: Compression = Compression::new(2);

/// For slices as they come, which are made coarser soon: half the time, a fifth more room.
pub const PASSING: Compression = Compression::new(1);

/// A record of more bytes than this is none of ours.
const MOST_BYTES: u64 = 1 << 31;

/// A record's bytes.
pub fn write(record: &impl Serialize, level: Compression) -> Vec<u8> {
    deflated(&postcard::to_stdvec(record).unwrap_or_default(), level) // into memory: it cannot fail
}

thread_local! {
    /// What deflates, by level, and what inflates: each is hundreds of kilobytes, and to make it ready anew takes longer than the few
    /// kilobytes of a frame do.
    static DEFLATING: RefCell<Vec<(Compression, Compress)>> = const { RefCell::new(Vec::new()) };
    static INFLATING: RefCell<Option<Decompress>> = const { RefCell::new(None) };
}

/// Bytes, deflated.
pub fn deflated(bytes: &[u8], level: Compression) -> Vec<u8> {
    DEFLATING.with_borrow_mut(|all| {
        let at = all.iter().position(|(of, _)| *of == level).unwrap_or_else(|| {
            all.push((level, Compress::new(level, false)));
            all.len() - 1
        });
        let compress = &mut all[at].1;
        compress.reset();
        let mut deflated = Vec::with_capacity(bytes.len() / 2 + 64);
        loop {
            let rest = &bytes[compress.total_in() as usize..];
            match compress.compress_vec(rest, &mut deflated, FlushCompress::Finish) {
                Ok(Status::Ok | Status::BufError) => deflated.reserve(deflated.capacity()),
                // It is asked for nothing that it could refuse.
                Ok(Status::StreamEnd) | Err(_) => return deflated,
            }
        }
    })
}

/// The record that bytes are, if they are one.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let mut all = Vec::new();
    inflate(bytes, &mut all)?;
    postcard::from_bytes(&all).ok()
}

/// What bytes were before they were deflated, in place of what `all` holds.
pub fn inflate(bytes: &[u8], all: &mut Vec<u8>) -> Option<()> {
    inflate_up_to(bytes, MOST_BYTES, all)
}

/// The same, but no more than so many bytes and one.
pub fn inflate_up_to(bytes: &[u8], most: u64, all: &mut Vec<u8>) -> Option<()> {
    all.clear();
    let most = usize::try_from(most).ok()?.saturating_add(1);
    all.reserve(bytes.len().saturating_mul(2).clamp(1 << 10, 1 << 20).min(most));
    INFLATING.with_borrow_mut(|inflating| {
        let decompress = inflating.get_or_insert_with(|| Decompress::new(false));
        decompress.reset(false);
        loop {
            let rest = &bytes[decompress.total_in() as usize..];
            match decompress.decompress_vec(rest, all, FlushDecompress::None).ok()? {
                Status::StreamEnd => break,
                // There is room left, so what is missing is input.
                Status::Ok | Status::BufError if all.len() < all.capacity() => return None,
                Status::Ok | Status::BufError if all.len() >= most => break,
                Status::Ok | Status::BufError => all.reserve(all.len().min(most - all.len())),
            }
        }
        all.truncate(most);
        Some(())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_are_read_as_they_were_written(
            parts in prop::collection::vec((any::<u8>(), 0usize..3000), 0..40),
            more in prop::collection::vec(any::<u8>(), 0..3000),
            is_lasting in any::<bool>(),
        ) {
            let level = if is_lasting { LASTING } else { PASSING };
            let mut bytes: Vec<u8> = parts.iter().flat_map(|(byte, times)| std::iter::repeat_n(*byte, *times)).collect();
            bytes.extend(&more);
            let packed = deflated(&bytes, level);
            prop_assert_eq!(&packed, &deflated(&bytes, level), "what went before does not tell");
            let mut read = vec![1, 2, 3];
            prop_assert_eq!(inflate(&packed, &mut read), Some(()));
            prop_assert_eq!(&read, &bytes);
            // Of what is cut off nothing is believed.
            prop_assert_eq!(inflate(&packed[..packed.len() - 1], &mut read), None);
            let most = bytes.len() / 2;
            inflate_up_to(&packed, most as u64, &mut read).unwrap();
            prop_assert_eq!(read.len(), bytes.len().min(most + 1), "it ends beyond the limit, so that this is seen");
            inflate_up_to(&packed, bytes.len() as u64, &mut read).unwrap();
            prop_assert_eq!(&read, &bytes);
        }
    }
}
