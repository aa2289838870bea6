//! Addresses and times as documents have them.

use serde::{Serialize, Serializer};

/// An ELF virtual address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address(pub u64);

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// Picoseconds are more than any clock has. What is not a number, as nothing was timed, is null.
pub fn nanoseconds<S: Serializer>(ns: &f64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64((ns * 1e3).round() / 1e3)
}

/// The same, or null.
pub fn optional_nanoseconds<S: Serializer>(ns: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    match ns {
        Some(ns) => nanoseconds(ns, to),
        None => to.serialize_none(),
    }
}
