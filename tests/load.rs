//! Load: what is planned is sent or counted as not sent, what fails is told by its kind, and beside the server's recording the
//! function is named that breaks first.
//!
//! Counts are exact whatever the machine is busy with; where a story is about times, they are hundreds of milliseconds.

mod common;
#[allow(dead_code)] // the crate's own stories use the rest
#[path = "../service/load/tests/common/redis.rs"]
mod redis;

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use common::faults::{Faults, Loaded};
use common::service::{Agent, Service};
use common::{diytrace, run_to_end, wait_until};
use needs::needs;
use serde_json::Value;

/// So short that tests are, and long enough for a rate.
const SHORT: [&str; 4] = ["--duration", "500ms", "--warm-up", "100ms"];

fn with_short(arguments: &[&'static str]) -> Vec<&'static str> {
    [arguments, &SHORT].concat()
}

/// What is planned is one or the other, and what is sent has one end.
fn assert_adds_up(step: &Value) {
    let number = |name: &str| step[name].as_u64().unwrap();
    assert_eq!(number("planned"), number("sent") + number("not_sent"), "{step:#}");
    assert_eq!(number("sent"), number("answered") + number("errors") + number("cut_off"), "{step:#}");
    assert_eq!(step["latency_ns"]["count"], step["answered"], "{step:#}");
    let sum = |name: &str| step[name].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("errors_by"), sum("not_sent_by")), (number("errors"), number("not_sent")), "{step:#}");
    let slices = step["timeline"]["slices"].as_array().unwrap();
    for name in ["answered", "errors", "not_sent"] {
        let all: u64 = slices.iter().map(|slice| slice[name].as_u64().unwrap()).sum();
        assert_eq!(all, number(name), "{name} of slices");
    }
}

#[test]
fn each_request_of_the_plan_is_sent_once() {
    let server = Faults::start("none");
    let loaded = server.load("/", &with_short(&["--rate", "200,1k", "--connections", "7"]));
    for (step, planned) in [100, 500].into_iter().enumerate() {
        assert_adds_up(loaded.step(step));
        assert_eq!(loaded.count(step, "planned"), planned);
        assert_eq!((loaded.count(step, "answered"), loaded.count(step, "errors")), (planned, 0));
        assert_eq!(loaded.step(step)["statuses"]["200"], planned);
    }
    let served = server.end();
    assert_eq!((served.requests, served.connections), (loaded.sent(), 7));
}

#[test]
fn threads_share_plan_and_connections() {
    let server = Faults::start("none");
    let loaded = server.load("/", &with_short(&["--rate", "600", "--connections", "5", "--threads", "3"]));
    assert_adds_up(loaded.step(0));
    assert_eq!((loaded.count(0, "planned"), loaded.count(0, "answered")), (300, 300));
    let served = server.end();
    assert_eq!((served.requests, served.connections), (loaded.sent(), 5));
}

#[test]
fn independent_requests_have_the_rate_and_are_those_of_the_seed() {
    let planned = |seed: &str| {
        let server = Faults::start("none");
        let loaded = server.load(
            "/",
            &with_short(&["--rate", "1000", "--poisson"]).iter().copied().chain(["--seed", seed]).collect::<Vec<_>>(),
        );
        assert_adds_up(loaded.step(0));
        assert_eq!(server.end().requests, loaded.sent());
        loaded.count(0, "planned")
    };
    let first = planned("1");
    assert!((400..600).contains(&first), "{first}");
    assert_eq!(planned("1"), first);
    assert_ne!(planned("2"), first, "which may be so, but is not");
}

#[test]
fn as_fast_as_it_goes_counts_as_the_server_does() {
    let server = Faults::start("none");
    let loaded = server.load("/", &with_short(&["--rate", "max", "--connections", "4"]));
    assert_adds_up(loaded.step(0));
    assert_eq!(loaded.step(0)["offered_per_s"], Value::Null);
    let served = server.end();
    assert_eq!((served.requests, served.connections), (loaded.sent(), 4));
}

