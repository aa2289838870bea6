//! Views of what is in the store: whoever has the command line answers them, with its JSON.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;

use crate::answer;
use crate::service::Service;

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

/// `GET /v1/VIEW`.
pub async fn view(
    State(service): State<Arc<Service>>,
    Path(view): Path<String>,
    Query(parameters): Query<Vec<(String, String)>>,
) -> Response {
    answered(&service, view, parameters).await
}

/// `GET /v1/export/FORMAT`.
pub async fn export(
    State(service): State<Arc<Service>>,
    Path(format): Path<String>,
    Query(parameters): Query<Vec<(String, String)>>,
) -> Response {
    answered(&service, format!("export/{format}"), parameters).await
}

/// A view's answer as that of a request.
pub async fn answered(service: &Arc<Service>, view: String, parameters: Vec<(String, String)>) -> Response {
    let views = service.views.clone();
    let done = service.busy(move || views.answer(&view, &parameters)).await;
    match done {
        Err(busy) => busy,
        Ok(Ok(Answer { content_type, body })) => answer::of(StatusCode::OK, content_type, body),
        Ok(Err(Refusal { is_missing, sentence })) => {
            let status = if is_missing { StatusCode::NOT_FOUND } else { StatusCode::BAD_REQUEST };
            answer::error(status, &sentence)
        }
    }
}

/// What is told of a moment, for a view's parameters.
pub fn with(parameters: HashMap<String, String>, more: [(&str, String); 2]) -> Vec<(String, String)> {
    let more = more.into_iter().map(|(name, value)| (name.to_owned(), value));
    parameters.into_iter().filter(|(name, _)| name == "select").chain(more).collect()
}
