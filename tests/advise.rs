//! What a recording does better without: `diytrace advise`, and whether what it promises comes true.

mod common;

use std::path::Path;

use common::{Build, Program, Recorded, diytrace, fixture, fixture_with, run_to_end};
use serde_json::Value;

/// Calls of each of the two small functions of `tiny.c`.
const CALLS: u64 = 400_000;

fn advice(recorded: &Recorded, arguments: &[&str]) -> Value {
    let output = recorded.diytrace(&[&["advise", "--format", "json"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn names(advice: &Value) -> Vec<&str> {
    let functions = advice["functions"].as_array().unwrap().iter();
    let mut names: Vec<&str> = functions.map(|function| function["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    names
}

fn tiny() -> Program {
    fixture("tiny.c", Build::GCC_O2)
}

/// What `docs/samples/server.diya` says, whose times are what they are.
fn of_sample(arguments: &[&str]) -> (Option<i32>, String, String) {
    let samples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/samples"));
    let output = run_to_end(diytrace(samples).args(["advise", "server.diya"]).args(arguments));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn functions_that_cost_more_to_record_than_they_take() {
    let (_, json, _) = of_sample(&["--format", "json"]);
    let advice: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&advice["schema"], names(&advice)), (&"diytrace-advise/1".into(), vec!["compare_words", "hash_key"]));
    assert_eq!(advice["exclude"], "compare_words,hash_key", "the most expensive first");
    let (now, left) = (&advice["now"], &advice["left"]);
    assert_eq!((&now["calls"], &left["calls"]), (&95_256.into(), &9_140.into()));
    let recording = |size: &Value| size["recording_ns"].as_f64().unwrap() / size["calls"].as_f64().unwrap();
    assert!((recording(now) - recording(left)).abs() < 0.01, "{now} {left}");
    for function in advice["functions"].as_array().unwrap() {
        assert!(function["self_ns"].as_f64() < function["recording_ns"].as_f64(), "{function}");
    }
    assert_eq!(of_sample(&["--format", "csv"]).1.lines().count(), 3);
    assert!(of_sample(&["--min-percent", "99"]).1.contains("nothing to leave out"));
    assert_eq!(of_sample(&["--min-percent", "x"]).0, Some(2));
}

/// Which of the two are advised depends on how busy this machine is.
#[test]
fn the_next_run_is_as_small_as_it_says() {
    let first = advice(&tiny().record().run(), &["--min-percent", "10"]);
    let advised = names(&first);
    assert!(advised.iter().all(|name| ["is_space", "next"].contains(name)), "{advised:?}");
    let left = &first["left"];
    assert_eq!(first["now"]["calls"], 2 * CALLS + 41);
    assert_eq!(left["calls"], (2 - advised.len() as u64) * CALLS + 41);

    let exclude = first["exclude"].as_str().unwrap();
    let second = advice(&tiny().record().set("EXCLUDE", exclude).run(), &[]);
    assert_eq!(second["now"]["calls"], left["calls"]);
}

#[test]
fn gcc_leaves_out_what_it_says_and_no_more() {
    let advice = advice(&tiny().record().run(), &["--min-percent", "10"]);
    let advised = names(&advice);
    if advised.is_empty() {
        return; // a busy machine, see above
    }
    let flag = &advice["flags"][0];
    let option = flag["option"].as_str().unwrap();
    assert_eq!(option, format!("-finstrument-functions-exclude-function-list={}", advised.join(",")));
    // gcc's lists are of parts of names.
    let also =
        if advised.contains(&"next") { serde_json::json!({"next": ["next_line"]}) } else { serde_json::json!({}) };
    assert_eq!(flag["also"], also);
    let recorded = fixture_with("tiny.c", Build::GCC_O2, &[option]).unwrap().record().run();
    let also_left_out = also.as_object().unwrap().len() as u64; // each function has one call path
    let paths = self::advice(&recorded, &[])["now"]["paths"].as_u64().unwrap();
    assert_eq!(paths, advice["left"]["paths"].as_u64().unwrap() - also_left_out);
    let without = recorded.report();
    let is_left_out = |name: &&str| advised.iter().any(|part| name.contains(part));
    for name in ["main", "work", "next_line", "next", "is_space"] {
        assert_eq!(without.functions.iter().any(|function| function.name == name), !is_left_out(&name), "{name}");
    }
}

#[test]
fn roots_stay_and_without_times_there_is_no_advice() {
    let rooted = tiny().record().roots("next").run();
    assert!(!names(&advice(&rooted, &["--min-percent", "0"])).contains(&"next"));
    let counted = tiny().record().set("TIMING", "off").run();
    let output = counted.diytrace(&["advise"]);
    let why = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{why}");
    assert!(why.contains("timing of this recording is `off`: record with --timing all"), "{why}");
}

#[test]
fn advice_is_verified_by_runs() {
    let recorded = tiny().record().run();
    if names(&advice(&recorded, &["--min-percent", "10"])).is_empty() {
        return; // a busy machine, see above
    }
    let advice = advice(&recorded, &["--min-percent", "10", "--verify", "--rounds", "3"]);
    let verified = &advice["verified"];
    let number = |of: &Value, what: &str| of[what]["median"].as_f64().unwrap();
    assert_eq!(verified["runs"], 3);
    assert!(verified["command"][0].as_str().unwrap().ends_with("tiny"), "{verified}");
    assert_eq!(number(&verified["now"], "calls") as u64, 2 * CALLS + 41);
    assert_eq!(number(&verified["left"], "calls") as u64, advice["left"]["calls"].as_u64().unwrap());
    for kind in ["now", "left"] {
        let wall = &verified[kind]["wall_ns"];
        let [min, median, max] = ["min", "median", "max"].map(|what| wall[what].as_f64().unwrap());
        assert!(0.0 < min && min <= median && median <= max, "{wall}");
        assert!(number(&verified[kind], "profile_bytes") > 4096.0, "{verified}");
    }
    assert!(verified["faster_percent"]["max"].as_f64().unwrap() < 100.0);

    let program = tiny();
    let running = |command: &str| {
        let mut line = diytrace(recorded.folder());
        line.arg("advise").arg(recorded.out()).args([
            "--min-percent",
            "10",
            "--verify",
            "--rounds",
            "1",
            "--",
            command,
        ]);
        run_to_end(&mut line)
    };
    let shown = String::from_utf8(running(program.path.to_str().unwrap()).stdout).unwrap();
    assert!(
        shown.contains("verified: 1 run each way, by turns, of ") && shown.contains("with the exclude list"),
        "{shown}"
    );
    for (command, why) in [("/nothing/here", "cannot run /nothing/here"), ("/bin/false", "ended with exit status: 1")] {
        let output = running(command);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains(why), "{said}");
    }
}
