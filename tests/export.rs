//! What `diytrace export` writes, as the programs read it that it is written for.
//!
//! `callgrind_annotate`, `dot` and `go tool pprof` are asked here. What takes a browser or packages from npm (the SVG and
//! the page in Chromium, speedscope, the Firefox Profiler) is asked by `tests/readers.sh`.

mod common;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Output};

use common::{Build, Recorded, Report, diytrace, fixture, line_of, read, run_to_end};
use needs::needs;
use serde_json::Value;

/// An export in a file.
fn export(recorded: &Recorded, format: &str, options: &[&str]) -> PathBuf {
    let path = recorded.folder().join(format!("export.{format}"));
    let output = run_export(recorded, &[&[format, "-o", path.to_str().unwrap()], options].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && output.stdout.is_empty(), "{}: {said}", output.status);
    path
}

fn run_export(recorded: &Recorded, arguments: &[&str]) -> Output {
    run_to_end(diytrace(recorded.folder()).arg("export").args(arguments).arg(recorded.out()))
}

fn text(recorded: &Recorded, format: &str, options: &[&str]) -> String {
    std::fs::read_to_string(export(recorded, format, options)).unwrap()
}

fn json(recorded: &Recorded, format: &str, options: &[&str]) -> Value {
    serde_json::from_str(&text(recorded, format, options)).unwrap()
}

fn roots() -> Recorded {
    fixture("roots.c", Build::GCC_O0).record().run()
}

fn recursion() -> Recorded {
    fixture("recursion.c", Build::GCC_O0).record().args(&["fib", "15"]).run()
}

/// Calls by function, as the report has them.
fn calls(report: &Report) -> BTreeMap<String, u64> {
    report.functions.iter().map(|function| (function.name.clone(), function.calls)).collect()
}

/// Sum of self times, in nanoseconds.
fn self_time(report: &Report) -> f64 {
    report.functions.iter().map(|function| function.self_ns).sum()
}

/// Whether a time of whole nanoseconds on several paths is what it should be: each may be rounded by nearly one.
fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 50.0 + expected / 1e4
}

fn go_pprof() -> Command {
    let mut go = Command::new("go");
    go.args(["tool", "pprof", "-symbolize=none", "-nodecount=100000", "-nodefraction=0", "-edgefraction=0"]);
    go
}

/// `flat` and `cum` of each name in what `pprof -top` says, in nanoseconds or calls.
fn top(said: &str) -> BTreeMap<String, (f64, f64)> {
    let rows = said.lines().skip_while(|line| !line.trim_start().starts_with("flat")).skip(1);
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |word: &str| word.trim_end_matches("ns").parse::<f64>().unwrap();
        let name = words[5..].join(" ");
        (name.trim_end_matches(" (inline)").to_owned(), (number(words[0]), number(words[3])))
    };
    rows.map(row).collect()
}

#[needs(go)]
#[test]
fn pprof_shows_calls_and_times() {
    let recorded = recursion();
    let (export, report) = (export(&recorded, "pprof", &["--by", "all"]), recorded.report());
    let top_of = |index| top(&read(go_pprof(), &["-top", "-unit=ns", index], &export));
    let (times, counts) = (top_of("-sample_index=time"), top_of("-sample_index=calls"));
    assert_eq!(counts.len(), report.functions.len());
    for function in &report.functions {
        let ((own, total), (calls, _)) = (times[&function.name], counts[&function.name]);
        assert_eq!(calls, function.calls as f64, "{}", function.name);
        // pprof counts a recursion once, as the report does.
        assert!(near(own, function.self_ns) && near(total, function.total_ns), "{times:?}\n{function:#?}");
    }
}

#[needs(go, perf_events)]
#[test]
fn pprof_shows_waits() {
    let recorded = fixture("off-cpu.c", Build::GCC_O0).record().arg("all").with_output_of_its_own().run();
    let said =
        read(go_pprof(), &["-top", "-unit=ns", "-sample_index=wait"], &export(&recorded, "pprof", &["--by", "all"]));
    let (waits, report) = (top(&said), recorded.report());
    for name in ["sleeps", "reads", "writes"] {
        let wait = report.function(name).spent.self_wait_ns.unwrap();
        assert!(wait > 1e7 && near(waits[name].0, wait), "{name}: {wait}, and pprof says {waits:?}");
    }
}

