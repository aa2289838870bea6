//! Moments and ranges of time, as people write them.

use std::time::{SystemTime, UNIX_EPOCH};

use diytrace_profile::moment::moment;
use jiff::{Timestamp, Zoned};

use crate::Error;

/// A span of time, in nanoseconds since 1970: after the one moment, up to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// What ended then is not in it.
    pub since: i64,
    /// What ended then is.
    pub until: i64,
}

/// Nanoseconds since 1970.
pub(crate) fn now_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

impl Default for Range {
    fn default() -> Self {
        Self { since: i64::MIN, until: i64::MAX }
    }
}

impl Range {
    /// From `--since` and `--until`, where they are told.
    pub fn parse(since: Option<&str>, until: Option<&str>, now: &Zoned) -> Result<Self, Error> {
        let moment = |text: Option<&str>| text.map(|text| nanoseconds(text, now)).transpose();
        let range = Self { since: moment(since)?.unwrap_or(i64::MIN), until: moment(until)?.unwrap_or(i64::MAX) };
        if range.since >= range.until {
            let shown = |text: Option<&str>| text.unwrap_or("now").to_owned();
            return Err(Error::Backwards { since: shown(since), until: shown(until) });
        }
        Ok(range)
    }
}

fn nanoseconds(text: &str, now: &Zoned) -> Result<i64, Error> {
    let wrong = || Error::Moment { text: text.to_owned() };
    let moment: Timestamp = match text {
        "now" => now.timestamp(),
        _ if text.starts_with('@') => return since_1970(&text[1..]).ok_or_else(wrong),
        _ => moment(text, now).ok_or_else(wrong)?,
    };
    i64::try_from(moment.as_nanosecond()).map_err(|_| wrong())
}

/// Seconds since 1970, with or without a fraction, as `date` takes them.
fn since_1970(text: &str) -> Option<i64> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if seconds.is_empty() || fraction.len() > 9 || !are_digits(seconds) || !are_digits(fraction) {
        return None;
    }
    let ns: i64 = format!("{fraction:0<9}").parse().ok()?;
    seconds.parse::<i64>().ok()?.checked_mul(1_000_000_000)?.checked_add(ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_ages_or_moments() {
        let now: Zoned = "2026-11-20T14:00:00[UTC]".parse().unwrap();
        let at = |text: &str| {
            nanoseconds(text, &now).map(|ns| (now.timestamp().as_nanosecond() as i64 - ns) / 1_000_000_000)
        };
        for (text, age) in
            [("now", 0), ("90s", 90), ("1h", 3600), ("2d", 172_800), ("1h30m", 5400), ("2026-11-20T13:59:00Z", 60)]
        {
            assert_eq!(at(text).unwrap(), age, "{text}");
        }
        assert_eq!(nanoseconds("@1.25", &now).unwrap(), 1_250_000_000);
        let in_the_east: Zoned = "2026-11-20T14:00:00+02:00[+02:00]".parse().unwrap();
        let hours = |text: &str| {
            nanoseconds(text, &in_the_east)
                .map(|ns| (in_the_east.timestamp().as_nanosecond() as i64 - ns) / 3_600_000_000_000)
        };
        for (text, ago) in
            [("2026-11-20", 14), ("2026-11-20 12:00", 2), ("2026-11-20T12:00:00Z", 0), ("2026-11-20T12:00+03:00", 3)]
        {
            assert_eq!(hours(text).unwrap(), ago, "{text}");
        }
        for text in
            ["", "@", "@-1", "@1.0000000001", "@99999999999999", "1", "yesterday", "-1h", "2026-13-01T00:00:00Z"]
        {
            assert!(at(text).is_err(), "{text}");
        }
        assert!(Range::parse(Some("1h"), Some("2h"), &now).is_err());
        assert!(Range::parse(Some("2h"), Some("1h"), &now).is_ok());
    }
}
