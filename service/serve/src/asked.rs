//! Requests for views.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::Response;

use crate::answer;
use crate::shared::Service;

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

/// `GET /v1/profiles`: which sampled profiles there are.
pub async fn profiles(
    State(service): State<Arc<Service>>,
    Query(parameters): Query<Vec<(String, String)>>,
) -> Response {
    answered(&service, "profiles".to_owned(), parameters).await
}

/// `GET /v1/samples/FORMAT`: sampled profiles for another tool.
pub async fn samples(
    State(service): State<Arc<Service>>,
    Path(format): Path<String>,
    Query(parameters): Query<Vec<(String, String)>>,
) -> Response {
    answered(&service, format!("samples/{format}"), parameters).await
}

/// `GET /v1/compare/FORMAT`: two selections of sampled profiles over each other.
pub async fn compare(
    State(service): State<Arc<Service>>,
    Path(format): Path<String>,
    Query(parameters): Query<Vec<(String, String)>>,
) -> Response {
    answered(&service, format!("compare/{format}"), parameters).await
}

/// A view's answer as that of a request.
pub async fn answered(service: &Arc<Service>, view: String, parameters: Vec<(String, String)>) -> Response {
    let views = service.views.clone();
    let done = service.busy(move || views.answer(&view, &parameters)).await;
    match done {
        Err(busy) => busy,
        Ok(told) => answer::told(told),
    }
}

/// What is told of a moment, for a view's parameters.
pub fn with(parameters: HashMap<String, String>, more: [(&str, String); 2]) -> Vec<(String, String)> {
    let more = more.into_iter().map(|(name, value)| (name.to_owned(), value));
    parameters.into_iter().filter(|(name, _)| name == "select").chain(more).collect()
}
