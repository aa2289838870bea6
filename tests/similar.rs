//! `diytrace similar`: series of runs from two environments, in profiles and in JSON, and whether they are alike.

mod common;

use std::fs;
use std::path::Path;
use std::process::Output;

use common::{Build, diytrace, fixture, run_to_end};
use serde_json::{Value, json};
use tempfile::TempDir;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn similar(here: &Path, arguments: &[&str]) -> Output {
    run_to_end(diytrace(here).arg("similar").args(arguments).env_remove("COLUMNS"))
}

/// The result as data, which must come with this exit status.
fn result(here: &Path, arguments: &[&str], status: i32) -> Value {
    let output = similar(here, &[arguments, &["--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(status), "{}{}", text(&output.stdout), text(&output.stderr));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["schema"], "diytrace-similar/1");
    assert_eq!(result["pass"], status == 0);
    result
}

/// The one sentence of a refusal.
fn refusal(here: &Path, arguments: &[&str]) -> String {
    let output = similar(here, arguments);
    let stderr = text(&output.stderr);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    stderr.trim_end().strip_prefix("diytrace: ").unwrap().to_owned()
}

fn metric<'a>(result: &'a Value, name: &str) -> &'a Value {
    let metrics = result["metrics"].as_array().unwrap();
    metrics.iter().find(|metric| metric["metric"] == name).unwrap_or_else(|| panic!("no {name} in {result:#}"))
}

fn verdicts(result: &Value) -> Vec<(&str, &str)> {
    let metrics = result["metrics"].as_array().unwrap();
    metrics.iter().map(|metric| (metric["metric"].as_str().unwrap(), metric["verdict"].as_str().unwrap())).collect()
}

/// Records a fixture once for each argument, in folders of `side` named 1, 2, …
fn record(here: &Path, side: &str, source: &str, arguments: &[&str]) {
    let program = fixture(source, Build::GCC_O0);
    for (index, argument) in arguments.iter().enumerate() {
        let recorded = program.record().args(argument.split_whitespace().collect::<Vec<_>>().as_slice()).run();
        let run = here.join(side).join((index + 1).to_string());
        fs::create_dir_all(&run).unwrap();
        for profile in recorded.profiles() {
            fs::copy(&profile, run.join(profile.file_name().unwrap())).unwrap();
        }
    }
}

/// Writes JSON, and the folders above it.
fn put(path: &Path, json: &Value) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, json.to_string()).unwrap();
}

/// An item as perf-dashboard has it: latency of a request, its 99th percentile.
fn request(verb: &str, resource: &str, count: u32, perc99: f64) -> Value {
    json!({"data": {"Perc99": perc99}, "unit": "ms", "labels": {"Verb": verb, "Resource": resource, "Count": count.to_string()}})
}

fn pod_startup(perc99: f64) -> Value {
    json!({"data": {"Perc50": 1.0, "Perc99": perc99}, "unit": "ms", "labels": {"Metric": "pod_startup"}})
}

fn perf_data(items: &[Value]) -> Value {
    json!({"version": "v1", "dataItems": items})
}

/// Two environments of three runs, a file each, with these 99th percentiles of each metric on either side.
fn dashboards(metrics: &[(&str, [f64; 3], [f64; 3])]) -> TempDir {
    let here = tempfile::tempdir().unwrap();
    for run in 0..3 {
        let left: Vec<_> = metrics.iter().map(|(name, left, _)| request("GET", name, 10, left[run])).collect();
        let right: Vec<_> = metrics.iter().map(|(name, _, right)| request("GET", name, 99, right[run])).collect();
        put(&here.path().join(format!("real/{run}.json")), &perf_data(&left));
        put(&here.path().join(format!("kubemark/{run}.json")), &perf_data(&right));
    }
    here
}

#[test]
fn runs_of_one_program_are_similar() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    record(here, "a", "busy.c", &["2000", "2000", "2000"]);
    record(here, "b", "busy.c", &["2000", "2100", "1900"]);
    let result = result(here, &["a", "b", "--metrics", "spin:count,leaf:*", "--cutoff", "leaf:*=1s"], 0);
    let spin = metric(&result, "spin:count");
    assert_eq!(spin["left"], json!({"average": 5000.0, "values": [5000.0, 5000.0, 5000.0]}));
    assert_eq!(spin["right"], json!({"average": 5000.0, "values": [5000.0, 5250.0, 4750.0]}));
    assert_eq!((&spin["ratio"], &spin["similarity"], &spin["verdict"]), (&json!(1.0), &json!(1.0), &json!("matched")));
    // All of its times are below the cutoff, whatever else runs.
    let leaf = metric(&result, "leaf:p99");
    assert_eq!((&leaf["unit"], &leaf["cutoff"], &leaf["left"]["average"]), (&json!("ns"), &json!(1e9), &json!(1e9)));
    assert_eq!((&result["left"]["runs"], &result["mismatched"]), (&json!(3), &json!(0)));
}

