//! What others scrape: a pprof profile of some seconds, and metrics.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;

use crate::live::Watcher;
use crate::shared::Service;
use crate::{answer, asked, openmetrics};

/// Longest profile that is waited for, in seconds.
const LONGEST: u64 = 600;

/// Until frames of the last moment are there.
const SETTLED: Duration = Duration::from_millis(600);

/// `GET /debug/pprof/diytrace?seconds=N`: what is counted in the seconds from now on.
pub async fn pprof(State(service): State<Arc<Service>>, Query(asked): Query<HashMap<String, String>>) -> Response {
    let Some(seconds) = profile_seconds(&asked) else { return wrong_seconds() };
    let Ok(_place) = service.profiles.try_acquire() else { return answer::busy() };
    // Agents send often while somebody watches.
    let watcher = Watcher::of(service.live.clone());
    let since = SystemTime::now();
    tokio::time::sleep(Duration::from_secs(seconds) + SETTLED).await;
    drop(watcher);
    let range = [("since", moment(since)), ("until", moment(since + Duration::from_secs(seconds) + SETTLED))];
    asked::answered(&service, "export/pprof".to_owned(), asked::with(asked, range)).await
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
