//! Time whose calls came late: nobody knows more of when they were made.

use diytrace_profile::human::moment;
use serde::Serialize;

/// From one moment to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Coarse {
    /// In nanoseconds since 1970.
    pub started_unix_ns: i64,
    /// Likewise: what was counted in between is in the slice in which this is.
    pub ended_unix_ns: i64,
}

impl Coarse {
    /// What the reader should know of some; nothing if there are none.
    pub fn told(all: &[Self]) -> Option<String> {
        let [first, others @ ..] = all else { return None };
        let clock = |ns: i64| moment(u64::try_from(ns).unwrap_or(0));
        let more = match others.len() {
            0 => String::new(),
            1 => ", and so did one time after that".to_owned(),
            more => format!(", and so did {more} times after that"),
        };
        let (from, to) = (clock(first.started_unix_ns), clock(first.ended_unix_ns));
        Some(format!(
            "what was counted from {from} to {to} came late{more}: all of it is in the slice of time in which it ends"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_in_one_sentence() {
        let coarse = |started: i64, ended: i64| Coarse {
            started_unix_ns: started * 1_000_000_000,
            ended_unix_ns: ended * 1_000_000_000,
        };
        assert_eq!(Coarse::told(&[]), None);
        let told = Coarse::told(&[coarse(60, 120), coarse(240, 260), coarse(300, 400)]).unwrap();
        assert_eq!(
            told,
            "what was counted from 1970-01-01 00:01:00 UTC to 1970-01-01 00:02:00 UTC came late, and so did 2 times after that: \
             all of it is in the slice of time in which it ends"
        );
    }
}
