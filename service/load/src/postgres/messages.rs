//! Cuts what a server sends into messages. Rows are passed over, not kept.

use crate::failure::Failure;

/// What is kept whole is no longer than this.
const LONGEST: usize = 1 << 20;

/// A message's type, and its length without that.
const HEAD: usize = 5;

/// What has come of a message that is not whole.
#[derive(Debug, Default)]
pub struct Messages {
    held: Vec<u8>,
    /// So many bytes of a message that nobody wants are still to come.
    skip: usize,
}

/// A message that matters.
#[derive(Debug, PartialEq, Eq)]
pub enum Message {
    /// Who are you? With all of it, as `postgres-protocol` reads it.
    Authentication(Vec<u8>),
    /// The fields of an error.
    Error(Vec<u8>),
    /// The next request may come; whether a transaction is open.
    Ready {
        /// It is, failed or not.
        is_in_transaction: bool,
    },
    /// The server wants rows of ours.
    CopyIn,
    /// What is only told.
    Told,
    /// What belongs to an answer: rows, and what is around them.
    OfAnswer,
}

impl Messages {
    /// The next message, which is taken off `bytes`; `None`: all of these are taken.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Result<Option<Message>, Failure> {
        let skipped = self.skip.min(bytes.len());
        (self.skip, *bytes) = (self.skip - skipped, &bytes[skipped..]);
        if !self.fill(HEAD, bytes) {
            return Ok(None);
        }
        let kind = self.held[0];
        let length = u32::from_be_bytes([self.held[1], self.held[2], self.held[3], self.held[4]]) as usize;
        let length = length.checked_sub(HEAD - 1).ok_or(Failure::Malformed)?;
        if !matches!(kind, b'R' | b'E' | b'Z') {
            let taken = length.min(bytes.len());
            (self.skip, *bytes) = (length - taken, &bytes[taken..]);
            self.held.clear();
            return match kind {
                b'G' => Ok(Some(Message::CopyIn)),
                b'S' | b'N' | b'A' | b'K' | b'v' => Ok(Some(Message::Told)),
                b'T' | b'D' | b'C' | b'I' | b'H' | b'd' | b'c' => Ok(Some(Message::OfAnswer)),
                _ => Err(Failure::Malformed),
            };
        }
        if length > LONGEST {
            return Err(Failure::Malformed);
        }
        if !self.fill(HEAD + length, bytes) {
            return Ok(None);
        }
        let whole = std::mem::take(&mut self.held);
        match (kind, &whole[HEAD..]) {
            (b'R', _) => Ok(Some(Message::Authentication(whole))),
            (b'E', fields) => Ok(Some(Message::Error(fields.to_vec()))),
            (_, [status]) => {
                let is_in_transaction = *status != b'I';
                // The next message has the room of this one.
                self.held = whole;
                self.held.clear();
                Ok(Some(Message::Ready { is_in_transaction }))
            }
            _ => Err(Failure::Malformed),
        }
    }

    /// Holds so many bytes of a message, if they have come.
    fn fill(&mut self, length: usize, bytes: &mut &[u8]) -> bool {
        let missing = length.saturating_sub(self.held.len()).min(bytes.len());
        self.held.extend_from_slice(&bytes[..missing]);
        *bytes = &bytes[missing..];
        self.held.len() >= length
    }
}

/// A field of an error: `C` is its code, `M` its message.
pub fn field(fields: &[u8], kind: u8) -> Option<&[u8]> {
    fields.split(|byte| *byte == 0).find_map(|field| field.strip_prefix(&[kind]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        [&[kind], &(body.len() as u32 + 4).to_be_bytes()[..], body].concat()
    }

    fn all(bytes: &[u8], size: usize) -> Result<Vec<Message>, Failure> {
        let (mut messages, mut all) = (Messages::default(), Vec::new());
        for mut piece in bytes.chunks(size) {
            while let Some(message) = messages.next(&mut piece)? {
                all.push(message);
            }
        }
        Ok(all)
    }

    #[test]
    fn messages_are_the_same_in_whatever_pieces_they_come() {
        let error = b"SERROR\0C40001\0Mcould not\0\0";
        let bytes = [
            message(b'T', &[7; 30]),
            message(b'D', &[0; 5000]),
            message(b'E', error),
            message(b'N', b""),
            message(b'Z', b"E"),
            message(b'Z', b"I"),
        ]
        .concat();
        for size in [1, 2, 3, 7, 5000, bytes.len()] {
            let expected = [
                Message::OfAnswer,
                Message::OfAnswer,
                Message::Error(error.to_vec()),
                Message::Told,
                Message::Ready { is_in_transaction: true },
                Message::Ready { is_in_transaction: false },
            ];
            assert_eq!(all(&bytes, size).unwrap(), expected, "{size}");
        }
        assert_eq!(field(error, b'C'), Some(&b"40001"[..]));
        assert_eq!(field(error, b'D'), None);
    }

    #[test]
    fn what_is_no_message_is_told() {
        for bytes in [&b"Z\0\0\0\x03"[..], b"Q\0\0\0\x04", b"R\x7f\0\0\0", b"Z\0\0\0\x06II"] {
            assert_eq!(all(bytes, 1), Err(Failure::Malformed), "{bytes:?}");
        }
    }
}
