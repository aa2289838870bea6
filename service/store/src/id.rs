//! Numbers for what is the same wherever it comes from: writers need not ask each other.

/// FNV-1a of 128 bits, folded to 64. Its values are in stores, so it is written out here, where no crate changes it.
pub struct Id(u128);

impl Id {
    /// Of something of a kind.
    pub fn of(kind: &str) -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d).bytes(kind.as_bytes())
    }

    /// With more: what follows is told from it by its length.
    pub fn bytes(self, bytes: &[u8]) -> Self {
        bytes.iter().fold(self.number(bytes.len() as u64), |id, byte| id.step(*byte))
    }

    /// With a number.
    pub fn number(self, number: u64) -> Self {
        number.to_le_bytes().iter().fold(self, |id, byte| id.step(*byte))
    }

    fn step(self, byte: u8) -> Self {
        Self((self.0 ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b))
    }

    /// The number; 0 means nothing, and is nobody's.
    pub fn finish(self) -> u64 {
        let folded = ((self.0 >> 64) ^ self.0) as u64;
        // FNV leaves the high bits of the last bytes little mixed.
        let mixed = (folded ^ folded >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ mixed >> 29).max(1)
    }
}

/// Adds a number to a sum that tells lists of numbers from each other: quick, where [`Id`] would take long, and in no store but to
/// be compared with what the same program makes of the same.
pub fn mix(sum: u64, number: u64) -> u64 {
    let product = u128::from(sum ^ 0x9e37_79b9_7f4a_7c15) * u128::from(number ^ 0xd6e8_feb8_6659_fd93);
    (product as u64 ^ (product >> 64) as u64).wrapping_add(sum.rotate_left(23))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_what_they_are() {
        assert_eq!(Id::of("path").number(1).number(2).finish(), Id::of("path").number(1).number(2).finish());
        let all: std::collections::BTreeSet<u64> = (0..100_000).map(|at| Id::of("path").number(at).finish()).collect();
        assert_eq!(all.len(), 100_000);
        assert_ne!(Id::of("a").bytes(b"b").finish(), Id::of("ab").bytes(b"").finish());
    }
}
