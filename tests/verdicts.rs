//! What comparisons concluded is kept in the store, with the runs of a bench, whichever engine keeps it.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use common::clickhouse::ClickHouse;
use common::story::text;
use common::{Recording, builds, copy_program, diytrace, fixture, run_to_end};
use needs::needs;
use serde_json::Value;
use tempfile::TempDir;

/// A folder, and a store.
struct Story {
    folder: TempDir,
    store: String,
    _engine: Option<ClickHouse>,
}

impl Story {
    fn in_a_file() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), store: "s.db".to_owned(), _engine: None }
    }

    fn in_clickhouse() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let engine = ClickHouse::start(&folder.path().join("engine"));
        Self { store: engine.store("runs"), folder, _engine: Some(engine) }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A command; `STORE` is the store.
    fn run(&self, words: &[&str]) -> Output {
        let words = words.iter().map(|word| if *word == "STORE" { &*self.store } else { word });
        run_to_end(diytrace(self.path()).args(words).env("DIYTRACE_CACHE", "off"))
    }

    #[track_caller]
    fn done(&self, words: &[&str]) -> Output {
        let output = self.run(words);
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        output
    }

    /// A command whose answer may be "no".
    #[track_caller]
    fn json(&self, line: &str) -> Value {
        let output = self.run(&line.split(' ').collect::<Vec<_>>());
        assert!(matches!(output.status.code(), Some(0 | 1)), "{line}: {}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    #[track_caller]
    fn refused(&self, line: &str) -> String {
        let output = self.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""), "{line}");
        let said = text(&output.stderr);
        assert_eq!(said.lines().count(), 1, "{line}: one sentence, not {said}");
        said
    }

    fn verdicts(&self) -> Vec<Value> {
        let list = self.json("verdicts --store STORE --format json");
        assert_eq!(list["schema"], "diytrace-verdicts/1");
        list["verdicts"].as_array().unwrap().clone()
    }

    fn one(&self, verdict: &Value) -> Value {
        self.json(&format!("verdicts {} --store STORE --format json", verdict["id"].as_str().unwrap()))
    }

    /// Recordings of each commit, of servers that fork so many children.
    fn record(&self, commits: &[(&str, u32)]) {
        let program = fixture("forks.c", builds()[0]);
        for (commit, children) in commits {
            for _ in 0..4 {
                let recorded = Recording::of(&program).args(&[&children.to_string(), "4"]).run();
                let out = recorded.out().display().to_string();
                self.done(&["push", "--store", "STORE", "--label", &format!("commit={commit}"), &out]);
            }
        }
    }
}

/// Of a function in a comparison: its calls on both sides.
fn calls(document: &Value, query: usize, name: &str) -> (f64, f64) {
    let functions = document["queries"][query]["functions"].as_array().unwrap();
    let function = functions.iter().find(|function| function["name"] == name).unwrap_or_else(|| panic!("no {name}"));
    let side = |side: &str| function["calls"][side].as_f64().unwrap();
    (side("left_median"), side("right_median"))
}

