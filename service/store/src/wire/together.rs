//! Frames of many recordings as one body: an agent of many processes asks once each time.
//!
//! Of each frame its length as a varint, then its bytes without an envelope of their own; all are deflated together, as what recordings of one
//! program say is much alike. Each is answered for itself.

use diytrace_profile::varint::{get, put};

use super::{damaged, envelope, inflated};
use crate::Error;
use crate::blob::PASSING;

/// How such a body begins.
const TOGETHER: &[u8; 8] = b"diytset1";

/// Most frames of a body.
const MOST: usize = 4096;

/// Whether a body is of many frames.
pub fn are_together(bytes: &[u8]) -> bool {
    bytes.starts_with(TOGETHER)
}

/// Frames as one body.
pub fn together<'a>(frames: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for frame in frames {
        put(&mut bytes, frame.len() as u128);
        bytes.extend(frame);
    }
    envelope(TOGETHER, &bytes, PASSING)
}

/// The frames of a body that anybody may have sent: at most so many bytes when they are inflated.
pub fn apart(bytes: &[u8], most: u64) -> Result<Vec<Vec<u8>>, Error> {
    let all = inflated(TOGETHER, bytes, most)?;
    let (mut rest, mut frames) = (&all[..], Vec::new());
    while !rest.is_empty() {
        let len = get(&mut rest).and_then(|len| usize::try_from(len).ok()).ok_or_else(damaged)?;
        frames.push(rest.split_off(..len).ok_or_else(damaged)?.to_vec());
        if frames.len() > MOST {
            return Err(Error::Frame { why: "it is of more recordings than this service takes at once" });
        }
    }
    Ok(frames)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_that_go_together_come_apart_as_they_were() {
        let frames = [&b"one"[..], b"", b"three"];
        let body = together(frames);
        assert!(are_together(&body));
        assert_eq!(apart(&body, 100).unwrap(), frames);
        assert!(apart(&body, 3).is_err(), "more than is taken");
        for end in 0..body.len() {
            assert!(apart(&body[..end], 100).is_err(), "{end}");
        }
        assert!(apart(&envelope(TOGETHER, &[9, 1, 2], PASSING), 100).is_err(), "a frame that is longer than the body");
    }
}
