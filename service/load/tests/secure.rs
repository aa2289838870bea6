//! Load over TLS, to a server that reads and writes as little at a time as it likes.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use common::{drive, drive_at};
use diytrace_load::http::{Body, Mix, Request};
use diytrace_load::socket::{Host, Target, Tls};
use diytrace_load::{Error, Failure, File, Patience, Tally};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A server that speaks TLS; each request is answered with its own body.
struct Server {
    folder: tempfile::TempDir,
    address: SocketAddr,
    served: Arc<Served>,
}

#[derive(Default)]
struct Served {
    connections: AtomicU64,
    requests: AtomicU64,
}

impl Server {
    /// Whose connections end after so many requests.
    fn start(most: u64) -> Self {
        Self::certified(most, false)
    }

    /// The same; its certificate may claim that it is an authority's.
    fn certified(most: u64, is_authority: bool) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        if is_authority {
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        }
        let certificate = params.signed_by(&key, &authority).unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("server.pem"), certificate.pem()).unwrap();
        fs::write(folder.path().join("ca.pem"), authority.pem()).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder().with_no_client_auth();
        let config = Arc::new(config.with_single_cert(vec![certificate.der().clone()], key).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let served = Arc::new(Served::default());
        let seen = served.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (config, seen) = (config.clone(), seen.clone());
                // A client that goes away is none of the server's business.
                thread::spawn(move || _ = serve(stream, config, &seen, most));
            }
        });
        Self { folder, address, served }
    }

    fn authority(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// Load to it, with these requests.
    fn load(&self, mix: Mix, host: &str, keeps_alive: bool) -> Result<Tally, Error> {
        let host = Host::parse(&format!("{host}:{}", self.address.port())).unwrap();
        let tls = Tls::new(&host, Some(&File::read(&self.authority())?))?;
        let patience = Patience { timeout: Duration::from_secs(60), for_connection: Duration::from_secs(60) };
        tls.check(&host, TcpStream::connect(self.address).unwrap(), patience.timeout)?;
        Ok(drive(Target { address: self.address, tls: Some(tls), protocol: mix, keeps_alive, patience }))
    }
}

fn serve(stream: TcpStream, config: Arc<ServerConfig>, served: &Served, most: u64) -> std::io::Result<()> {
    let session = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut stream = BufReader::with_capacity(777, StreamOwned::new(session, stream));
    for number in 1..=most {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.trim().parse().map_err(std::io::Error::other)?;
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        if number == 1 {
            served.connections.fetch_add(1, Ordering::Relaxed);
        }
        served.requests.fetch_add(1, Ordering::Relaxed);
        let mut answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n").into_bytes();
        answer.extend_from_slice(&body);
        for piece in answer.chunks(50_001) {
            stream.get_mut().write_all(piece)?;
            stream.get_mut().flush()?;
        }
    }
    Ok(())
}

fn posted(bytes: usize, keeps_alive: bool) -> Mix {
    let body = if bytes == 0 { Body::None } else { Body::Bytes(vec![b'x'; bytes]) };
    let request = Request { method: "POST".to_owned(), path: "/".to_owned(), headers: Vec::new(), body };
    Mix::one(&request, "localhost", keeps_alive).unwrap()
}

#[test]
fn bodies_of_any_size_go_there_and_back() {
    for bytes in [0, 100, 16_384, 3_000_000] {
        let server = Server::start(u64::MAX);
        let tally = server.load(posted(bytes, true), "localhost", true).unwrap();
        // A busy machine may not get all of them done in the time.
        assert_eq!((tally.planned, tally.sent + tally.all_not_sent()), (40, 40), "{bytes}");
        assert_eq!((tally.answered, tally.errors()), (tally.sent, 0), "{bytes}: {:?}", tally.failures);
        assert!(tally.answered > 0 && tally.bytes >= tally.answered * bytes as u64, "{bytes}");
        let served = &server.served;
        assert_eq!(served.requests.load(Ordering::Relaxed), tally.sent);
        assert!(served.connections.load(Ordering::Relaxed) <= 4 && tally.connections == 4, "{bytes}");
    }
}

