//! What Grafana's data source for Pyroscope asks is answered with what reports tell, as protobuf and as JSON.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use common::service::{Answer, Service, ask};
use common::{builds, diytrace, fixture, run_to_end};
use prost::Message;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A service that has a recording of a forking server, and the same as a sampled profile of others.
fn serving(arguments: &[&str]) -> (TempDir, Service) {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    fs::write(&tokens, "read aaaaaaaaaaaaaaaaaaaa\n").unwrap();
    fs::set_permissions(&tokens, fs::Permissions::from_mode(0o600)).unwrap();
    let recorded = fixture("forks.c", builds()[0]).record().args(&["5", "2"]).run();
    let out = recorded.out();
    for words in [&["export", "pprof", "-o", "server.pb.gz"][..], &["push", "--store", "s.db"]] {
        assert!(run_to_end(diytrace(folder.path()).args(words).arg(&out)).status.success());
    }
    let sampled = ["push", "--store", "s.db", "--label", "service=others", "server.pb.gz"];
    assert!(run_to_end(diytrace(folder.path()).args(sampled)).status.success());
    let service = Service::start(folder.path(), arguments);
    (folder, service)
}

fn post(service: &Service, method: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    ask(service.address, "POST", &format!("/querier.v1.QuerierService/{method}"), headers, body)
}

fn asked(service: &Service, method: &str, request: Value) -> Value {
    let answer = post(service, method, &[("content-type", "application/json")], request.to_string().as_bytes());
    assert_eq!(answer.status, 200, "{method}: {answer:?}");
    answer.json()
}

/// As the proto files have them.
#[derive(Clone, PartialEq, Message)]
struct Request {
    #[prost(string, tag = "1")]
    profile_type_id: String,
    #[prost(string, tag = "2")]
    label_selector: String,
    #[prost(int64, tag = "3")]
    start: i64,
    #[prost(int64, tag = "4")]
    end: i64,
    #[prost(int64, optional, tag = "5")]
    max_nodes: Option<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct Response {
    #[prost(message, optional, tag = "1")]
    flamegraph: Option<FlameGraph>,
}

#[derive(Clone, PartialEq, Message)]
struct FlameGraph {
    #[prost(string, repeated, tag = "1")]
    names: Vec<String>,
    #[prost(message, repeated, tag = "2")]
    levels: Vec<Level>,
    #[prost(int64, tag = "3")]
    total: i64,
    #[prost(int64, tag = "4")]
    max_self: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Level {
    #[prost(int64, repeated, tag = "1")]
    values: Vec<i64>,
}

/// The flame graph of a type, asked as Grafana asks.
fn flame(service: &Service, id: &str, selector: &str, max_nodes: Option<i64>) -> FlameGraph {
    let request =
        Request { profile_type_id: id.to_owned(), label_selector: selector.to_owned(), start: 1, end: 0, max_nodes };
    let headers = [("content-type", "application/proto"), ("connect-protocol-version", "1")];
    let answer = post(service, "SelectMergeStacktraces", &headers, &request.encode_to_vec());
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.headers.contains("application/proto"), "{}", answer.headers);
    Response::decode(&*answer.body).unwrap().flamegraph.unwrap()
}

impl FlameGraph {
    /// What all frames of a name take by themselves, and what those of a level take together.
    fn own(&self, name: &str) -> i64 {
        let bars = self.levels.iter().flat_map(|level| level.values.chunks(4));
        bars.filter(|bar| self.names[bar[3] as usize] == name).map(|bar| bar[2]).sum()
    }