fn what_was_saved_is_listed_shown_and_deleted(story: &Story) {
    story.record(&[("a1", 4), ("b2", 12)]);
    assert!(story.verdicts().is_empty());
    let diff = "diff --store STORE commit=a1 commit=b2 --format json";
    let compared = story.json(&format!("{diff} --save --fail-on changed"));
    // The same again is the same verdict, whenever that is, however it is written, and whatever has come since.
    story.json(&format!("{diff} --save"));
    let similar = "similar --store STORE commit=a1 commit=b2 --metrics *:count --format json";
    let alike = story.json(&format!("{similar} --save"));
    assert_eq!((alike["pass"].as_bool(), alike["left"]["name"].as_str()), (Some(false), Some("commit=a1")));

    let listed = story.verdicts();
    let kinds: Vec<_> =
        listed.iter().map(|one| (one["kind"].as_str().unwrap(), one["outcome"].as_str().unwrap())).collect();
    assert_eq!(kinds, [("similar", "fail"), ("diff", "fail")]);
    assert!(listed[0]["saved_unix_ns"].as_i64() > listed[1]["saved_unix_ns"].as_i64());
    let sentences: Vec<_> = listed.iter().map(|one| one["sentence"].as_str().unwrap()).collect();
    assert!(sentences[0].starts_with("FAIL: "), "{sentences:?}");
    let told = text(&story.run(&["diff", "--store", "STORE", "commit=a1", "commit=b2"]).stdout);
    assert_eq!(told.lines().next(), Some(sentences[1]));
    assert_eq!(listed[1]["command"], "diytrace diff commit=a1 commit=b2 --fail-on changed");
    assert_eq!((&listed[1]["left_select"], &listed[1]["right"]), (&"commit=a1".into(), &"commit=b2".into()));

    for (verdict, document) in listed.iter().zip([&alike, &compared]) {
        let one = story.one(verdict);
        assert_eq!((&one["verdict"], &one["document"]), (verdict, document), "the command's answer, to the bit");
    }
    // Its selections in its time are what was compared, whatever comes later.
    story.record(&[("b2", 40)]);
    let [since, until] = ["since", "until"].map(|end| listed[1][end].as_str().unwrap());
    let again = story.json(&format!("{diff} --since {since} --until {until}"));
    assert_eq!(again["queries"], compared["queries"]);
    assert_ne!(story.json(diff)["queries"], compared["queries"]);

    let table = text(&story.done(&["verdicts", "--store", "STORE", "--kind", "diff"]).stdout);
    assert!(table.contains("commit=a1 → commit=b2") && !table.contains("similar"), "{table}");
    let id = &listed[1]["id"].as_str().unwrap()[..8];
    let whole = text(&story.done(&["verdicts", id, "--store", "STORE"]).stdout);
    let row = whole.lines().find(|line| line.ends_with(" leaf")).unwrap_or_else(|| panic!("{whole}"));
    assert!(row.contains(" 8 ") && row.contains(" 24 "), "{row}");
    let csv = text(&story.done(&["verdicts", id, "--store", "STORE", "--format", "csv"]).stdout);
    assert!(csv.lines().any(|line| line.starts_with(",leaf,") && line.ends_with(",8,24")), "{csv}");

    // Old ones go by the time at which they were saved, also where no recording is as old.
    let (first, last) = (listed[1]["saved_unix_ns"].as_i64().unwrap(), listed[0]["saved_unix_ns"].as_i64().unwrap());
    let between = format!("@{}.{:09}", first / 1_000_000_000, first % 1_000_000_000);
    let deleted = story.done(&["delete", "--store", "STORE", "--since", &since_before(first), "--until", &between]);
    assert!(text(&deleted.stderr).contains(" and 1 verdict deleted"), "{}", text(&deleted.stderr));
    assert_eq!(story.verdicts()[..], listed[..1]);
    let select = ["delete", "--store", "STORE", "--select", "commit=a1", "--until", "now"];
    assert!(!text(&story.done(&select).stderr).contains("verdict"), "a verdict is of no series");
    assert_eq!(story.verdicts()[0]["saved_unix_ns"].as_i64(), Some(last));
    let deleted = text(&story.done(&["delete", "--store", "STORE", "--until", "now"]).stderr);
    assert!(deleted.contains(" and 1 verdict deleted"), "{deleted}");
    assert!(story.verdicts().is_empty());
}

/// A moment before one, as options have it.
fn since_before(ns: i64) -> String {
    let before = ns - 1;
    format!("@{}.{:09}", before / 1_000_000_000, before % 1_000_000_000)
}

#[test]
fn what_was_saved_is_listed_shown_and_deleted_in_a_file() {
    what_was_saved_is_listed_shown_and_deleted(&Story::in_a_file());
}

#[needs(clickhouse)]
#[test]
fn what_was_saved_is_listed_shown_and_deleted_in_clickhouse() {
    what_was_saved_is_listed_shown_and_deleted(&Story::in_clickhouse());
}