#[test]
fn a_function_called_twice_as_often_does_not_match() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    record(here, "a", "busy.c", &["2000", "2000"]);
    record(here, "b", "busy.c", &["4000", "4000"]);
    let result = result(here, &["a", "b", "--metrics", "*:count"], 1);
    let spin = metric(&result, "spin:count");
    assert_eq!(
        (&spin["ratio"], &spin["similarity"], &spin["verdict"]),
        (&json!(0.5), &json!(0.5), &json!("mismatched"))
    );
    assert_eq!(metric(&result, "main:count")["verdict"], "matched");
}

#[test]
fn times_are_compared_in_their_own_units() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    record(here, "a", "busy.c", &["2000", "2000"]);
    let result = result(here, &["a", "a", "--metrics", "spin:mean", "--metrics", "spin:p5?", "--cutoff", "*=0"], 0);
    let mean = metric(&result, "spin:mean")["left"]["average"].as_f64().unwrap();
    assert!((100.0..1e6).contains(&mean), "{mean} ns, of calls that take at least 100");
    assert_eq!(verdicts(&result), [("spin:mean", "matched"), ("spin:p50", "matched")]);
}

#[test]
fn functions_of_one_side_only_are_missing_and_those_of_some_runs_were_not_called_in_others() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    record(here, "a", "small.c", &["", ""]);
    record(here, "b", "roots.c", &["", ""]);
    let apart = result(here, &["a", "b", "--metrics", "main:count,apart:count"], 1);
    assert_eq!(verdicts(&apart), [("apart:count", "missing"), ("main:count", "matched")]);
    assert_eq!((&apart["matched"], &apart["mismatched"], &apart["missing"]), (&json!(1), &json!(1), &json!(1)));
    let mixed = result(here, &["--left", "a", "b/1", "--right", "b/2", "a", "--metrics", "apart:count"], 0);
    assert_eq!(metric(&mixed, "apart:count")["left"]["values"], json!([2.0, 2.0, 0.0]));
    assert_eq!(metric(&mixed, "apart:count")["right"]["values"], json!([0.0, 2.0, 2.0]));
}

#[test]
fn queries_of_a_bench_are_compared_each_with_itself() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    for (side, second) in [("a", "2000"), ("b", "9000")] {
        record(here, side, "busy.c", &["2000", second, "2000", second]);
        let run = |(query, number, profile, wall): (&str, u32, &str, f64)| json!({"query": query, "number": number, "profile": profile, "metrics": {"wall_ns": wall}});
        let runs = [("Q1", 1, "1", 5e6), ("Q2", 1, "2", 7e6), ("Q1", 2, "3", 5e6), ("Q2", 2, "4", 7e6)].map(run);
        put(&here.join(side).join("runs.json"), &json!({"schema": "diytrace-runs/1", "name": side, "runs": runs}));
    }
    let found = result(here, &["a", "b", "--metrics", "spin:count,wall_ns"], 1);
    let expected = [
        ("Q2/spin:count", "mismatched"),
        ("Q1/spin:count", "matched"),
        ("Q1/wall_ns", "matched"),
        ("Q2/wall_ns", "matched"),
    ];
    assert_eq!(verdicts(&found), expected);
    assert_eq!(metric(&found, "Q1/wall_ns")["left"], json!({"average": 5e6, "values": [5e6, 5e6]}));
    let of_q1 = result(here, &["a", "b", "--metrics", "Q1/*:count", "--last", "1"], 0);
    assert_eq!(metric(&of_q1, "Q1/spin:count")["left"]["values"], json!([5000.0]));
}

