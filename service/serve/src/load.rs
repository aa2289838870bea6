//! Load that workers make: these ask what to do and tell what they have sent, and whoever wants load looks on.
//!
//! All of it lies in memory: load is over when the service is. Everything is asked by POST, as all of it changes something, if only when
//! somebody was heard of last.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use diytrace_load::crew::{Ask, Begun, Board, Frame, Go, Heard, Look, Named, Refusal, State as Prepared, Submitted};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::answer;
use crate::shared::Service;
use crate::shown;

/// A worker's question is answered no later, if there is nothing new: so its connection tells whether it lives.
const HELD: Duration = Duration::from_millis(500);

/// Most bytes of what is to be sent: requests, and what they carry.
const MOST_JOB: usize = 32 << 20;

/// Most bytes of a frame: three histograms and a hundred slices, all of whose bins have something.
const MOST_FRAME: usize = 8 << 20;

/// Most bytes of a run's report.
const MOST_REPORT: usize = 4 << 20;

/// Most bytes of what has a few words.
const MOST_WORDS: usize = 64 << 10;

/// The routes.
pub fn routes() -> Router<Arc<Service>> {
    let words = DefaultBodyLimit::max(MOST_WORDS);
    Router::new()
        .route("/v1/load/workers", get(workers).post(ask).layer(words))
        .route("/v1/load/prepared", post(prepared).layer(words))
        .route("/v1/load/frames", post(frames).layer(DefaultBodyLimit::max(MOST_FRAME)))
        .route("/v1/load/runs", post(begin).layer(DefaultBodyLimit::max(MOST_JOB)))
        .route("/v1/load/go", post(go).layer(words))
        .route("/v1/load/alive", post(alive).layer(words))
        .route("/v1/load/look", post(look).layer(words))
        .route("/v1/load/stop", post(stop).layer(words))
        .route("/v1/load/end", post(end).layer(words))
        .route("/v1/load/shown", get(shown::look).post(shown::tell).layer(DefaultBodyLimit::max(MOST_REPORT)))
}

/// `GET /v1/load/workers`: who is there.
async fn workers(State(service): State<Arc<Service>>) -> Response {
    let names = service.load.board().names(service.load.now());
    answer::json(&serde_json::json!({ "workers": names }))
}

/// `POST /v1/load/workers`: a worker asks what there is to do, and waits for something new.
async fn ask(State(service): State<Arc<Service>>, body: Bytes) -> Response {
    let received = service.load.now();
    let ask: Ask = match read(&body) {
        Ok(ask) => ask,
        Err(why) => return not_read(&why),
    };
    let mut waiting = Waiting { service: &service, worker: &ask.worker, is_answered: false };
    let mut changed = service.load.changed.subscribe();
    let until = tokio::time::Instant::now() + HELD;
    loop {
        let now = service.load.now();
        let asked = service.load.board().ask(now, &ask);
        let is_time = tokio::time::Instant::now() >= until;
        match asked {
            Ok(order) if order.task.is_none() && !is_time && !service.ending.has_come() => {}
            Ok(mut order) => {
                waiting.is_answered = true;
                order.clock = (received, service.load.now());
                return said(&order);
            }
            Err(refusal) => {
                waiting.is_answered = true;
                return refused(refusal);
            }
        }
        tokio::select! {
            _ = changed.changed() => {}
            () = tokio::time::sleep_until(until) => {}
            () = service.ending.clone().cancelled() => {}
        }
    }
}

/// A worker that waits for an answer: if it goes before there is one, that is noticed at once.
struct Waiting<'a> {
    service: &'a Service,
    worker: &'a str,
    is_answered: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.service.load.board().away(self.service.load.now(), self.worker);
        }
    }
}

/// `POST /v1/load/prepared`: a worker can drive a server, or cannot.
async fn prepared(State(service): State<Arc<Service>>, body: Bytes) -> Response {
    told(&service, &body, |board, now, state: Prepared| board.prepared(now, state).map(|()| false))
}

/// `POST /v1/load/frames`: what a worker has sent since it told the last.
async fn frames(State(service): State<Arc<Service>>, body: Bytes) -> Response {
    told(&service, &body, |board, now, frame: Frame| board.frame(now, frame))
}