#[needs(go)]
#[test]
fn pprof_shows_what_is_shown_if_nothing_is_asked_for() {
    let said = read(go_pprof(), &["-top"], &export(&recursion(), "pprof", &[]));
    assert!(said.contains("Type: time"), "{said}");
}

#[needs(go)]
#[test]
fn pprof_knows_lines_and_inlined_bodies() {
    let recorded = fixture("nested-inline.c", Build::GCC_O0).record().run();
    let said = read(go_pprof(), &["-traces", "-lines", "-sample_index=calls"], &export(&recorded, "pprof", &[]));
    // `around`, inlined in `rarely`, has the body of `step`.
    let line = |function: &str, text: &str| {
        format!("{function} {}/nested-inline.c:{} (inline)", fixtures(), line_of("nested-inline.c", text))
    };
    assert!(said.contains(&line("step", "INLINED void step")), "{said}");
    assert!(said.contains(&line("around", "step();")), "{said}");
    assert!(said.contains(&format!("rarely {}/nested-inline.c", fixtures())), "{said}");
}

fn fixtures() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/c-fixtures")
}

#[needs(go)]
#[test]
fn pprof_knows_modules_by_their_build_ids() {
    let (recorded, program) = (roots(), fixture("roots.c", Build::GCC_O0));
    let notes = run_to_end(Command::new("readelf").arg("-n").arg(&program.path));
    let notes = String::from_utf8(notes.stdout).unwrap();
    let build_id = notes.split("Build ID: ").nth(1).unwrap().split_whitespace().next().unwrap();
    let said = read(go_pprof(), &["-raw"], &export(&recorded, "pprof", &[]));
    let mapping = said.lines().skip_while(|line| *line != "Mappings").nth(1).unwrap();
    assert!(mapping.contains(build_id) && mapping.contains(program.path.to_str().unwrap()), "{mapping}");
    assert!(mapping.ends_with("[FN][FL][LN][IN]"), "{mapping}");
}

#[needs(go)]
#[test]
fn pprof_labels_processes_and_threads() {
    let recorded = fixture("processes.c", Build::GCC_O0).record().args(&["chain", "3"]).run();
    let said = read(go_pprof(), &["-tags", "-sample_index=calls"], &export(&recorded, "pprof", &[]));
    for report in recorded.reports_by_process() {
        let pid = report.process.unwrap().pid;
        let tags = said.lines().filter(|line| line.trim_end().ends_with(&format!(": {pid}"))).count();
        assert_eq!(tags, 2, "pid and tid of {pid} in {said}"); // each process has one thread
    }
}

#[needs(go)]
#[test]
fn pprof_shows_cxx_names() {
    let recorded = fixture("names.cc", Build::GCC_O0).record().run();
    let said = read(go_pprof(), &["-top", "-sample_index=calls"], &export(&recorded, "pprof", &[]));
    for name in ["geometry::Square::area() const", "double geometry::twice<double>(double)"] {
        assert!(said.contains(name), "{name} in {said}");
    }
}

#[needs(callgrind_annotate)]
#[test]
fn callgrind_annotate_shows_calls_and_inclusive_times() {
    let annotate = Command::new("callgrind_annotate");
    let recorded = roots();
    let (export, report) = (export(&recorded, "callgrind", &[]), recorded.report());
    let options = ["--inclusive=yes", "--tree=both", "--threshold=100", "--show-percs=no", "--auto=no"];
    let said = read(annotate, &options, &export);
    let tree = annotated_tree(&said);
    for function in &report.functions {
        let (total, _) = tree[&(function.name.clone(), None)];
        assert!(near(total, function.total_ns), "{}: {total} in {said}", function.name);
        for callee in &function.callees {
            let (total, calls) = tree[&(function.name.clone(), Some(callee.name.clone()))];
            assert!(near(total, callee.total_ns), "{}: {total} in {said}", callee.name);
            assert_eq!(calls, callee.calls, "{} → {}", function.name, callee.name);
        }
    }
    let (total, calls) = tree[&("(not recorded)".to_owned(), Some("main".to_owned()))];
    assert_eq!(calls, 1);
    assert!((total - self_time(&report)).abs() <= 1.0);
}

