//! Text without an allocator.

use core::fmt::{self, Write};

/// Text of limited length; what does not fit is cut off.
pub struct Fixed<const SIZE: usize> {
    /// The text, and zeros.
    pub bytes: [u8; SIZE],
    len: usize,
}

impl<const SIZE: usize> Fixed<SIZE> {
    /// An empty one.
    pub const fn new() -> Self {
        Self { bytes: [0; SIZE], len: 0 }
    }

    /// Adds bytes that need not be text. False if they do not fit.
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        let fits = bytes.len() <= SIZE - self.len;
        let len = bytes.len().min(SIZE - self.len);
        self.bytes[self.len..self.len + len].copy_from_slice(&bytes[..len]);
        self.len += len;
        fits
    }
}

impl<const SIZE: usize> Write for Fixed<SIZE> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.push(text.as_bytes()) { Ok(()) } else { Err(fmt::Error) }
    }
}
