//! Load from several processes: a service's workers share it, what they send adds up to what the server has had, and what is lost is told.
//!
//! Counts are exact whatever the machine is busy with; where a worker dies, they are to what the report says that they may be off.

mod common;

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use common::faults::{Faults, Loaded, Served};
use common::service::{Agent, Between, LoadWorker, Service, Way};
use common::{diytrace, run_to_end, wait_until};
use serde_json::Value;

const SHORT: [&str; 4] = ["--duration", "1s", "--warm-up", "300ms"];

/// A server, a service, and three of its workers.
struct Crew {
    server: Faults,
    service: Service,
    workers: Vec<LoadWorker>,
}

impl Crew {
    fn of(server: Faults) -> Self {
        let service = Service::start(server.here.path(), &[]);
        let workers = (0..3).map(|_| LoadWorker::start(server.here.path(), &service.url(), &[])).collect();
        let crew = Self { server, service, workers };
        crew.wait_for(3);
        crew
    }

    fn wait_for(&self, workers: usize) {
        wait_until("all workers are there", || here(&self.service).len() == workers);
    }

    fn arguments(&self, arguments: &[&str]) -> Vec<String> {
        let by = [self.server.url("/"), "--workers".to_owned(), self.service.url()];
        by.into_iter().chain(arguments.iter().map(|argument| (*argument).to_owned())).collect()
    }

