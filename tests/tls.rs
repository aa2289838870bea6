//! A service that speaks TLS: who has its certificate's authority believes it, and who shows no certificate where one is asked for
//! is not let in; and load that is made over it.

mod common;

use std::fs;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use common::clickhouse::ClickHouse;
use common::faults::{Faults, Loaded};
use common::service::Service;
use common::{builds, diytrace, fixture, run_to_end};
use needs::needs;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Writes a certificate of the authority, and its key.
fn certify(folder: &Path, authority: &CertifiedIssuer<'_, KeyPair>, name: &str) {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, authority).unwrap();
    fs::write(folder.join(format!("{name}.pem")), certificate.pem()).unwrap();
    fs::write(folder.join(format!("{name}.key")), key.serialize_pem()).unwrap();
}

/// A folder with certificates of `localhost` and of `client`, of the authority in `ca.pem`; `other.pem` is one that nobody knows.
fn certificates() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let authority = || {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
    };
    let ours = authority();
    fs::write(folder.path().join("ca.pem"), ours.pem()).unwrap();
    fs::write(folder.path().join("ca.key"), ours.key().serialize_pem()).unwrap();
    fs::write(folder.path().join("other.pem"), authority().pem()).unwrap();
    certify(folder.path(), &ours, "localhost");
    certify(folder.path(), &ours, "client");
    folder
}

/// Whether the other side has not hung up, and has said nothing.
fn is_open(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    stream.peek(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

#[test]
fn a_service_is_believed_by_its_certificate() {
    let folder = certificates();
    let here = folder.path();
    let recorded = fixture("forks.c", builds()[0]).record().args(&["5", "2"]).run();
    let service = Service::start(here, &["--tls-cert", "localhost.pem", "--tls-key", "localhost.key"]);
    let port = service.address.port();
    let push = |to: &str, more: &[&str]| {
        let output = run_to_end(diytrace(here).args(["push", "--to", to]).args(more).arg(recorded.out()));
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let secure = format!("https://localhost:{port}");
    let (status, said) = push(&secure, &["--tls-ca", "ca.pem"]);
    assert!(status == Some(0) && said.contains("1 recording put in"), "{said}");
    // Who comes and says nothing keeps nobody waiting, however many they are: of 300 the first make room, and the others may still say something.
    let keep_nobody_waiting = || {
        let silent: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(service.address).unwrap()).collect();
        let (status, said) = push(&secure, &["--tls-ca", "ca.pem"]);
        assert_eq!(status, Some(0), "{said}");
        is_open(&silent[200])
    };
    assert!((0..5).any(|_| keep_nobody_waiting()), "who came next was let in when they were hung up on");
    for (to, more, part) in [
        (&*secure, &[][..], "UnknownIssuer: name the certificate that it comes from by --tls-ca FILE"),
        (&secure, &["--tls-ca", "other.pem"], "does not answer: "),
        // A name that it has no certificate for.
        (&format!("https://127.0.0.1:{port}"), &["--tls-ca", "ca.pem"], "does not answer: "),
        (&format!("http://localhost:{port}"), &[], "does it speak TLS? Then its address begins with https://"),
        (&secure, &["--tls-ca", "away.pem"], "away.pem: No such file"),
        (&secure, &["--tls-ca", "localhost.key"], "localhost.key: it has no certificate"),
    ] {
        let (status, said) = push(to, more);
        assert!(said.contains(part) && said.trim_end().lines().count() == 1, "{to} {more:?}: {said}");
        assert_eq!(status, Some(2), "{to} {more:?}");
    }
}

#[test]
fn what_is_wrong_with_a_certificate_says_what_to_do() {
    let folder = certificates();
    let here = folder.path();
    let recorded = fixture("forks.c", builds()[0]).record().args(&["5", "2"]).run();
    let service = Service::start(here, &["--tls-cert", "ca.pem", "--tls-key", "ca.key"]);
    let without = tempfile::tempdir().unwrap();
    let plain = Service::start(without.path(), &[]);
    for (service, part) in [(&service, "make the service's with"), (&plain, "its address begins with http://")] {
        let to = format!("https://localhost:{}", service.address.port());
        let args = ["push", "--to", &to, "--tls-ca", "ca.pem"];
        let output = run_to_end(diytrace(here).args(args).arg(recorded.out()));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(part) && said.trim_end().lines().count() == 1, "{said}");
    }
}

#[test]
fn who_shows_no_certificate_is_not_let_in_where_one_is_asked_for() {
    let folder = certificates();
    let here = folder.path();
    let recorded = fixture("forks.c", builds()[0]).record().args(&["5", "2"]).run();
    let tls = ["--tls-cert", "localhost.pem", "--tls-key", "localhost.key", "--tls-client-ca", "ca.pem"];
    let service = Service::start(here, &tls);
    let to = format!("https://localhost:{}", service.address.port());
    let push = |more: &[&str]| {
        let mut command = diytrace(here);
        run_to_end(command.args(["push", "--to", &to, "--tls-ca", "ca.pem"]).args(more).arg(recorded.out()))
    };
    assert_eq!(push(&[]).status.code(), Some(2));
    assert!(
        !here.join("s.db").exists() || !run_to_end(diytrace(here).args(["report", "--store", "s.db"])).status.success()
    );
    let shown = push(&["--tls-cert", "client.pem", "--tls-key", "client.key"]);
    assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
}

#[test]
fn load_is_made_over_tls() {
    let folder = certificates();
    let here = folder.path();
    let service = Service::start(here, &["--tls-cert", "localhost.pem", "--tls-key", "localhost.key"]);
    let port = service.address.port();
    let url = format!("https://localhost:{port}/healthz");
    let load = |more: &[&str]| {
        let usual = ["--rate", "200", "--duration", "500ms", "--warm-up", "0", "--connections", "3"];
        Loaded::of(here, &[&[&*url, "--tls-ca", "ca.pem"][..], &usual, more].concat())
    };
    let loaded = load(&[]);
    let counts = |loaded: &Loaded| ["planned", "answered", "opened"].map(|name| loaded.count(0, name));
    assert_eq!(counts(&loaded), [100, 100, 3], "{:#}", loaded.step(0));
    assert_eq!(loaded.step(0)["statuses"]["200"], 100);
    let anew = load(&["--no-keep-alive"]);
    assert!(anew.count(0, "sent") > 0);
    assert_eq!(
        ["answered", "opened"].map(|name| anew.count(0, name)),
        [anew.count(0, "sent"); 2],
        "{:#}",
        anew.step(0)
    );

    let plain = Faults::start("none");
    let mute = format!("https://127.0.0.1:{}", plain.port);
    for (arguments, part) in [
        (&[&*url][..], "is not believed: neither it nor its authority is among those that are: name one by --tls-ca"),
        (&[&format!("https://127.0.0.1:{port}"), "--tls-ca", "ca.pem"], "certificate not valid for name"),
        (&[&url, "--tls-ca", "localhost.key"], "localhost.key: it has no certificate"),
        (&[&url, "--tls-ca", "away.pem"], "cannot read away.pem: No such file"),
        (&["http://localhost", "--tls-ca", "ca.pem"], "--tls-ca is for https://, which this is not"),
        (&[&mute, "--timeout", "5s"], &format!("cannot speak TLS with 127.0.0.1:{}", plain.port)),
    ] {
        let output = run_to_end(diytrace(here).arg("load").args(arguments));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(part), "{arguments:?}: {said}");
        assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    }
}

