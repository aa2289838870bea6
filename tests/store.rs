//! The profile store: what is selected from it tells the same as the recordings themselves, and each counts once.

mod common;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use common::{Build, Program, builds, copy_program, diytrace, fixture, is_root, record_into, run_to_end};
use serde_json::Value;
use tempfile::TempDir;

/// A folder with recordings, and a store that they are put into.
struct Story {
    folder: TempDir,
}

impl Story {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Records a program, a copy of its own, into a folder of that name.
    fn record(&self, source: &str, build: Build, name: &str) -> Program {
        record_into(self.path(), source, build, name)
    }

    fn run(&self, line: &str) -> Output {
        let mut command = diytrace(self.path());
        run_to_end(command.args(line.split(' ')).env("DIYTRACE_CACHE", "off"))
    }

    fn done(&self, line: &str) -> Output {
        let output = self.run(line);
        assert!(output.status.success(), "{line}: {}", text(&output.stderr));
        output
    }

    fn json(&self, line: &str) -> Value {
        serde_json::from_slice(&self.done(line).stdout).unwrap()
    }

    /// What is said, and how it ends.
    fn refused(&self, line: &str) -> String {
        let output = self.run(line);
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""), "{line}");
        let said = text(&output.stderr);
        assert_eq!(said.lines().count(), 1, "{line}: one sentence, not {said}");
        said
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const VIEWS: [&str; 14] = [
    "report --format json",
    "report --format csv --timeline",
    "report --columns calls,open,unwound,total,error,self,mean,min,p50,p99,max,processes,call,source --histogram",
    "report --root main --format json",
    "report --root mian",
    "tree --format json",
    "tree --callers --sites",
    "callers leaf --format json",
    "annotate main --format json",
    "export callgrind",
    "export pprof --by all",
    "export speedscope",
    "export html",
    "export folded",
];

/// What each view tells: stdout, stderr and status.
fn answers(story: &Story, source: &str) -> Vec<(&'static str, Option<i32>, String, String)> {
    let ask = |view: &&'static str| {
        let output = story.run(&format!("{view} {source}"));
        let stdout = format!("{:?}", OsStr::from_bytes(&output.stdout)); // what pprof packs is no text
        (*view, output.status.code(), stdout, text(&output.stderr))
    };
    VIEWS.iter().map(ask).collect()
}

#[test]
fn every_view_tells_of_a_selection_what_it_tells_of_the_recordings() {
    for &build in builds() {
        for source in ["forks.c", "names.cc", "recursion.c", "left-inline.cc"] {
            let story = Story::new();
            story.record(source, build, "one");
            let program = story.record(source, build, "two");
            story.done("push --store s.db one two");
            let of_files = answers(&story, "one two");
            assert!(of_files.iter().any(|(_, status, ..)| *status == Some(0)));
            // Neither recordings nor programs are needed any more.
            fs::remove_file(program.path).unwrap();
            fs::remove_dir_all(story.path().join("one")).unwrap();
            fs::remove_dir_all(story.path().join("two")).unwrap();
            for (of_store, of_files) in answers(&story, "--store s.db").iter().zip(&of_files) {
                let differs =
                    of_store.2.split("\\n").zip(of_files.2.split("\\n")).find(|(store, files)| store != files);
                assert_eq!(differs, None, "{source} {build:?}: {}", of_store.0);
                assert!(of_store == of_files, "{source} {build:?}: {}: {}, not {}", of_store.0, of_store.3, of_files.3);
            }
        }
    }
}

#[test]
fn a_recording_that_is_put_in_twice_counts_once() {
    let story = Story::new();
    story.record("forks.c", builds()[0], "one");
    let calls = |story: &Story| story.json("report --store s.db --format json")["reports"][0]["calls"].clone();
    assert!(text(&story.done("push --store s.db one").stderr).contains("1 recording put in"));
    let once = calls(&story);
    assert!(text(&story.done("push --store s.db one").stderr).contains("1 there already"));
    // An archive of it is the same recording.
    story.done("symbolize one -o one.diya");
    story.done("push --store s.db one.diya");
    assert_eq!(calls(&story), once);
    assert_eq!(story.json("series --store s.db --format json")["series"][0]["recordings"], 1);
    // It was told as there already, though the labels it had were gone.
    let said = text(&story.done("push --store s.db --label commit=two one").stderr);
    assert!(said.contains("1 there already with other labels, and have these now"), "{said}");
    assert_eq!(story.json("series --store s.db --format json")["series"][0]["labels"]["commit"], "two");
    assert!(text(&story.done("push --store s.db --label commit=two one").stderr).contains("1 there already ("));
}

