//! Who may ask: by tokens, by the name that a browser has for us, and no page of others.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::tokens::Permission;
use crate::{Tokens, answer};

/// Who is let in.
pub struct Guard {
    /// What requests are to show; `None`: nothing, as only this machine can reach it.
    pub tokens: Option<Tokens>,
}

/// Lets a request in, or says why not.
pub async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    // A page somewhere may have a name that leads to us: what asks by that name is not ours.
    if guard.tokens.is_none() && !is_loopback(host) {
        return answer::error(StatusCode::FORBIDDEN, "this service is asked by its address on this machine only");
    }
    if let Some(origin) = headers.get(header::ORIGIN) {
        let origin = origin.to_str().unwrap_or_default();
        if origin.split_once("://").is_none_or(|(_, asking)| asking != host) {
            return answer::error(StatusCode::FORBIDDEN, "pages of others may not ask this service");
        }
    }
    // Questions that are sent as POST change nothing.
    let asks = request.uri().path().starts_with("/querier.v1.");
    let method = if asks { &Method::GET } else { request.method() };
    let is_public = matches!(request.uri().path(), "/" | "/healthz") || request.uri().path().starts_with("/page/");
    let permission = match &guard.tokens {
        Some(tokens) if !is_public => tokens.let_in(method, headers),
        _ => Permission::Granted,
    };
    let what = if *method == Method::GET { "read" } else { "write" };
    match permission {
        Permission::Granted => next.run(request).await,
        Permission::Denied => {
            answer::error(StatusCode::FORBIDDEN, &format!("this token may not {what}: show one that may"))
        }
        Permission::Unknown => answer::error(
            StatusCode::UNAUTHORIZED,
            &format!("show a token that may {what}: Authorization: Bearer TOKEN"),
        ),
    }
}

fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_machine_are_known() {
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:7070", "[::1]:7070", "127.9.9.9"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["", "evil.example", "localhost.evil.example:7070", "10.0.0.1", "[fe80::1]:1"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
