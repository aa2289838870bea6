//! Views of what is in the store: whoever has the command line answers them, with its JSON.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Who answers views.
pub trait Views: Send + Sync + 'static {
    /// The answer of a view, such as `report` or `export/pprof`, with parameters as the command line has them.
    fn answer(&self, view: &str, parameters: &[(String, String)]) -> Result<Answer, Refusal>;
}

/// A view's answer.
#[derive(Debug)]
pub struct Answer {
    /// What it is.
    pub content_type: &'static str,
    /// Its bytes.
    pub body: Vec<u8>,
}

impl Answer {
    /// A pprof profile that says of which time it is: whoever adds up several, or tells rates, asks for that.
    pub fn timed(self, began: SystemTime, took: Duration) -> Result<Self, Refusal> {
        let began = began.duration_since(UNIX_EPOCH).unwrap_or_default();
        let ns = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        let body = diytrace_pprof::with_time(&self.body, u64::MAX, ns(began), ns(took));
        let body = body.map_err(|error| Refusal { why: Why::Wrong, sentence: error.to_string() })?;
        Ok(Self { body, ..self })
    }
}

/// Kinds of reasons why a view has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It asks what cannot be.
    Wrong,
    /// It asks for what there is not.
    Missing,
    /// Who knows is away, and may come back: a database.
    Away,
}

/// Why a view has no answer.
#[derive(Debug)]
pub struct Refusal {
    /// Of which kind that is.
    pub why: Why,
    /// One sentence.
    pub sentence: String,
}
