//! The service itself: what its routes share, from its start to its end.

use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Router, middleware};
use diytrace_store::{Address, Stored};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Semaphore, watch};
use tower_http::set_header::SetResponseHeaderLayer;

use crate::live::Live;
use crate::{Error, Retention, Tokens, Views, access, answer, frames, live, page, retention, scraped, views};

/// Most bytes of a request.
const MOST_BODY: usize = 64 << 20;

/// How many wait for a thread before others are asked to come again.
const MOST_WAITING: usize = 64;

/// How long open requests have when it ends.
const GRACE: Duration = Duration::from_secs(5);

/// Where and for whom.
pub struct Options {
    /// Where it listens.
    pub listen: SocketAddr,
    /// The store, which is made if it is missing.
    pub store: Address,
    /// What requests are to show; `None`: nothing, for who is on this machine.
    pub tokens: Option<Tokens>,
    /// How long slices stay.
    pub retention: Retention,
}

/// What has happened so far.
#[derive(Default)]
pub struct Counters {
    pub frames: AtomicU64,
    pub bytes: AtomicU64,
    pub calls: AtomicU64,
    pub refused: AtomicU64,
}

/// That it ends.
#[derive(Clone)]
pub struct Ending(watch::Receiver<bool>);

impl Ending {
    /// Comes when it ends.
    pub async fn cancelled(mut self) {
        let _ = self.0.wait_for(|ends| *ends).await; // whoever would say so is gone: that is the end, too
    }
}

/// What routes share.
pub struct Service {
    pub views: Arc<dyn Views>,
    pub live: Live,
    pub tokens: Option<Tokens>,
    /// Whether only this machine can reach it.
    pub is_local: bool,
    pub counters: Counters,
    pub ending: Ending,
    store: Mutex<Stored>,
    threads: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

impl Service {
    /// The store, for who writes.
    pub fn writer(&self) -> MutexGuard<'_, Stored> {
        // What a writer that panicked had begun is undone by the store.
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what takes long in a thread of its own, if not too many wait for one.
    pub async fn busy<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Response> {
        let busy = || answer::error(StatusCode::SERVICE_UNAVAILABLE, "too much is asked at once: come again");
        let place = self.waiting.clone().try_acquire_owned().map_err(|_| busy())?;
        let thread = self.threads.clone().acquire_owned().await.map_err(|_| busy())?;
        let done = tokio::task::spawn_blocking(move || {
            let _held = (place, thread);
            work()
        });
        done.await.map_err(|_| {
            answer::error(StatusCode::INTERNAL_SERVER_ERROR, "the service has failed in this: see its log")
        })
    }
}

/// Runs a service until SIGTERM or SIGINT; `ready` is told where it listens once it answers.
pub fn run(options: Options, views: Arc<dyn Views>, ready: impl FnOnce(SocketAddr)) -> Result<(), Error> {
    let Options { listen, store, tokens, retention } = options;
    if tokens.is_none() && !listen.ip().is_loopback() {
        return Err(Error::Open { address: listen });
    }
    let store = diytrace_store::open(&store, true)?;
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Error::System)?;
    let (end, ending) = watch::channel(false);
    let service = Arc::new(Service {
        views,
        live: Live::new(),
        is_local: listen.ip().is_loopback() && tokens.is_none(),
        tokens,
        counters: Counters::default(),
        ending: Ending(ending),
        store: Mutex::new(store),
        threads: Arc::new(Semaphore::new(threads)),
        waiting: Arc::new(Semaphore::new(MOST_WAITING)),
    });
    let served = runtime.block_on(async move {
        let failed = |source| Error::Listen { address: listen, source };
        let mut term = signal(SignalKind::terminate()).map_err(Error::System)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(Error::System)?;
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        ready(listener.local_addr().map_err(failed)?);
        let ending = service.ending.clone();
        tokio::spawn(retention::keep(service.clone(), retention));
        let server = axum::serve(listener, routes(service)).with_graceful_shutdown(ending.clone().cancelled());
        let mut server = std::pin::pin!(server.into_future());
        tokio::select! {
            served = &mut server => return served.map_err(Error::System),
            _ = term.recv() => {}
            _ = interrupt.recv() => {}
        }
        let _ = end.send(true); // everybody listens
        match tokio::time::timeout(GRACE, server).await {
            Ok(served) => served.map_err(Error::System),
            Err(_) => Ok(()), // who is slow is cut off
        }
    });
    runtime.shutdown_timeout(GRACE);
    served
}

fn routes(service: Arc<Service>) -> Router {
    let always = |name: HeaderName, value: &'static str| {
        SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value))
    };
    // What is exported is one file with all in it, and may do nothing but show itself.
    const PAGE: &str =
        "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
    const EXPORTED: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; sandbox \
                            allow-scripts allow-downloads";
    let policy = |answer: &Response| {
        let content_type = answer.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let is_own = answer.extensions().get::<page::Own>().is_some();
        let shows = content_type.is_some_and(|kind| kind.starts_with("text/html") || kind.starts_with("image/svg"));
        Some(HeaderValue::from_static(if shows && !is_own { EXPORTED } else { PAGE }))
    };
    Router::new()
        .route("/v1/frames", post(frames::frames))
        .route("/v1/names", post(frames::names))
        .route("/v1/live", get(live::live))
        .route("/v1/{view}", get(views::view))
        .route("/v1/export/{format}", get(views::export))
        .route("/debug/pprof/diytrace", get(scraped::pprof))
        .route("/metrics", get(scraped::metrics))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/", get(page::index))
        .route("/page/{file}", get(page::file))
        .fallback(|| async { answer::error(StatusCode::NOT_FOUND, "there is nothing of this name") })
        .layer(middleware::from_fn_with_state(service.clone(), access::check))
        .layer(DefaultBodyLimit::max(MOST_BODY))
        .layer(SetResponseHeaderLayer::if_not_present(header::CONTENT_SECURITY_POLICY, policy))
        .layer(always(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(always(header::REFERRER_POLICY, "no-referrer"))
        .layer(always(header::CACHE_CONTROL, "no-store"))
        .with_state(service)
}
