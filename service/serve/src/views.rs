//! Views of what is in the store: whoever has the command line answers them, with its JSON.

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

/// Why a view has no answer.
#[derive(Debug)]
pub struct Refusal {
    /// Whether it asks for what there is not; else it asks what cannot be.
    pub is_missing: bool,
    /// One sentence.
    pub sentence: String,
}
