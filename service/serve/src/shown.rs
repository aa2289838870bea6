//! Runs of load that somebody has the page show: how they go, and what they have come to.
//!
//! They lie in memory, as all load does: whoever made a run has its report.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use diytrace_load::crew::Shown;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer;
use crate::shared::Service;

/// Most runs that are kept; the oldest goes.
const MOST: usize = 20;

/// Most letters of a run's name.
const MOST_LETTERS: usize = 100;

/// Whoever makes a run and tells nothing for so long is gone.
const SILENCE: Duration = Duration::from_secs(5);

/// Runs, the latest last.
#[derive(Default)]
pub struct Runs {
    all: Mutex<VecDeque<Run>>,
}

struct Run {
    name: String,
    started_unix_ns: u64,
    told: Instant,
    is_over: bool,
    /// As `load` writes it.
    document: Value,
}

impl Runs {
    fn all(&self) -> MutexGuard<'_, VecDeque<Run>> {
        // A run is put there as a whole.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, Shown { run: name, is_over, document }: Shown) {
        let told = Instant::now();
        let mut all = self.all();
        if let Some(known) = all.iter_mut().find(|known| known.name == name) {
            // What was sent before the report may come after it.
            if is_over || !known.is_over {
                (known.told, known.is_over, known.document) = (told, is_over, document);
            }
            return;
        }
        if all.len() >= MOST {
            all.pop_front();
        }
        let started_unix_ns = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
        all.push_back(Run { name, started_unix_ns, told, is_over, document });
    }
}

impl Run {
    /// Without its report.
    fn facts(&self) -> Value {
        json!({
            "run": self.name,
            "started_unix_ns": self.started_unix_ns,
            "state": self.state(),
            "target": self.document["target"],
            "summary": self.document["summary"],
        })
    }

    fn state(&self) -> &'static str {
        match self.is_over {
            true => "over",
            false if self.told.elapsed() > SILENCE => "lost",
            false => "running",
        }
    }
}

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
    service.shown.put(shown);
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
    let all = service.shown.all();
    let Some(name) = asked.run else {
        let runs: Vec<Value> = all.iter().rev().map(Run::facts).collect();
        return answer::json(&json!({ "runs": runs }));
    };
    match all.iter().find(|run| run.name == name) {
        Some(run) => {
            let mut facts = run.facts();
            facts["document"] = run.document.clone();
            answer::json(&facts)
        }
        None => {
            let why = "there is no such run: the service keeps the latest 20, and none after it was started again";
            answer::error(StatusCode::NOT_FOUND, why)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(run: &str, is_over: bool, sent: u64) -> Shown {
        Shown { run: run.to_owned(), is_over, document: json!({ "steps": [sent] }) }
    }

    #[test]
    fn a_report_stays_and_the_oldest_run_goes() {
        let runs = Runs::default();
        for (is_over, sent) in [(false, 1), (true, 3), (false, 2)] {
            runs.put(shown("a", is_over, sent));
        }
        {
            let all = runs.all();
            assert_eq!((all.len(), all[0].state(), &all[0].document["steps"][0]), (1, "over", &json!(3)));
        }
        (0..MOST).for_each(|number| runs.put(shown(&format!("b{number}"), false, 1)));
        let all = runs.all();
        assert_eq!((all.len(), all[0].name.as_str(), all[0].state()), (MOST, "b0", "running"));
    }
}