/// Times and calls of functions, and of what they call, in the tree of `callgrind_annotate`.
fn annotated_tree(said: &str) -> BTreeMap<(String, Option<String>), (f64, u64)> {
    let mut tree = BTreeMap::new();
    let mut function = String::new();
    for line in said.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let &[time, sign @ ("*" | ">"), ..] = &words[..] else { continue };
        let time: f64 = time.replace(',', "").parse().unwrap();
        let rest = line.split_once(&format!(" {sign} ")).unwrap().1;
        let rest = rest.rsplit_once(" [").map_or(rest, |(rest, _)| rest).trim();
        let name = |place: &str| place.rsplit_once(':').unwrap().1.to_owned();
        if sign == "*" {
            function = name(rest);
            tree.insert((function.clone(), None), (time, 0));
        } else {
            let (callee, calls) = rest.rsplit_once(" (").unwrap();
            let calls = calls.trim_end_matches("x)").replace(',', "").parse().unwrap();
            tree.insert((function.clone(), Some(name(callee))), (time, calls));
        }
    }
    tree
}

#[needs(callgrind_annotate)]
#[test]
fn callgrind_annotate_shows_calls_at_their_lines() {
    let annotate = Command::new("callgrind_annotate");
    let said = read(annotate, &["--auto=yes", "--threshold=100"], &export(&roots(), "callgrind", &[]));
    let after = |code: &str| {
        let lines: Vec<&str> = said.lines().collect();
        let at = lines.iter().position(|line| line.ends_with(code)).unwrap_or_else(|| panic!("{code} in {said}"));
        lines[at + 1].to_owned()
    };
    assert!(after("for (int i = 0; i < 3; i++) middle();").contains("roots.c:middle (6x)"), "{said}");
    assert!(after("for (int i = 0; i < 2; i++) inner();").contains("roots.c:inner (12x)"), "{said}");
    assert!(after("static void hidden_step(void) { helper(); }").contains("roots.c:helper (4x)"), "{said}");
}

#[needs(callgrind_annotate)]
#[test]
fn callgrind_tells_a_recursion_apart() {
    let annotate = Command::new("callgrind_annotate");
    let recorded = recursion();
    let said = read(
        annotate,
        &["--inclusive=yes", "--tree=both", "--threshold=100", "--show-percs=no", "--auto=no"],
        &export(&recorded, "callgrind", &[]),
    );
    let tree = annotated_tree(&said);
    let report = recorded.report();
    let (outermost, _) = tree[&("fib".to_owned(), None)];
    assert!(near(outermost, report.function("fib").total_ns), "{said}");
    let calls = |caller: &str, callee: &str| tree[&(caller.to_owned(), Some(callee.to_owned()))].1;
    assert_eq!(calls("main", "fib") + calls("fib", "fib'2") + calls("fib'2", "fib'2"), report.function("fib").calls);
}

