//! The log-linear histogram: octaves of sixteen equal parts.
//!
//! A value is off its bin's middle by at most 1/32 of itself (3.2%); values below 32 are exact. Histograms merge by
//! addition, in any order.

/// Equal parts of an octave.
pub const SUBS: usize = 16;

/// Octaves; the last part of the last one also takes everything above (2^51 ticks: a week).
pub const OCTAVES: usize = 48;

/// Largest relative distance between a value and what the histogram gives for it.
pub const RELATIVE_ERROR: f64 = 1.0 / 32.0;

/// Octave and part of a value.
#[inline(always)]
pub const fn bin(value: u64) -> (usize, usize) {
    let exponent = 63 - (value | 15).leading_zeros() as usize; // 3 for everything below 16
    let octave = exponent - 3;
    if octave >= OCTAVES {
        return (OCTAVES - 1, SUBS - 1);
    }
    let shift = octave.saturating_sub(1);
    (octave, (value >> shift) as usize & (SUBS - 1))
}

/// The smallest value of a bin and the number of values in it.
pub const fn range(octave: usize, sub: usize) -> (u64, u64) {
    if octave == 0 {
        return (sub as u64, 1);
    }
    let width = 1 << (octave - 1);
    ((SUBS as u64 + sub as u64) * width, width)
}

/// The value that stands for a bin: its middle.
pub const fn middle(octave: usize, sub: usize) -> f64 {
    let (low, width) = range(octave, sub);
    low as f64 + (width - 1) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_the_range_of_its_bin() {
        let mut value = 0u64;
        while value < 1 << 50 {
            for v in [value, value + 1, value * 3 / 2] {
                let (octave, sub) = bin(v);
                let (low, width) = range(octave, sub);
                assert!(low <= v && v < low + width, "{v} in {octave}.{sub} = {low}+{width}");
                let off = (middle(octave, sub) - v as f64).abs();
                assert!(off <= v as f64 * RELATIVE_ERROR, "{v} is {off} off");
            }
            value = value * 2 + 1;
        }
    }

    #[test]
    fn bins_follow_each_other_without_a_gap() {
        let mut next = 0;
        for octave in 0..OCTAVES {
            for sub in 0..SUBS {
                let (low, width) = range(octave, sub);
                assert_eq!(low, next);
                next = low + width;
            }
        }
        assert_eq!(next, 1 << 51);
    }

    #[test]
    fn what_is_too_large_falls_into_the_last_bin() {
        assert_eq!(bin(u64::MAX), (OCTAVES - 1, SUBS - 1));
        assert_eq!(bin(1 << 51), (OCTAVES - 1, SUBS - 1));
    }
}
