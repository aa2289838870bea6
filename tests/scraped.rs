//! What others scrape. `/metrics`: Prometheus' own parser reads it, and roots have counted what the recording says, once each, whoever was
//! killed in between. `/debug/pprof/diytrace`: `go tool pprof` reads what a service has of some seconds, and what an agent has without one.

mod common;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use common::service::{Agent, Service, ask};
use common::{Document, Endless, diytrace, run_to_end, wait_until};
use needs::needs;

/// Where Debian's package for it is; another one may come first.
const PYTHON: &str = "/usr/bin/python3";

/// What a service tells: samples by name and function.
fn scraped(service: &Service) -> BTreeMap<(String, String), f64> {
    let mut python = Command::new(PYTHON);
    python.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/readers/openmetrics.py"));
    let mut python = python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let metrics = service.get("/metrics").body;
    python.stdin.take().unwrap().write_all(&metrics).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&metrics));
    let samples: Vec<(String, BTreeMap<String, String>, f64)> = serde_json::from_slice(&output.stdout).unwrap();
    let key = |name: String, labels: &BTreeMap<String, String>| {
        let label = |name: &str| labels.get(name).cloned().unwrap_or_default();
        assert!(!name.starts_with("diytrace_root_") || label("service") == "endless" && !label("build").is_empty());
        (format!("{name}{}", label("le")), label("function"))
    };
    samples.into_iter().map(|(name, labels, value)| (key(name, &labels), value)).collect()
}

fn of(samples: &BTreeMap<(String, String), f64>, name: &str, function: &str) -> f64 {
    samples.get(&(format!("diytrace_{name}"), function.to_owned())).copied().unwrap_or(0.0)
}

#[needs(prometheus_client)]
#[test]
fn roots_have_counted_what_the_recording_says() {
    let mut program = Endless::start();
    let folder = program.here.path().to_owned();
    let service = Service::start(&folder, &[]);
    let calls = |more_than: f64| {
        wait_until("more is counted", || of(&scraped(&service), "root_calls_total", "work") > more_than);
        of(&scraped(&service), "root_calls_total", "work")
    };
    let mut agent = Agent::start(&folder, &service.url());
    let first = calls(50.0);
    // One goes on from what it remembers,
    agent.kill();
    agent = Agent::start(&folder, &service.url());
    let second = calls(first + 50.0);
    // and one that remembers nothing sends all in place of what there is.
    agent.kill();
    std::fs::remove_dir_all(folder.join("spool")).unwrap();
    agent = Agent::start(&folder, &service.url());
    calls(second + 50.0);
    program.stop();
    agent.end();

    let told = scraped(&service);
    let output = run_to_end(diytrace(&folder).args(["report", "--format", "json", "out"]));
    let report = &Document::parse(&output.stdout).reports[0];
    for function in &report.functions {
        let value = |name: &str| of(&told, name, &function.name);
        if !["main", "work"].contains(&function.name.as_str()) {
            assert!(!told.keys().any(|(_, name)| *name == function.name), "{} is no root", function.name);
            continue;
        }
        assert_eq!(value("root_calls_total"), function.calls as f64, "{}", function.name);
        let returned = (function.calls - function.open) as f64;
        assert!(value("root_call_seconds_count") <= returned, "{}", function.name);
        assert_eq!(value("root_call_seconds_bucket+Inf"), value("root_call_seconds_count"));
    }
    // Each of `work` returns, and is timed.
    let work = report.functions.iter().find(|function| function.name == "work").unwrap();
    assert_eq!(of(&told, "root_call_seconds_count", "work"), (work.calls - work.open) as f64);
    assert!(of(&told, "root_call_seconds_sum", "work") > 0.0);
    assert!(of(&told, "root_seconds_total", "main") > 0.0);
    assert_eq!(told[&("diytrace_roots_left_out".to_owned(), String::new())], 0.0);
}

/// An agent that answers by itself, of a service that is not there.
struct Answering {
    child: Child,
    address: SocketAddr,
}