#[needs(dot)]
#[test]
fn dot_draws_functions_and_calls() {
    let dot = Command::new("dot");
    let recorded = roots();
    let graph = export(&recorded, "dot", &[]);
    let said = read(dot, &["-Tplain"], &graph);
    // Statement, identifier, …, label: a node has its calls in the last line of its label, an edge after a ×; a 99th
    // percentile comes after them.
    let label = |line: &str| line.split('"').nth(1).unwrap().to_owned();
    let mut names = BTreeMap::new();
    let mut found = BTreeMap::new();
    for line in said.lines().filter(|line| line.starts_with("node ")) {
        let parts: Vec<String> = label(line).split("\\n").map(str::to_owned).collect();
        found.insert(parts[0].clone(), parts[3].split(' ').next().unwrap().parse::<u64>().unwrap());
        names.insert(line.split(' ').nth(1).unwrap(), parts[0].clone());
    }
    for line in said.lines().filter(|line| line.starts_with("edge ")) {
        let words: Vec<&str> = line.split(' ').collect();
        let calls = label(line).split("× ").nth(1).unwrap().split("\\n").next().unwrap().parse().unwrap();
        found.insert(format!("{} → {}", names[words[1]], names[words[2]]), calls);
    }
    let all = recorded.report().counts();
    for (who, calls) in &found {
        assert_eq!(all.get(who), Some(calls), "{who} in {said}");
    }
    // In the graph's label, which plain text does not have.
    let left_out = std::fs::read_to_string(&graph).unwrap().contains("left out");
    assert_eq!(names.len() == calls(&recorded.report()).len(), !left_out, "{said}");
}

#[test]
fn all_formats_have_the_same_sums() {
    let recorded = fixture("threads.c", Build::GCC_O0).record().run();
    let report = recorded.report();
    let folded: u64 = text(&recorded, "folded", &[]).lines().map(|line| number(line.rsplit(' ').next().unwrap())).sum();
    assert!((folded as f64 - self_time(&report)).abs() <= 1.0, "{folded} beside {}", self_time(&report));

    let callgrind = text(&recorded, "callgrind", &[]);
    assert_eq!(number(callgrind.lines().find_map(|line| line.strip_prefix("totals: ")).unwrap()), folded);

    let speedscope = json(&recorded, "speedscope", &[]);
    let sum = |profile: usize| -> u64 {
        let weights = speedscope["profiles"][profile]["weights"].as_array().unwrap();
        weights.iter().map(|weight| weight.as_u64().unwrap()).sum()
    };
    assert_eq!((sum(0), sum(1)), (folded, report.calls));

    let firefox = json(&recorded, "firefox", &[]);
    let weights = firefox["threads"][0]["samples"]["weight"].as_array().unwrap();
    let ms: f64 = weights.iter().map(|weight| weight.as_f64().unwrap()).sum();
    assert!((ms * 1e6 - folded as f64).abs() < 0.5, "{ms} ms beside {folded} ns");

    let page = text(&recorded, "html", &[]);
    let data = page.split("<script type=\"application/json\" id=\"data\">").nth(1).unwrap();
    let data: Value = serde_json::from_str(data.split("</script>").next().unwrap()).unwrap();
    assert_eq!(
        (data["parts"][0]["total"].as_u64(), data["parts"][0]["calls"].as_u64()),
        (Some(folded), Some(report.calls))
    );
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn times_as_measured_are_longer() {
    let recorded = roots();
    let sum = |options: &[&str]| -> u64 {
        text(&recorded, "folded", options).lines().map(|line| number(line.rsplit(' ').next().unwrap())).sum()
    };
    assert!(sum(&["--raw"]) > sum(&[]));
}

#[test]
fn a_root_is_on_top_and_nothing_beside_it() {
    let folded = text(&roots(), "folded", &["--root", "middle", "--raw"]);
    let stacks: Vec<&str> = folded.lines().map(|line| line.rsplit_once(' ').unwrap().0).collect();
    assert_eq!(stacks, ["middle", "middle;inner", "middle;inner;helper"]);
    let svg = text(&roots(), "flamegraph", &["--root", "middle", "--raw"]);
    assert!(svg.contains(">roots, inside middle</text>"), "{svg}");
}

#[test]
fn processes_are_kept_apart_where_that_is_asked_for() {
    let recorded = fixture("processes.c", Build::GCC_O0).record().args(&["chain", "2"]).run();
    let pids: Vec<u32> =
        recorded.reports_by_process().iter().map(|report| report.process.as_ref().unwrap().pid).collect();
    let by_process = ["--by", "process", "--raw"];
    let folded = text(&recorded, "folded", &by_process);
    let callgrind = text(&recorded, "callgrind", &by_process);
    let firefox = json(&recorded, "firefox", &by_process);
    let threads: Vec<&str> =
        firefox["threads"].as_array().unwrap().iter().map(|thread| thread["pid"].as_str().unwrap()).collect();
    for pid in &pids {
        assert!(folded.lines().any(|line| line.starts_with(&format!("processes {pid};"))), "{pid} in {folded}");
        assert!(callgrind.contains(&format!(" (processes {pid})\n")), "{pid} in {callgrind}");
        assert!(threads.contains(&pid.to_string().as_str()), "{pid} in {threads:?}");
    }
    let reports = recorded.reports_by_process();
    let only = json(&recorded, "speedscope", &["--pid", &pids[1].to_string()]);
    assert_eq!(only["profiles"][1]["endValue"].as_u64(), Some(reports[1].calls), "calls of {} in {only}", pids[1]);
}

#[needs(callgrind_annotate)]
#[test]
fn callgrind_annotate_has_no_complaint_of_processes_kept_apart() {
    let recorded = fixture("processes.c", Build::GCC_O0).record().args(&["chain", "2"]).run();
    let export = export(&recorded, "callgrind", &["--by", "process", "--raw"]);
    read(Command::new("callgrind_annotate"), &[], &export);
}

#[test]
fn warnings_go_to_stderr_and_into_comments() {
    let recorded = fixture("killed.c", Build::GCC_O0).record().arg("9").run();
    let output = run_export(&recorded, &["callgrind"]);
    let (said, written) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    // `main`, `outer` and `last` never returned.
    let warning = "3 calls had not returned";
    assert!(output.status.success() && said.starts_with(&format!("warning: {warning}")), "{said}");
    assert!(written.contains(&format!("desc: Warning: {warning}")), "{written}");
}

#[test]
fn what_cannot_be_exported_is_one_sentence() {
    let recorded = roots();
    for (arguments, words) in [
        (&["folded", "-o", "no/such/folder/x"][..], &["cannot write no/such/folder/x"][..]),
        (&["folded", "--root", "midle"], &["nothing in the profile is called `midle`", "did you mean `middle`"]),
        (&["folded", "--pid", "1"], &["the profile has no process 1"]),
    ] {
        let output = run_export(&recorded, arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(2), &b""[..]), "{said}");
        assert!(said.starts_with("diytrace: ") && said.lines().count() == 1, "{said}");
        assert!(words.iter().all(|word| said.contains(word)), "{words:?} in {said}");
    }
}