#[test]
fn what_fails_is_told_by_its_kind() {
    let server = Faults::start("none");
    let lines =
        "1 GET /status/503\n1 GET /status/404\n1 GET /shut\n1 GET /noise\n1 GET /late/60000\n5 GET /status/204\n";
    fs::write(server.here.path().join("mix"), lines).unwrap();
    let arguments = with_short(&["--rate", "400", "--requests", "mix", "--timeout", "3s", "--connections", "300"]);
    let loaded = server.load("/", &arguments);
    assert_adds_up(loaded.step(0));
    let by = loaded.step(0)["errors_by"].as_object().unwrap();
    let kinds: Vec<&str> = by.keys().map(String::as_str).collect();
    assert_eq!(kinds, ["closed", "malformed", "status 404", "status 503", "timeout"]);
    assert_eq!(loaded.step(0)["statuses"]["404"], by["status 404"]);
    assert_eq!(loaded.step(0)["statuses"]["204"].as_u64(), Some(loaded.count(0, "answered")));
    assert_eq!(server.end().requests, loaded.sent());
}

#[test]
fn an_answer_ends_where_http_says() {
    let server = Faults::start("none");
    fs::write(server.here.path().join("mix"), "GET /chunks\nGET /last\nHEAD /status/304\nGET /status/204\n").unwrap();
    // An answer to HEAD of this server has none of its own, so that one is closed after it.
    let loaded = server.load("/", &with_short(&["--rate", "200", "--requests", "mix"]));
    assert_adds_up(loaded.step(0));
    assert_eq!(loaded.count(0, "answered") + loaded.count(0, "errors"), 100);
    assert!(loaded.count(0, "opened") > 20, "a connection that the server closes is opened again");
    assert_eq!(server.end().requests, loaded.sent());
}

#[test]
fn requests_that_find_no_connection_are_not_sent_and_counted() {
    let server = Faults::start("none");
    let arguments =
        ["--rate", "100", "--connections", "2", "--too-late", "150ms", "--duration", "1s", "--warm-up", "0"];
    let loaded = server.load("/late/300", &arguments);
    let step = loaded.step(0);
    assert_adds_up(step);
    assert_eq!((loaded.count(0, "planned"), loaded.count(0, "errors")), (100, 0));
    // Two connections have at most four answers each in the time, and one more each at its end.
    assert!((2..=8).contains(&loaded.count(0, "sent")), "{step:#}");
    assert!(step["not_sent_by"]["no free connection"].as_u64().unwrap() >= 60, "{step:#}");
    assert!(step["not_sent_by"]["at end"].as_u64().unwrap() >= 5, "{step:#}");
    assert!(loaded.said().contains("of 100 requests were not sent"), "{}", loaded.said());
    assert_eq!(server.end().requests, loaded.sent());
}

#[test]
fn without_keep_alive_each_request_has_its_connection() {
    let server = Faults::start("none");
    let loaded = server.load("/", &with_short(&["--rate", "200", "--no-keep-alive"]));
    assert_adds_up(loaded.step(0));
    assert_eq!(loaded.count(0, "answered"), 100);
    let served = server.end();
    assert_eq!((served.requests, served.connections), (loaded.sent(), loaded.sent()));
}