    fn all(&self) -> i64 {
        self.levels.iter().flat_map(|level| level.values.chunks(4)).map(|bar| bar[2]).sum()
    }
}

#[test]
fn flame_graphs_are_of_exact_calls_and_of_times() {
    let (_folder, service) = serving(&[]);
    let report = service.get("/v1/report").json()["reports"][0].clone();
    let calls = flame(&service, "diytrace:calls:count:calls:count", "{service_name=\"forks\"}", None);
    let leaf = report["functions"].as_array().unwrap().iter().find(|function| function["name"] == "leaf").unwrap();
    assert_eq!(
        (Value::from(calls.total), Value::from(calls.own("leaf"))),
        (report["calls"].clone(), leaf["calls"].clone())
    );
    assert_eq!(calls.all(), calls.total, "what frames take by themselves adds up");
    assert_eq!(
        flame(&service, "diytrace:calls", "{service_name=\"forks\"}", None).total,
        calls.total,
        "as it is called for short"
    );
    let time = flame(&service, "diytrace:time:nanoseconds:time:nanoseconds", "{}", Some(16384));
    let all = report["all_self_ns"].as_f64().unwrap();
    assert!((time.total as f64 - all).abs() <= 100.0 + all / 1e4, "{} and {all}", time.total);
    assert_eq!(time.all(), time.total);
    let sampled = flame(&service, "sampled:time:nanoseconds:time:nanoseconds", "{service_name=\"others\"}", None);
    assert_eq!(Value::from(sampled.total), service.get("/v1/samples").json()["shown"]["total"]);
    // Few bars hold the same.
    let few = flame(&service, "diytrace:calls:count:calls:count", "{}", Some(3));
    assert!(
        few.total == calls.total && few.all() == few.total && few.names.iter().any(|name| name == "other"),
        "{few:?}"
    );
    // What is not there has no width.
    assert_eq!(flame(&service, "diytrace:calls:count:calls:count", "{service_name=\"nope\"}", None).total, 0);
    // JSON says the same.
    let request = json!({ "profileTypeID": "diytrace:calls:count:calls:count", "labelSelector": "{service_name=~\"for.*\"}", "start": "1" });
    let as_json = asked(&service, "SelectMergeStacktraces", request)["flamegraph"].clone();
    assert_eq!(
        (as_json["names"].clone(), as_json["total"].clone()),
        (json!(calls.names), json!(calls.total.to_string()))
    );
}

#[test]
fn types_labels_and_rates_are_those_of_the_store() {
    let (_folder, service) = serving(&[]);
    let types = asked(&service, "ProfileTypes", json!({}));
    let ids: Vec<&str> =
        types["profileTypes"].as_array().unwrap().iter().map(|of| of["ID"].as_str().unwrap()).collect();
    for id in [
        "diytrace:calls:count:calls:count",
        "diytrace:time:nanoseconds:time:nanoseconds",
        "sampled:time:nanoseconds:time:nanoseconds",
    ] {
        assert!(ids.contains(&id), "{ids:?}");
    }
    let names = asked(&service, "LabelNames", json!({}));
    assert_eq!(names, json!({ "names": ["build", "host", "service_name"] }));
    let values = asked(&service, "LabelValues", json!({ "name": "service_name" }));
    assert_eq!(values, json!({ "names": ["forks", "others"] }));
    let chosen =
        asked(&service, "LabelValues", json!({ "name": "service_name", "matchers": ["{service_name=~\"o.*\"}"] }));
    assert_eq!(chosen, json!({ "names": ["others"] }));

    let series = service.get("/v1/series").json()["series"][0].clone();
    let ended = series["last_unix_ns"].as_i64().unwrap() / 1_000_000;
    let rates = asked(
        &service,
        "SelectSeries",
        json!({
            "profileTypeID": "diytrace:calls:count:calls:count", "labelSelector": "{}", "groupBy": ["service_name"],
            "start": (ended - 60_000).to_string(), "end": (ended + 60_000).to_string(), "step": 15,
        }),
    );
    let series_found = rates["series"].as_array().unwrap();
    assert_eq!(series_found.len(), 1, "{rates}");
    assert_eq!(series_found[0]["labels"], json!([{ "name": "service_name", "value": "forks" }]));
    let points = series_found[0]["points"].as_array().unwrap();
    assert_eq!(points.len(), 1);
    assert_eq!(points[0]["value"].as_f64(), series["calls"].as_f64());
    let at: i64 = points[0]["timestamp"].as_str().unwrap().parse().unwrap();
    assert!((ended..=ended + 15_000).contains(&at), "{at}, not just after {ended}");
}

#[test]
fn of_few_series_those_with_the_greatest_sums() {
    let folder = tempfile::tempdir().unwrap();
    for (service, requests) in [("few", "1"), ("many", "9")] {
        let recorded = fixture("forks.c", builds()[0]).record().args(&[requests, "2"]).run();
        let label = format!("service={service}");
        let words = ["push", "--store", "s.db", "--label", &label];
        assert!(run_to_end(diytrace(folder.path()).args(words).arg(recorded.out())).status.success());
    }
    let service = Service::start(folder.path(), &[]);
    let ended = service.get("/v1/series").json()["series"][0]["last_unix_ns"].as_i64().unwrap() / 1_000_000;
    let names = |limit: u64| -> Vec<Value> {
        let request = json!({
            "profileTypeID": "diytrace:calls:count:calls:count", "labelSelector": "{}", "groupBy": ["service_name"],
            "start": (ended - 3_600_000).to_string(), "end": (ended + 3_600_000).to_string(), "step": 15, "limit": limit.to_string(),
        });
        let series = asked(&service, "SelectSeries", request)["series"].clone();
        series.as_array().unwrap().iter().map(|series| series["labels"][0]["value"].clone()).collect()
    };
    assert_eq!((names(0), names(1)), (vec![json!("few"), json!("many")], vec![json!("many")]));
}

#[test]
fn what_cannot_be_answered_is_said_and_reading_needs_no_token_to_write() {
    let (_folder, service) = serving(&["--token-file", "tokens"]);
    let token = ("authorization", "Bearer aaaaaaaaaaaaaaaaaaaa");
    let json = ("content-type", "application/json");
    assert_eq!(post(&service, "ProfileTypes", &[json], b"{}").status, 401);
    assert_eq!(post(&service, "ProfileTypes", &[json, token], b"{}").status, 200);
    for (method, body, status, code, part) in [
        ("SelectSeries", "{\"profileTypeID\": \"cpu\"}", 400, "invalid_argument", "`cpu` is no profile type"),
        (
            "SelectMergeStacktraces",
            "{\"profileTypeID\": \"diytrace:calls:count\", \"labelSelector\": \"{a=~\\\"b(c|d)\\\"}\"}",
            400,
            "invalid_argument",
            "only . .* .+ and |",
        ),
        (
            "SelectSeries",
            "{\"profileTypeID\": \"diytrace:calls:count\"}",
            400,
            "invalid_argument",
            "start, end and step",
        ),
        (
            "SelectMergeStacktraces",
            "{\"profileTypeID\": \"diytrace:calls:count\", \"spanSelector\": [\"0123456789abcdef\"]}",
            501,
            "unimplemented",
            "traces and spans cannot be selected",
        ),
        (
            "SelectMergeStacktraces",
            "{\"profileTypeID\": \"diytrace:calls:count\", \"format\": \"PROFILE_FORMAT_PPROF\"}",
            501,
            "unimplemented",
            "only flame graphs",
        ),
        (
            "SelectSeries",
            "{\"profileTypeID\": \"diytrace:calls:count\", \"stackTraceSelector\": {\"callSite\": [{\"name\": \"main\"}]}}",
            501,
            "unimplemented",
            "stacks cannot be selected",
        ),
        (
            "SelectSeries",
            "{\"profileTypeID\": \"diytrace:calls:count\", \"aggregation\": 1}",
            501,
            "unimplemented",
            "averages",
        ),
        (
            "SelectSeries",
            "{\"profileTypeID\": \"diytrace:calls:count\", \"aggregation\": \"MOST\"}",
            400,
            "invalid_argument",
            "`MOST` is none of",
        ),
        ("ProfileTypes", "{", 400, "invalid_argument", "EOF"),
        ("Diff", "{}", 501, "unimplemented", "there is no method `Diff`"),
    ] {
        let answer = post(&service, method, &[json, token], body.as_bytes());
        let said = answer.json();
        assert_eq!((answer.status, &said["code"]), (status, &json!(code)), "{method}: {said}");
        assert!(said["message"].as_str().unwrap().contains(part), "{method}: {said}");
    }
    assert_eq!(post(&service, "ProfileTypes", &[("content-type", "text/plain"), token], b"").status, 415);
}
