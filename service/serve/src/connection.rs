//! Connections: each is served until it ends, and none may take its time over what it asks.

use std::io;
use std::time::Duration;

use axum::Router;
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::shared::Ending;

/// How long a request's head may take, from when its connection could send it: who sends it byte by byte, or nothing at all, is
/// hung up on.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Serves whoever comes until it ends, and then those who are there until they have their answers.
pub async fn serve<L: Listener>(mut listener: L, routes: Router, ending: Ending) -> io::Result<()> {
    let open = GracefulShutdown::new();
    let mut ends = std::pin::pin!(ending.cancelled());
    loop {
        let stream = tokio::select! {
            (stream, _) = listener.accept() => stream,
            () = &mut ends => break,
        };
        tokio::spawn(open.watch(connection(stream, routes.clone())));
    }
    drop(listener);
    open.shutdown().await;
    Ok(())
}

/// A connection and what it asks.
pub fn connection<S>(stream: S, routes: Router) -> http1::Connection<TokioIo<S>, TowerToHyperService<Router>>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes))
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::Instant;

    use super::*;

    /// By a clock that goes on when nothing else does: it is the same on any machine.
    #[tokio::test(start_paused = true)]
    async fn who_sends_a_head_byte_by_byte_is_hung_up_on_and_others_are_answered() {
        let routes = Router::new().route("/", get(|| async { "ok" }));
        let (mut slow, theirs) = tokio::io::duplex(1024);
        let served = tokio::spawn(connection(theirs, routes.clone()));
        let began = Instant::now();
        let mut sent = 0;
        for byte in b"GET / HTTP/1.1\r\nhost: here\r\n".iter().chain(std::iter::repeat(&b'x')) {
            if slow.write_all(&[*byte]).await.is_err() {
                break;
            }
            sent += 1;
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        assert!(served.await.unwrap().is_err());
        assert!((PATIENCE..PATIENCE * 2).contains(&began.elapsed()), "{sent} bytes in {:?}", began.elapsed());

        let (mut quick, theirs) = tokio::io::duplex(1024);
        tokio::spawn(connection(theirs, routes));
        let mut answer = String::new();
        quick.write_all(b"GET / HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n").await.unwrap();
        quick.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}