#[test]
fn bodies_headers_and_placeholders_arrive() {
    let server = Faults::start("none");
    fs::write(server.here.path().join("body"), vec![b'x'; 5000]).unwrap();
    let arguments = ["--body", "body", "--header", "X: 1", "--rate", "100", "--duration", "300ms", "--warm-up", "0"];
    let loaded = server.load("/a", &arguments);
    assert_eq!(loaded.count(0, "answered"), 30);
    let head = format!(
        "POST /a HTTP/1.1\r\nX: 1\r\nhost: 127.0.0.1:{}\r\nuser-agent: diytrace/{}\r\ncontent-length: 5000\r\n\r\n",
        server.port,
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(server.end().bytes, 30 * (head.len() as u64 + 5000));

    // Numbers of requests are 1 to 12: three of these are a digit longer.
    let server = Faults::start("none");
    let arguments = ["--rate", "40", "--duration", "300ms", "--warm-up", "0"];
    let loaded = server.load("/{seq}", &arguments);
    assert_eq!(loaded.count(0, "answered"), 12);
    let head = format!(
        "GET /1 HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nuser-agent: diytrace/{}\r\n\r\n",
        server.port,
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(server.end().bytes, 12 * head.len() as u64 + 3);
}

/// The clock that the server stalls by.
fn monotonic_ms() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists, and the time is filled in.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) }, 0);
    now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}

#[test]
fn a_stall_is_seen_as_users_would_see_it() {
    // A fifth of the time nothing is answered, for 200 ms each second: what a plan says of that by arithmetic.
    let rate = 200;
    let mut expected: Vec<f64> =
        (0..rate).map(|number| 1000.0 * f64::from(number) / f64::from(rate)).map(|ms| (200.0 - ms).max(0.0)).collect();
    expected.sort_by(f64::total_cmp);
    let server = Faults::start("stall");
    // A step that ended within a stall would end without what waits then.
    wait_until("a stall is over", || (300..400).contains(&(monotonic_ms() % 1000)));
    let arguments = ["--rate", "200", "--duration", "3s", "--warm-up", "0", "--connections", "3"];
    let loaded = server.load("/", &arguments);
    assert_adds_up(loaded.step(0));
    for (name, share) in [("p90", 0.9), ("p95", 0.95), ("p99", 0.99)] {
        let expected = expected[(f64::from(rate) * share) as usize - 1];
        let ms = loaded.step(0)["latency_ns"][name].as_f64().unwrap() / 1e6;
        // What the machine is busy with comes on top.
        assert!(ms > expected - 15.0 && ms < expected + 80.0, "{name} is {ms} ms, not {expected} ms");
    }
    // Three connections are three requests a stall: who counts from there has not seen it.
    let hidden = loaded.step(0)["from_send_ns"]["p90"].as_f64().unwrap() / 1e6;
    assert!(hidden < 90.0, "{hidden} ms from send");
}

#[test]
fn commands_are_requests_too() {
    let here = tempfile::tempdir().unwrap();
    let command = "echo $DIYTRACE_REQUEST >>log; test $((DIYTRACE_REQUEST % 4)) != 0 || exit 3";
    let arguments = ["--command", command, "--rate", "40", "--duration", "1s", "--warm-up", "0"];
    let loaded = Loaded::of(here.path(), &arguments);
    assert_adds_up(loaded.step(0));
    let sent = loaded.count(0, "sent");
    assert_eq!(loaded.count(0, "planned"), 40);
    assert_eq!(loaded.step(0)["errors_by"]["exit 3"].as_u64(), Some(sent / 4));
    let log = fs::read_to_string(here.path().join("log")).unwrap();
    let mut numbers: Vec<u64> = log.lines().map(|line| line.parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=sent).collect::<Vec<_>>());

    let loaded = Loaded::of(
        here.path(),
        &["--command", "sleep 60", "--rate", "5", "--timeout", "200ms", "--duration", "1s", "--warm-up", "0"],
    );
    assert_eq!(loaded.step(0)["errors_by"]["timeout"].as_u64(), Some(loaded.count(0, "sent")));
}

