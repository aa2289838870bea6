//! Load by HTTP/2, to a server that the crate h2 makes: what it counts is what load tells.

mod common;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use common::{drive, drive_at};
use diytrace_load::http::{Body, Request};
use diytrace_load::http2::Streams;
use diytrace_load::socket::Target;
use diytrace_load::{Error, Failure, Patience, Tally};
use h2::server::{Builder, SendResponse};
use h2::{Reason, RecvStream};
use tokio::net::TcpStream;
use tokio::runtime;

/// A server that answers each request with its own body, or as its path says.
struct Server {
    address: SocketAddr,
    served: Arc<Served>,
}

#[derive(Default)]
struct Served {
    connections: AtomicU64,
    requests: AtomicU64,
    /// Most streams that one connection has had at once.
    at_once: AtomicU64,
    pings: AtomicU64,
}

impl Server {
    /// That says that it goes after so many requests of a connection.
    fn start(most: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        let served = Arc::new(Served::default());
        let seen = served.clone();
        thread::spawn(move || {
            runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                while let Ok((stream, _)) = listener.accept().await {
                    // A client that goes away is none of the server's business.
                    tokio::spawn(serve(stream, seen.clone(), most));
                }
            });
        });
        Self { address, served }
    }

    fn load(&self, streams: Streams, keeps_alive: bool) -> Tally {
        let patience = Patience { timeout: Duration::from_secs(60), for_connection: Duration::from_secs(60) };
        drive(Target { address: self.address, tls: None, protocol: streams, keeps_alive, patience })
    }
}