#[test]
fn a_series_whose_recordings_have_got_other_labels_is_there_no_more() {
    let story = Story::new();
    story.record("forks.c", builds()[0], "one");
    story.record("forks.c", builds()[0], "two");
    for (label, name, left) in [("a", "one two", 1), ("b", "one", 2), ("b", "two", 1)] {
        story.done(&format!("push --store s.db --label of={label} {name}"));
        let series = story.json("series --store s.db --format json");
        assert_eq!(series["series"].as_array().unwrap().len(), left, "{label} of {name}: {series}");
    }
    assert!(story.refused("report --store s.db --select of=a").contains("of is b"));
}

#[test]
fn series_are_told_apart_by_labels() {
    let story = Story::new();
    for (name, label) in [("one", "commit=aa1"), ("two", "commit=ab2"), ("three", "commit=ab2")] {
        story.record("forks.c", builds()[0], name);
        story.done(&format!("push --store s.db --label {label} --label host=h-{name} {name}"));
    }
    let calls = |select: &str| {
        let report = story.json(&format!("report --store s.db --select {select} --format json"));
        report["reports"][0]["calls"].as_u64().unwrap()
    };
    let of_one = calls("commit=aa1");
    assert_eq!((calls("commit=a*"), calls("commit=ab2,host=h-t*")), (3 * of_one, 2 * of_one));
    let apart = story.json("report --store s.db --by commit --format json");
    let labels: Vec<_> = apart["reports"].as_array().unwrap().iter().map(|report| &report["label"]).collect();
    assert_eq!(labels, ["commit=aa1", "commit=ab2"]);
    let table = text(&story.done("report --store s.db --by commit").stdout);
    assert!(table.contains("commit=aa1") && table.contains("commit=ab2"), "{table}");
    let series = text(&story.done("series --store s.db --select commit=aa1").stdout);
    assert!(series.contains("host=h-one") && !series.contains("h-two"), "{series}");
    // In a range of time is what was recorded in it.
    assert_eq!(calls("commit=a* --since 1h --until now"), 3 * of_one);
    assert!(story.refused("report --store s.db --until 1h").contains("in that time"));
}

#[test]
fn two_selections_are_compared_recording_by_recording() {
    let story = Story::new();
    let build = builds()[0];
    for (name, requests) in [("a1", "100"), ("a2", "100"), ("b1", "130"), ("b2", "130")] {
        let recorded = fixture("changes.c", build).record().arg(requests).run();
        fs::rename(recorded.out(), story.path().join(name)).unwrap();
        story.done(&format!("push --store s.db --label commit={} {name}", &name[..1]));
    }
    let compare = |line: &str| {
        let output = story.run(line);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{line}: {}", text(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let calls = |comparison: &Value, name: &str| {
        let functions = comparison["queries"][0]["functions"].as_array().unwrap().clone();
        let function = functions.into_iter().find(|function| function["name"] == name).unwrap();
        ["left_median", "right_median"].map(|side| function["calls"][side].as_f64().unwrap())
    };
    let comparison = compare("diff --store s.db commit=a commit=b --format json");
    assert_eq!(comparison["queries"][0]["functions"][0]["calls"]["left"].as_array().unwrap().len(), 2);
    assert_eq!(calls(&comparison, "handle"), [100.0, 130.0]);
    // Of files it tells the same.
    for side in ["a", "b"] {
        fs::create_dir(story.path().join(side)).unwrap();
        for run in ["1", "2"] {
            fs::rename(story.path().join(format!("{side}{run}")), story.path().join(side).join(run)).unwrap();
        }
    }
    let of_files = compare("diff a b --format json");
    assert_eq!(comparison["queries"][0]["functions"], of_files["queries"][0]["functions"]);
    assert!(story.refused("diff --store s.db commit=a commit=c").contains("commit=c"));
}