#[test]
fn redis_is_sent_commands_by_its_own_protocol() {
    let server = redis::Server::with_logins();
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("mix"), "3 GET 'key {seq}'\n1 FAIL WRONGTYPE\n").unwrap();
    let url = format!("redis://me:{}@{}/7", redis::PASSWORD, server.address);
    let loaded = Loaded::of(here.path(), &[&[&url, "--requests", "mix", "--rate", "200"][..], &SHORT].concat());
    let step = loaded.step(0);
    assert_adds_up(step);
    let failed = step["errors_by"]["error WRONGTYPE"].as_u64().unwrap();
    assert!(failed > 0 && failed == loaded.count(0, "errors"), "{step:#}");
    let commands = server.commands();
    assert_eq!(commands.len() as u64, loaded.sent());
    assert!(commands.iter().all(|command| command.starts_with("7: ")), "{commands:?}");
    // A password is nowhere to be seen.
    assert_eq!(loaded.json["target"], format!("redis://me@{}/7", server.address));
    assert!(!String::from_utf8_lossy(&loaded.output.stdout).contains(redis::PASSWORD));

    // As redis-cli has it, it may come from the environment.
    let url = format!("redis://{}", server.address);
    let load = |password: &str| {
        let mut command = diytrace(here.path());
        run_to_end(command.args(["load", &url]).args(SHORT).env("REDISCLI_AUTH", password))
    };
    assert!(load(redis::PASSWORD).status.success());
    let refused = load("wrong");
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("cannot log in at") && said.contains("WRONGPASS invalid username-password pair"), "{said}");
}

#[test]
fn interrupted_it_tells_what_there_is() {
    let server = Faults::start("none");
    let mut command: Command = diytrace(server.here.path());
    command.args([
        "load",
        "--format",
        "json",
        &server.url("/"),
        "--rate",
        "100",
        "--duration",
        "60s",
        "--warm-up",
        "0",
    ]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0).spawn().unwrap();
    wait_until("load is made", || server.connections() > 1);
    // SAFETY: a signal to a child of ours, which nobody has waited for yet.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["interrupted"], &json["steps"][0]["interrupted"]), (&Value::Bool(true), &Value::Bool(true)));
    assert_adds_up(&json["steps"][0]);
    let sent = json["steps"][0]["sent"].as_u64().unwrap();
    assert!(sent < 6000, "{sent} are all of the 60 seconds");
    assert_eq!(server.end().requests, sent);
}

#[test]
fn a_limit_decides_the_exit_status() {
    let server = Faults::start("none");
    let status = |limit: &'static str| {
        let loaded = server.load("/late/20", &with_short(&["--rate", "20", "--fail-if", limit]));
        (loaded.output.status.code(), loaded.said())
    };
    assert_eq!(status("p50>60s").0, Some(0));
    assert_eq!(status("errors>0").0, Some(0));
    let (code, said) = status("p50>1ms");
    assert_eq!(code, Some(1));
    assert!(said.contains("diytrace: 20/s: p50 is ") && said.contains("(--fail-if 'p50>1ms')"), "{said}");
    assert_eq!(status("rate<1000").0, Some(1));
}

