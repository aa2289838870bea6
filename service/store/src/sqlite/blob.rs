//! Records in columns: as postcard writes them, deflated.

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
    let bytes = postcard::to_stdvec(record).unwrap_or_default(); // into memory: it cannot fail
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    let _ = encoder.write_all(&bytes); // likewise
    encoder.finish().unwrap_or_default()
}

/// The record that bytes are, if they are one.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let mut all = Vec::new();
    DeflateDecoder::new(bytes).take(MOST_BYTES).read_to_end(&mut all).ok()?;
    postcard::from_bytes(&all).ok()
}
