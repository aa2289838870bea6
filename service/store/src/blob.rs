//! Columns of bytes: deflated, and records as postcard writes them.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
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

/// Bytes, deflated.
pub fn deflated(bytes: &[u8], level: Compression) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), level);
    let _ = encoder.write_all(bytes); // likewise
    encoder.finish().unwrap_or_default()
}

/// The record that bytes are, if they are one.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let mut all = Vec::new();
    inflate(bytes, &mut all)?;
    postcard::from_bytes(&all).ok()
}

/// What bytes were before they were deflated, in place of what `all` holds.
pub fn inflate(bytes: &[u8], all: &mut Vec<u8>) -> Option<()> {
    all.clear();
    DeflateDecoder::new(bytes).take(MOST_BYTES).read_to_end(all).ok().map(drop)
}