#[test]
fn what_is_deleted_gives_its_room_back_and_the_rest_stays() {
    let story = Story::new();
    for (name, source) in [("one", "forks.c"), ("two", "paths.c"), ("three", "names.cc")] {
        story.record(source, builds()[0], name);
        story.done(&format!("push --store s.db {name}"));
    }
    let size = || fs::metadata(story.path().join("s.db")).unwrap().len();
    let report =
        |select: &str| text(&story.done(&format!("report --store s.db --format json --select {select}")).stdout);
    let (before, forks, names) = (size(), report("service=forks"), report("service=names"));
    assert!(story.refused("delete --store s.db --select service=other").contains("service is"));
    let said = text(&story.done("delete --store s.db --select service=paths").stderr);
    assert!(said.contains("1 recording deleted"), "{said}");
    assert!(size() < before, "{} of {before}", size());
    assert_eq!((report("service=forks"), report("service=names")), (forks.clone(), names));
    assert!(story.refused("report --store s.db --select service=paths").contains("service is forks or names"));
    // It can come back.
    story.done("push --store s.db two");
    assert_eq!(report("service=forks"), forks);
    // The oldest go first; nothing that is asked for is older than an hour.
    assert!(story.refused("delete --store s.db --until 1h").contains("in that time"));
    story.done("delete --store s.db --until now --down-to 10G");
    assert_eq!(report("service=forks"), forks);
    story.done("delete --store s.db --until now --down-to 1k");
    assert!(story.refused("report --store s.db").contains("s.db is empty"));
}

#[test]
fn bad_use_is_one_sentence() {
    let story = Story::new();
    assert!(story.refused("report --store s.db").contains("diytrace push --store s.db"));
    story.record("forks.c", builds()[0], "one");
    story.done("push --store s.db one");
    for (line, says) in [
        ("report --store s.db --select servcie=forks", "build, host, service"),
        ("report --store s.db --select service=frks", "nothing in the store has service=frks; service is forks"),
        ("report --store s.db --select service", "NAME=VALUE"),
        ("report --store s.db --since yesterday", "is no time"),
        ("report --store s.db --since 1h --until 2h", "no time between"),
        ("report --store s.db --by commit", "no series has a label `commit`"),
        ("report --store s.db --by process", "by a label"),
        ("report --by host one", "--store"),
        ("report --store clickhouse://host/d", "clickhouse"),
        ("push --store s.db missing", "missing"),
        ("push --store s.db --label 1=2 one", "is no label"),
    ] {
        let said = story.refused(line);
        assert!(said.contains(says), "{line}: {said}");
    }
    fs::write(story.path().join("text"), "no store").unwrap();
    assert!(story.refused("report --store text").contains("is no store of diytrace"));
    fs::write(story.path().join("empty"), "").unwrap();
    assert!(story.refused("report --store empty").contains("is no store of diytrace"));
}

#[test]
fn a_writer_that_is_killed_leaves_nothing_half_done() {
    let story = Story::new();
    for name in ["one", "two", "three"] {
        story.record("forks.c", builds()[0], name);
    }
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let report = "report --format json one two three";
    let expected = text(&story.done(report).stdout);
    for round in 0..100 {
        let name = ["one", "two", "three"][round % 3];
        if round % 10 == 0 {
            for file in ["s.db", "s.db-wal", "s.db-shm"] {
                let _ = fs::remove_file(story.path().join(file));
            }
        }
        let mut command = diytrace(story.path());
        let mut writer = command.args(["push", "--store", "s.db", name]).stderr(Stdio::null()).spawn().unwrap();
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        std::thread::sleep(Duration::from_micros(random >> 33 & 0x7fff));
        writer.kill().unwrap();
        writer.wait().unwrap();
        if round % 10 == 9 {
            story.done("push --store s.db one two three");
            assert_eq!(text(&story.done("report --format json --store s.db").stdout), expected, "round {round}");
        }
    }
}

#[test]
fn a_full_disk_is_told_and_loses_nothing_that_was_in() {
    let story = Story::new();
    story.record("forks.c", builds()[0], "one");
    story.record("paths.c", builds()[0], "large");
    story.done("push --store s.db one");
    let before = text(&story.done("report --format json --store s.db").stdout);
    let blocks = fs::metadata(story.path().join("s.db")).unwrap().len().div_ceil(1024);
    let program = diytrace(story.path()).get_program().to_owned();
    let mut shell = Command::new("bash");
    // Files may not grow beyond what is there.
    let line = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" push --store s.db large");
    let output = run_to_end(shell.current_dir(story.path()).args(["-c", &line]).arg(program));
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{said}");
    assert!(said.contains("s.db"), "{said}");
    assert_eq!(text(&story.done("report --format json --store s.db").stdout), before);
}