#[test]
fn what_cannot_be_is_one_sentence() {
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("mix"), "GET /\nnine GET /\n").unwrap();
    let server = Faults::start("none");
    let url = server.url("/");
    for (arguments, expected) in [
        (&["http://127.0.0.1:1"][..], "cannot connect to 127.0.0.1:1 (connection refused): is the server running?"),
        (
            &["127.0.0.1:80"],
            "`127.0.0.1:80` is no address of a server (http:// is missing): write http://HOST:PORT/PATH",
        ),
        (&[&url, "--requests", "none"], "cannot read none: No such file or directory (os error 2)"),
        (&[&url, "--requests", "mix"], "mix:2: `GET` is no path: write lines such as 9 GET /item/{random:1-1000}"),
        (&[&url, "--header", "a"], "`a` is no header: write it as in 'Accept: text/html'"),
        (
            &[&url, "--profile", "nowhere"],
            "nowhere has no recording of a running program: start the server by `diytrace record -o nowhere`",
        ),
        (
            &["postgres://me:secret@127.0.0.1:1/shop", "--query", "SELECT 1"],
            "cannot connect to 127.0.0.1:1 (connection refused): is the server running?",
        ),
        (&["postgres://me@h"], "say what the database is asked: --query 'SELECT …', or --requests FILE"),
        (&["postgres://h/shop", "--query", "SELECT 1"], "that is no address of a database (the user is missing)"),
        (&["postgres://me@h", "--header", "a: b"], "--header is for http:// and https://, which this is not"),
        (&[&url, "--query", "SELECT 1"], "--query is for postgres:// and redis://, which this is not"),
        (
            &["redis://:secret@127.0.0.1:1"],
            "cannot connect to 127.0.0.1:1 (connection refused): is the server running?",
        ),
        (
            &["redis://h/shop"],
            "that is no address of a database (a database of redis is a number): write redis://USER:PASSWORD@HOST:PORT/DATABASE",
        ),
        (&["redis://h", "--body", "mix"], "--body is for http:// and https://, which this is not"),
        (&["redis://h", "--query", "MONITOR"], "`MONITOR` cannot be sent: MONITOR is about a connection itself"),
        (&[&url, "--rate", "fast"], "`fast` is no rate"),
        (&[&url, "--fail-if", "p98>1ms"], "`p98>1ms` is no limit"),
    ] {
        let output = run_to_end(diytrace(here.path()).arg("load").args(arguments));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn tables_and_rows_have_what_json_has() {
    let server = Faults::start("none");
    let said = |format: &str| {
        let url = server.url("/");
        let arguments = ["load", &url, "--rate", "20,40", "--duration", "500ms", "--warm-up", "0", "--format", format];
        let output = run_to_end(diytrace(server.here.path()).args(arguments));
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let rows = said("csv");
    let rows: Vec<Vec<&str>> = rows.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0][..6], ["offered_per_s", "achieved_per_s", "elapsed_ns", "planned", "sent", "answered"]);
    assert_eq!((rows.len(), rows[1][3], rows[2][3]), (3, "10", "20"));
    let table = said("table");
    assert!(table.contains("constant · 10 connections · 1 thread") && table.contains("p99.9"), "{table}");
    assert_eq!(table.lines().filter(|line| line.ends_with("20/s") || line.ends_with("40/s")).count(), 2, "{table}");
}

/// Load at two rates beside the recording of a server whose fault is huge at the higher one.
fn beside_its_recording(fault: &str) -> Loaded {
    let server = Faults::recorded(fault);
    let arguments = ["--rate", "40,240", "--duration", "2500ms", "--warm-up", "500ms", "--profile", "out"];
    let loaded = server.load("/", &arguments);
    // Each request is one call, to the last.
    let functions = loaded.json["response"]["functions"].as_array().unwrap();
    let handle = functions.iter().find(|function| function["name"] == "handle_request").unwrap();
    for step in 0..2 {
        assert_eq!(handle["steps"][step]["calls"].as_u64(), Some(loaded.count(step, "sent")));
        assert_eq!(handle["steps"][step]["calls_per_request"], 1.0);
    }
    loaded
}

#[test]
fn one_step_runs_unrecorded() {
    let server = Faults::recorded("none");
    let arguments = with_short(&["--rate", "60,30", "--profile", "out", "--unrecorded"]);
    let loaded = server.load("/", &arguments);
    let unrecorded = &loaded.json["unrecorded"];
    assert_adds_up(unrecorded);
    assert_eq!((&unrecorded["offered_per_s"], &unrecorded["planned"]), (&Value::from(30.0), &Value::from(15)));
    // None of its calls is in the recording, and all later ones are.
    let report = run_to_end(diytrace(server.here.path()).args(["report", "--format", "json", "out"]));
    let report = common::Document::parse(&report.stdout).into_only_report();
    let calls = report.functions.iter().find(|function| function.name == "handle_request").unwrap().calls;
    assert_eq!(calls, loaded.sent());
    let requests = loaded.sent()
        + [&unrecorded["sent"], &unrecorded["warm_up"]["sent"]].map(|sent| sent.as_u64().unwrap()).iter().sum::<u64>();
    assert_eq!(server.end().requests, requests);
}

