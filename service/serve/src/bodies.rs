//! Bodies of requests: each is read whole before anybody looks at it, none is larger than it may be, none may take its time, and all that are on
//! their way have so much room together.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use tokio::sync::Semaphore;

use crate::answer;

/// Most bytes of one.
const MOST: usize = 64 << 20;

/// How long one may take, and how many bytes it may have for each second more.
const PATIENCE: Duration = Duration::from_secs(60);
const BYTES_A_SECOND: usize = 64 << 10;

/// The room for all that are on their way, or not answered yet.
#[derive(Clone)]
pub struct Bodies(Arc<Semaphore>);

impl Bodies {
    /// So many bytes.
    pub fn with_room(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes.min(Semaphore::MAX_PERMITS))))
    }
}

/// Reads a request's body, or says why not.
pub async fn read(State(Bodies(room)): State<Bodies>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let told = body.size_hint();
    // Who does not say how long it is may send as much as anybody.
    let size = usize::try_from(told.upper().unwrap_or(MOST as u64).max(told.lower())).unwrap_or(usize::MAX);
    if size == 0 {
        return next.run(Request::from_parts(head, body)).await;
    }
    if size > MOST {
        return too_large();
    }
    let Some(_room) = u32::try_from(size).ok().and_then(|size| room.try_acquire_many(size).ok()) else {
        return answer::busy();
    };
    let patience = PATIENCE + Duration::from_secs((size / BYTES_A_SECOND) as u64);
    match tokio::time::timeout(patience, to_bytes(body, MOST)).await {
        Ok(Ok(bytes)) => next.run(Request::from_parts(head, Body::from(bytes))).await,
        // Of one whose length nobody knew.
        Ok(Err(_)) if told.exact().is_none() => too_large(),
        Ok(Err(_)) => answer::error(StatusCode::BAD_REQUEST, "the request ends before all of it has come"),
        Err(_) => answer::error(StatusCode::REQUEST_TIMEOUT, "the request takes too long to come"),
    }
}

fn too_large() -> Response {
    answer::error(StatusCode::PAYLOAD_TOO_LARGE, &format!("a request has {} MiB at most", MOST >> 20))
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Bytes;
    use axum::middleware::from_fn_with_state;
    use axum::routing::post;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
    use tokio::time::Instant;

    use super::*;
    use crate::connection::connection;

    const ROOM: usize = MOST * 4;

    /// A service that tells how many bytes have come.
    fn routes() -> Router {
        let counted = |body: Bytes| async move { body.len().to_string() };
        Router::new().route("/", post(counted)).layer(from_fn_with_state(Bodies::with_room(ROOM), read))
    }

    /// Somebody who has sent a head, and this much of the body.
    async fn sender(routes: &Router, head: &str, body: &[u8]) -> DuplexStream {
        let (mut here, there) = tokio::io::duplex(4096);
        tokio::spawn(connection(there, routes.clone()));
        here.write_all(format!("POST / HTTP/1.1\r\nhost: here\r\nconnection: close\r\n{head}\r\n\r\n").as_bytes())
            .await
            .unwrap();
        here.write_all(body).await.unwrap();
        here
    }

    async fn answer(mut from: DuplexStream) -> String {
        let mut text = String::new();
        from.read_to_string(&mut text).await.unwrap();
        text
    }

    /// By a clock that goes on when nothing else does: it is the same on any machine.
    #[tokio::test(start_paused = true)]
    async fn who_does_not_send_what_was_told_is_not_waited_for() {
        let began = Instant::now();
        let slow = sender(&routes(), "content-length: 1000", b"x").await;
        let said = answer(slow).await;
        assert!(said.starts_with("HTTP/1.1 408") && said.contains("takes too long to come"), "{said}");
        assert!((PATIENCE..PATIENCE * 2).contains(&began.elapsed()), "{:?}", began.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn all_that_are_on_their_way_have_so_much_room_together() {
        let (routes, large) = (routes(), format!("content-length: {MOST}"));
        let mut waiting = Vec::new();
        for _ in 0..ROOM / MOST {
            waiting.push(sender(&routes, &large, b"x").await);
        }
        tokio::time::sleep(Duration::from_secs(1)).await; // they have been seen
        let said = answer(sender(&routes, "content-length: 1", b"x").await).await;
        assert!(said.starts_with("HTTP/1.1 503") && said.contains("retry-after: 1\r\n"), "{said}");
        // Who goes gives the room back.
        waiting.pop();
        tokio::time::sleep(Duration::from_secs(1)).await;
        let said = answer(sender(&routes, "content-length: 5", b"bytes").await).await;
        assert!(said.starts_with("HTTP/1.1 200") && said.ends_with("\r\n5"), "{said}");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_too_large_or_ends_early_is_said() {
        for (head, body, answered) in [
            (&*format!("content-length: {}", MOST + 1), &b"x"[..], "HTTP/1.1 413"),
            ("transfer-encoding: chunked", b"2\r\nab\r\n0\r\n\r\n", "HTTP/1.1 200"),
            ("content-length: 0", b"", "HTTP/1.1 200"),
        ] {
            let said = answer(sender(&routes(), head, body).await).await;
            assert!(said.starts_with(answered), "{head}: {said}");
        }
    }
}