#[test]
fn a_damaged_store_is_told_or_does_not_matter() {
    let story = Story::new();
    story.record("forks.c", builds()[0], "one");
    story.done("push --store s.db one");
    let expected = text(&story.done("report --format json --store s.db").stdout);
    let sound = fs::read(story.path().join("s.db")).unwrap();
    let mut random = 7_u64;
    let mut told = 0;
    for round in 0..60 {
        let mut damaged = sound.clone();
        // Many bytes, so that some of them matter; or the end is missing.
        for _ in 0..damaged.len() / 200 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = (random >> 20) as usize % damaged.len();
            damaged[at] ^= 1 << (random >> 60 & 7);
        }
        if round % 4 == 0 {
            damaged = sound[..sound.len() / 61 * round].to_vec();
        }
        fs::write(story.path().join("d.db"), damaged).unwrap();
        let output = story.run("report --format json --store d.db");
        let (status, said) = (output.status.code(), text(&output.stderr));
        match status {
            Some(0) => assert_eq!(text(&output.stdout), expected, "round {round}"),
            _ => told += 1,
        }
        assert!(matches!(status, Some(0 | 2)) && !said.contains("panicked"), "round {round}: {status:?} {said}");
    }
    assert!(told > 10, "{told}");
}

#[test]
fn a_store_that_cannot_be_written_can_be_read() {
    let story = Story::new();
    story.record("forks.c", builds()[0], "one");
    story.done("push --store s.db one");
    let expected = text(&story.done("report --format json --store s.db").stdout);
    let program = story.path().join("diytrace");
    copy_program(Path::new(diytrace(story.path()).get_program()), &program);
    fs::set_permissions(story.path(), fs::Permissions::from_mode(0o555)).unwrap();
    fs::set_permissions(story.path().join("s.db"), fs::Permissions::from_mode(0o444)).unwrap();
    let ask = |words: &[&str]| {
        // Who may do everything may write, too.
        let mut command = match is_root() {
            true => Command::new("setpriv"),
            false => Command::new("env"),
        };
        if is_root() {
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]);
        }
        command.arg(&program);
        run_to_end(command.args(words).current_dir(story.path()).env("DIYTRACE_CACHE", "off"))
    };
    let read = ask(&["report", "--format", "json", "--store", "s.db"]);
    assert_eq!((read.status.code(), text(&read.stdout)), (Some(0), expected), "{}", text(&read.stderr));
    let written = ask(&["push", "--store", "s.db", "one"]);
    assert_eq!((written.status.code(), text(&written.stderr).lines().count()), (Some(2), 1));
}

#[test]
fn a_store_is_asked_in_sql_and_nothing_changes() {
    let story = Story::new();
    story.record("forks.c", builds()[0], "one");
    story.done("push --store runs.db one");
    let ask = |query: &str| run_to_end(diytrace(story.path()).args(["sql", "--store", "runs.db", query]));
    let documented = include_str!("../docs/store.md").lines().filter_map(|line| {
        let query = line.strip_prefix("diytrace sql --store runs.db ")?;
        Some(query.trim_matches(|quote| quote == '\'' || quote == '"'))
    });
    let queries: Vec<&str> = documented.collect();
    assert!(queries.len() >= 10);
    for query in queries {
        let output = ask(query);
        assert!(output.status.success(), "{query}: {}", text(&output.stderr));
        assert!(text(&output.stdout).lines().count() >= 2, "{query}: {}", text(&output.stdout));
    }
    let calls = story.json("report --store runs.db --format json")["reports"][0]["calls"].to_string();
    assert_eq!(text(&ask("SELECT sum(calls) AS calls FROM slices").stdout), format!("calls\n{calls}\n"));
    for query in ["DELETE FROM frame", "SELECT", "SELECT x FROM slices", "DROP TABLE frame"] {
        let output = ask(query);
        assert_eq!(output.status.code(), Some(2), "{query}");
        assert_eq!(text(&output.stderr).lines().count(), 1, "{query}: {}", text(&output.stderr));
    }
    assert_eq!(text(&ask("SELECT sum(calls) AS calls FROM slices").stdout), format!("calls\n{calls}\n"));
}

/// It was ignored, and all that the store has was added up.
#[test]
fn which_run_is_meant_is_not_asked_of_a_store() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["report", "tree"] {
        let output = run_to_end(diytrace(folder.path()).args([command, "--store", "s.db", "--run", "latest"]));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains("cannot be used with"), "{command}: {said}");
    }
}