/// The seed's sample: a similarity for each metric and one for the whole test.
#[test]
fn perf_dashboards_are_told_as_kubemark_tells_them() {
    let here = dashboards(&[
        ("pods", [95.0; 3], [100.0; 3]),
        ("nodes", [100.0; 3], [92.0; 3]),
        ("small", [3.0; 3], [40.0; 3]),
    ]);
    let result = result(here.path(), &["real", "kubemark"], 0);
    assert_eq!(metric(&result, "GET pods:Perc99")["similarity"], 0.95);
    assert_eq!(metric(&result, "GET nodes:Perc99")["similarity"], 0.92);
    let small = metric(&result, "GET small:Perc99");
    assert_eq!(
        (&small["left"]["average"], &small["right"]["average"], &small["ratio"]),
        (&json!(50.0), &json!(50.0), &json!(1.0))
    );
    assert!((result["similarity"].as_f64().unwrap() - (0.95 + 0.92 + 1.0) / 3.0).abs() < 1e-12);
    let shown = text(&similar(here.path(), &["real", "kubemark"]).stdout);
    let expected = "\
A real, 3 runs
B kubemark, 3 runs · matched if A/B is within [0.66, 1.50]

  similarity    A/B         A         B  verdict  metric
  ───────────────────────────────────────────────────────────────────
       0.920  1.087  100.0 ms  92.00 ms  matched  GET nodes:Perc99
       0.950  0.950  95.00 ms  100.0 ms  matched  GET pods:Perc99
       1.000  1.000  ≤ 50.00 ms  ≤ 50.00 ms  matched  GET small:Perc99

Total similarity: 0.957
PASS: 3 of 3 metrics matched, 100.0%, and 90% are needed
";
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let bare = |text: &str| text.lines().filter(|line| !line.contains('─')).map(words).collect::<Vec<_>>();
    assert_eq!(bare(&shown), bare(expected), "{shown}");
}

#[test]
fn runs_in_folders_as_kubernetes_keeps_them() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    for (side, run, at) in [("gce", 9, 1_000), ("gce", 10, 2_000), ("gce", 11, 3_000), ("mark", 7, 4_000)] {
        let folder = here.join(format!("{side}/{run}"));
        put(&folder.join("started.json"), &json!({"timestamp": at, "jenkins-node": "n"}));
        put(&folder.join("finished.json"), &json!({"timestamp": at + 60, "result": "SUCCESS"}));
        let of_load = perf_data(&[request("GET", "pods", 5, f64::from(run * 100))]);
        put(&folder.join(format!("artifacts/APIResponsiveness_load_2017-03-01T0{}:00:00Z.json", at / 1000)), &of_load);
        let of_density = perf_data(&[request("GET", "pods", 5, 700.0), pod_startup(1e-3 * f64::from(run))]);
        put(&folder.join("artifacts/APIResponsiveness_density.json"), &of_density);
    }
    let values = |arguments: &[&str]| {
        let output = similar(here, &[&["gce", "mark", "--format", "json"], arguments].concat());
        let result: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
        metric(&result, "APIResponsiveness_load/GET pods:Perc99")["left"]["values"].clone()
    };
    // In the order of their numbers, which is not that of their names.
    assert_eq!(values(&[]), json!([900.0, 1000.0, 1100.0]));
    assert_eq!(values(&["--last", "2"]), json!([1000.0, 1100.0]));
    assert_eq!(values(&["--since", "1970-01-01T00:30:00Z"]), json!([1000.0, 1100.0]));
    let all = result(here, &["gce", "mark", "--metrics", "*:Perc99"], 0);
    let expected = [
        ("APIResponsiveness_density/GET pods:Perc99", "matched"),
        ("APIResponsiveness_density/pod_startup:Perc99", "matched"),
    ];
    assert_eq!(verdicts(&all)[1..], expected);
    assert_eq!(metric(&all, expected[1].0)["cutoff"], 1000.0);
    let error = refusal(here, &["gce", "mark", "--since", "1970-01-01T01:00:00Z"]);
    assert_eq!(error, "A has no runs since 1970-01-01T01:00:00Z: its last began at 1970-01-01T00:50:00Z");
}

/// perf-tests' `benchmark` printed two lists and ended with status 0, whatever was in them.
#[test]
fn perf_dashboards_bug_the_verdict_is_forgotten() {
    let mut metrics = vec![("pods", [100.0; 3], [100.0; 3]); 9];
    let names: Vec<String> = (0..10).map(|index| format!("m{index}")).collect();
    metrics.push(("x", [100.0; 3], [1000.0; 3]));
    metrics.iter_mut().zip(&names).for_each(|(metric, name)| metric.0 = name);
    let here = dashboards(&metrics);
    let nine_of_ten = result(here.path(), &["real", "kubemark"], 0);
    assert_eq!((&nine_of_ten["matched"], &nine_of_ten["matched_percent"]), (&json!(9), &json!(90.0)));
    result(here.path(), &["real", "kubemark", "--pass", "90.1"], 1);
    let output = similar(here.path(), &["real", "kubemark", "--pass", "91%"]);
    assert_eq!(output.status.code(), Some(1));
    let answer = "FAIL: 9 of 10 metrics matched, 90.0%, and 91% are needed\n";
    assert!(text(&output.stdout).ends_with(answer), "{}", text(&output.stdout));
}