#[test]
fn certificates_that_cannot_be_read_are_said() {
    let folder = certificates();
    for (tls, part) in [
        ("--tls-cert away.pem --tls-key localhost.key", "away.pem: "),
        ("--tls-cert localhost.key --tls-key localhost.key", "localhost.key: it has no certificate"),
        ("--tls-cert localhost.pem --tls-key localhost.pem", "localhost.pem: it has no private key"),
        ("--tls-cert localhost.pem --tls-key client.key", "localhost.pem: "),
        ("--tls-cert localhost.pem", "--tls-key"),
    ] {
        let words = "serve --listen 127.0.0.1:0 --store s.db".split(' ').chain(tls.split(' '));
        let output = run_to_end(diytrace(folder.path()).args(words));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(part), "{tls}: {said}");
    }
}

/// The port at which what listens on another is reached by TLS, as `localhost`, until the process ends.
fn behind_tls(folder: &Path, port: u16) -> u16 {
    let certificate = CertificateDer::from_pem_file(folder.join("localhost.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("localhost.key")).unwrap();
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap().port();
    listener.set_nonblocking(true).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    thread::spawn(move || {
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    let Ok(mut client) = acceptor.accept(client).await else { return };
                    let mut there = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut client, &mut there).await;
                });
            }
        });
    });
    own
}

#[needs(clickhouse)]
#[test]
fn a_store_in_a_clickhouse_is_reached_by_tls() {
    let folder = certificates();
    let here = folder.path();
    let engine = ClickHouse::start(&here.join("engine"));
    let port = behind_tls(here, engine.port);
    let recorded = fixture("forks.c", builds()[0]).record().args(&["5", "2"]).run();
    let run = |words: &[&str]| {
        let output = run_to_end(diytrace(here).args(words).arg("--format=json").env("DIYTRACE_CACHE", "off"));
        (output.status.code(), output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let out = recorded.out().display().to_string();
    let store = format!("clickhouses://localhost:{port}/runs?ca=ca.pem");
    let pushed = run_to_end(diytrace(here).args(["push", "--store", &store, &out]));
    assert!(pushed.status.success(), "{}", String::from_utf8_lossy(&pushed.stderr));
    assert!(run(&["report", "--store", &store]).1 == run(&["report", &out]).1, "not what the files tell");
    for (store, part) in [
        (format!("clickhouses://localhost:{port}/runs"), "does not answer: "),
        (format!("clickhouses://localhost:{port}/runs?ca=other.pem"), "does not answer: "),
        (format!("clickhouses://127.0.0.1:{port}/runs?ca=ca.pem"), "does not answer: "),
        (format!("clickhouses://localhost:{port}/runs?ca=away.pem"), "away.pem: No such file"),
        (format!("clickhouse://localhost:{port}/runs?ca=ca.pem"), "is no store"),
    ] {
        let (status, _, said) = run(&["report", "--store", &store]);
        assert!(status == Some(2) && said.contains(part) && said.lines().count() == 1, "{store}: {said}");
    }
}
