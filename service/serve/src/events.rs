//! Server-sent events for who watches.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::broadcast::error::RecvError;

use crate::answer;
use crate::live::Watcher;
use crate::shared::Service;

/// `GET /v1/live`.
pub async fn live(State(service): State<Arc<Service>>) -> Response {
    let Some(watcher) = Watcher::of(service.live.clone()) else {
        return answer::error(StatusCode::SERVICE_UNAVAILABLE, "too many watch already");
    };
    let events = stream::unfold((watcher, service.ending.clone()), |(mut watcher, ending)| async {
        let event = tokio::select! {
            event = watcher.events.recv() => event,
            () = ending.clone().cancelled() => return None,
        };
        let event = match event {
            Ok((kind, text)) => Event::default().event(kind).data(&*text),
            // What was missed is in the store.
            Err(RecvError::Lagged(missed)) => Event::default().event("missed").data(missed.to_string()),
            Err(RecvError::Closed) => return None,
        };
        Some((Ok::<_, Infallible>(event), (watcher, ending)))
    });
    let alive = KeepAlive::new().interval(Duration::from_secs(10));
    Sse::new(events).keep_alive(alive).into_response()
}