impl Answering {
    fn start(folder: &Path, more: &[&str]) -> Self {
        let mut command = diytrace(folder);
        command.args([
            "agent",
            "--to",
            "http://127.0.0.1:1",
            "--dir",
            "out",
            "--spool",
            "alone",
            "--listen",
            "127.0.0.1:0",
        ]);
        let mut child = command.args(more).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let said = lines.find(|line| line.contains("answers http://")).unwrap();
        std::thread::spawn(move || lines.for_each(|line| eprintln!("agent: {line}")));
        let address = said.split("http://").nth(1).and_then(|rest| rest.split('/').next());
        Self { child, address: address.unwrap().parse().unwrap() }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Calls of each function that `go tool pprof` finds at an address.
fn by_go(folder: &Path, address: SocketAddr, words: &str) -> BTreeMap<String, u64> {
    let path = format!("/debug/pprof/diytrace?seconds=1{words}");
    // After a frame that was long it takes ten seconds.
    wait_until("it answers", || ask(address, "GET", &path, &[], &[]).status != 503);
    let mut go = Command::new("go");
    go.args(["tool", "pprof", "-top", "-symbolize=none", "-sample_index=calls", "-nodecount=1000", "-nodefraction=0"]);
    go.arg(format!("http://{address}{path}"));
    let output = run_to_end(go.env("HOME", folder).env("PPROF_TMPDIR", folder));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.lines().any(|line| line.starts_with("Duration: ")), "it does not say how long it took: {said}");
    let rows = said.lines().skip_while(|line| !line.trim_start().starts_with("flat")).skip(1);
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        (words[5].to_owned(), words[0].parse().unwrap_or_else(|_| panic!("{said}")))
    };
    rows.map(row).collect()
}

#[needs(go)]
#[test]
fn go_reads_a_profile_of_some_seconds_from_a_service_and_from_an_agent() {
    let mut program = Endless::start();
    let folder = program.here.path().to_owned();
    let service = Service::start(&folder, &[]);
    let agent = Agent::start(&folder, &service.url());
    let alone = Answering::start(&folder, &[]);
    let of_service = || by_go(&folder, service.address, "&select=service=endless");
    for counts in [&of_service as &dyn Fn() -> BTreeMap<String, u64>, &|| by_go(&folder, alone.address, "")] {
        // On a busy machine a second may pass without a call.
        wait_until("a second has calls", || !counts().is_empty());
        let (before, counted) = (program.calls(), counts());
        let all: u64 = counted.values().sum();
        assert!(counted.keys().all(|name| ["main", "generation", "work", "branch", "leaf"].contains(&name.as_str())));
        assert!(all <= program.calls(), "{all} of {before} and what came then: {counted:?}");
    }
    agent.end();

    let get = |path: &str, headers: &[(&str, &str)]| ask(alone.address, "GET", path, headers, &[]);
    assert_eq!(get("/healthz", &[]).status, 200);
    assert_eq!(get("/debug/pprof/diytrace?seconds=0", &[]).status, 400);
    assert_eq!(get("/v1/report", &[]).status, 404);
    assert_eq!(get("/debug/pprof/diytrace?seconds=1", &[("origin", "http://evil.example")]).status, 403);
    program.stop();
    // Who scrapes a program that does nothing gets a profile of nothing.
    assert!(by_go(&folder, alone.address, "").is_empty());
}

#[test]
fn an_agent_answers_nobody_who_does_not_belong() {
    let here = tempfile::tempdir().unwrap();
    let mut command = diytrace(here.path());
    let open = command.args(["agent", "--to", "http://127.0.0.1:1", "--spool", "alone", "--listen", "0.0.0.0:0"]);
    let output = run_to_end(open);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("--listen-token-file"), "{said}");

    let tokens = here.path().join("tokens");
    std::fs::write(&tokens, "read aaaaaaaaaaaaaaaaaaaa\n").unwrap();
    std::fs::set_permissions(&tokens, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let alone = Answering::start(here.path(), &["--listen-token-file", "tokens"]);
    let status =
        |headers: &[(&str, &str)]| ask(alone.address, "GET", "/debug/pprof/diytrace?seconds=1", headers, &[]).status;
    assert_eq!(status(&[]), 401);
    assert_eq!(status(&[("authorization", "Bearer bbbbbbbbbbbbbbbbbbbb")]), 401);
    assert_eq!(status(&[("authorization", "Bearer aaaaaaaaaaaaaaaaaaaa")]), 404, "it is let in, and there is nothing");
}
