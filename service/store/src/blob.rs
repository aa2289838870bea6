//! Columns of bytes: deflated, and records as postcard writes them.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A record of more bytes than this is none of ours.
const MOST_BYTES: u64 = 1 << 31;

/// A record's bytes.
pub fn write(record: &impl Serialize) -> Vec<u8> {
    deflated(&postcard::to_stdvec(record).unwrap_or_default()) // into memory: it cannot fail
}

/// Bytes, deflated.
pub fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
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
