//! What an agent answers by itself: a pprof profile of the next seconds of what is recorded on its host, without a service.

use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use axum::{Router, middleware};
use tokio::sync::{Semaphore, watch};

use crate::access::{self, Guard};
use crate::scraped::{profile_seconds, wrong_seconds};
use crate::shared::Ending;
use crate::views::{Answer, Refusal};
use crate::{Error, Tokens, answer, connection};

/// Most profiles that are taken at once: each holds what all recordings had counted when it began.
const MOST: usize = 4;

/// What is told once its time is over.
pub type Counted = Box<dyn FnOnce() -> Result<Answer, Refusal> + Send>;

/// Who reads recordings.
pub trait Readings: Send + Sync + 'static {
    /// Reads all recordings; what it gives tells what they have counted since, as pprof.
    fn begin(&self) -> Counted;
}

struct Alone {
    readings: Arc<dyn Readings>,
    places: Semaphore,
}

/// Answers in a thread of its own, from now on until the process ends. Where it listens.
pub fn answer_alone(
    listen: SocketAddr,
    tokens: Option<Tokens>,
    readings: Arc<dyn Readings>,
) -> Result<SocketAddr, Error> {
    if tokens.is_none() && !listen.ip().is_loopback() {
        return Err(Error::Open { address: listen, option: "--listen-token-file" });
    }
    let failed = |source| Error::Listen { address: listen, source };
    let listener = TcpListener::bind(listen).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::System)?;
    let routes = Router::new()
        .route("/debug/pprof/diytrace", get(pprof))
        .route("/healthz", get(|| async { "ok\n" }))
        .fallback(|| async { answer::error(StatusCode::NOT_FOUND, "there is nothing of this name") })
        .layer(middleware::from_fn_with_state(Arc::new(Guard { tokens }), access::check))
        .with_state(Arc::new(Alone { readings, places: Semaphore::new(MOST) }));
    let serve = async move {
        let (_held, ending) = watch::channel(false);
        let listener = tokio::net::TcpListener::from_std(listener)?;
        connection::serve(listener, routes, Ending(ending)).await
    };
    let run = move || {
        if let Err(error) = runtime.block_on(serve) {
            tracing::warn!("profiles are not answered any more: {error}");
        }
    };
    thread::Builder::new().name("profiles".to_owned()).spawn(run).map_err(Error::System)?;
    Ok(address)
}

/// `GET /debug/pprof/diytrace?seconds=N`: what is counted in the seconds from now on.
async fn pprof(State(alone): State<Arc<Alone>>, Query(asked): Query<HashMap<String, String>>) -> Response {
    let Some(seconds) = profile_seconds(&asked) else { return wrong_seconds() };
    let Ok(_place) = alone.places.try_acquire() else { return answer::busy() };
    let readings = alone.readings.clone();
    let told = async {
        let counted = tokio::task::spawn_blocking(move || readings.begin()).await?;
        let (began, since) = (SystemTime::now(), Instant::now());
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        let took = since.elapsed();
        tokio::task::spawn_blocking(move || counted()?.timed(began, took)).await
    };
    match told.await {
        Ok(told) => answer::told(told),
        Err(_) => answer::error(StatusCode::INTERNAL_SERVER_ERROR, "the agent has failed in this: see its log"),
    }
}
