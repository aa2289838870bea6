//! Sampled profiles of others, compared, and over builds and time: what changed is found and nothing else, whatever keeps them; what
//! cannot be compared is refused with all that there is.

mod common;

use std::fs;
use std::path::Path;
use std::process::Output;

use common::clickhouse::ClickHouse;
use common::pprof::{DAY, SECOND, Written, cpu};
use common::service::Service;
use common::story::{Story, text};
use common::{builds, diytrace, fixture, run_to_end};
use needs::needs;
use serde_json::{Value, json};
use tempfile::TempDir;

fn run(folder: &Path, line: &str) -> Output {
    run_to_end(diytrace(folder).args(line.split(' ')))
}

fn done(folder: &Path, line: &str) -> Vec<u8> {
    let output = run(folder, line);
    assert!(output.status.success(), "{line}: {}", text(&output.stderr));
    output.stdout
}

/// What it answers, and its exit status, which is 1 if something rose.
fn told(folder: &Path, line: &str) -> (Value, Option<i32>) {
    let output = run(folder, &format!("{line} --format json"));
    let document = serde_json::from_slice(&output.stdout);
    (document.unwrap_or_else(|_| panic!("{line}: {}", text(&output.stderr))), output.status.code())
}

/// How much memory each has taken: neither a duration, nor a count of samples.
fn heap(number: u64, parse: u64) -> Vec<u8> {
    let stacks = format!("main;parse {parse}\nmain;render 1000\n");
    let types = &[("alloc_space", "bytes")];
    Written { types, period: None, time: (DAY + number * 60 * SECOND, 0), stacks: &stacks }.bytes()
}

fn push(folder: &Path, store: &str, label: &str, profile: &[u8]) {
    fs::write(folder.join("now.pb"), profile).unwrap();
    done(folder, &format!("push --store {store} --label {label} --label service=api now.pb"));
}

/// A store of two commits, six profiles each: in the second `parse` takes twice the time, the others what they took; of each commit a
/// longer one alone; of a third commit twice the work, as the first does it; and what memory was taken.
fn filled(folder: &Path, store: &str) {
    for number in 0..6 {
        push(folder, store, "commit=a", &cpu(number, 10, [200, 300, 400]));
        push(folder, store, "commit=b", &cpu(100 + number, 10, [400, 300, 400]));
        push(folder, store, "commit=busy", &cpu(200 + number, 10, [400, 600, 800]));
    }
    push(folder, store, "one=a", &cpu(300, 10, [203, 297, 400]));
    push(folder, store, "one=b", &cpu(306, 20, [803, 597, 800]));
    push(folder, store, "heap=a", &heap(400, 1000));
    push(folder, store, "heap=b", &heap(401, 3000));
}

fn with_a_store() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path(), "s.db");
    folder
}

fn function<'a>(document: &'a Value, name: &str) -> &'a Value {
    let functions = document["functions"].as_array().unwrap();
    functions.iter().find(|function| function["name"] == name).unwrap_or_else(|| panic!("no {name} in {document}"))
}

fn near(value: &Value, expected: f64) -> bool {
    value.as_f64().is_some_and(|value| (value / expected - 1.0).abs() < 0.01)
}

