//! Constants that a function refers to: they are a part of it, as numbers in its code are.

use std::ops::Range;

use super::Reader;
use super::hash::Hash;
use super::image::{Thing, without_numbers};
use super::parts::Parts;
use crate::symbolize::answers::Symbol;

/// Larger tables are not read.
const LARGEST: u64 = 1 << 20;

/// Longest text that is read.
const LONGEST: usize = 1 << 16;

/// Most entries of a table of jumps.
const MOST_JUMPS: u64 = 1 << 14;

/// What LLVM calls the tables that it makes of constant tables of pointers: of offsets from where they start, so that nothing need be
/// filled in when the program is loaded.
const OF_OFFSETS: &str = "reltable.";

/// What is fed to the hash.
pub mod kind {
    pub const CODE: u8 = 1;
    pub const DATA: u8 = 2;
    pub const POINTER: u8 = 3;
    pub const VARIABLE: u8 = 4;
    pub const NOWHERE: u8 = 5;
    pub const TEXT: u8 = 6;
    pub const BYTES: u8 = 7;
    pub const OFFSET: u8 = 8;
    pub const CONTENT: u8 = 9;
    pub const JUMPS: u8 = 10;
    pub const PLACE: u8 = 11;
    pub const INSTRUCTION: u8 = 12;
    pub const THREAD: u8 = 13;
    pub const PART: u8 = 14;
}

/// How something is referred to.
#[derive(Clone, Copy)]
pub enum Access {
    /// So many bytes are read or written there.
    Of(usize),
    /// Its address is taken, or an element of a table is read.
    Address,
    /// It is jumped to by a table of addresses.
    JumpTable,
}

/// What nobody can tell: data without a name and an end.
pub struct Unknown;