/// It called a metric that one side lacks matched.
#[test]
fn perf_dashboards_bug_what_one_side_lacks_matches() {
    let here = dashboards(&[("pods", [100.0; 3], [100.0; 3])]);
    for run in 0..3 {
        let items = [request("GET", "pods", 10, 100.0), request("LIST", "pods", 10, 100.0)];
        put(&here.path().join(format!("kubemark/{run}.json")), &perf_data(&items));
    }
    for (sides, side) in [(["real", "kubemark"], "A"), (["kubemark", "real"], "B")] {
        let result = result(here.path(), &sides, 1);
        assert_eq!(verdicts(&result), [("LIST pods:Perc99", "missing"), ("GET pods:Perc99", "matched")]);
        assert_eq!((&result["similarity"], &result["matched_percent"]), (&json!(0.5), &json!(50.0)));
        let shown = text(&similar(here.path(), &sides).stdout);
        assert!(shown.contains(&format!("missing  LIST pods:Perc99  not in {side}\n")), "{shown}");
    }
}

/// It left runs out that it could not read, without a word in the result.
#[test]
fn perf_dashboards_bug_what_cannot_be_read_is_left_out() {
    let here = dashboards(&[("pods", [100.0; 3], [100.0; 3])]);
    let broken = here.path().join("kubemark/1.json");
    for (text, expected) in [
        ("{\"version\": \"v1\", \"dataItems\": [{\"data\"", "kubemark/1.json is not JSON: EOF while parsing"),
        ("", "kubemark/1.json is not JSON: EOF while parsing"),
        ("{\"dataItems\": 3}", "kubemark/1.json is not in perf-dashboard's form: `dataItems` is not a list"),
        (
            "{\"dataItems\": [{\"data\": {\"Perc99\": \"1s\"}}]}",
            "kubemark/1.json is not in perf-dashboard's form: item 1 of",
        ),
    ] {
        fs::write(&broken, text).unwrap();
        let error = refusal(here.path(), &["real", "kubemark"]);
        assert!(error.starts_with(expected), "{error}");
    }
}

/// It took two items of one name in a run, of two tests, for two runs.
#[test]
fn perf_dashboards_bug_one_run_counts_twice() {
    let here = dashboards(&[("pods", [100.0; 3], [100.0; 3])]);
    let twice = perf_data(&[request("GET", "pods", 10, 100.0), request("GET", "pods", 11, 300.0)]);
    put(&here.path().join("real/1.json"), &twice);
    let error = refusal(here.path(), &["real", "kubemark"]);
    assert!(
        error.starts_with("`GET pods:Perc99` is in run real/1.json twice, but a metric has one value a run"),
        "{error}"
    );
}

/// It had one threshold, 0.8, for ratios and for significance: nine in ten equal environments differed.
#[test]
fn perf_dashboards_bug_one_threshold_for_both_schemes() {
    let here = tempfile::tempdir().unwrap();
    for run in 0..10 {
        let value = |offset: u32| f64::from(100 + (run * 37 + offset) % 10);
        put(&here.path().join(format!("a/{run}.json")), &json!({"x": value(0)}));
        put(&here.path().join(format!("b/{run}.json")), &json!({"x": value(1) + 0.5, "y": 3}));
    }
    let arguments = ["a", "b", "--metrics", "x", "--scheme", "ks"];
    let found = result(here.path(), &arguments, 0);
    let x = metric(&found, "x");
    // R 4.2.2: ks.test(100:109, 100.5:109.5)$p.value; a ratio has no say in this scheme.
    assert!((x["p"].as_f64().unwrap() - 1.0).abs() < 1e-9 && (x["d"].as_f64().unwrap() - 0.1).abs() < 1e-9, "{x}");
    assert_eq!((&found["significance"], &found["low"]), (&json!(0.05), &Value::Null));
    for run in 0..10 {
        put(&here.path().join(format!("b/{run}.json")), &json!({"x": 109.5 + f64::from(run) }));
    }
    result(here.path(), &arguments, 1);
    result(here.path(), &["a", "b", "--metrics", "x"], 0);
    result(here.path(), &["a", "b", "--metrics", "x", "--ratio", "0.95..1.05"], 1);
}

