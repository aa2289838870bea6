//! A service that speaks TLS: who has its certificate's authority believes it, and who shows no certificate where one is asked for
//! is not let in.

mod common;

use std::fs;
use std::net::TcpStream;
use std::path::Path;

use common::service::Service;
use common::{builds, diytrace, fixture, run_to_end};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

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
    fs::write(folder.path().join("other.pem"), authority().pem()).unwrap();
    certify(folder.path(), &ours, "localhost");
    certify(folder.path(), &ours, "client");
    folder
}

#[test]
fn a_service_is_believed_by_its_certificate() {
    let folder = certificates();
    let here = folder.path();
    let recorded = fixture("forks.c", builds()[0]).record().args(&["5", "2"]).run();
    let service = Service::start(here, &["--tls-cert", "localhost.pem", "--tls-key", "localhost.key"]);
    let port = service.address.port();
    // Who comes and says nothing keeps nobody waiting.
    let _silent: Vec<TcpStream> = (0..50).map(|_| TcpStream::connect(service.address).unwrap()).collect();
    let push = |to: &str, more: &[&str]| {
        let output = run_to_end(diytrace(here).args(["push", "--to", to]).args(more).arg(recorded.out()));
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let secure = format!("https://localhost:{port}");
    let (status, said) = push(&secure, &["--tls-ca", "ca.pem"]);
    assert!(status == Some(0) && said.contains("1 recording put in"), "{said}");
    for (to, more, part) in [
        (&*secure, &[][..], "does not answer: "),
        (&secure, &["--tls-ca", "other.pem"], "does not answer: "),
        // A name that it has no certificate for.
        (&format!("https://127.0.0.1:{port}"), &["--tls-ca", "ca.pem"], "does not answer: "),
        (&format!("http://localhost:{port}"), &[], "does not answer: "),
        (&secure, &["--tls-ca", "away.pem"], "away.pem: No such file"),
        (&secure, &["--tls-ca", "localhost.key"], "localhost.key: it has no certificate"),
    ] {
        let (status, said) = push(to, more);
        assert!(said.contains(part) && said.trim_end().lines().count() == 1, "{to} {more:?}: {said}");
        assert_eq!(status, Some(2), "{to} {more:?}");
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