/// A server that is recorded, and a store that has what an agent sends so often.
fn stored(fault: &str, every: &str) -> (Faults, Service, Agent) {
    let server = Faults::recorded(fault);
    let service = Service::start(server.here.path(), &[]);
    let agent = Agent::start_every(every, server.here.path(), &service.url());
    (server, service, agent)
}

#[test]
fn a_store_tells_what_the_recording_does() {
    let (server, _service, agent) = stored("lock", "50ms");
    let arguments = ["--rate", "40,240", "--duration", "2500ms", "--warm-up", "500ms"];
    let loaded = server.load("/", &[&arguments[..], &["--store", "s.db", "--select", "service=faults*"]].concat());
    let functions = loaded.json["response"]["functions"].as_array().unwrap();
    // No slice has something of two steps, or of what lies between them.
    let handle = functions.iter().find(|function| function["name"] == "handle_request").unwrap();
    for step in 0..2 {
        assert_eq!(handle["steps"][step]["calls"].as_u64(), Some(loaded.count(step, "sent")));
        assert_eq!(handle["steps"][step]["calls_per_request"], 1.0);
    }
    assert_eq!((&functions[0]["name"], &functions[0]["growth"]["is_certain"]), (&"update_totals".into(), &true.into()));
    assert!(loaded.json["summary"].as_str().unwrap().contains("is `update_totals`"), "{}", loaded.json["summary"]);
    assert_eq!(server.end().requests, loaded.sent());
    agent.end();
}

#[test]
fn slices_that_are_too_long_for_a_step_are_said() {
    let (server, _service, agent) = stored("none", "2s");
    let url = server.url("/");
    let said = |arguments: &[&str]| {
        let load = ["load", &url, "--rate", "50", "--duration", "500ms", "--warm-up", "100ms"];
        let output = run_to_end(diytrace(server.here.path()).args(load).args(arguments));
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(2), &b""[..]));
        String::from_utf8(output.stderr).unwrap()
    };
    let why = "a step has fewer than 4 whole slices of `service=faults*` in the store: have its agent send more often";
    let coarse = said(&["--store", "s.db", "--select", "service=faults*"]);
    assert!(coarse.contains(why), "{coarse}");
    // And what is not there at all.
    assert!(said(&["--store", "none.db"]).contains("none.db"));
    assert!(said(&["--store", "s.db", "--select", "service=other"]).contains("other"));
    agent.end();
}

fn assert_names(fault: &str, function: &str, why: &str) {
    let loaded = beside_its_recording(fault);
    let first = &loaded.json["response"]["functions"][0];
    let summary = loaded.json["summary"].as_str().unwrap();
    assert_eq!((&first["name"], &first["growth"]["why"]), (&Value::from(function), &Value::from(why)), "{summary}");
    assert_eq!(first["growth"]["is_certain"], true, "{first:#}");
    assert!(summary.contains(&format!("is `{function}`")), "{summary}");
}

#[test]
fn a_lock_that_is_held_longer_under_load_is_named() {
    assert_names("lock", "update_totals", "cost");
}

#[needs(perf_events)]
#[test]
fn who_waits_for_a_lock_has_waited_longer() {
    let loaded = beside_its_recording("lock");
    let function = &loaded.json["response"]["functions"][0];
    assert_eq!(function["growth"]["has_waited_longer"], true, "{function:#}");
    let [own, cpu, wait] = ["self_ns_per_request", "self_cpu_ns_per_request", "self_wait_ns_per_request"]
        .map(|name| function["steps"][1][name].as_f64().unwrap_or_else(|| panic!("{name}: {function:#}")));
    assert!(wait > own / 2.0 && cpu + wait <= own * 1.001 + 1.0, "{function:#}");
    let summary = loaded.json["summary"].as_str().unwrap();
    assert!(summary.ends_with("the time a call, waited longer."), "{summary}");
}