#[test]
fn too_few_runs_to_tell_are_no_pass() {
    let here = dashboards(&[("pods", [100.0, 101.0, 102.0], [900.0, 901.0, 902.0])]);
    let error = refusal(here.path(), &["real", "kubemark", "--scheme", "ks"]);
    let expected = "3 and 3 runs are too few for the scheme ks: even samples wholly apart have p = 0.100";
    assert!(error.starts_with(expected), "{error}");
    result(here.path(), &["real", "kubemark", "--scheme", "ks", "--significance", "0.11"], 1);
}

#[test]
fn any_number_in_json_goes_by_its_path() {
    let here = tempfile::tempdir().unwrap();
    for (side, slow) in [("a", 10.0), ("b", 30.0)] {
        for run in 0..2 {
            let benchmarks = json!([{"name": "BM_fast", "ns": 3, "iterations": 7}, {"name": "BM_slow", "ns": slow}]);
            put(&here.path().join(format!("{side}/{run}.json")), &json!({"date": "today", "benchmarks": benchmarks}));
        }
    }
    let result = result(here.path(), &["a", "b", "--metrics", "benchmarks.*.ns"], 1);
    assert_eq!(verdicts(&result), [("benchmarks.BM_slow.ns", "mismatched"), ("benchmarks.BM_fast.ns", "matched")]);
    let listed = ["--left", "a/0.json", "a/1.json", "--right", "a/1.json", "--metrics", "*.iterations"];
    let result = self::result(here.path(), &listed, 0);
    assert_eq!((&result["left"]["name"], &result["left"]["runs"]), (&json!("a/0.json, a/1.json"), &json!(2)));
    let csv = text(&similar(here.path(), &["a", "b", "--metrics", "*.ns", "--format", "csv"]).stdout);
    let expected = "metric,unit,verdict,similarity,ratio,d,p,left_average,right_average,left_runs,right_runs,cutoff\n\
                    benchmarks.BM_slow.ns,,mismatched,0.3333333333333333,0.3333333333333333,,,10,30,2,2,\n\
                    benchmarks.BM_fast.ns,,matched,1,1,,,3,3,2,2,\n";
    assert_eq!(csv, expected);
}

#[test]
fn what_cannot_be_compared_is_refused_in_a_sentence() {
    let here = dashboards(&[("pods", [100.0; 3], [100.0; 3])]);
    let here = here.path();
    let said = |arguments: &[&str]| refusal(here, &[&["real", "kubemark"], arguments].concat());
    assert_eq!(
        said(&["--metrics", "GET pod:Perc99"]),
        "no metric of either side is called `GET pod:Perc99`; did you mean `GET pods:Perc99`?"
    );
    let nothing = "no metric of either side is called `zzz`; they have `GET pods:Count`, `GET pods:Perc99`";
    assert_eq!(said(&["--metrics", "zzz"]), nothing);
    let unknown = said(&["--cutoff", "LIST*=3"]);
    assert!(unknown.starts_with("no metric that is compared is called `LIST*`, of --cutoff"), "{unknown}");
    put(
        &here.join("real/1.json"),
        &perf_data(&[json!({"data": {"Perc99": 0.1}, "unit": "s", "labels": {"Verb": "GET", "Resource": "pods"}})]),
    );
    assert!(
        said(&[]).starts_with("`GET pods:Perc99` is in \"ms\" in one run and in \"s\" in another"),
        "{}",
        said(&[])
    );
    put(&here.join("empty/1.json"), &perf_data(&[]));
    assert_eq!(refusal(here, &["empty", "empty"]), "there is nothing to compare: neither side has any metric");
    put(&here.join("both/1.json"), &json!({"x": 1}));
    put(&here.join("both/2/1.json"), &json!({"x": 1}));
    assert!(refusal(here, &["both", "real"]).starts_with("both has both JSON files and folders of them"));
    assert!(refusal(here, &["nowhere", "real"]).starts_with("there is no profile at nowhere"));
    fs::create_dir(here.join("bare")).unwrap();
    assert!(refusal(here, &["bare", "real"]).starts_with("there is no profile in bare"));
}

#[test]
fn bad_use_is_refused() {
    let here = tempfile::tempdir().unwrap();
    for arguments in [
        &["a"][..],
        &[],
        &["a", "b", "--pass", "0"],
        &["a", "b", "--last", "0"],
        &["a", "b", "--since", "yesterday"],
        &["a", "b", "--ratio", "2..3"],
        &["a", "b", "--significance", "5"],
        &["a", "b", "--cutoff", "fast"],
        &["a", "b", "--left", "c", "--right", "d"],
        &["--left", "c"],
    ] {
        let output = similar(here.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
}
