//! How long slices stay as they came, and how long coarser ones stay at all.

use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use diytrace_store::{Engine, Error, Query, Range, Tier, beyond_bytes};

use crate::shared::Service;

/// How often slices are made coarser.
const EVERY: Duration = Duration::from_secs(60);

/// How much of something is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// What is younger.
    pub age: Option<Duration>,
    /// The latest, up to so many bytes.
    pub bytes: Option<u64>,
}

/// How much is kept of each tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Slices as they came: then they become minutes.
    pub fine: Keep,
    /// Minutes: then they become hours.
    pub minute: Keep,
    /// Hours: then they are deleted; bytes are those of the store.
    pub hour: Keep,
    /// Sampled profiles of others: then they are deleted.
    pub sampled: Keep,
}

impl Default for Retention {
    fn default() -> Self {
        let age = |hours: u64| Keep { age: Some(Duration::from_secs(3600 * hours)), bytes: None };
        Self { fine: age(1), minute: age(48), hour: Keep::default(), sampled: Keep::default() }
    }
}

impl Retention {
    /// With what `TIER=AGE`, `TIER=BYTES` or `TIER=AGE|BYTES` says.
    pub fn with(mut self, text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is no retention: write fine=2h, minute=2d, hour=90d|20G or sampled=14d, an age, a size or both"
            )
        };
        let (tier, keep) = text.split_once('=').ok_or_else(wrong)?;
        let keep = keep.parse().map_err(|()| wrong())?;
        match tier {
            "fine" => self.fine = keep,
            "minute" => self.minute = keep,
            "hour" => self.hour = keep,
            "sampled" => self.sampled = keep,
            _ => return Err(wrong()),
        }
        Ok(self)
    }
}

impl FromStr for Keep {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut keep = Self::default();
        for word in text.split('|') {
            let digits = word.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
            let number: u64 = digits.parse().map_err(|_| ())?;
            let times = |unit: u64| number.checked_mul(unit).ok_or(());
            match &word[digits.len()..] {
                "s" => keep.age = Some(Duration::from_secs(number)),
                "m" | "min" => keep.age = Some(Duration::from_secs(times(60)?)),
                "h" => keep.age = Some(Duration::from_secs(times(3600)?)),
                "d" => keep.age = Some(Duration::from_secs(times(86_400)?)),
                "k" | "K" | "KB" | "kB" => keep.bytes = Some(times(1 << 10)?),
                "M" | "MB" => keep.bytes = Some(times(1 << 20)?),
                "G" | "GB" => keep.bytes = Some(times(1 << 30)?),
                "T" | "TB" => keep.bytes = Some(times(1 << 40)?),
                _ => return Err(()),
            }
        }
        // Two ages, or two sizes: nobody knows which is meant.
        let told = usize::from(keep.age.is_some()) + usize::from(keep.bytes.is_some());
        if told == text.split('|').count() { Ok(keep) } else { Err(()) }
    }
}

/// Makes old slices coarser, and deletes the oldest, for as long as the service runs.
pub async fn keep(service: Arc<Service>, retention: Retention) {
    loop {
        tokio::time::sleep(EVERY).await;
        if let Err(error) = once(&service, retention).await {
            tracing::warn!("old slices stay as they are: {error}");
        }
    }
}

async fn once(service: &Arc<Service>, retention: Retention) -> Result<(), Error> {
    for (tier, keep) in [(Tier::Minute, retention.fine), (Tier::Hour, retention.minute)] {
        let until = move |store: &mut dyn Engine| {
            let beyond = keep.bytes.map(|bytes| store.beyond(tier, bytes)).transpose()?.flatten();
            Ok(keep.age.map(ago).max(beyond))
        };
        let Some(until) = with_store(service, until).await? else { continue };
        let mut after = None;
        loop {
            let began = Instant::now();
            after = with_store(service, move |store| store.compact_next(tier, until, after)).await?;
            if after.is_none() {
                break;
            }
            // Frames that have come meanwhile go first.
            tokio::time::sleep(began.elapsed()).await;
        }
    }
    with_store(service, move |store| delete(store, retention)).await
}

/// Does something with the store in a thread for what takes long. When too many wait for one, it is done next time.
async fn with_store<T: Default + Send + 'static>(
    service: &Arc<Service>,
    act: impl FnOnce(&mut dyn Engine) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let here = service.clone();
    service.busy(move || act(&mut **here.writer())).await.unwrap_or_else(|_| Ok(T::default()))
}

/// The moment that is so long ago.
fn ago(age: Duration) -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.saturating_sub(age).as_nanos()).unwrap_or(i64::MAX)
}

fn delete(store: &mut dyn Engine, retention: Retention) -> Result<(), Error> {
    let nothing = |error: Error| match error {
        Error::Nothing { .. } | Error::Empty { .. } => Ok(()),
        error => Err(error),
    };
    if let Some(age) = retention.hour.age {
        let range = Range { since: i64::MIN, until: ago(age) };
        store.delete(&Query { range, ..Query::default() }).map(drop).or_else(nothing)?;
        store.delete_verdicts(range)?;
    }
    if retention.sampled != Keep::default() {
        let mut profiles = store.all_sampled(Range::default())?;
        profiles.sort_by_key(|facts| facts.ended);
        let since = retention.sampled.age.map_or(i64::MIN, ago);
        let (old, rest): (Vec<_>, Vec<_>) = profiles.into_iter().partition(|facts| facts.ended <= since);
        let mut doomed: Vec<String> = old.into_iter().map(|facts| facts.id).collect();
        doomed.extend(retention.sampled.bytes.map_or_else(Vec::new, |most| beyond_bytes(rest, most)));
        if !doomed.is_empty() {
            store.delete_sampled(&doomed)?;
        }
    }
    // Last: recordings go only for what is too much without all that.
    if let Some(bytes) = retention.hour.bytes {
        store.shrink(&Query::default(), bytes).map(drop).or_else(nothing)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_are_kept_by_age_by_size_or_by_both() {
        let of = |text: &str| Retention::default().with(text);
        assert_eq!(of("fine=2h").unwrap().fine, Keep { age: Some(Duration::from_secs(7200)), bytes: None });
        let both = Keep { age: Some(Duration::from_secs(172_800)), bytes: Some(20 << 30) };
        assert_eq!(of("fine=2d|20GB").unwrap().fine, both);
        assert_eq!(of("hour=512M").unwrap().hour, Keep { age: None, bytes: Some(512 << 20) });
        assert_eq!(of("hour=512M").unwrap().minute, Retention::default().minute);
        for text in [
            "",
            "fine",
            "fine=",
            "week=2d",
            "fine=2",
            "fine=2w",
            "fine=1h|3d",
            "fine=1h|2G|3G",
            "fine=-1d",
            "fine=99999999999999999999d",
        ] {
            assert!(of(text).is_err(), "{text}");
        }
    }
}
