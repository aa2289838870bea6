//! Which sampled profiles there are, in the shape of its JSON. No profile is read for it.

use diytrace_store::SampledFacts;
use serde::Serialize;

/// Profiles. Fields may be added, none changed.
#[derive(Clone, Debug, Serialize)]
pub struct List {
    /// The name of the shape: `diytrace-sampled/1`.
    pub schema: &'static str,
    /// The profiles, by the moments at which they ended.
    pub profiles: Vec<SampledFacts>,
    /// Older ones that are left out.
    pub left_out: usize,
}

impl List {
    /// The latest of these, at most so many.
    pub fn of(mut profiles: Vec<SampledFacts>, limit: Option<usize>) -> Self {
        let left_out = profiles.len().saturating_sub(limit.unwrap_or(usize::MAX));
        profiles.drain(..left_out);
        Self { schema: "diytrace-sampled/1", profiles, left_out }
    }
}
