//! Load by HTTP/2: what the access log of nginx has is what load tells, with prior knowledge and over TLS, from one machine and from
//! workers.

mod common;

use std::fs;
use std::path::Path;

use common::faults::{Faults, Loaded};
use common::nginx::{Nginx, free_port};
use common::{diytrace, run_to_end};
use needs::needs;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

/// So short that tests are, and long enough for a rate.
const SHORT: [&str; 4] = ["--duration", "500ms", "--warm-up", "100ms"];

/// A certificate of `localhost`, and the authority's that it is of.
fn certify(folder: &Path) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(["localhost".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    for (name, text) in [("ca.pem", authority.pem()), ("server.pem", certificate.pem()), ("key", key.serialize_pem())] {
        fs::write(folder.join(name), text).unwrap();
    }
}

/// Each request is in the log once, as one of HTTP/2.
fn assert_logged(loaded: &Loaded, nginx: &Nginx) {
    let logged = nginx.logged();
    assert_eq!(logged.len() as u64, loaded.sent(), "{:#}", loaded.json);
    assert!(logged.iter().all(|line| line.starts_with("HTTP/2.0 ")), "{logged:?}");
}

#[needs(nginx)]
#[test]
fn an_access_log_has_each_request_once() {
    let folder = tempfile::tempdir().unwrap();
    let (here, port) = (folder.path(), free_port());
    // A connection ends after so many requests, which load is told.
    let server = format!(
        "server {{ listen 127.0.0.1:{port} http2; keepalive_requests 30; location / {{ return 200 fine; }} location /no {{ return 404; }} }}"
    );
    let nginx = Nginx::start(here, &server);
    fs::write(here.join("mix"), "3 GET /{seq}\n1 POST /posted {\"n\": {seq}}\n1 GET /no\n1 HEAD /head\n").unwrap();
    let url = format!("http://127.0.0.1:{port}/");
    let arguments =
        [&[&url, "--http2", "--rate", "600", "--connections", "3", "--requests", "mix"], &SHORT[..]].concat();
    let loaded = Loaded::of(here, &arguments);
    assert_logged(&loaded, &nginx);
    assert_eq!((loaded.count(0, "planned"), &loaded.json["http2"]), (300, &true.into()));
    let missing = loaded.step(0)["errors_by"]["status 404"].as_u64().unwrap();
    assert!(missing > 0 && missing == loaded.count(0, "errors"), "{:#}", loaded.json);
    assert_eq!(loaded.step(0)["statuses"]["200"], loaded.count(0, "answered"));
    assert!(loaded.count(0, "opened") > 5, "a connection that the server ends is opened again: {:#}", loaded.json);
    // And where each request has its own.
    let anew = Loaded::of(here, &[&[url.as_str(), "--http2", "--rate", "100", "--no-keep-alive"], &SHORT[..]].concat());
    assert_eq!((anew.count(0, "answered"), anew.count(0, "opened")), (50, 50));
    assert_eq!(nginx.logged().len() as u64, loaded.sent() + anew.sent());
}

#[needs(nginx)]
#[test]
fn over_tls_it_is_what_both_agree_to() {
    let folder = tempfile::tempdir().unwrap();
    let (here, port, other) = (folder.path(), free_port(), free_port());
    certify(here);
    let secure = format!(
        "ssl_certificate {0}/server.pem; ssl_certificate_key {0}/key; location / {{ return 200 fine; }}",
        here.display()
    );
    let servers = format!(
        "server {{ listen 127.0.0.1:{port} ssl http2; {secure} }} server {{ listen 127.0.0.1:{other} ssl; {secure} }}"
    );
    let nginx = Nginx::start(here, &servers);
    let url = format!("https://localhost:{port}/");
    let with = |url: &str| {
        let arguments = [url, "--http2", "--tls-ca", "ca.pem", "--rate", "200"];
        arguments.iter().chain(&SHORT).map(|word| (*word).to_owned()).collect::<Vec<_>>()
    };
    let words = with(&url);
    let loaded = Loaded::of(here, &words.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!((loaded.count(0, "planned"), loaded.count(0, "errors")), (100, 0), "{:#}", loaded.json);
    assert_logged(&loaded, &nginx);
    // Who does not agree is told of before there is load.
    let refused = run_to_end(diytrace(here).arg("load").args(with(&format!("https://localhost:{other}/"))));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2));
    assert!(said.contains(&format!("localhost:{other} does not speak HTTP/2: leave out --http2")), "{said}");
}

#[test]
fn what_cannot_be_is_one_sentence() {
    let server = Faults::start("none");
    let url = server.url("/");
    let refused = |arguments: &[&str]| {
        let output = run_to_end(diytrace(server.here.path()).arg("load").args(arguments));
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
        String::from_utf8(output.stderr).unwrap()
    };
    let said = refused(&[&url, "--http2"]);
    assert!(said.contains(" does not speak HTTP/2: leave out --http2, or have the server speak it"), "{said}");
    let said = refused(&[&url, "--http2", "--header", "Connection: close"]);
    assert!(said.contains("`Connection` is no header of HTTP/2"), "{said}");
    assert!(refused(&["redis://127.0.0.1", "--http2"]).contains("--http2 is for http:// and https://"));
    assert!(refused(&["--command", "true", "--http2"]).contains("cannot be used with"));
}
