//! Moments, as people write them.

use jiff::{Span, Timestamp, Zoned, civil};

/// An age before `now` (`24h`, `7 days`), or a moment (`2026-11-20`, `2026-11-20 10:00`), with an offset or in the zone of `now`. `None`: it is
/// neither.
pub fn moment(text: &str, now: &Zoned) -> Option<Timestamp> {
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(moment);
    }
    if let Ok(moment) = text.parse::<civil::DateTime>() {
        return moment.to_zoned(now.time_zone().clone()).ok().map(|zoned| zoned.timestamp());
    }
    let age = text.parse::<Span>().ok().filter(|span| !span.is_negative())?;
    now.checked_sub(age).ok().map(|moment| moment.timestamp())
}
