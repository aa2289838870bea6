//! Answers that every route has: errors as one sentence, and who is busy.

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::Response;
use diytrace_store::Error;

use crate::views::{Answer, Refusal, Why};

/// Most bytes of what others say of a request.
const MOST_SAID: usize = 64 << 10;

/// `{"error": "one sentence"}`.
pub fn error(status: StatusCode, sentence: &str) -> Response {
    let body = serde_json::json!({ "error": sentence }).to_string();
    let mut answer = of(status, "application/json", body);
    if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
        answer.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
    }
    answer
}

/// What an error of the store is to who asks.
pub fn status_of(error: &Error) -> StatusCode {
    match error {
        Error::Overlap { .. } => StatusCode::CONFLICT,
        Error::Unknown { .. } => StatusCode::PRECONDITION_REQUIRED,
        Error::Frame { .. } | Error::Label { .. } => StatusCode::BAD_REQUEST,
        Error::Full { .. } => StatusCode::FORBIDDEN,
        // A full disk may have room again, and who is away may come back.
        Error::Sqlite { .. } | Error::ClickHouse { .. } => StatusCode::SERVICE_UNAVAILABLE,
        error if error.is_away() => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// What a view has told.
pub fn told(told: Result<Answer, Refusal>) -> Response {
    match told {
        Ok(Answer { content_type, body }) => of(StatusCode::OK, content_type, body),
        Err(Refusal { why, sentence }) => {
            let status = match why {
                Why::Wrong => StatusCode::BAD_REQUEST,
                Why::Missing => StatusCode::NOT_FOUND,
                Why::Away => StatusCode::SERVICE_UNAVAILABLE,
            };
            error(status, &sentence)
        }
    }
}

/// Too many ask.
pub fn busy() -> Response {
    error(StatusCode::SERVICE_UNAVAILABLE, "too much is asked at once: come again")
}

/// What is wrong with a request is told in the same way by whoever finds it, extractors and routers too.
pub async fn as_json(answer: Response) -> Response {
    let status = answer.status();
    let is_json =
        answer.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/"));
    if is_json || !(status.is_client_error() || status.is_server_error()) {
        return answer;
    }
    let (head, body) = answer.into_parts();
    let said = axum::body::to_bytes(body, MOST_SAID).await.unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let sentence = match said.lines().next().map(str::trim) {
        Some(sentence) if !sentence.is_empty() => sentence,
        _ => status.canonical_reason().unwrap_or("it cannot be answered"),
    };
    let mut answer = error(status, sentence);
    if let Some(allowed) = head.headers.get(header::ALLOW) {
        answer.headers_mut().insert(header::ALLOW, allowed.clone());
    }
    answer
}

/// A body of a type.
pub fn of(status: StatusCode, content_type: &'static str, body: impl Into<Body>) -> Response {
    let mut answer = Response::new(body.into());
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(content_type));
    answer
}

/// JSON.
pub fn json(value: &serde_json::Value) -> Response {
    of(StatusCode::OK, "application/json", value.to_string())
}
