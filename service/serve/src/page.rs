//! The page: files that are part of the program.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;

use crate::answer;

/// That an answer is of the page itself.
#[derive(Clone, Copy)]
pub struct Own;

/// `GET /`.
pub async fn index() -> Response {
    let mut page = answer::of(StatusCode::OK, "text/html; charset=utf-8", include_str!("../page/index.html"));
    page.extensions_mut().insert(Own);
    page
}

/// `GET /page/FILE`.
pub async fn file(Path(name): Path<String>) -> Response {
    match name.as_str() {
        "page.js" => answer::of(StatusCode::OK, "text/javascript; charset=utf-8", include_str!("../page/page.js")),
        "page.css" => answer::of(StatusCode::OK, "text/css; charset=utf-8", include_str!("../page/page.css")),
        _ => answer::error(StatusCode::NOT_FOUND, "there is no such file"),
    }
}
