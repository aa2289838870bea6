//! Frames, and what is known of modules, as bytes between programs: deflated, of a version, and checked when they are read.

use diytrace_profile::module::ModuleKey;
use diytrace_profile::symbolize::Portable;
use flate2::Compression;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use self::incoming::Incoming;
pub use self::outgoing::{Outgoing, Turn};
pub use self::received::{Received, Told};
pub use self::together::{apart, are_together, together};
use crate::blob::LASTING;
use crate::{Error, Frame, blob};

mod body;
#[cfg(test)]
mod fuzz;
mod incoming;
mod numbering;
mod outgoing;
mod received;
mod together;

/// What HTTP calls them.
pub const CONTENT_TYPE: &str = "application/vnd.diytrace.frame";

/// How a frame begins, with the version of what follows.
const FRAME: &[u8; 8] = b"diytfrm4";

/// How names begin.
const NAMES: &[u8; 8] = b"diytnam1";

/// Longest name of a recording, in bytes.
const MOST_NAME: usize = 256;

/// What is known of a module.
#[derive(Debug, Serialize, Deserialize)]
pub struct Names {
    /// Which it is.
    pub module: ModuleKey,
    /// What is known.
    pub symbols: Portable,
}

/// A frame as bytes, for whoever knows nothing of its recording.
pub fn encode(frame: &Frame) -> Vec<u8> {
    Outgoing::default().encode(frame)
}

/// What is known of a module, as bytes.
pub fn encode_names(names: &Names) -> Vec<u8> {
    write(NAMES, names)
}

/// A frame that is whole, from bytes that anybody may have sent: at most so many when they are inflated.
pub fn decode(bytes: &[u8], most: u64) -> Result<Frame, Error> {
    Incoming::default().decode(bytes, most)?.frame()
}

/// Why bytes are no frame.
fn wrong<T>(why: &'static str) -> Result<T, Error> {
    Err(Error::Frame { why })
}

fn cannot_be() -> Error {
    Error::Frame { why: "its paths and places do not fit together" }
}

/// What is known of a module, from bytes that anybody may have sent.
pub fn decode_names(bytes: &[u8], most: u64) -> Result<Names, Error> {
    read(NAMES, bytes, most)
}

/// The kind, a CRC-32 of what follows, and the value, deflated.
fn write(kind: &[u8; 8], value: &impl Serialize) -> Vec<u8> {
    // Into memory, and of what has no maps of unknown length: neither can fail.
    envelope(kind, &postcard::to_stdvec(value).unwrap_or_default(), LASTING)
}

fn envelope(kind: &[u8; 8], bytes: &[u8], level: Compression) -> Vec<u8> {
    let deflated = blob::deflated(bytes, level);
    [&kind[..], &crc32fast::hash(&deflated).to_le_bytes(), &deflated].concat()
}

fn read<T: DeserializeOwned>(kind: &[u8; 8], bytes: &[u8], most: u64) -> Result<T, Error> {
    parse(&inflated(kind, bytes, most)?)
}

/// The value that bytes are.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    postcard::from_bytes(bytes).map_err(|_| damaged())
}

fn damaged() -> Error {
    Error::Frame { why: "its bytes are damaged" }
}

/// The bytes in an envelope.
fn inflated(kind: &[u8; 8], bytes: &[u8], most: u64) -> Result<Vec<u8>, Error> {
    let checked = match bytes.strip_prefix(kind) {
        Some(checked) => checked,
        None if bytes.get(..7) == Some(&kind[..7]) => {
            return Err(Error::Frame { why: "it is of another version of diytrace" });
        }
        None => return Err(Error::Frame { why: "it begins otherwise" }),
    };
    let (checksum, deflated) = checked.split_first_chunk().ok_or_else(damaged)?;
    if crc32fast::hash(deflated) != u32::from_le_bytes(*checksum) {
        return Err(damaged());
    }
    let mut inflated = Vec::new();
    blob::inflate_up_to(deflated, most, &mut inflated).ok_or_else(damaged)?;
    if inflated.len() as u64 > most {
        return Err(Error::Frame { why: "it is larger than this service takes" });
    }
    Ok(inflated)
}