#[test]
fn a_list_that_grows_is_named() {
    assert_names("list", "find_session", "cost");
}

#[test]
fn a_pause_now_and_then_is_named() {
    assert_names("pause", "collect", "cost");
}

#[test]
fn a_cache_that_overflows_is_named() {
    let loaded = beside_its_recording("cache");
    let first = &loaded.json["response"]["functions"][0];
    let why = first["growth"]["why"].as_str().unwrap();
    // A machine that is busy may serve a few requests of the low rate late, and together.
    assert_eq!((&first["name"], why != "cost"), (&Value::from("read_page"), true), "{first:#}");
    assert!(loaded.json["summary"].as_str().unwrap().contains("`read_page`"), "{}", loaded.json["summary"]);
}

#[test]
fn a_storm_of_retries_is_named() {
    let loaded = beside_its_recording("storm");
    let first = &loaded.json["response"]["functions"][0];
    // Each takes as long as before, if the machine has time for it.
    let why = first["growth"]["why"].as_str().unwrap();
    assert_eq!((&first["name"], why != "cost"), (&Value::from("ask_backend"), true), "{first:#}");
    assert!(loaded.json["summary"].as_str().unwrap().contains("`ask_backend`"), "{}", loaded.json["summary"]);
}

#[test]
fn a_leak_of_connections_is_named() {
    assert_names("leak", "take_connection", "cost");
}

/// A second's first fifth is slept away in the function that has each request: who waits then, waits in there. What other programs
/// do may make so many moments slow that chance could have done it, and nothing is named: then it is looked at again.
#[test]
fn spikes_go_with_the_function_that_was_busy_meanwhile() {
    let server = Faults::recorded("stall");
    let arguments = ["--rate", "60", "--duration", "6s", "--warm-up", "0", "--profile", "out"];
    let is_named = |spikes: &Value| !spikes["correlated"][0].is_null();
    let mut looks: Vec<Value> = Vec::new();
    while looks.len() < 5 && !looks.iter().any(is_named) {
        looks.push(server.load("/", &arguments).json["response"]["spikes"][0].clone());
    }
    for spikes in looks.iter().filter(|spikes| is_named(spikes)) {
        let first = &spikes["correlated"][0];
        assert_eq!((&spikes["step"], &first["name"]), (&0.into(), &"handle_request".into()), "{spikes:#}");
        let number = |name: &str| first[name].as_f64().unwrap();
        assert!(number("share") > number("share_else") && number("p") <= 0.05, "{spikes:#}");
        assert!(spikes["highest_ns"].as_f64().unwrap() > 1e8, "{spikes:#}");
    }
    assert!(looks.iter().any(is_named), "{looks:#?}");
}

#[test]
fn at_a_terminal_it_tells_how_it_goes() {
    let server = Faults::start("none");
    let mut program = diytrace(server.here.path());
    program.args(["load", &server.url("/"), "--rate", "100", "--duration", "2s", "--warm-up", "0"]);
    let words: Vec<String> = std::iter::once(program.get_program())
        .chain(program.get_args())
        .map(|word| format!("'{}'", word.to_str().unwrap()))
        .collect();
    let mut script = Command::new("script");
    script.args(["-qec", &words.join(" "), "/dev/null"]).current_dir(server.here.path());
    let output = run_to_end(&mut script);
    let said = String::from_utf8_lossy(&output.stdout);
    let (live, report) = said.split_once("constant · 10 connections").unwrap();
    assert!(live.contains("step 1: 100/s") && live.contains("so far ") && live.contains(" · p99 "), "{live:?}");
    assert!(report.contains("100/s"), "{report:?}");
}