    fn load(&self, arguments: &[&str]) -> Loaded {
        let arguments = self.arguments(arguments);
        Loaded::of(self.server.here.path(), &arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Load that goes on.
    fn begin(&self, arguments: &[&str]) -> Child {
        let mut command = diytrace(self.server.here.path());
        command.args(["load", "--format", "json"]).args(self.arguments(arguments));
        command.stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let child = command.spawn().unwrap();
        // Each worker has looked whether the server is there, and has connections of its own since.
        wait_until("load is made", || self.server.connections() > 3);
        child
    }
}

/// Names of the workers that a service knows.
fn here(service: &Service) -> Vec<String> {
    let json = service.get("/v1/load/workers").json();
    json["workers"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

fn finished(child: Child) -> Loaded {
    let output = child.wait_with_output().unwrap();
    let json = serde_json::from_slice(&output.stdout).unwrap();
    Loaded { output, json }
}

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_else(|| panic!("{name} in {value:#}"))
}

/// What is planned is one or the other, what is sent has one end, and workers add up to all.
fn assert_adds_up(loaded: &Loaded) {
    for step in loaded.json["steps"].as_array().unwrap() {
        assert_eq!(number(step, "planned"), number(step, "sent") + number(step, "not_sent"), "{step:#}");
        let ends = number(step, "answered") + number(step, "errors") + number(step, "cut_off");
        assert_eq!(number(step, "sent"), ends, "{step:#}");
        assert_eq!(step["latency_ns"]["count"], step["answered"], "{step:#}");
        let slices = step["timeline"]["slices"].as_array().unwrap();
        for name in ["answered", "errors", "not_sent"] {
            assert_eq!(slices.iter().map(|slice| number(slice, name)).sum::<u64>(), number(step, name), "{name}");
        }
        let workers = step["workers"].as_array().unwrap();
        for name in ["planned", "sent", "answered", "errors", "cut_off", "not_sent"] {
            assert_eq!(workers.iter().map(|worker| number(worker, name)).sum::<u64>(), number(step, name), "{name}");
        }
        let warm_up: u64 = workers.iter().map(|worker| number(worker, "warm_up_sent")).sum();
        assert_eq!(warm_up, number(&step["warm_up"], "sent"));
    }
    let workers = loaded.json["workers"].as_array().unwrap();
    assert_eq!(workers.iter().map(|worker| number(worker, "sent")).sum::<u64>(), loaded.sent());
}

/// The server has had what was sent: to the request, but for what the report says of those that were lost.
fn assert_served(loaded: &Loaded, served: Served) {
    let steps = || loaded.json["steps"].as_array().unwrap().iter();
    let lost =
        || steps().flat_map(|step| step["workers"].as_array().unwrap()).filter(|worker| !worker["lost"].is_null());
    let unknown: u64 = lost().map(|worker| number(&worker["lost"], "most_unknown")).sum();
    let unsure: u64 = lost().map(|worker| number(worker, "cut_off")).sum();
    let sent = loaded.sent();
    assert!((sent - unsure..=sent + unknown).contains(&served.requests), "{served:?}: {sent} + {unknown}, - {unsure}");
}

#[test]
fn workers_share_each_rate_and_send_what_the_server_has() {
    let crew = Crew::of(Faults::start("none"));
    let loaded = crew.load(&[&SHORT[..], &["--rate", "300,601", "--connections", "7"]].concat());
    assert_adds_up(&loaded);
    for (step, planned) in [300, 601].into_iter().enumerate() {
        let workers = loaded.step(step)["workers"].as_array().unwrap();
        // Who was not heard of for a while on a busy machine has the rest of its share counted as not sent.
        assert_eq!((loaded.count(step, "planned"), workers.len()), (planned, 3), "{:#}", loaded.json);
        let mut connections: Vec<u64> = workers.iter().map(|worker| number(worker, "connections")).collect();
        connections.sort_unstable();
        assert_eq!(connections, [2, 2, 3]);
        assert!(workers.iter().all(|worker| number(worker, "planned").abs_diff(planned / 3) <= 1));
    }
    assert_eq!((&loaded.json["connections"], &loaded.json["threads"]), (&7.into(), &3.into()));
    let names: Vec<&str> =
        loaded.json["workers"].as_array().unwrap().iter().map(|worker| worker["name"].as_str().unwrap()).collect();
    assert!(crew.workers.iter().all(|worker| names.iter().any(|name| name.ends_with(&format!("/{}", worker.id())))));
    assert_served(&loaded, crew.server.end());
}

#[test]
fn what_comes_at_random_and_what_goes_as_it_can_add_up() {
    let crew = Crew::of(Faults::start("none"));
    let poisson = crew.load(&[&SHORT[..], &["--rate", "400", "--poisson", "--threads", "2"]].concat());
    assert_adds_up(&poisson);
    assert!((200..600).contains(&poisson.count(0, "planned")), "{:#}", poisson.json);
    let most = crew.load(&[&SHORT[..], &["--rate", "max", "--connections", "6"]].concat());
    assert_adds_up(&most);
    assert_eq!(most.step(0)["offered_per_s"], Value::Null);
    assert_eq!(poisson.sent() + most.sent(), crew.server.end().requests);
}

#[test]
fn a_worker_that_is_killed_is_told_of_and_others_take_over() {
    let mut crew = Crew::of(Faults::start("none"));
    let child = crew.begin(&["--rate", "200,150", "--duration", "4s", "--warm-up", "0"]);
    wait_until("the server is asked", || crew.server.connections() > 0);
    sleep(Duration::from_secs(1)); // so that there is something to lose
    let killed = format!("/{}", crew.workers[0].id());
    crew.workers[0].kill();
    let loaded = finished(child);
    assert_adds_up(&loaded);
    assert_eq!((loaded.count(0, "planned"), loaded.count(1, "planned")), (800, 600));
    let of = |step: usize| {
        let workers = loaded.step(step)["workers"].as_array().unwrap();
        workers.iter().find(|worker| worker["name"].as_str().unwrap().ends_with(&killed))
    };
    let lost = of(0).unwrap();
    assert_eq!(lost["lost"]["during"], "step", "{lost:#}");
    assert!(number(&lost["lost"], "told_ns") <= number(&lost["lost"], "known_ns"));
    assert!(number(&loaded.step(0)["not_sent_by"], "worker lost") >= number(lost, "not_sent"));
    assert!(of(1).is_none(), "the others have all of the next step");
    let warnings = loaded.json["warnings"].to_string();
    assert!(
        warnings.contains(&killed) && warnings.contains("count as not sent, of which it may have sent up to"),
        "{warnings}"
    );
    assert_served(&loaded, crew.server.end());
}

#[test]
fn frames_whose_answers_are_lost_count_once() {
    let server = Faults::start("none");
    let service = Service::start(server.here.path(), &[]);
    let between = Between::of(&[service.address]);
    let _worker = LoadWorker::start(server.here.path(), &format!("http://{}", between.address), &[]);
    wait_until("the worker is there", || here(&service).len() == 1);
    let crew = Crew { server, service, workers: Vec::new() };
    let child = crew.begin(&["--rate", "200", "--duration", "3s", "--warm-up", "0"]);
    for _ in 0..5 {
        between.set(Way::NoAnswer);
        sleep(Duration::from_millis(100));
        between.set(Way::Open);
        sleep(Duration::from_millis(400));
    }
    let loaded = finished(child);
    assert_adds_up(&loaded);
    assert_eq!(loaded.count(0, "planned"), 600);
    assert_served(&loaded, crew.server.end());
}

#[test]
fn interrupted_its_workers_end_soon_and_make_the_next_load() {
    let crew = Crew::of(Faults::start("none"));
    let child = crew.begin(&["--rate", "100", "--duration", "60s", "--warm-up", "0"]);
    // SAFETY: a signal to a child of ours, which nobody has waited for yet.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
    let loaded = finished(child);
    assert!(loaded.output.status.success());
    assert_adds_up(&loaded);
    assert_eq!(loaded.json["interrupted"], true);
    assert!(loaded.sent() < 3000, "{} are half of the 60 seconds", loaded.sent());
    // Whoever goes without a word leaves no load behind.
    let mut child = crew.begin(&["--rate", "100", "--duration", "60s", "--warm-up", "0"]);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("nobody makes load", || crew.server.connections() == 0);
    crew.wait_for(3);
    let again = crew.load(&[&SHORT[..], &["--rate", "50"]].concat());
    assert_adds_up(&again);
    assert_eq!(again.count(0, "planned"), 50);
}

fn assert_each_request_is_one_call(loaded: &Loaded) {
    assert_adds_up(loaded);
    let functions = loaded.json["response"]["functions"].as_array().unwrap();
    let handle = functions.iter().find(|function| function["name"] == "handle_request").unwrap();
    for step in 0..2 {
        assert_eq!(number(&handle["steps"][step], "calls"), loaded.count(step, "sent"));
    }
}

#[test]
fn beside_its_recording_each_request_is_one_call() {
    let crew = Crew::of(Faults::recorded("none"));
    let loaded = crew.load(&["--rate", "40,160", "--duration", "2s", "--warm-up", "300ms", "--profile", "out"]);
    assert_each_request_is_one_call(&loaded);
    assert_served(&loaded, crew.server.end());
}

#[test]
fn a_store_tells_each_request_as_one_call() {
    let crew = Crew::of(Faults::recorded("none"));
    let agent = Agent::start(crew.server.here.path(), &crew.service.url());
    let arguments = ["--rate", "40,160", "--duration", "2500ms", "--warm-up", "300ms", "--store", "s.db"];
    let loaded = crew.load(&[&arguments[..], &["--select", "service=faults*"]].concat());
    assert_each_request_is_one_call(&loaded);
    assert_served(&loaded, crew.server.end());
    agent.end();
}

#[test]
fn a_worker_drives_what_its_own_command_line_allows() {
    let crew = Crew::of(Faults::start("none"));
    let path = crew.server.here.path();
    let refused = |target: &str| {
        let output = run_to_end(diytrace(path).args(["load", target, "--workers", &crew.service.url()]));
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
        String::from_utf8(output.stderr).unwrap()
    };
    // Addresses that documents may use, and nobody has.
    let said = refused("http://198.51.100.7:81/");
    assert!(said.contains("this worker may not make load to 198.51.100.7:81: start it with --load-target"), "{said}");
    assert_eq!(said.matches("may not").count(), 1, "{said}");
    assert!(refused("postgres://me:secret@198.51.100.7/shop").contains("say what the database is asked"));
    let said = refused("redis://:secret@198.51.100.7");
    assert!(said.contains("may not make load to 198.51.100.7:6379") && !said.contains("secret"), "{said}");
    // This address leads here and is none of this machine's own: one worker may, and the others take no part.
    let allowed = LoadWorker::start(path, &crew.service.url(), &["--load-target", "0.0.0.0:*"]);
    crew.wait_for(4);
    let (anywhere, service) = (format!("http://0.0.0.0:{}/", crew.server.port), crew.service.url());
    let arguments = [&[anywhere.as_str(), "--workers", &service, "--rate", "50"], &SHORT[..]].concat();
    let loaded = Loaded::of(path, &arguments);
    assert_adds_up(&loaded);
    assert_eq!(loaded.count(0, "planned"), 50);
    for worker in loaded.json["workers"].as_array().unwrap() {
        let is_it = worker["name"].as_str().unwrap().ends_with(&format!("/{}", allowed.id()));
        assert_eq!((worker["refused"].is_null(), number(worker, "sent") > 0), (is_it, is_it), "{worker:#}");
    }
    assert!(loaded.said().contains("has taken no part: this worker may not make load to 0.0.0.0"), "{}", loaded.said());
    assert_served(&loaded, crew.server.end());
}

#[test]
fn what_cannot_be_is_one_sentence() {
    let server = Faults::start("none");
    let here = server.here.path();
    write_private(&here.join("tokens"), "write 0123456789abcdef\nread fedcba9876543210\n");
    write_private(&here.join("others"), "write fedcba9876543210\n");
    let service = Service::start(here, &["--token-file", "tokens"]);
    let (url, to) = (server.url("/"), service.url());
    let refused = |arguments: &[&str]| {
        let output = run_to_end(diytrace(here).args(arguments));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{said}");
        said
    };
    let said = refused(&["load", &url, "--workers", &to, "--token-file", "tokens"]);
    assert!(said.contains("no worker is there: start some on the machines that are to make load"), "{said}");
    let said = refused(&["load", &url, "--workers", &to, "--token-file", "others"]);
    assert!(said.contains("this token may not write: show one that may"), "{said}");
    let said = refused(&["agent", "--load-worker", "--to", &to]);
    assert!(said.contains("show a token that may write"), "{said}");
    let said = refused(&["load", &url, "--workers", "http://127.0.0.1:1"]);
    assert!(said.contains("http://127.0.0.1:1 does not answer"), "{said}");
    let said = refused(&["load", &url, "--workers", "there"]);
    assert!(said.contains("`there` is no address of a service"), "{said}");
    assert!(refused(&["load", "--command", "true", "--workers", &to]).contains("cannot be used with"));
    assert!(refused(&["load", &url, "--token-file", "tokens"]).contains("--workers <URL>"));
    assert!(refused(&["agent", "--to", &to, "--load-target", "a"]).contains("--load-worker"));
    // With the token all is well.
    let _worker = LoadWorker::start(here, &to, &["--token-file", "tokens"]);
    let arguments = [&[url.as_str(), "--workers", &to, "--token-file", "tokens", "--rate", "20"], &SHORT[..]].concat();
    wait_until("the worker is there", || {
        let header = ("authorization", "Bearer fedcba9876543210");
        let answer = common::service::ask(service.address, "GET", "/v1/load/workers", &[header], &[]);
        answer.json()["workers"].as_array().unwrap().len() == 1
    });
    let loaded = Loaded::of(here, &arguments);
    assert_adds_up(&loaded);
    // More than a service takes is said.
    fs::write(here.join("body"), vec![b'x'; 33 << 20]).unwrap();
    let large = [&arguments[..], &["--body", "body"]].concat();
    let said = refused(&[&["load"], &large[..]].concat());
    assert!(said.contains("are more than the 32 MiB that it takes"), "{said}");
    // A body may be no longer than it must, and is understood or refused.
    let post = |path: &str, body: &[u8]| {
        let header = ("authorization", "Bearer 0123456789abcdef");
        common::service::ask(service.address, "POST", path, &[header], body)
    };
    assert_eq!(post("/v1/load/look", &vec![b' '; 100_000]).status, 413);
    assert_eq!(post("/v1/load/frames", b"{\"worker\": 1}").status, 400);
    assert_eq!(post("/v1/load/look", b"{\"run\": \"none\"}").status, 404);
}

fn write_private(path: &Path, text: &str) {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).mode(0o600).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}
