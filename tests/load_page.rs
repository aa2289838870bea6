//! Load on a service's page: a run is seen while it goes on, from one machine and by workers, and then its report, as JSON has it.

mod common;

use std::process::{Child, Stdio};

use common::browser;
use common::diytrace;
use common::faults::{Faults, Loaded};
use common::service::{LoadWorker, Service, ask};
use common::wait_until;
use needs::needs;
use serde_json::Value;

/// Load that goes on for long enough to be looked at.
fn begin(server: &Faults, arguments: &[&str]) -> Child {
    let mut command = diytrace(server.here.path());
    command.args(["load", &server.url("/"), "--format", "json", "--rate", "50,100", "--warm-up", "0"]).args(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// The runs that a service shows.
fn runs(service: &Service) -> Vec<Value> {
    service.get("/v1/load/shown").json()["runs"].as_array().unwrap().clone()
}

fn finished(child: Child) -> Loaded {
    let output = child.wait_with_output().unwrap();
    let json = serde_json::from_slice(&output.stdout).unwrap();
    Loaded { output, json }
}

#[test]
fn a_run_is_shown_while_it_goes_on_and_then_its_report() {
    let server = Faults::start("none");
    let service = Service::start(server.here.path(), &[]);
    for arguments in [&["--to"][..], &["--threads", "2", "--poisson", "--to"]] {
        let before = runs(&service).len();
        let child = begin(&server, &[arguments, &[&service.url(), "--duration", "3s"]].concat());
        wait_until("it is shown", || runs(&service).len() > before);
        let name = runs(&service)[0]["run"].as_str().unwrap().to_owned();
        let shown = || service.get(&format!("/v1/load/shown?run={name}")).json();
        wait_until("it goes on", || {
            let step = &shown()["document"]["steps"][0];
            step["answered"].as_u64().is_some_and(|answered| answered > 0) && step["latency_ns"]["p99"].is_number()
        });
        assert!(["running", "over"].contains(&shown()["state"].as_str().unwrap()));
        let loaded = finished(child);
        // To the last: what was told meanwhile takes nothing from it.
        let document = &shown()["document"];
        assert_eq!(shown()["state"], "over");
        for name in ["schema", "target", "warnings", "summary", "connections"] {
            assert_eq!(document[name], loaded.json[name], "{name}");
        }
        for (step, shown) in document["steps"].as_array().unwrap().iter().enumerate() {
            for name in ["planned", "sent", "answered", "errors_by", "statuses", "not_sent_by", "workers"] {
                assert_eq!(shown[name], loaded.step(step)[name], "{name}");
            }
        }
        for step in 0..2 {
            let ends = loaded.count(step, "answered") + loaded.count(step, "errors") + loaded.count(step, "cut_off");
            assert_eq!(loaded.count(step, "sent"), ends);
            assert_eq!(loaded.step(step)["latency_ns"]["count"], loaded.step(step)["answered"]);
        }
    }
    // Whoever makes it may go without a word.
    let mut child = begin(&server, &["--to", &service.url(), "--duration", "60s"]);
    wait_until("it is shown", || runs(&service).len() == 3);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("nothing is heard of it", || runs(&service)[0]["state"] == "lost");
    let post = |body: &[u8]| ask(service.address, "POST", "/v1/load/shown", &[], body).status;
    assert_eq!(post(b"{"), 400);
    assert_eq!(post(br#"{"run": "a", "is_over": true, "document": {"steps": []}}"#), 400);
    assert_eq!(service.get("/v1/load/shown?run=none").status, 404);
}

#[test]
fn commands_are_shown_and_who_does_not_answer_ends_nothing() {
    let server = Faults::start("none");
    let service = Service::start(server.here.path(), &[]);
    let here = server.here.path();
    let short = ["--rate", "20", "--duration", "1s", "--warm-up", "0", "--to"];
    let loaded = Loaded::of(here, &[&["--command", "true"], &short[..], &[&service.url()]].concat());
    assert_eq!(loaded.count(0, "planned"), 20);
    assert_eq!(loaded.count(0, "answered") + loaded.count(0, "not_sent"), 20);
    let name = runs(&service)[0]["run"].as_str().unwrap().to_owned();
    assert_eq!(
        service.get(&format!("/v1/load/shown?run={name}")).json()["document"]["steps"][0]["sent"],
        loaded.step(0)["sent"]
    );
    // A service that is not there: load is made, and that is said.
    let url = server.url("/");
    let loaded = Loaded::of(here, &[&[url.as_str()], &short[..], &["http://127.0.0.1:1"]].concat());
    assert_eq!((loaded.count(0, "planned"), loaded.output.status.code()), (20, Some(0)));
    assert!(loaded.said().contains("the service's page does not have this report: "), "{}", loaded.said());
}

#[needs(chromium, npm)]
#[test]
fn a_run_is_followed_in_a_browser() {
    let server = Faults::start("none");
    let here = server.here.path();
    let service = Service::start(here, &[]);
    let (to, url) = (service.url(), server.url("/"));
    let follow = |child: Child, workers: usize| {
        wait_until("it is shown", || runs(&service).first().is_some_and(|run| run["state"] == "running"));
        browser::tell("load.mjs", &service, &[&url, &workers.to_string()]);
        let loaded = finished(child);
        assert_eq!(loaded.json["steps"].as_array().unwrap().len(), 2);
    };
    follow(begin(&server, &["--to", &to, "--duration", "12s"]), 0);
    let _workers = [LoadWorker::start(here, &to, &[]), LoadWorker::start(here, &to, &[])];
    wait_until("workers are there", || {
        service.get("/v1/load/workers").json()["workers"].as_array().unwrap().len() == 2
    });
    let name = |run: usize| runs(&service)[run]["run"].as_str().unwrap().to_owned();
    let first = name(0);
    let child = begin(&server, &["--workers", &to, "--duration", "12s"]);
    wait_until("it is shown", || name(0) != first);
    follow(child, 2);
    browser::tell("axe.mjs", &service, &["/load", &format!("/load?run={}", name(0)), "/load?run=none"]);
}
