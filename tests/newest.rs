//! `top` of a profile store: what came in its newest slices, live, whichever engine keeps it.

mod common;

use std::path::Path;
use std::process::Output;

use common::clickhouse::ClickHouse;
use common::service::{Agent, Service};
use common::story::text;
use common::{Endless, diytrace, record_into, run_to_end, wait_until};
use common::{Recording, builds, fixture};
use needs::needs;
use serde_json::Value;

fn run(folder: &Path, words: &[&str]) -> Output {
    run_to_end(diytrace(folder).args(words))
}

fn frames(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn calls(frame: &Value, name: &str) -> u64 {
    let functions = frame["functions"].as_array().unwrap();
    functions.iter().find(|row| row["name"] == name).map_or(0, |row| row["calls"].as_u64().unwrap())
}

fn a_frame_is_what_ended_last(store: &str) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (service, children) in [("a", "4"), ("b", "12")] {
        let recorded = Recording::of(&fixture("forks.c", builds()[0])).args(&[children, "4"]).run();
        let (label, out) = (format!("service={service}"), recorded.out().display().to_string());
        let pushed = run(folder, &["push", "--store", store, "--label", &label, &out]);
        assert!(pushed.status.success(), "{}", text(&pushed.stderr));
    }
    // Of a recording that was pushed, the one slice is all of it.
    for (service, expected) in [("a", 8), ("b", 24)] {
        let select = format!("service={service}");
        let output = run(folder, &["top", "--store", store, "--select", &select, "--once", "--json"]);
        let [frame] = &frames(&output)[..] else { panic!("one frame") };
        assert_eq!((calls(frame, "leaf"), &frame["newest"]["recordings"]), (expected, &1.into()), "{frame}");
        assert_eq!(frame["newest"]["of"].as_str(), Some(&*select));
        let seconds = frame["interval_ns"].as_f64().unwrap() / 1e9;
        let all: u64 = frame["functions"].as_array().unwrap().iter().map(|row| row["calls"].as_u64().unwrap()).sum();
        assert!((frame["calls_per_s"].as_f64().unwrap() * seconds - all as f64).abs() < 0.5, "{frame}");
    }
    let shown =
        text(&run(folder, &["top", "--store", store, "--select", "service=b", "--once", "--root", "serve"]).stdout);
    assert!(shown.starts_with("service=b · 1 recording · ") && shown.contains("└ handle"), "{shown}");
}

#[test]
fn a_frame_is_what_ended_last_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    a_frame_is_what_ended_last(folder.path().join("s.db").to_str().unwrap());
}

#[needs(clickhouse)]
#[test]
fn a_frame_is_what_ended_last_in_clickhouse() {
    let folder = tempfile::tempdir().unwrap();
    a_frame_is_what_ended_last(&ClickHouse::start(folder.path()).store("runs"));
}

#[test]
fn frames_follow_what_comes_in() {
    let mut program = Endless::start();
    let folder = program.here.path().to_owned();
    let mut service = Service::start(&folder, &["--store", "s.db"]);
    let agent = Agent::start(&folder, &service.url());
    wait_until("something is in the store", || {
        let series = service.get("/v1/series").json();
        series["series"][0]["calls"].as_u64().is_some_and(|calls| calls > 1000)
    });
    let told = run(
        &folder,
        &["top", "--store", "s.db", "--select", "service=endless", "--json", "--frames", "3", "--interval", "100"],
    );
    let frames = frames(&told);
    assert_eq!(frames.len(), 3);
    let at: Vec<u64> = frames.iter().map(|frame| frame["at_unix_ns"].as_u64().unwrap()).collect();
    assert!(at.is_sorted_by(|a, b| a < b), "each is of later slices: {at:?}");
    assert!(
        frames.iter().all(|frame| calls(frame, "leaf") > 0 && frame["interval_ns"].as_u64() < Some(60_000_000_000))
    );
    program.stop();
    agent.end();
    assert_eq!(service.end(), Some(0));
}

#[test]
fn bad_use_is_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    record_into(folder.path(), "forks.c", builds()[0], "one");
    assert!(run(folder.path(), &["push", "--store", "s.db", "one"]).status.success());
    for (words, expected) in [
        (&["--store", "none.db"][..], "there is no store none.db"),
        (&["--store", "s.db", "--select", "service=fork"], "service is forks"),
        (&["--store", "s.db", "--select", "servic=forks"], "no series has a label `servic`"),
    ] {
        let output = run(folder.path(), &[&["top", "--once"], words].concat());
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let said = text(&output.stderr);
        assert!(said.contains(expected) && said.lines().count() == 1, "{words:?}: {said}");
    }
    let both = run(folder.path(), &["top", "one", "--store", "s.db"]);
    assert!(
        both.status.code() == Some(2) && text(&both.stderr).contains("cannot be used with"),
        "{}",
        text(&both.stderr)
    );
}
