//! What agents send: frames and names, each into the store before it is answered.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use diytrace_store::{Error, Put, decode, decode_names};

use crate::answer;
use crate::arriving::Taken;
use crate::shared::Service;

/// Most bytes of a frame or names when they are inflated.
const MOST_INFLATED: u64 = 1 << 30;

/// `POST /v1/frames`.
pub async fn frames(State(service): State<Arc<Service>>, body: Bytes) -> Response {
    let bytes = body.len() as u64;
    let frame = match service.busy(move || decode(&body, MOST_INFLATED)).await {
        Err(busy) => return busy,
        Ok(Err(error)) => return refused(&service, &error),
        Ok(Ok(frame)) => frame,
    };
    let Some(mut told) = service.arriving.add(frame) else { return answer::busy() };
    let turn = service.arriving.turn.lock().await;
    // Whoever had the turn before may have put it in.
    let mut outcome = told.try_recv().ok();
    if outcome.is_none() {
        let here = service.clone();
        if let Err(busy) = service.busy(move || here.arriving.put(&mut **here.writer())).await {
            return busy;
        }
        outcome = told.try_recv().ok();
    }
    drop(turn);
    match outcome {
        Some(Ok(taken)) => answered(&service, bytes, &taken),
        Some(Err(error)) => refused(&service, &error),
        None => answer::busy(), // who put it in has failed
    }
}

fn answered(service: &Service, bytes: u64, taken: &Taken) -> Response {
    let Taken { frame, put, next } = taken;
    let counters = &service.counters;
    counters.frames.fetch_add(1, Relaxed);
    counters.bytes.fetch_add(bytes, Relaxed);
    let calls = frame.merged.groups.first().map_or(0, |group| group.calls);
    counters.calls.fetch_add(calls, Relaxed);
    let put = match put {
        Put::Added => "added",
        Put::Grown => "grown",
        Put::Known => "known",
    };
    let labels: serde_json::Value = serde_json::from_str(&frame.labels.to_json()).unwrap_or_default();
    service.live.tell(&serde_json::json!({
        "labels": labels, "session": frame.session, "sequence": frame.sequence, "put": put, "calls": calls,
        "started_unix_ns": frame.start, "ended_unix_ns": frame.end,
    }));
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
        StatusCode::CONFLICT | StatusCode::BAD_REQUEST => tracing::debug!("a frame was not taken: {error}"),
        _ => tracing::warn!("a frame was not taken: {error}"),
    }
    answer::error(status, &error.to_string())
}
