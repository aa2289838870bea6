//! The service itself: its routes, from its start to its end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Router, middleware};
use diytrace_store::Address;
use futures_util::FutureExt;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tower_http::set_header::SetResponseHeaderLayer;

use crate::access::Guard;
use crate::bodies::Bodies;
use crate::memory::Memory;
use crate::shared::{Ending, Service};
use crate::tls::Secure;
use crate::{
    Error, Retention, Tls, Tokens, Views, access, answer, asked, bodies, connection, events, frames, load, page,
    querier, retention, sampled, scraped,
};

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
    /// For what it remembers, and for what waits.
    pub memory: Memory,
    /// The certificate that it shows; `None`: it speaks plain HTTP.
    pub tls: Option<Tls>,
}

/// Runs a service until SIGTERM or SIGINT; `ready` is told where it listens once it answers.
pub fn run(options: Options, views: Arc<dyn Views>, ready: impl FnOnce(SocketAddr)) -> Result<(), Error> {
    let Options { listen, store, tokens, retention, memory, tls } = options;
    if tokens.is_none() && !listen.ip().is_loopback() {
        return Err(Error::Open { address: listen, option: "--token-file" });
    }
    let acceptor = tls.as_ref().map(Tls::acceptor).transpose()?;
    let store = diytrace_store::open(&store, true)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Error::System)?;
    let (end, ending) = watch::channel(false);
    let service = Arc::new(Service::new(store, views, memory, Ending(ending)).map_err(Error::System)?);
    let bodies = Bodies::with_room(memory.bodies());
    let guard = Arc::new(Guard { tokens });
    let served = runtime.block_on(async move {
        let failed = |source| Error::Listen { address: listen, source };
        let mut term = signal(SignalKind::terminate()).map_err(Error::System)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(Error::System)?;
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        ready(listener.local_addr().map_err(failed)?);
        let ending = service.ending.clone();
        tokio::spawn(retention::keep(service.clone(), retention));
        let served = match acceptor {
            None => connection::serve(listener, routes(service, guard, bodies), ending).boxed(),
            Some(acceptor) => {
                let secure = Secure::new(listener, acceptor).map_err(failed)?;
                connection::serve(secure, routes(service, guard, bodies), ending).boxed()
            }
        };
        let mut server = std::pin::pin!(served);
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

/// Whether what agents send can be put into the store: as it was when that was tried last.
async fn healthz(State(service): State<Arc<Service>>) -> Response {
    let unwell = |sentence: &str| answer::error(StatusCode::SERVICE_UNAVAILABLE, sentence);
    match service.arriving.trouble() {
        _ if !service.arriving.is_alive() => {
            unwell("nothing is put into the store any more: see the log, and start the service again")
        }
        Some(error) => unwell(&format!("frames cannot be put into the store: {error}")),
        None => answer::of(StatusCode::OK, "text/plain; charset=utf-8", "ok\n"),
    }
}

fn routes(service: Arc<Service>, guard: Arc<Guard>, bodies: Bodies) -> Router {
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
        .route("/v1/live", get(events::live))
        .route("/v1/profiles", get(asked::profiles).post(sampled::push))
        .route("/v1/scrape", post(sampled::scrape))
        .route("/v1/samples/{format}", get(asked::samples))
        .route("/v1/compare/{format}", get(asked::compare))
        .route("/querier.v1.QuerierService/{method}", post(querier::ask))
        .route("/ingest", post(sampled::ingest))
        .merge(load::routes())
        .route("/v1/{view}", get(asked::view))
        .route("/v1/export/{format}", get(asked::export))
        .route("/debug/pprof/diytrace", get(scraped::pprof))
        .route("/metrics", get(scraped::metrics))
        .route("/healthz", get(healthz))
        .route("/", get(page::index))
        .route("/page/{file}", get(page::file))
        .fallback(|| async { answer::error(StatusCode::NOT_FOUND, "there is nothing of this name") })
        .layer(middleware::map_response(answer::as_json))
        .layer(DefaultBodyLimit::disable()) // they are bounded here:
        .layer(middleware::from_fn_with_state(bodies, bodies::read))
        .layer(middleware::from_fn_with_state(guard, access::check))
        .layer(SetResponseHeaderLayer::if_not_present(header::CONTENT_SECURITY_POLICY, policy))
        .layer(always(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(always(header::REFERRER_POLICY, "no-referrer"))
        .layer(always(header::CACHE_CONTROL, "no-store"))
        .with_state(service)
}