#[test]
fn what_takes_longer_is_found_where_profiles_suffice() {
    let folder = with_a_store();
    let (compared, status) = told(folder.path(), "diff --store s.db commit=a commit=b --type cpu");
    assert_eq!((&compared["schema"], status), (&json!("diytrace-sampled-diff/1"), Some(1)));
    assert_eq!(
        (&compared["type"], &compared["unit"], &compared["per"]),
        (&json!("cpu"), &json!("nanoseconds"), &json!("second"))
    );
    let replicates = &compared["replicates"];
    assert_eq!((&replicates["of"], &replicates["suffice"]), (&json!("profile"), &json!(true)), "{replicates}");
    assert_eq!((&compared["left"]["runs"], &compared["right"]["profiles"]), (&json!(6), &json!(6)));
    let verdicts = ["parse", "render", "idle", "handle"].map(|name| function(&compared, name)["verdict"].clone());
    // What calls it is no change of its own: nothing was sampled in it.
    assert_eq!(verdicts, ["changed", "not-significant", "not-significant", "skipped"]);
    let parse = function(&compared, "parse");
    assert!(near(&parse["flat"]["left_median"], 200.5e6) && near(&parse["flat"]["right_median"], 400.5e6), "{parse}");
    assert!(near(&parse["flat"]["p_adjusted"], 3.0 * 2.0 / 924.0), "the least of 6 and 6, among three: {parse}");
    let handle = function(&compared, "handle");
    assert!(near(&handle["cum"]["left_median"], 500e6) && near(&handle["cum"]["right_median"], 700e6), "{handle}");
    assert_eq!(compared["functions"][0]["name"], "parse", "what changed the most comes first");
    assert_eq!(compared["warnings"], json!([]));
    let table = text(&run(folder.path(), "diff --store s.db commit=a commit=b --type cpu").stdout);
    assert!(table.contains("1 function changed: parse +100%.") && table.contains("200 ms/s"), "{table}");
    // Samples that are counted, of the same profiles.
    let (counted, _) = told(folder.path(), "diff --store s.db commit=a commit=b --type samples");
    assert_eq!(function(&counted, "parse")["flat"]["left_median"], 20.05);
    // Nothing is called changed that is not.
    let (same, status) = told(folder.path(), "diff --store s.db commit=a one=a --type cpu");
    assert_eq!((status, &same["replicates"]["suffice"]), (Some(0), &json!(false)));
}

#[test]
fn where_no_profiles_are_replicates_the_error_of_sampling_is_told() {
    let folder = with_a_store();
    let (compared, status) = told(folder.path(), "diff --store s.db one=a one=b --type cpu");
    assert_eq!(status, Some(0), "nobody knows what one run differs from another by");
    let warning = compared["warnings"][0].as_str().unwrap();
    assert!(warning.contains("one profile a side, and none to tell"), "{warning}");
    assert!(
        warning.contains("sampling error (Poisson, 95%)") && warning.contains("5 profiles of each side"),
        "{warning}"
    );
    let parse = function(&compared, "parse");
    // 200 samples in 10 s, 800 in 20 s: 20 a second more ± 1.96 √(200/10² + 800/20²), of 10 ms each.
    assert_eq!((&parse["sampling"]["left"], &parse["sampling"]["right"]), (&json!(200), &json!(800)));
    assert!(near(&parse["sampling"]["plus_minus"], 39.2e6), "{parse}");
    assert!(parse["sampling"]["p_adjusted"].as_f64().unwrap() < 1e-9);
    assert!(function(&compared, "idle")["sampling"]["p_adjusted"].as_f64().unwrap() > 0.5);
    assert_eq!(parse["verdict"], "underpowered");
    let table = text(&run(folder.path(), "diff --store s.db one=a one=b --type cpu").stdout);
    assert!(table.contains("1 function differs by more than the sampling error: parse +100%."), "{table}");
    assert!(table.contains("within its sampling error"), "{table}");
    // Bytes are no counts of samples.
    let (heap, _) = told(folder.path(), "diff --store s.db heap=a heap=b");
    assert_eq!((&heap["type"], &heap["per"]), (&json!("alloc_space"), &json!("profile")));
    assert_eq!(function(&heap, "parse")["sampling"], Value::Null);
    assert!(heap["warnings"][0].as_str().unwrap().contains("no sums of samples"), "{}", heap["warnings"]);
}

#[test]
fn shares_are_the_same_where_there_is_more_of_the_same_work() {
    let folder = with_a_store();
    let (values, status) = told(folder.path(), "diff --store s.db commit=a commit=busy --type cpu");
    assert_eq!((status, &function(&values, "render")["verdict"]), (Some(1), &json!("changed")));
    let (shares, status) = told(folder.path(), "diff --store s.db commit=a commit=busy --type cpu --shares");
    assert_eq!((status, &shares["per"], &shares["total"]), (Some(0), &json!("share"), &Value::Null));
    let all = shares["functions"].as_array().unwrap();
    assert!(all.iter().all(|function| function["verdict"] != "changed"), "{shares}");
    assert!(near(&function(&shares, "idle")["flat"]["right_median"], 800.0 / 1800.0));
}