#[test]
fn binary_formats_are_not_written_to_a_terminal() {
    let recorded = roots();
    let command = format!("{} export pprof {}", common::tool("diytrace").display(), recorded.out().display());
    // `script` runs the command at a terminal of its own.
    let output = run_to_end(Command::new("script").args(["-qec", &command, "/dev/null"]));
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("this format is binary and stdout is a terminal: name a file with -o FILE"), "{said}");
}

#[test]
fn a_flame_graph_has_its_title_and_units() {
    let svg = text(&roots(), "flamegraph", &["--raw"]);
    assert!(svg.contains(">roots</text>") && svg.contains("self time, as measured: "), "{svg}");
    let frame = svg.split("<title>").find(|title| title.starts_with("middle (")).unwrap();
    let words: Vec<&str> = frame.split("</title>").next().unwrap().split(' ').collect();
    assert!(words[1].trim_matches(['(', ',']).replace(',', "").parse::<u64>().is_ok(), "{words:?}");
    assert_eq!(words[2], "ns,", "{words:?}");
}

#[test]
fn a_flame_graph_begins_at_the_top() {
    let svg = text(&roots(), "flamegraph", &["--raw"]);
    let y = |label: &str| -> u32 {
        let frame = svg.split(&format!("<title>{label} (")).nth(1).unwrap_or_else(|| panic!("no {label}: {svg}"));
        frame.split(" y=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
    };
    let rows = ["all", "main", "outer", "middle", "inner"].map(y);
    assert!(rows.is_sorted() && rows[0] < 100, "what is called hangs below its caller: {rows:?}");
}
