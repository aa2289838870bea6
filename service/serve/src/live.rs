//! Who watches, and what they are told: an event for each frame.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::broadcast::{Receiver, Sender, channel, error::RecvError};

use crate::answer;
use crate::service::Service;

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
    events: Sender<Arc<str>>,
    watchers: AtomicUsize,
}

impl Live {
    /// Nobody yet.
    pub fn new() -> Self {
        Self { events: channel(MOST_BEHIND).0, watchers: AtomicUsize::new(0) }
    }

    /// Tells those who watch.
    pub fn tell(&self, event: &serde_json::Value) {
        let _ = self.events.send(event.to_string().into()); // nobody may be there
    }

    /// How often agents are to send, in milliseconds.
    pub fn every_ms(&self) -> u64 {
        if self.watchers.load(Relaxed) > 0 { WATCHED_MS } else { UNWATCHED_MS }
    }
}

/// Somebody who watches, until they are gone.
pub struct Watcher {
    service: Arc<Service>,
    events: Receiver<Arc<str>>,
}

impl Watcher {
    /// One more; `None` if there are too many.
    pub fn of(service: Arc<Service>) -> Option<Self> {
        let events = service.live.events.subscribe();
        let before = service.live.watchers.fetch_add(1, Relaxed);
        let watcher = Self { service, events };
        (before < MOST_WATCHERS).then_some(watcher)
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.service.live.watchers.fetch_sub(1, Relaxed);
    }
}

/// `GET /v1/live`.
pub async fn live(State(service): State<Arc<Service>>) -> Response {
    let Some(watcher) = Watcher::of(service) else {
        return answer::error(StatusCode::SERVICE_UNAVAILABLE, "too many watch already");
    };
    let events = stream::unfold(watcher, |mut watcher| async {
        let ending = watcher.service.ending.clone();
        let event = tokio::select! {
            event = watcher.events.recv() => event,
            () = ending.cancelled() => return None,
        };
        let event = match event {
            Ok(text) => Event::default().event("frame").data(&*text),
            // What was missed is in the store.
            Err(RecvError::Lagged(missed)) => Event::default().event("missed").data(missed.to_string()),
            Err(RecvError::Closed) => return None,
        };
        Some((Ok::<_, Infallible>(event), watcher))
    });
    let alive = KeepAlive::new().interval(Duration::from_secs(10));
    Sse::new(events).keep_alive(alive).into_response()
}