async fn serve(stream: TcpStream, served: Arc<Served>, most: u64) -> Result<(), h2::Error> {
    let mut connection = Builder::new().initial_window_size(10_000).handshake::<_, Bytes>(stream).await?;
    let mut pings = connection.ping_pong();
    let (mut requests, open) = (0, Arc::new(AtomicU64::new(0)));
    while let Some(asked) = connection.accept().await {
        let (request, respond) = asked?;
        requests += 1;
        if let Some(mut pings) = pings.take() {
            served.connections.fetch_add(1, Ordering::Relaxed);
            let served = served.clone();
            tokio::spawn(async move {
                pings.ping(h2::Ping::opaque()).await.map(|_| served.pings.fetch_add(1, Ordering::Relaxed))
            });
        }
        if requests == most {
            connection.graceful_shutdown();
        }
        served.requests.fetch_add(1, Ordering::Relaxed);
        served.at_once.fetch_max(open.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        let open = open.clone();
        tokio::spawn(async move {
            let _ = answer(request, respond).await;
            open.fetch_sub(1, Ordering::Relaxed);
        });
    }
    Ok(())
}

async fn answer(request: http::Request<RecvStream>, mut respond: SendResponse<Bytes>) -> Result<(), h2::Error> {
    let (head, mut body) = request.into_parts();
    let path = head.uri.path();
    if path.starts_with("/reset") {
        respond.send_reset(Reason::REFUSED_STREAM);
        return Ok(());
    }
    let mut bytes = Vec::new();
    while let Some(data) = body.data().await {
        let data = data?;
        bytes.extend_from_slice(&data);
        body.flow_control().release_capacity(data.len())?;
    }
    let status: u16 = path.strip_prefix("/status/").map_or(200, |status| status.parse().unwrap());
    let response = http::Response::builder().status(status).body(()).unwrap();
    let mut sent = respond.send_response(response, bytes.is_empty())?;
    if !bytes.is_empty() {
        sent.send_data(bytes.into(), false)?;
        let mut trailers = http::HeaderMap::new();
        trailers.insert("sum", "1".parse().unwrap());
        sent.send_trailers(trailers)?;
    }
    Ok(())
}

fn streams(path: &str, body: Body) -> Streams {
    let method = if body == Body::None { "GET" } else { "POST" };
    let request = Request { method: method.to_owned(), path: path.to_owned(), headers: Vec::new(), body };
    Streams::one(&request, "localhost", false).unwrap()
}

#[test]
fn bodies_of_any_size_go_there_and_back() {
    // Less than a window of the server's, more than one, and more than the client's.
    for bytes in [0, 100, 100_000, 3_000_000] {
        let server = Server::start(u64::MAX);
        let body = if bytes == 0 { Body::None } else { Body::Bytes(vec![b'x'; bytes]) };
        let tally = server.load(streams("/", body), true);
        // A busy machine may not get all of them done in the time.
        assert_eq!((tally.planned, tally.sent + tally.all_not_sent()), (40, 40), "{bytes}");
        assert_eq!((tally.answered, tally.errors()), (tally.sent, 0), "{bytes}: {:?}", tally.failures);
        assert!(tally.answered > 0 && tally.bytes >= tally.answered * bytes as u64, "{bytes}");
        let served = &server.served;
        assert_eq!(served.requests.load(Ordering::Relaxed), tally.sent);
        assert!(served.connections.load(Ordering::Relaxed) <= 4 && tally.connections == 4, "{bytes}");
        assert_eq!(served.at_once.load(Ordering::Relaxed), 1, "one request at a time");
        assert!(served.pings.load(Ordering::Relaxed) > 0, "whoever asks whether we are there has an answer");
    }
}

#[test]
fn connections_are_made_anew_where_they_are_not_kept() {
    let server = Server::start(u64::MAX);
    let tally = server.load(streams("/{seq}", Body::None), false);
    assert!(tally.sent > 0 && tally.errors() == 0, "{:?}", tally.failures);
    assert_eq!((tally.answered, tally.connections), (tally.sent, tally.sent));
    assert_eq!(server.served.requests.load(Ordering::Relaxed), tally.sent);
}

#[test]
fn a_server_that_says_that_it_goes_is_connected_to_again() {
    let server = Server::start(3);
    let tally = server.load(streams("/", Body::None), true);
    // A request that is on its way when the server closes its connection is lost, and counted as that.
    let lost: u64 = tally.failures.values().sum();
    assert_eq!(tally.answered + lost, tally.sent);
    let kinds = [Failure::Closed, Failure::Reset];
    assert!(tally.failures.keys().all(|failure| kinds.contains(failure)), "{:?}", tally.failures);
    assert!(tally.connections > 4, "{}", tally.connections);
}

#[test]
fn what_fails_is_told_by_its_kind() {
    for (path, expected) in [("/status/503", Failure::Status(503)), ("/reset", Failure::Reset)] {
        let server = Server::start(u64::MAX);
        let tally = server.load(streams(path, Body::None), true);
        assert!(tally.sent > 0 && tally.failures.get(&expected) == Some(&tally.sent), "{path}: {:?}", tally.failures);
        assert_eq!(server.served.requests.load(Ordering::Relaxed), tally.sent, "{path}");
    }
}

#[test]
fn as_fast_as_it_goes_counts_as_the_server_does() {
    let server = Server::start(u64::MAX);
    let patience = Patience { timeout: Duration::from_secs(60), for_connection: Duration::from_secs(60) };
    let protocol = streams("/", Body::None);
    let target = Target { address: server.address, tls: None, protocol, keeps_alive: true, patience };
    let tally = drive_at("max", Duration::from_millis(500), target);
    assert_eq!((tally.answered, tally.errors()), (tally.sent, 0), "{:?}", tally.failures);
    assert_eq!((server.served.requests.load(Ordering::Relaxed), tally.connections), (tally.sent, 4));
}

#[test]
fn a_server_of_another_version_is_told_before_load_is_made() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            use std::io::{Read, Write};
            let _ = stream.read(&mut [0; 100]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
        }
    });
    let stream = || std::net::TcpStream::connect(address).unwrap();
    let refused = streams("/", Body::None).check("there:80", stream(), Duration::from_secs(60)).unwrap_err();
    assert!(matches!(refused, Error::NoHttp2 { .. }), "{refused}");
    assert!(refused.to_string().starts_with("there:80 does not speak HTTP/2: leave out --http2"), "{refused}");
    // One that answers is fine.
    let server = Server::start(u64::MAX);
    let stream = std::net::TcpStream::connect(server.address).unwrap();
    streams("/", Body::None).check("there:80", stream, Duration::from_secs(60)).unwrap();
}
