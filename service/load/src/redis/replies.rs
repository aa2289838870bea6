//! Cuts what a server sends into replies. What they hold is passed over, not kept.

use crate::failure::Failure;

/// A line that is longer is none: only texts of errors and statuses are lines of any length.
const LONGEST: usize = 1 << 16;

/// What has come of a reply that is not whole.
#[derive(Debug, Default)]
pub struct Replies {
    /// The beginning of a line.
    line: Vec<u8>,
    /// So many bytes of a text are still to come, with the end of its line.
    skip: u64,
    /// So many values are to come after that, before the reply is whole.
    values: u64,
    /// Whether a reply has begun.
    has_begun: bool,
}

/// A whole reply.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    /// The answer.
    Good,
    /// An error, with its text. (Those inside an array are values of an answer.)
    Error(Vec<u8>),
}

impl Replies {
    /// The next reply, which is taken off `bytes`; `None`: all of these are taken.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Result<Option<Reply>, Failure> {
        loop {
            let skipped = usize::try_from(self.skip).unwrap_or(usize::MAX).min(bytes.len());
            (self.skip, *bytes) = (self.skip - skipped as u64, &bytes[skipped..]);
            if self.skip > 0 {
                return Ok(None);
            }
            if self.has_begun && self.values == 0 {
                self.has_begun = false;
                return Ok(Some(Reply::Good));
            }
            if !self.fill(bytes)? {
                return Ok(None);
            }
            let line = self.line.strip_suffix(b"\r\n").ok_or(Failure::Malformed)?;
            let (kind, text) = line.split_first().ok_or(Failure::Malformed)?;
            if !self.has_begun && *kind == b'-' {
                let text = text.to_vec();
                self.line.clear();
                return Ok(Some(Reply::Error(text)));
            }
            let (skip, values) = match kind {
                b'+' | b'-' => (0, 0),
                b':' => number(text).map(|_| (0, 0))?,
                // What is less than none is null.
                b'$' => (u64::try_from(number(text)?).map_or(0, |length| length + 2), 0),
                b'*' => (0, u64::try_from(number(text)?).unwrap_or(0)),
                _ => return Err(Failure::Malformed),
            };
            let before = if self.has_begun { self.values - 1 } else { 0 };
            self.values = before.checked_add(values).ok_or(Failure::Malformed)?;
            (self.skip, self.has_begun) = (skip, true);
            self.line.clear();
        }
    }

    /// Whether a whole line has come.
    fn fill(&mut self, bytes: &mut &[u8]) -> Result<bool, Failure> {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let (taken, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
        *bytes = rest;
        self.line.extend_from_slice(taken);
        if self.line.len() > LONGEST { Err(Failure::Malformed) } else { Ok(end.is_some()) }
    }
}

/// A length or a number.
fn number(text: &[u8]) -> Result<i64, Failure> {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(Failure::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8], size: usize) -> Result<Vec<Reply>, Failure> {
        let (mut replies, mut all) = (Replies::default(), Vec::new());
        for mut piece in bytes.chunks(size) {
            while let Some(reply) = replies.next(&mut piece)? {
                all.push(reply);
            }
        }
        Ok(all)
    }

    #[test]
    fn replies_are_the_same_in_whatever_pieces_they_come() {
        let text = vec![b'\n'; 5000];
        let bytes = [
            &b"+OK\r\n:-12\r\n$-1\r\n*-1\r\n$0\r\n\r\n*0\r\n-WRONGTYPE no\r\n$5000\r\n"[..],
            &text,
            b"\r\n*3\r\n*2\r\n:1\r\n*0\r\n$2\r\n\r\n\r\n-ERR inside\r\n+\r\n",
        ]
        .concat();
        for size in [1, 2, 3, 7, 5000, bytes.len()] {
            let replies = all(&bytes, size).unwrap();
            assert_eq!(replies.len(), 10, "{size}: {replies:?}");
            assert_eq!(replies[6], Reply::Error(b"WRONGTYPE no".to_vec()), "{size}");
            assert_eq!(replies.iter().filter(|reply| **reply == Reply::Good).count(), 9, "{size}");
        }
        assert_eq!(all(b"*2\r\n$1\r\na\r\n", 4).unwrap(), [], "one value is missing");
    }

    #[test]
    fn what_is_no_reply_is_told() {
        let endless = [&b"+"[..], &vec![b'a'; LONGEST + 1]].concat();
        let nested = b"*9223372036854775807\r\n".repeat(3);
        for bytes in [&b"HTTP/1.1 400\r\n"[..], b"+OK\n", b"\r\n", b":a\r\n", b"$x\r\n", b"%1\r\n", &endless, &nested] {
            assert_eq!(all(bytes, 1 << 17), Err(Failure::Malformed), "{bytes:?}");
        }
    }
}
