//! Who watches, and what they are told: an event for each frame, and for what is told of load.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

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
}

impl Live {
    /// Nobody yet.
    pub fn new() -> Self {
        Self { events: channel(MOST_BEHIND).0, watchers: AtomicUsize::new(0) }
    }

    /// Tells those who watch: an event of a kind.
    pub fn tell(&self, kind: &'static str, event: &impl Serialize) {
        if self.watchers.load(Relaxed) == 0 {
            return;
        }
        let text = serde_json::to_string(event).unwrap_or_default(); // of text and numbers only
        let _ = self.events.send((kind, text.into())); // whoever was there may have gone
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
        let watcher = Self { live, events };
        (before < MOST_WATCHERS).then_some(watcher)
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.live.watchers.fetch_sub(1, Relaxed);
    }
}