#[test]
fn connections_are_made_anew_where_they_are_not_kept() {
    let server = Server::start(u64::MAX);
    let tally = server.load(posted(10, false), "localhost", false).unwrap();
    assert!(tally.sent > 0 && tally.errors() == 0, "{:?}", tally.failures);
    assert_eq!((tally.answered, tally.connections), (tally.sent, tally.sent));
    assert_eq!(server.served.connections.load(Ordering::Relaxed), tally.sent);
}

#[test]
fn a_server_that_closes_is_connected_to_again() {
    let server = Server::start(3);
    let tally = server.load(posted(10, true), "localhost", true).unwrap();
    // A request that is on its way when the server closes its connection is lost, and counted as that.
    let lost: u64 = tally.failures.values().sum();
    assert_eq!(tally.answered + lost, tally.sent);
    let kinds = [Failure::Closed, Failure::Reset];
    assert!(tally.failures.keys().all(|failure| kinds.contains(failure)), "{:?}", tally.failures);
    assert_eq!(server.served.requests.load(Ordering::Relaxed), tally.answered);
    assert!(tally.connections >= tally.answered / 3, "{}", tally.connections);
}

#[test]
fn whom_nobody_believes_is_said_before_load_is_made() {
    let server = Server::start(u64::MAX);
    let said = |host: &str| server.load(posted(0, true), host, true).unwrap_err().to_string();
    assert!(said("127.0.0.1").contains("is not believed: certificate not valid for name"), "{}", said("127.0.0.1"));
    let host = Host::parse(&format!("localhost:{}", server.address.port())).unwrap();
    let tls = Tls::new(&host, None).unwrap();
    let stream = || TcpStream::connect(server.address).unwrap();
    let unknown = tls.check(&host, stream(), Duration::from_secs(60)).unwrap_err().to_string();
    assert!(unknown.ends_with("among those that are: name one by --tls-ca FILE"), "{unknown}");
    // Itself is as good as its authority, whatever it says that it is.
    let server = Server::certified(u64::MAX, true);
    let host = Host::parse(&format!("localhost:{}", server.address.port())).unwrap();
    let stream = || TcpStream::connect(server.address).unwrap();
    let own = server.folder.path().join("server.pem");
    let check = |host: &Host| {
        Tls::new(host, Some(&File::read(&own).unwrap())).unwrap().check(host, stream(), Duration::from_secs(60))
    };
    check(&host).unwrap();
    let said = check(&Host::parse("127.0.0.1").unwrap()).unwrap_err().to_string();
    assert!(said.contains("certificate not valid for name"), "{said}");
    // And where it is found out on the way, requests fail.
    let patience = Patience { timeout: Duration::from_secs(60), for_connection: Duration::from_secs(60) };
    let (address, protocol) = (server.address, posted(0, true));
    let tally = drive(Target { address, tls: Some(tls), protocol, keeps_alive: true, patience });
    assert_eq!((tally.answered, tally.failures.get(&Failure::Tls)), (0, Some(&tally.sent)), "{:?}", tally.failures);
    assert_eq!(server.served.requests.load(Ordering::Relaxed), 0);
}

#[test]
fn a_server_that_takes_connections_and_says_nothing_keeps_none() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let silent = listener.try_clone().unwrap();
    let silent = thread::spawn(move || (0..8).map(|_| silent.accept().unwrap()).collect::<Vec<_>>());
    let tls = Tls::new(&Host::parse("localhost").unwrap(), None).unwrap();
    let patience = Patience { timeout: Duration::from_millis(200), for_connection: Duration::from_secs(60) };
    let target = Target { address, tls: Some(tls), protocol: posted(0, true), keeps_alive: true, patience };
    let tally = drive_at("max", Duration::from_secs(3), target);
    // Four that were made ahead of requests, and those of requests that have waited in vain.
    assert!(tally.sent >= 4 && tally.connections >= 8, "{tally:?}");
    assert_eq!((tally.answered, tally.failures.get(&Failure::Timeout)), (0, Some(&tally.sent)), "{:?}", tally.failures);
    assert_eq!(silent.join().unwrap().len(), 8);
    drop(listener); // until here the system keeps others waiting
}
