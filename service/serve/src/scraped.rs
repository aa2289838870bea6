//! What others scrape: a pprof profile of some seconds, and metrics.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;

use crate::live::Watcher;
use crate::shared::Service;
use crate::{answer, asked, openmetrics};

/// Longest profile that is waited for, in seconds.
const LONGEST: u64 = 600;

/// How often it is looked whether all agents know that somebody watches.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A profile is of no less: of that, two or three frames tell.
const LEAST: Duration = Duration::from_millis(700);

/// Until frames of the last moment are there.
const SETTLED: Duration = Duration::from_millis(600);

/// How much longer than the seconds that were asked for anybody waits: `go tool pprof` does half of them.
const PATIENCE: f64 = 1.4;

/// `GET /debug/pprof/diytrace?seconds=N`: what is counted in the seconds from now on.
pub async fn pprof(State(service): State<Arc<Service>>, Query(asked): Query<HashMap<String, String>>) -> Response {
    let Some(seconds) = profile_seconds(&asked) else { return wrong_seconds() };
    let Ok(_place) = service.profiles.try_acquire() else { return answer::busy() };
    // Agents send often while somebody watches, and until then what they send is of ten seconds: all of it would be told as of the seconds that are asked
    // for. So those begin when all have sent once more, and whoever asks waits longer, but no longer than `go tool pprof` does.
    let Some(watcher) = Watcher::of(service.live.clone()) else { return answer::busy() };
    let (seconds, asked_at) = (Duration::from_secs(seconds), Instant::now());
    let longest = seconds.mul_f64(PATIENCE);
    while !service.live.all_know() && asked_at.elapsed() < longest {
        tokio::time::sleep(LOOK_EVERY).await;
    }
    let left = seconds.min(longest.saturating_sub(asked_at.elapsed()));
    if left < LEAST {
        let sentence = "nobody has looked lately, so agents send every ten seconds: ask for ten seconds at least, or once more in ten seconds while a page is open";
        return answer::error(StatusCode::SERVICE_UNAVAILABLE, sentence);
    }
    let began = SystemTime::now();
    tokio::time::sleep(left + SETTLED).await;
    drop(watcher);
    // Frames count when they end: of the first one a part is from before, and of the last one a part is left out.
    let range = [("since", moment(began)), ("until", moment(began + left))];
    let (views, parameters) = (service.views.clone(), asked::with(asked, range));
    let told = service.busy(move || views.answer("export/pprof", &parameters)?.timed(began, left));
    told.await.map_or_else(|busy| busy, answer::told)
}

/// How long a profile is asked for.
pub fn profile_seconds(asked: &HashMap<String, String>) -> Option<u64> {
    let seconds = asked.get("seconds").map_or(Ok(10), |text| text.parse::<u64>());
    seconds.ok().filter(|seconds| (1..=LONGEST).contains(seconds))
}

/// What is said if that is none.
pub fn wrong_seconds() -> Response {
    answer::error(StatusCode::BAD_REQUEST, &format!("seconds is a number from 1 to {LONGEST}"))
}

/// In seconds since 1970, as the command line takes moments.
fn moment(time: SystemTime) -> String {
    let since_1970 = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("@{}.{:09}", since_1970.as_secs(), since_1970.subsec_nanos())
}

/// `GET /metrics`, in OpenMetrics.
pub async fn metrics(State(service): State<Arc<Service>>) -> Response {
    let here = service.clone();
    let told = service.busy(move || openmetrics::written(&here)).await;
    match told {
        Ok(text) => answer::of(StatusCode::OK, "application/openmetrics-text; version=1.0.0; charset=utf-8", text),
        Err(busy) => busy,
    }
}
