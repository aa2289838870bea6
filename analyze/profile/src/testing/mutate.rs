//! Bytes that are nearly right: what decoders are to survive.

/// Mutations of known bytes, the same for the same seed.
pub struct Mutations(u64);

impl Mutations {
    /// Of the seed in `DIYTRACE_SEED`, or always the same ones; the seed is printed.
    pub fn new() -> Self {
        let seed = number("DIYTRACE_SEED").unwrap_or(1);
        eprintln!("DIYTRACE_SEED={seed}");
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// How many are to be tried: `DIYTRACE_EXECUTIONS`, or this many.
    pub fn executions(usual: u64) -> u64 {
        number("DIYTRACE_EXECUTIONS").unwrap_or(usual)
    }

    /// A number below an end that is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    /// Some bytes, changed at a few places.
    pub fn of(&mut self, bytes: &[u8], others: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..=self.below(4) {
            self.change(&mut bytes, others);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, others: &[u8]) {
        if bytes.is_empty() {
            bytes.extend_from_slice(others);
            return;
        }
        let at = self.below(bytes.len());
        let end = at + self.below((bytes.len() - at).min(64)) + 1;
        match self.below(8) {
            0 => bytes[at] ^= 1 << self.below(8),
            1 => bytes[at] = self.below(256) as u8,
            2 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][self.below(5)],
            // A number as large as numbers of this kind get.
            3 => drop(bytes.splice(at..at, [0xff; 9].into_iter().chain([1]))),
            4 => drop(bytes.drain(at..end)),
            5 => {
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            6 if !others.is_empty() => {
                let from = self.below(others.len());
                let part = &others[from..(from + end - at).min(others.len())];
                drop(bytes.splice(at..end, part.iter().copied()));
            }
            _ => bytes.truncate(at),
        }
    }
}

impl Default for Mutations {
    fn default() -> Self {
        Self::new()
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}
