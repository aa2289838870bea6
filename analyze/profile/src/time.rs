//! Time that can be added in any order: fixed point, in 1/1024 nanoseconds.
//!
//! Sums of floating point numbers depend on the order of the terms, and a report must not depend on the order of files.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub};

use serde::{Deserialize, Serialize};

/// A span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Time(i128);

const UNITS_PER_NS: f64 = 1024.0;

/// `value.round() as i128`. A profile of millions of paths asks for it often, and where the value fits a register (nearly
/// always) that takes a few instructions instead of two calls.
#[inline]
fn rounded(value: f64) -> i128 {
    if value.abs() >= (1u64 << 52) as f64 || value.is_nan() {
        return value.round() as i128;
    }
    let whole = value as i64;
    let rest = value - whole as f64; // exact
    i128::from(whole + i64::from(rest >= 0.5) - i64::from(rest <= -0.5))
}

/// `value as f64`, likewise.
#[inline]
pub fn float(value: i128) -> f64 {
    i64::try_from(value).map_or_else(|_| value as f64, |value| value as f64)
}

impl Time {
    /// None.
    pub const ZERO: Self = Self(0);

    /// Longer than any.
    pub const LONGEST: Self = Self(i128::MAX);
    /// As long as can be.
    pub const MAX: Self = Self(i128::MAX);

    /// That many nanoseconds.
    #[inline]
    pub fn from_ns(ns: f64) -> Self {
        Self(rounded(ns * UNITS_PER_NS))
    }

    /// In the unit that sums are exact in, 1/1024 ns.
    #[inline]
    pub fn units(self) -> i128 {
        self.0
    }

    /// That many of them.
    #[inline]
    pub fn from_units(units: i128) -> Self {
        Self(units)
    }

    /// In nanoseconds.
    #[inline]
    pub fn ns(self) -> f64 {
        float(self.0) / UNITS_PER_NS
    }

    /// This, or nothing if it is less than nothing.
    #[inline]
    pub fn at_least_zero(self) -> Self {
        self.max(Self::ZERO)
    }

    /// As much of this as `part` is of `whole`, which is more than nothing; rounded down.
    pub fn share(self, part: Self, whole: Self) -> Self {
        Self((float(self.0) * (float(part.0) / float(whole.0))).floor() as i128)
    }

    /// That many times this.
    pub fn times(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(i128::from(factor)))
    }
}

// Sums saturate: the largest sound ones need a fraction of the bits, and a damaged file shall do no harm.

impl Add for Time {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Time {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Neg for Time {
    type Output = Self;
    fn neg(self) -> Self {
        Self(self.0.saturating_neg())
    }
}

impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Time {
    fn sum<I: Iterator<Item = Self>>(times: I) -> Self {
        times.fold(Self::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn short_cuts_are_exact(any in any::<f64>(), halves in -1_000_000i64..1_000_000, large in any::<i128>(), shift in 0u32..128) {
            for value in [any, halves as f64 / 2.0, (halves as f64 / 2.0).next_up(), (halves as f64 / 2.0).next_down()] {
                prop_assert_eq!(rounded(value), value.round() as i128);
            }
            prop_assert_eq!(float(large >> shift).to_bits(), ((large >> shift) as f64).to_bits());
        }
    }
}
