//! Who watches, and what they are told: an event for each frame, and for what is told of load.

use std::collections::HashMap;
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
    /// When the latest frame of each recording came, of those that have sent any lately.
    latest: Mutex<HashMap<String, Instant>>,
}

/// Until an agent that sends as seldom as nobody watches has sent a frame, and one more.
const UNTIL_ALL_KNOW: Duration = Duration::from_millis(UNWATCHED_MS + WATCHED_MS);

impl Live {
    /// Nobody yet.
    pub fn new() -> Self {
        Self {
            events: channel(MOST_BEHIND).0,
            watchers: AtomicUsize::new(0),
            since: Mutex::new(Instant::now()),
            latest: Mutex::default(),
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

    /// A frame of a recording has come.
    pub fn has_come(&self, session: &str) {
        let now = Instant::now();
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        match latest.get_mut(session) {
            Some(known) => *known = now,
            None => {
                latest.retain(|_, came| came.elapsed() < UNTIL_ALL_KNOW);
                latest.insert(session.to_owned(), now);
            }
        }
    }

    /// Whether all who send know that somebody watches: they learn it with the answer to their next frame, and send often from then on.
    /// A recording of which nothing has come for long sends when it counts, and learns it then.
    pub fn all_know(&self) -> bool {
        let since = *self.since.lock().unwrap_or_else(PoisonError::into_inner);
        let latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        since.elapsed() >= UNTIL_ALL_KNOW
            || latest.values().all(|came| *came >= since || came.elapsed() >= UNTIL_ALL_KNOW)
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
        live.has_come("one");
        live.has_come("other");
        let _watcher = Watcher::of(live.clone()).unwrap();
        assert!(!live.all_know(), "both send seldom until they have sent once more");
        live.has_come("one");
        assert!(!live.all_know(), "one does");
        live.has_come("other");
        assert!(live.all_know());
    }
}
