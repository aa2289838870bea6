//! Time that can be added in any order: fixed point, in 1/1024 nanoseconds.
//!
//! Sums of floating point numbers depend on the order of the terms, and a report must not depend on the order of files.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub};

/// A span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i128);

const UNITS_PER_NS: f64 = 1024.0;

impl Time {
    /// None.
    pub const ZERO: Self = Self(0);
    /// As long as can be.
    pub const MAX: Self = Self(i128::MAX);

    /// That many nanoseconds.
    pub fn from_ns(ns: f64) -> Self {
        Self((ns * UNITS_PER_NS).round() as i128)
    }

    /// In nanoseconds.
    pub fn ns(self) -> f64 {
        self.0 as f64 / UNITS_PER_NS
    }

    /// This, or nothing if it is less than nothing.
    pub fn at_least_zero(self) -> Self {
        self.max(Self::ZERO)
    }

    /// As much of this as `part` is of `whole`, which is more than nothing; rounded down.
    pub fn share(self, part: Self, whole: Self) -> Self {
        Self((self.0 as f64 * (part.0 as f64 / whole.0 as f64)).floor() as i128)
    }

    /// That many times this.
    pub fn times(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(i128::from(factor)))
    }
}

/// A variance of times that can be added in any order: fixed point, in 1/1024 ns².
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Variance(i128);

impl Variance {
    /// That many squared nanoseconds.
    pub fn from_ns2(ns2: f64) -> Self {
        Self((ns2 * UNITS_PER_NS).round() as i128)
    }

    /// What was added since an earlier sum.
    pub fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0).max(0))
    }

    /// The standard error that it stands for.
    pub fn error(self) -> Time {
        Time::from_ns((self.0 as f64 / UNITS_PER_NS).max(0.0).sqrt())
    }
}

impl AddAssign for Variance {
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}

// Sums saturate: the largest sound ones need a fraction of the bits, and a damaged file shall do no harm.

impl Add for Time {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Time {
    type Output = Self;
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
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Time {
    fn sum<I: Iterator<Item = Self>>(times: I) -> Self {
        times.fold(Self::ZERO, Add::add)
    }
}
