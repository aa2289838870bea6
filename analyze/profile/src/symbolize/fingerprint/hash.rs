//! A hash that is the same in every release, as what it says is kept: FNV-1a of 128 bits.

const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

/// What was fed so far.
#[derive(Clone, Copy, Debug)]
pub struct Hash(u128);

impl Hash {
    pub fn new() -> Self {
        Self(OFFSET)
    }

    /// Feeds something of a kind; what follows cannot be taken for a part of it.
    pub fn feed(&mut self, kind: u8, bytes: &[u8]) {
        self.byte(kind);
        (bytes.len() as u64).to_le_bytes().into_iter().chain(bytes.iter().copied()).for_each(|byte| self.byte(byte));
    }

    /// Feeds a number of a kind.
    pub fn number(&mut self, kind: u8, number: u64) {
        self.feed(kind, &number.to_le_bytes());
    }

    pub fn value(self) -> u128 {
        self.0
    }

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(PRIME);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_published_one() {
        let mut hash = Hash::new();
        hash.byte(b'a');
        assert_eq!(hash.value(), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
    }
}
