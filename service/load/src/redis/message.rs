//! A command as it is sent: an array of words, each with its length before it, so that they may have any bytes.

use std::io::Write;

/// Writes a command of these words.
pub fn write<'a>(words: impl ExactSizeIterator<Item = &'a [u8]>, out: &mut Vec<u8>) {
    begin(words.len(), out);
    words.for_each(|word| write_word(word, out));
}

/// Writes how many words there are.
pub fn begin(words: usize, out: &mut Vec<u8>) {
    // Writing to memory does not fail.
    let _ = write!(out, "*{words}\r\n");
}

/// Writes a word.
pub fn write_word(word: &[u8], out: &mut Vec<u8>) {
    let _ = write!(out, "${}\r\n", word.len());
    out.extend_from_slice(word);
    out.extend_from_slice(b"\r\n");
}