#[test]
fn stacks_of_both_sides_lie_over_each_other() {
    let folder = with_a_store();
    let here = folder.path();
    let folded = text(&done(here, "diff --store s.db one=a one=b --type samples --as folded"));
    // Before as if it had been sampled as long as after.
    assert_eq!(folded, "main;handle;parse 400 800\nmain;handle;render 600 600\nmain;idle 800 800\n");
    let svg = text(&done(here, "diff --store s.db one=a one=b --as flamegraph"));
    assert!(svg.contains("<svg") && svg.contains("parse"), "{svg}");
    done(here, "diff --store s.db one=a one=b --type cpu -o all");
    for (name, part) in [
        ("report.json", "diytrace-sampled-diff/1"),
        ("functions.tsv", "parse\t"),
        ("stacks.folded", "main;idle"),
        ("flamegraph.svg", "<svg"),
    ] {
        assert!(fs::read_to_string(here.join("all").join(name)).unwrap().contains(part), "{name}");
    }
}

#[test]
fn hosts_are_runs_if_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for number in 0..6 {
        for (commit, parse) in [("a", 200), ("b", 400)] {
            let label = format!("commit={commit} --label host=h{}", number % 2);
            push(here, "s.db", &label, &cpu(number, 10, [parse, 300, 400]));
        }
    }
    let (compared, status) = told(here, "diff --store s.db commit=a commit=b --replicate host");
    assert_eq!(
        (&compared["replicates"]["of"], &compared["left"]["runs"], &compared["left"]["profiles"]),
        (&json!("host"), &json!(2), &json!(6))
    );
    assert_eq!((status, &compared["replicates"]["suffice"]), (Some(0), &json!(false)), "two of each are too few");
}

#[test]
fn what_cannot_be_compared_is_refused_with_the_types_that_there_are() {
    let folder = with_a_store();
    let here = folder.path();
    let recorded = fixture("forks.c", builds()[0]).record().args(&["5", "2"]).run();
    let mut push = diytrace(here);
    assert!(
        run_to_end(push.args(["push", "--store", "s.db", "--label", "commit=r"]).arg(recorded.out())).status.success()
    );
    let mut all = diytrace(here);
    assert!(
        run_to_end(all.args(["push", "--store", "both.db", "--label", "commit=r"]).arg(recorded.out()))
            .status
            .success()
    );
    for (line, part) in [
        (
            "diff --store s.db commit=a heap=a",
            "different types of samples: choose one by --type alloc_space, cpu, samples",
        ),
        (
            "diff --store s.db commit=a heap=a --type cpu",
            "heap=a has no samples of type `cpu`: its profiles have alloc_space",
        ),
        (
            "diff --store s.db commit=a commit=b --type heap",
            "commit=a has no samples of type `heap`: its profiles have cpu, samples",
        ),
        (
            "diff --store s.db commit=r commit=a",
            "`commit=r` has recordings, whose calls were counted, and `commit=a` has sampled profiles alone, of cpu, samples",
        ),
        (
            "diff --store s.db commit=a commit=r --type cpu",
            "`commit=r` has recordings, whose calls were counted, and `commit=a`",
        ),
        ("diff --store s.db commit=a commit=nope", "nothing in the store has commit=nope"),
        ("diff --store both.db commit=r commit=r --type cpu", "both.db has no sampled profiles"),
        ("diff --store s.db commit=a commit=b --type cpu --replicate slice", "a slice is of recordings"),
        ("diff --store s.db commit=a commit=b --type cpu --against main", "saved sets are of recordings"),
        (
            "history parse --store s.db --type heap",
            "no profile has samples of type `heap`; there are alloc_space, cpu, samples",
        ),
        (
            "history pars --store s.db --type cpu --over commit",
            "nothing in these profiles is called `pars`; did you mean `parse`?",
        ),
        ("history parse --store s.db --type cpu --over branch", "no series has a label `branch`"),
        (
            "history parse --store s.db --select service=api",
            "different types of samples: choose one by --type alloc_space, cpu, samples",
        ),
    ] {
        let output = run(here, line);
        let said = text(&output.stderr);
        assert!(said.contains(part) && said.trim_end().lines().count() == 1, "{line}: {said}");
        assert_eq!(output.status.code(), Some(2), "{line}");
    }
    // Recordings are what is compared where both sides have some.
    let compared = told(here, "diff --store s.db commit=r commit=r").0;
    assert_eq!(compared["schema"], "diytrace-diff/1");
    assert_eq!(told(here, "history leaf --store s.db").0["schema"], "diytrace-history/1");
}