fn of_a_bench_runs_and_verdict_are_kept(story: &Story) {
    let program = fixture("asked.c", builds()[0]);
    let asked = program.path.display().to_string();
    let (left, right) = (format!("{asked} work 5"), format!("{asked} work 9"));
    for benches in 1..=2 {
        let mut words = vec!["bench", "--store", "STORE", "--runs", "6", "--warmup", "0", "--no-confirm"];
        words.extend(["--label", "pr=17", "--right-label", "commit=b2", "--a", &left, "--b", &right]);
        let output = story.run(&words);
        let said = text(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{said}");
        assert!(said.contains("6 recordings of the left side put in: "), "{said}");
        assert!(said.contains("commit=b2,") && said.contains(",pr=17,side=right"), "{said}");
        assert_eq!(story.verdicts().len(), benches);

        let report: Value =
            serde_json::from_slice(&fs::read(story.path().join("diytrace.bench/report/report.json")).unwrap()).unwrap();
        let listed = story.verdicts();
        let latest = &listed[0];
        assert_eq!((&latest["kind"], &latest["left"]), (&"bench".into(), &left.as_str().into()));
        assert_eq!(latest["status"].as_i64(), output.status.code().map(i64::from));
        assert_eq!(story.one(latest)["document"], report);
        // What it selects is this bench's runs, and no others'.
        let of = |name: &str| latest[name].as_str().unwrap();
        let again = story.json(&format!(
            "diff --store STORE {} {} --since {} --until {} --format json",
            of("left_select"),
            of("right_select"),
            of("since"),
            of("until")
        ));
        assert_eq!((&again["queries"][0]["left_runs"], &again["queries"][0]["right_runs"]), (&6.into(), &6.into()));
        assert_eq!(calls(&again, 0, "answer"), calls(&report, 0, "answer"));
    }
    let history = story.json("history answer --store STORE --over side --format json");
    let points = history["functions"][0]["points"].as_array().unwrap();
    let told: Vec<_> = points
        .iter()
        .map(|point| (point["value"].as_str().unwrap(), point["calls_per_run"].as_f64().unwrap()))
        .collect();
    assert_eq!(told, [("left", 5.0), ("right", 9.0)]);
}

#[test]
fn of_a_bench_runs_and_verdict_are_kept_in_a_file() {
    of_a_bench_runs_and_verdict_are_kept(&Story::in_a_file());
}

#[needs(clickhouse)]
#[test]
fn of_a_bench_runs_and_verdict_are_kept_in_clickhouse() {
    of_a_bench_runs_and_verdict_are_kept(&Story::in_clickhouse());
}

const SERVERS: &str = r#"
restart_after = 0
[left]
start = "rm -f $SOCKET; exec $ASKED serve $SOCKET"
ready = "test -S $SOCKET"
env = { SOCKET = "left.socket" }
[right]
start = "rm -f $SOCKET; exec $ASKED serve $SOCKET"
ready = "test -S $SOCKET"
env = { SOCKET = "right.socket" }
[[query]]
name = "some"
command = "$ASKED ask $SOCKET 10"
[[query]]
name = "many"
command = "$ASKED ask $SOCKET $((20 + $(echo $DIYTRACE_SIDE | wc -c)))"
"#;

/// One server answers all of a side's queries, so its runs lie between snapshots of one recording.
#[test]
fn each_run_of_a_server_is_a_recording_of_its_own() {
    let story = Story::in_a_file();
    fs::write(story.path().join("servers.toml"), SERVERS).unwrap();
    let mut bench = diytrace(story.path());
    bench.args(["bench", "--store", "s.db", "servers.toml", "--runs", "4", "--warmup", "0", "--no-confirm"]);
    let output = run_to_end(bench.args(["--fail-on", "never"]).env("ASKED", &fixture("asked.c", builds()[0]).path));
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("8 recordings of the right side put in"), "{}", text(&output.stderr));
    for (query, expected) in [("some", (10.0, 10.0)), ("many", (25.0, 26.0))] {
        let compared =
            story.json(&format!("diff --store STORE side=left,query={query} side=right,query={query} --format json"));
        assert_eq!(compared["queries"][0]["left_runs"], 4);
        assert_eq!(calls(&compared, 0, "answer"), expected);
        assert_eq!(calls(&compared, 0, "tidy"), (3.0, 3.0));
    }
    let verdict = &story.verdicts()[0];
    let document = &story.one(verdict)["document"];
    // That of `many` are more calls. So few runs may also tell times of `some` apart, which comes first then.
    let changed = ["changed", "calls", "follows", "same-code", "moved", "unconfirmed", "one-sided"];
    let is_changed = |function: &Value| changed.contains(&function["verdict"].as_str().unwrap());
    let queries = document["queries"].as_array().unwrap().iter();
    let told = queries.filter(|query| query["functions"].as_array().unwrap().iter().any(is_changed));
    let told: Vec<_> = told.map(|query| query["query"].as_str().unwrap()).collect();
    assert_eq!(told.last(), Some(&"many"), "{verdict}");
    let sentence = verdict["sentence"].as_str().unwrap();
    assert!(sentence.starts_with(&format!("{}: ", told[0])) && sentence.ends_with(" (2 queries)"), "{verdict}");
}

