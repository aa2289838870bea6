//! Who watches, and what they are told: an event for each frame, and for what is told of load.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio::sync::broadcast::{Receiver, Sender, channel};

/// Between frames while somebody watches, in milliseconds.
const WATCHED_MS: u64 = 250;

/// And while nobody does.
const UNWATCHED_MS: u64 = 10_000;

/// Events that somebody who reads slowly may be behind.
const MOST_BEHIND: usize = 256;

/// Most who watch at once.
const MOST_WATCHERS: usize = 256;

/// Who watches.
pub struct Live {
    events: Sender<(&'static str, Arc<str>)>,
    watchers: AtomicUsize,
    /// Since when somebody has watched without a pause.
    since: Mutex<Instant>,
    /// When the last frame came that was of more than [`SHORT`].
    long: Mutex<Option<Instant>>,
}

/// What is no longer was sent by an agent that sends often.
const SHORT: Duration = Duration::from_secs(1);

/// Until an agent that sends as seldom as nobody watches has sent a frame, and one more.
const UNTIL_ALL_KNOW: Duration = Duration::from_millis(UNWATCHED_MS + WATCHED_MS);

impl Live {
    /// Nobody yet.
    pub fn new() -> Self {
        Self {
            events: channel(MOST_BEHIND).0,
            watchers: AtomicUsize::new(0),
            since: Mutex::new(Instant::now()),
            long: Mutex::default(),
        }
    }

    /// Tells those who watch: an event of a kind.
    pub fn tell(&self, kind: &'static str, event: &impl Serialize) {
        if self.watchers.load(Relaxed) == 0 {
            return;
        }
        let text = serde_json::to_string(event).unwrap_or_default(); // of text and numbers only
        let _ = self.events.send((kind, text.into())); // whoever was there may have gone
    }

    /// A frame has come, of so long.
    pub fn has_come(&self, span: Duration) {
        if span > SHORT {
            *self.long.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        }
    }

    /// How long it takes until all that agents send is short, while somebody watches: they learn that with the answer to their next frame.
    pub fn settles_in(&self) -> Duration {
        let long = *self.long.lock().unwrap_or_else(PoisonError::into_inner);
        let since = *self.since.lock().unwrap_or_else(PoisonError::into_inner);
        match long {
            Some(long) if long.elapsed() < UNTIL_ALL_KNOW => UNTIL_ALL_KNOW.saturating_sub(since.elapsed()),
            _ => Duration::ZERO,
        }
    }

    /// How often agents are to send, in milliseconds.
    pub fn every_ms(&self) -> u64 {
        if self.watchers.load(Relaxed) > 0 { WATCHED_MS } else { UNWATCHED_MS }
    }
}

/// Somebody who watches, until they are gone.
pub struct Watcher {
    live: Arc<Live>,
    /// What they are told.
    pub events: Receiver<(&'static str, Arc<str>)>,
}

impl Watcher {
    /// One more; `None` if there are too many.
    pub fn of(live: Arc<Live>) -> Option<Self> {
        let events = live.events.subscribe();
        let before = live.watchers.fetch_add(1, Relaxed);
        if before == 0 {
            *live.since.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        }
        let watcher = Self { live, events };
        (before < MOST_WATCHERS).then_some(watcher)
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.live.watchers.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_learn_that_somebody_watches_with_their_next_frame() {
        let live = Arc::new(Live::new());
        let _watcher = Watcher::of(live.clone()).unwrap();
        live.has_come(Duration::from_millis(300));
        assert_eq!(live.settles_in(), Duration::ZERO, "all send often");
        live.has_come(Duration::from_secs(10));
        let left = live.settles_in();
        assert!(left > Duration::ZERO && left <= UNTIL_ALL_KNOW, "{left:?}");
    }
}