/// Five profiles of each of six commits; since the fourth `parse` takes half as much more.
fn of_six_commits(folder: &Path, store: &str) {
    for (at, commit) in ["c1", "c2", "c3", "c4", "c5", "c6"].iter().enumerate() {
        for number in 0..5 {
            let parse = if at < 3 { 200 } else { 300 };
            let profile = cpu(10 * at as u64 + number, 10, [parse, 300, 400]);
            push(folder, store, &format!("commit={commit}"), &profile);
        }
    }
}

#[test]
fn a_function_rises_since_a_commit_and_at_a_moment() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    of_six_commits(here, "s.db");
    let (history, _) = told(here, "history parse handle --store s.db --type cpu --over commit");
    assert_eq!((&history["schema"], &history["type"]), (&json!("diytrace-sampled-history/1"), &json!("cpu")));
    let parse = function(&history, "parse");
    let points: Vec<_> =
        parse["points"].as_array().unwrap().iter().map(|point| (&point["value"], &point["profiles"])).collect();
    let expected: Vec<Value> = ["c1", "c2", "c3", "c4", "c5", "c6"].map(Value::from).to_vec();
    assert!(
        points.iter().map(|(value, _)| *value).eq(&expected) && points.iter().all(|(_, count)| **count == 5),
        "{points:?}"
    );
    let [flat, cum] = &parse["steps"].as_array().unwrap()[..] else { panic!("{parse}") };
    assert_eq!((&flat["measure"], &flat["point"], &cum["measure"]), (&json!("flat"), &json!(3), &json!("cum")));
    assert!(near(&flat["before"], 200e6) && near(&flat["after"], 300e6) && near(&flat["change"], 0.5), "{flat}");
    assert_eq!(
        function(&history, "handle")["steps"][0]["measure"],
        "cum",
        "of what calls it, only what it calls has risen"
    );
    // Without a type, as there are no recordings.
    let output = run(here, "history --regressions --store s.db --over commit");
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("1 of 3 functions has risen in cpu over commit") && said.contains("▲ flat +50%"), "{said}");
    assert!(!said.contains("handle"), "{said}");
    // A minute is as short as profiles of ten seconds every minute allow: each is a point.
    let (history, _) = told(here, "history parse --store s.db --type samples --over time --slices 1000");
    let parse = function(&history, "parse");
    assert!(history["slice_ns"].as_i64().is_some_and(|ns| ns >= 10 * SECOND as i64), "{history}");
    let step = &parse["steps"][0];
    let at = &parse["points"][step["point"].as_u64().unwrap() as usize];
    assert_eq!(
        (step["before"].as_f64(), at["started_unix_ns"].as_u64() > Some(DAY + 24 * 60 * SECOND)),
        (Some(20.0), true),
        "{step}"
    );
}