/// A repository with a commit, and a program in it that git does not track.
fn repository(folder: &Path, branch: &str) -> String {
    fs::create_dir_all(folder).unwrap();
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(words).current_dir(folder);
        let output = run_to_end(git.env("HOME", folder).env("GIT_CONFIG_NOSYSTEM", "1"));
        assert!(output.status.success(), "{}", text(&output.stderr));
    };
    git(&["init", "-q", "-b", branch]);
    fs::write(folder.join("notes"), branch).unwrap();
    git(&["add", "notes"]);
    git(&["commit", "-q", "-m", branch]);
    let program = folder.join("asked");
    copy_program(&fixture("asked.c", builds()[0]).path, &program);
    program.display().to_string()
}

#[test]
fn runs_are_labelled_with_the_commit_that_their_program_lies_in() {
    let story = Story::in_a_file();
    let programs = ["old", "new"].map(|name| repository(&story.path().join(name), name));
    fs::write(story.path().join("new/notes"), "changed").unwrap();
    let bench = |left: &str, right: &str, store: &str| {
        let (left, right) = (format!("{left} work 3"), format!("{right} work 3"));
        let words = [
            "bench",
            "--store",
            store,
            "--runs",
            "1",
            "--warmup",
            "0",
            "--fail-on",
            "never",
            "--a",
            &left,
            "--b",
            &right,
        ];
        text(&story.done(&words).stderr)
    };
    bench(&programs[0], &programs[1], "s.db");
    let series = story.json("series --store s.db --format json")["series"].as_array().unwrap().clone();
    let label = |side: &str, name: &str| {
        let one = series.iter().find(|one| one["labels"]["side"] == side).unwrap();
        one["labels"][name].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!((label("left", "branch"), label("right", "branch")), ("old".to_owned(), "new".to_owned()));
    assert!(
        label("left", "commit").len() == 12 && label("left", "commit").bytes().all(|byte| byte.is_ascii_hexdigit())
    );
    assert!(
        label("right", "commit").ends_with("-dirty") && !label("right", "commit").starts_with(&label("left", "commit"))
    );

    // Two programs of one work tree are not both of what is checked out there.
    let beside = story.path().join("old/other");
    fs::copy(&programs[0], &beside).unwrap();
    let said = bench(&programs[0], &beside.display().to_string(), "t.db");
    assert!(said.contains("git cannot tell of which commit each is: --left-label commit=…"), "{said}");
    assert!(!text(&story.done(&["series", "--store", "t.db"]).stdout).contains("commit="));
}

#[test]
fn bad_use_is_one_sentence() {
    let story = Story::in_a_file();
    story.record(&[("a1", 4)]);
    for (line, expected) in [
        (
            "verdicts 12 --store s.db",
            "s.db has no verdict 12: `diytrace verdicts --store s.db` lists those that it has",
        ),
        ("verdicts --store none.db", "there is no store none.db"),
        ("verdicts --store s.db --since tomorrow", "`tomorrow` is no time"),
        ("similar --store s.db commit=a1 commit=zz", "nothing in the store has commit=zz; commit is a1"),
        ("similar one two --since @5", "--since @5: only what is in a store (--store) is chosen so"),
        ("bench --a true --store s.db --label commit", "`commit` is no label"),
        (
            "bench --a true --store s.db --right-label side=x",
            "--label side=x: side and query are labels that bench sets itself",
        ),
        ("bench --a true --store none/s.db", "none/s.db: unable to open"),
    ] {
        let said = story.refused(line);
        assert!(said.contains(expected), "{line}: {said}");
    }
    assert!(!story.path().join("diytrace.bench").exists(), "what is wrong is said before the first run");
    let none = story.done(&["verdicts", "--store", "s.db"]);
    assert_eq!(text(&none.stdout), "");
    assert!(text(&none.stderr).contains("`bench --store`, and `diff` and `similar` with --save, put them in"));
}
