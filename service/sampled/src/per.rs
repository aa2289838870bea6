//! What values are held against, so that profiles of unlike length, or many and few, are alike.

use diytrace_profile::human::{bytes, count, percent, time};
use diytrace_store::SampledFacts;
use serde::Serialize;

use crate::Kind;
use crate::growing::is_level;

/// What a value is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Per {
    /// A second that was sampled.
    Second,
    /// A profile: it tells no duration, or how much there is at a moment.
    Profile,
    /// All that a profile's samples add up to: a share of it.
    Share,
}

impl Per {
    /// What values of these profiles are told by.
    pub fn of<'a>(kind: &Kind, profiles: impl IntoIterator<Item = &'a SampledFacts>, are_shares: bool) -> Self {
        let mut profiles = profiles.into_iter();
        match are_shares {
            true => Self::Share,
            false if is_level(&kind.name) || profiles.any(|facts| facts.ended <= facts.started) => Self::Profile,
            false => Self::Second,
        }
    }

    /// What values are divided by, of so many profiles, nanoseconds and their total.
    pub fn whole(self, profiles: usize, duration_ns: i64, total: i64) -> f64 {
        match self {
            Self::Second => duration_ns as f64 / 1e9,
            Self::Profile => profiles as f64,
            Self::Share => total as f64,
        }
    }

    /// A value, as people read it.
    pub fn shown(self, value: f64, kind: &Kind) -> String {
        match self {
            Self::Second => format!("{}/s", amount(value, &kind.unit)),
            Self::Profile => amount(value, &kind.unit),
            Self::Share if value < 0.0 => format!("−{}", percent(-value)),
            Self::Share => percent(value),
        }
    }

    /// What the values are, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Second => "a second that was sampled",
            Self::Profile => "a profile",
            Self::Share => "as a part of each profile",
        }
    }
}

/// An amount of a unit, as people read it.
pub fn amount(value: f64, unit: &str) -> String {
    let sign = if value < 0.0 { "−" } else { "" };
    let size = value.abs();
    match unit {
        "nanoseconds" | "ns" => format!("{sign}{}", time(size)),
        "microseconds" | "us" | "µs" => format!("{sign}{}", time(size * 1e3)),
        "milliseconds" | "ms" => format!("{sign}{}", time(size * 1e6)),
        "seconds" | "s" => format!("{sign}{}", time(size * 1e9)),
        "bytes" | "B" => format!("{sign}{}", bytes(size.round() as u64)),
        _ if size < 100.0 && size.fract() != 0.0 => format!("{sign}{size:.*}", if size < 10.0 { 2 } else { 1 }),
        _ => format!("{sign}{}", count(size.round() as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_the_unit_that_suits_them() {
        let of = |unit: &str| Kind { name: "x".to_owned(), unit: unit.to_owned() };
        assert_eq!(Per::Second.shown(812.4e6, &of("nanoseconds")), "812 ms/s");
        assert_eq!(Per::Profile.shown(-2048.0, &of("bytes")), "−2.00 KiB");
        assert_eq!(
            (amount(3.0, "count"), amount(3.25, "count"), amount(45.67, "count")),
            ("3".into(), "3.25".into(), "45.7".into())
        );
        assert_eq!(amount(1234.5, "count"), "1,235");
        assert_eq!(Per::Share.shown(0.123, &of("bytes")), "12.3%");
    }
}