impl<'a> Reader<'_, 'a> {
    /// Feeds what lies at an address.
    pub(super) fn feed(&self, hash: &mut Hash, address: u64, access: Access, own: &Parts) -> Result<(), Unknown> {
        if let Some(place) = own.place(address) {
            hash.number(kind::PLACE, place);
            return Ok(());
        }
        match self.image.thing(address, &|address| self.enclosing(address)) {
            // A loop through the table behind it may start there, and in another build other data may lie before that.
            Thing::Data { offset: 1.., range, .. }
                if matches!(access, Access::Address)
                    && self.image.is_before_other(address, range.end)
                    && !own.refers_into(&range, address) =>
            {
                Err(Unknown)
            }
            Thing::Data { name, offset, range, is_constant: true } => {
                hash.feed(kind::DATA, without_numbers(name).as_bytes());
                hash.number(kind::OFFSET, offset);
                hash.feed(kind::CONTENT, &self.content(name, &range).ok_or(Unknown)?.to_le_bytes());
                Ok(())
            }
            Thing::Constant => self.feed_unnamed(hash, address, access, own),
            thing => self.feed_named(hash, &thing),
        }
    }

    fn feed_named(&self, hash: &mut Hash, thing: &Thing) -> Result<(), Unknown> {
        match thing {
            Thing::Code { name, offset } | Thing::Data { name, offset, .. } => {
                hash.feed(kind::CODE, without_numbers(name).as_bytes());
                hash.number(kind::OFFSET, *offset);
            }
            Thing::Pointer { name, addend } => {
                hash.feed(kind::POINTER, without_numbers(name).as_bytes());
                hash.number(kind::OFFSET, *addend as u64);
            }
            Thing::Variable(section) => hash.feed(kind::VARIABLE, section.as_bytes()),
            Thing::Nowhere => hash.feed(kind::NOWHERE, b""),
            Thing::Constant => return Err(Unknown),
        }
        Ok(())
    }

    /// Feeds constants without a name, such as texts and numbers in the middle of code.
    fn feed_unnamed(&self, hash: &mut Hash, address: u64, access: Access, own: &Parts) -> Result<(), Unknown> {
        let bytes = self.image.bytes_from(address);
        match access {
            Access::Of(size) => hash.feed(kind::BYTES, bytes.get(..size).ok_or(Unknown)?),
            Access::Address if own.jumps_by_table() && self.feed_jumps(hash, address, own) => {}
            Access::JumpTable => self.feed_addresses(hash, address, own)?,
            Access::Address => match text(address, bytes) {
                Some(text) => hash.feed(kind::TEXT, text),
                None => {
                    let (name, offset) = self.image.beside(address).ok_or(Unknown)?;
                    hash.feed(kind::DATA, without_numbers(name).as_bytes());
                    hash.number(kind::OFFSET, offset as u64);
                }
            },
        }
        Ok(())
    }

    /// Feeds a table of jumps, if it is one: each entry is counted from its start.
    fn feed_jumps(&self, hash: &mut Hash, table: u64, own: &Parts) -> bool {
        let entry = |number: u64| -> Option<u64> {
            let at = table.checked_add(4 * number)?;
            let offset = i32::from_le_bytes(*self.image.bytes_from(at).first_chunk()?);
            let target = table.wrapping_add_signed(offset.into());
            own.has_instruction_at(target).then(|| own.place(target)).flatten()
        };
        let is_table = table.is_multiple_of(4) && entry(0).is_some();
        if is_table {
            hash.feed(kind::JUMPS, b"");
            (0..MOST_JUMPS).map_while(entry).for_each(|place| hash.number(kind::PLACE, place));
        }
        is_table
    }

    /// Feeds a table of addresses that the function jumps to.
    fn feed_addresses(&self, hash: &mut Hash, table: u64, own: &Parts) -> Result<(), Unknown> {
        let entry = |number: u64| -> Option<u64> {
            let at = table.checked_add(8 * number)?;
            let target = u64::from_le_bytes(*self.image.bytes_from(at).first_chunk()?);
            own.has_instruction_at(target).then(|| own.place(target)).flatten()
        };
        entry(0).ok_or(Unknown)?;
        hash.feed(kind::JUMPS, b"");
        (0..MOST_JUMPS).map_while(entry).for_each(|place| hash.number(kind::PLACE, place));
        Ok(())
    }

    /// The hash of a constant object, with pointers in it as names of what they point to.
    fn content(&self, name: &str, range: &Range<u64>) -> Option<u128> {
        if let Some(known) = self.contents.get(&range.start) {
            return *known;
        }
        let found = match name.starts_with(OF_OFFSETS) {
            true => self.read_offsets(range),
            false => self.read_content(range),
        };
        self.contents.insert(range.start, found);
        found
    }

    /// The hash of a table of what lies so many bytes from its start.
    fn read_offsets(&self, table: &Range<u64>) -> Option<u128> {
        let bytes = self.image.bytes(table).filter(|bytes| bytes.len() as u64 <= LARGEST)?;
        let (entries, rest) = bytes.as_chunks::<4>();
        let mut hash = Hash::new();
        hash.feed(kind::BYTES, rest);
        for entry in entries {
            let target = table.start.wrapping_add_signed(i32::from_le_bytes(*entry).into());
            match self.image.thing(target, &|address| self.enclosing(address)) {
                Thing::Constant => hash.feed(kind::TEXT, text(target, self.image.bytes_from(target))?),
                thing => self.feed_named(&mut hash, &thing).ok()?,
            }
        }
        Some(hash.value())
    }

    fn read_content(&self, range: &Range<u64>) -> Option<u128> {
        let bytes = self.image.bytes(range).filter(|bytes| bytes.len() as u64 <= LARGEST)?;
        let mut hash = Hash::new();
        let enclosing = |address| self.enclosing(address);
        for (word, start) in bytes.chunks(8).zip((range.start..).step_by(8)) {
            let is_whole = word.len() == 8 && start.is_multiple_of(8);
            match is_whole.then(|| self.image.pointer(start, &enclosing)).flatten() {
                Some(Thing::Constant) => {
                    let target = self.image.pointed_to(start)?;
                    hash.feed(kind::TEXT, text(target, self.image.bytes_from(target))?);
                }
                Some(thing) => self.feed_named(&mut hash, &thing).ok()?,
                None => hash.feed(kind::BYTES, word),
            }
        }
        Some(hash.value())
    }

    fn enclosing(&self, address: u64) -> Option<Symbol<'a>> {
        self.table.enclosing(address)
    }
}

/// Text at an address, up to its end. What could be something else is none: a table of numbers, say.
fn text(address: u64, bytes: &[u8]) -> Option<&[u8]> {
    let bytes = &bytes[..bytes.len().min(LONGEST)];
    let text = &bytes[..bytes.iter().position(|byte| *byte == 0)?];
    let is_text = str::from_utf8(text).is_ok_and(|text| {
        text.chars().all(|letter| !letter.is_control() || letter.is_ascii_whitespace() || letter == '\x1b')
    });
    // No more than two letters before zeros up to the next number's place may be a number.
    let mut rest = bytes.iter().take(4).skip(text.len());
    let is_perhaps_number = text.len() < 3 && address.is_multiple_of(4) && rest.all(|byte| *byte == 0);
    (is_text && !is_perhaps_number).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_numbers_is_no_text() {
        for (address, bytes, expected) in [
            (1, &b"\0"[..], Some(&b""[..])),
            (4, b"abcd\0", Some(b"abcd")),
            (4, b"r\0w\0", Some(b"r")),
            (4, b"A\0\0\0B\0\0\0", None),
            (5, b"A\0\0\0", Some(b"A")),
            (4, b"\0\0\0\0\x01", None),
            (4, b"\x80\x01\0", None),
            (4, b"no end", None),
        ] {
            assert_eq!(text(address, bytes), expected, "{address} {bytes:?}");
        }
    }
}
