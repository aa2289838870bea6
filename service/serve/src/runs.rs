//! Runs of load that somebody has the page show: how they go, and what they have come to.
//!
//! They lie in memory, as all load does: whoever made a run has its report.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use diytrace_load::crew::Shown;
use serde_json::{Value, json};

/// Most runs that are kept; the oldest goes.
const MOST: usize = 20;

/// Most letters of a run's name.
pub const MOST_LETTERS: usize = 100;

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

    /// Puts one there, or what has become of it since.
    pub fn put(&self, Shown { run: name, is_over, document }: Shown) {
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

impl Runs {
    /// All, the latest first, without their reports.
    pub fn facts(&self) -> Vec<Value> {
        self.all().iter().rev().map(Run::facts).collect()
    }

    /// One and its report.
    pub fn report(&self, name: &str) -> Option<Value> {
        let all = self.all();
        let run = all.iter().find(|run| run.name == name)?;
        let mut facts = run.facts();
        facts["document"] = run.document.clone();
        Some(facts)
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