/// What a worker tells; the answer says whether nobody waits for more.
fn told<T: DeserializeOwned>(
    service: &Service,
    body: &Bytes,
    take: impl FnOnce(&mut Board, u64, T) -> Result<bool, Refusal>,
) -> Response {
    let received = service.load.now();
    let text = match read(body) {
        Ok(text) => text,
        Err(why) => return not_read(&why),
    };
    let taken = take(&mut service.load.board(), service.load.now(), text);
    match taken {
        Ok(is_over) => said(&Heard { clock: (received, service.load.now()), is_over }),
        Err(refusal) => refused(refusal),
    }
}

/// `POST /v1/load/runs`: load is wanted.
async fn begin(State(service): State<Arc<Service>>, body: Bytes) -> Response {
    let parsed = service.busy(move || read::<Submitted>(&body)).await;
    let submitted = match parsed {
        Ok(Ok(submitted)) => submitted,
        Ok(Err(why)) => return not_read(&why),
        Err(busy) => return busy,
    };
    // The address may have a password, and is not told.
    asked(&service, |board, now| board.begin(now, submitted).map(|run| Begun { run }))
}

/// `POST /v1/load/go`: its workers are to begin.
async fn go(State(service): State<Arc<Service>>, body: Bytes) -> Response {
    match read::<Go>(&body) {
        Ok(go) => asked(&service, |board, now| board.go(now, &go)),
        Err(why) => not_read(&why),
    }
}

/// `POST /v1/load/look`: how it goes.
async fn look(State(service): State<Arc<Service>>, body: Bytes) -> Response {
    match read::<Look>(&body) {
        Ok(look) => answered(service.load.board().look(service.load.now(), &look)),
        Err(why) => not_read(&why),
    }
}

/// `POST /v1/load/alive`: somebody still wants it.
async fn alive(State(service): State<Arc<Service>>, body: Bytes) -> Response {
    match read::<Named>(&body) {
        Ok(named) => answered(service.load.board().alive(service.load.now(), &named.run)),
        Err(why) => not_read(&why),
    }
}

/// `POST /v1/load/stop`: its workers are to end what they do.
async fn stop(State(service): State<Arc<Service>>, body: Bytes) -> Response {
    match read::<Named>(&body) {
        Ok(named) => asked(&service, |board, now| board.stop(now, &named.run)),
        Err(why) => not_read(&why),
    }
}

/// `POST /v1/load/end`: nobody wants more of it.
async fn end(State(service): State<Arc<Service>>, body: Bytes) -> Response {
    match read::<Named>(&body) {
        Ok(named) => asked(&service, |board, _| {
            board.end(&named.run);
            Ok(())
        }),
        Err(why) => not_read(&why),
    }
}

/// What whoever wants load asks; workers have something new to do after it.
fn asked<T: Serialize>(service: &Service, ask: impl FnOnce(&mut Board, u64) -> Result<T, Refusal>) -> Response {
    let done = ask(&mut service.load.board(), service.load.now());
    service.load.changed.send_replace(());
    answered(done)
}

fn answered<T: Serialize>(done: Result<T, Refusal>) -> Response {
    match done {
        Ok(text) => said(&text),
        Err(refusal) => refused(refusal),
    }
}

/// What a body says, or why that is nothing.
fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| {
        // Where it is wrong is told, and nothing of what is there.
        format!("that is nothing that workers say (line {}, column {})", error.line(), error.column())
    })
}

fn not_read(why: &str) -> Response {
    answer::error(StatusCode::BAD_REQUEST, why)
}

fn said(text: &impl Serialize) -> Response {
    match serde_json::to_string(text) {
        Ok(text) => answer::of(StatusCode::OK, "application/json", text),
        Err(error) => {
            answer::error(StatusCode::INTERNAL_SERVER_ERROR, &format!("there are no words for that: {error}"))
        }
    }
}

fn refused(refusal: Refusal) -> Response {
    let status = match refusal {
        Refusal::NoWorkers | Refusal::Busy | Refusal::AllGone => StatusCode::CONFLICT,
        Refusal::UnknownRun => StatusCode::NOT_FOUND,
        Refusal::TooMany => StatusCode::TOO_MANY_REQUESTS,
        Refusal::NoFrame | Refusal::NoLoad(_) => StatusCode::BAD_REQUEST,
    };
    answer::error(status, &refusal.to_string())
}
