//! What agents send: frames and names, each into the store before it is answered.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use diytrace_store::{Error, Labels, Put, decode_names};
use serde::Serialize;

use crate::answer;
use crate::arriving::Taken;
use crate::shared::Service;

/// Most bytes of a frame or names when they are inflated.
const MOST_INFLATED: u64 = 1 << 30;

/// What has fewer bytes is read where it came: that takes less time than another thread takes to wake up.
const SMALL: usize = 32 << 10;

/// `POST /v1/frames`.
pub async fn frames(State(service): State<Arc<Service>>, body: Bytes) -> Response {
    let bytes = body.len();
    let read = match bytes <= SMALL {
        true => Ok(service.incoming.decode(&body, MOST_INFLATED)),
        false => {
            let incoming = service.incoming.clone();
            service.busy(move || incoming.decode(&body, MOST_INFLATED)).await
        }
    };
    let frame = match read {
        Err(busy) => return busy,
        Ok(Err(error)) => return refused(&service, &error),
        Ok(Ok(frame)) => frame,
    };
    match service.arriving.put(frame, bytes).await {
        Some(Ok(taken)) => answered(&service, bytes, &taken),
        Some(Err(error)) => refused(&service, &error),
        None => answer::busy(),
    }
}

/// What those who watch are told of a frame.
#[derive(Serialize)]
struct Event<'a> {
    labels: &'a Labels,
    session: &'a str,
    sequence: u64,
    put: &'a str,
    calls: u64,
    started_unix_ns: i64,
    ended_unix_ns: i64,
}

fn answered(service: &Service, bytes: usize, taken: &Taken) -> Response {
    let Taken { frame, put, next } = taken;
    let counters = &service.counters;
    counters.frames.fetch_add(1, Relaxed);
    counters.bytes.fetch_add(bytes as u64, Relaxed);
    let calls = frame.merged.groups.first().map_or(0, |group| group.calls);
    counters.calls.fetch_add(calls, Relaxed);
    let put = match put {
        Put::Added => "added",
        Put::Grown => "grown",
        Put::Known => "known",
    };
    service.live.tell(&Event {
        labels: &frame.labels,
        session: &frame.session,
        sequence: frame.sequence,
        put,
        calls,
        started_unix_ns: frame.start,
        ended_unix_ns: frame.end,
    });
    answer::json(&serde_json::json!({ "put": put, "next": next, "every_ms": service.live.every_ms() }))
}

/// `POST /v1/names`.
pub async fn names(State(service): State<Arc<Service>>, body: Bytes) -> Response {
    let here = service.clone();
    let done = service.busy(move || {
        let names = decode_names(&body, MOST_INFLATED)?;
        here.writer().put_symbols(&names.module, names.symbols)
    });
    match done.await {
        Err(busy) => busy,
        Ok(Err(error)) => refused(&service, &error),
        Ok(Ok(())) => answer::json(&serde_json::json!({ "put": "added" })),
    }
}

fn refused(service: &Service, error: &Error) -> Response {
    service.counters.refused.fetch_add(1, Relaxed);
    let status = answer::status_of(error);
    match status {
        StatusCode::CONFLICT | StatusCode::PRECONDITION_REQUIRED | StatusCode::BAD_REQUEST => {
            tracing::debug!("a frame was not taken: {error}")
        }
        _ => tracing::warn!("a frame was not taken: {error}"),
    }
    answer::error(status, &error.to_string())
}
