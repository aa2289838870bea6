//! What the page is shown of load: whoever makes a run tells how it goes, and who looks asks for it.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use diytrace_load::crew::Shown;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer;
use crate::runs::MOST_LETTERS;
use crate::shared::Service;

/// `POST /v1/load/shown`: how a run goes, or what it has come to.
pub async fn tell(State(service): State<Arc<Service>>, body: Bytes) -> Response {
    let parsed = service.busy(move || serde_json::from_slice::<Shown>(&body)).await;
    let shown = match parsed {
        Ok(Ok(shown)) => shown,
        Ok(Err(error)) => {
            let place = (error.line(), error.column());
            let why = format!("that is no run of load (line {}, column {})", place.0, place.1);
            return answer::error(StatusCode::BAD_REQUEST, &why);
        }
        Err(busy) => return busy,
    };
    let is_one = shown.document["schema"] == diytrace_load::SCHEMA && shown.document["steps"].is_array();
    if !is_one || shown.run.is_empty() || shown.run.len() > MOST_LETTERS {
        return answer::error(StatusCode::BAD_REQUEST, "that is no run of load as `diytrace load` writes it");
    }
    let name = shown.run.clone();
    service.runs.put(shown);
    service.live.tell("load", &json!({ "run": name }));
    answer::json(&Value::Null)
}

/// Which run.
#[derive(Deserialize)]
pub struct Asked {
    run: Option<String>,
}

/// `GET /v1/load/shown`: all runs, the latest first; with `run`, that one and its report.
pub async fn look(State(service): State<Arc<Service>>, Query(asked): Query<Asked>) -> Response {
    let Some(name) = asked.run else {
        return answer::json(&json!({ "runs": service.runs.facts() }));
    };
    match service.runs.report(&name) {
        Some(run) => answer::json(&run),
        None => {
            let why = "there is no such run: the service keeps the latest 20, and none after it was started again";
            answer::error(StatusCode::NOT_FOUND, why)
        }
    }
}
