//! What agents send: frames and names, each into the store before it is answered.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use diytrace_store::{Error, Labels, Put, Received, apart, are_together, decode_names};
use serde::Serialize;
use serde_json::{Value, json};

use crate::answer;
use crate::arriving::Taken;
use crate::shared::Service;

/// Most bytes of a frame or names when they are inflated.
const MOST_INFLATED: u64 = 256 << 20;

/// What has fewer bytes is read where it came: that takes less time than another thread takes to wake up.
const SMALL: usize = 32 << 10;

/// `POST /v1/frames`.
pub async fn frames(State(service): State<Arc<Service>>, body: Bytes) -> Response {
    let bytes = body.len();
    if are_together(&body) {
        return together(&service, body).await;
    }
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

/// Frames of many recordings: each is answered for itself, by the status that it would have had alone.
async fn together(service: &Arc<Service>, body: Bytes) -> Response {
    let incoming = service.incoming.clone();
    let bytes = body.len();
    let decode = move || {
        let frames = apart(&body, MOST_INFLATED)?;
        Ok(frames.iter().map(|frame| (frame.len(), incoming.decode_one(frame))).collect::<Vec<_>>())
    };
    let read = match bytes <= SMALL {
        true => Ok(decode()),
        false => service.busy(decode).await,
    };
    let read = match read {
        Err(busy) => return busy,
        Ok(Err(error)) => return refused(service, &error),
        Ok(Ok(read)) => read,
    };
    // All are put in before the first is waited for: so they are few transactions.
    let put = |(bytes, frame): (usize, Result<Received, Error>)| {
        let service = service.clone();
        async move {
            let frame = match frame {
                Ok(frame) => frame,
                Err(error) => return no(&service, &error),
            };
            match service.arriving.put(frame, bytes).await {
                Some(Ok(taken)) => {
                    let put = tell(&service, bytes, &taken);
                    json!({ "status": 200, "put": put, "next": taken.next })
                }
                Some(Err(error)) => no(&service, &error),
                None => json!({ "status": 503 }),
            }
        }
    };
    let all = read.into_iter().map(|one| tokio::spawn(put(one))).collect::<Vec<_>>();
    let mut frames: Vec<Value> = Vec::with_capacity(all.len());
    for one in all {
        frames.push(one.await.unwrap_or_else(|_| json!({ "status": 500 })));
    }
    answer::json(&json!({ "frames": frames, "every_ms": service.live.every_ms() }))
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
    let put = tell(service, bytes, taken);
    answer::json(&json!({ "put": put, "next": taken.next, "every_ms": service.live.every_ms() }))
}

/// Tells those who watch of a frame that is in; what became of it.
fn tell(service: &Service, bytes: usize, taken: &Taken) -> &'static str {
    let Taken { frame, put, .. } = taken;
    let counters = &service.counters;
    counters.frames.fetch_add(1, Relaxed);
    counters.bytes.fetch_add(bytes as u64, Relaxed);
    let calls = frame.calls();
    counters.calls.fetch_add(calls, Relaxed);
    service.roots.add(frame, *put);
    service.live.has_come(&frame.session);
    let put = match put {
        Put::Added => "added",
        Put::Grown => "grown",
        Put::Known => "known",
        Put::Relabelled => "relabelled",
    };
    service.live.tell(
        "frame",
        &Event {
            labels: frame.labels(),
            session: &frame.session,
            sequence: frame.sequence,
            put,
            calls,
            started_unix_ns: frame.start,
            ended_unix_ns: frame.end,
        },
    );
    put
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
        Ok(Ok(())) => answer::json(&json!({ "put": "added" })),
    }
}

fn refused(service: &Service, error: &Error) -> Response {
    answer::error(note(service, error), &error.to_string())
}

/// The same of one among others.
fn no(service: &Service, error: &Error) -> Value {
    json!({ "status": note(service, error).as_u16(), "error": error.to_string() })
}

/// Notes that a frame was not taken; with which status.
fn note(service: &Service, error: &Error) -> StatusCode {
    service.counters.refused.fetch_add(1, Relaxed);
    let status = answer::status_of(error);
    match status {
        StatusCode::CONFLICT | StatusCode::PRECONDITION_REQUIRED | StatusCode::BAD_REQUEST => {
            tracing::debug!("a frame was not taken: {error}")
        }
        _ => tracing::warn!("a frame was not taken: {error}"),
    }
    status
}