#[test]
fn a_service_answers_as_the_command_does_and_keeps_the_verdict() {
    let folder = with_a_store();
    let here = folder.path();
    let saved = run(here, "diff --store s.db commit=a commit=b --type cpu --save");
    assert_eq!(saved.status.code(), Some(1), "{}", text(&saved.stderr));
    let service = Service::start(here, &[]);
    for (path, line) in [
        (
            "compare?left=commit=a&right=commit=b&type=cpu",
            "diff --store s.db commit=a commit=b --type cpu --format json",
        ),
        (
            "compare?left=one=a&right=one=b&type=cpu&shares=1",
            "diff --store s.db one=a one=b --type cpu --shares --format json",
        ),
        ("compare/folded?left=one=a&right=one=b&type=cpu", "diff --store s.db one=a one=b --type cpu --as folded"),
        ("compare/flamegraph?left=one=a&right=one=b", "diff --store s.db one=a one=b --as flamegraph"),
        (
            "history?function=parse&over=commit&type=cpu&select=commit=*",
            "history parse --store s.db --over commit --type cpu --select commit=* --format json",
        ),
        ("series", "series --store s.db --format json"),
    ] {
        let answer = service.get(&format!("/v1/{path}"));
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        assert!(answer.body == run(here, line).stdout, "{path}");
    }
    let mixed = service.get("/v1/compare?left=commit=a&right=heap=a");
    assert!(mixed.status == 400 && mixed.error().contains("alloc_space, cpu, samples"), "{mixed:?}");
    let other = service.get("/v1/compare?left=commit=a&right=heap=a&type=cpu");
    assert_eq!(other.status, 404, "{other:?}");
    let verdicts = service.get("/v1/verdicts").json();
    let [one] = &verdicts["verdicts"].as_array().unwrap()[..] else { panic!("{verdicts}") };
    assert_eq!(
        (&one["kind"], &one["outcome"], &one["sentence"]),
        (&json!("diff"), &json!("fail"), &json!("1 function changed: parse +100%."))
    );
    let document = service.get(&format!("/v1/verdict?id={}", one["id"].as_str().unwrap())).json();
    assert_eq!(document["document"]["schema"], "diytrace-sampled-diff/1");
    let sampled = service.get("/v1/series").json()["sampled"].clone();
    assert_eq!(sampled.as_array().unwrap().len(), 7, "{sampled}");
}

#[needs(clickhouse)]
#[test]
fn on_clickhouse_it_is_what_it_is_in_a_file() {
    let story = Story::<ClickHouse>::new();
    for store in [&*story.store(), "s.db"] {
        filled(story.path(), store);
        of_six_commits(story.path(), store);
    }
    for line in [
        "diff commit=a commit=b --type cpu --format json",
        "diff commit=a commit=b --type samples --shares",
        "diff one=a one=b --type cpu --format csv",
        "diff one=a one=b --as folded",
        "diff heap=a heap=b --format json",
        "diff commit=a heap=a",
        "history parse handle --type cpu --over commit --format json --select commit=c*",
        "history --regressions --type cpu --over commit --format json --select commit=c*",
        "history parse --type cpu --over time --format csv",
        "series --format json",
    ] {
        let [of_store, of_file] =
            [&*story.store(), "s.db"].map(|store| run(story.path(), &format!("{line} --store {store}")));
        let said = |output: &Output| text(&output.stderr).replace(&story.store(), "s.db");
        assert_eq!((of_store.status, said(&of_store)), (of_file.status, said(&of_file)), "{line}");
        assert!(of_store.stdout == of_file.stdout, "{line}: {} not {}", text(&of_store.stdout), text(&of_file.stdout));
    }
}

/// All of them went, and the store was hardly smaller.
#[test]
fn recordings_are_not_deleted_for_the_room_that_samples_take() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    filled(here, "both.db");
    let recorded = fixture("plain.c", builds()[0]).record().run();
    done(here, &format!("push --store both.db {}", recorded.out().display()));
    let report = || done(here, "report --store both.db --format json");
    let before = report();
    let refused = run(here, "delete --store both.db --until now --down-to 1k");
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("sampled profiles alone take"), "{}", text(&refused.stderr));
    assert_eq!(report(), before);
    done(here, "delete --store both.db --sampled --until now");
    done(here, "delete --store both.db --until now --down-to 1k");
    assert!(!run(here, "report --store both.db").status.success());
}
