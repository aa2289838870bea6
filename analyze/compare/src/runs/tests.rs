use std::fs;
use std::path::Path;

use super::*;
use diytrace_profile::load::interval::Interval;
use diytrace_profile::load::snapshot::Moment;
use diytrace_profile::testing::sample;

fn snapshot(ticks: u64) -> Vec<u8> {
    [sample(), Moment { ticks, unix_ns: ticks, running: vec![1] }.bytes()].concat()
}

fn put(path: &Path, bytes: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn why(path: &Path) -> String {
    Runs::open(path).unwrap_err().to_string()
}

fn run(folder: &Path, query: &str, number: u32, profiles: &[&str]) -> Run {
    Run {
        query: Some(query.into()),
        number,
        started_unix_ns: Some(1_790_000_000_000_000_001),
        profiles: profiles.iter().map(|name| folder.join(name)).collect(),
        status: 3,
        metrics: [(metric::WALL.to_owned(), 12_345.5)].into(),
        elsewhere: None,
    }
}

#[test]
fn a_set_is_read_as_it_was_written() {
    let here = tempfile::tempdir().unwrap();
    let folder = here.path().join("left");
    for name in ["q1/001/a.diyt", "q2/a.diyt", "q2/b.diyt"] {
        put(&folder.join(name), sample());
    }
    put(&folder.join("s/1.diyt"), snapshot(20_000));
    put(&folder.join("s/2.diyt"), snapshot(30_000));
    let mut runs = vec![run(&folder, "q1", 1, &["q1/001"]), run(&folder, "q2", 1, &["q2/a.diyt", "q2/b.diyt"])];
    runs.push(Run {
        profiles: vec![Interval::join(&folder.join("s/1.diyt"), &folder.join("s/2.diyt"))],
        ..run(&folder, "q1", 2, &[])
    });
    let machine = serde_json::json!({"processors": 2});
    let set =
        Runs { name: "left".into(), command: "./a 1".into(), machine, folder: folder.clone(), runs, warnings: vec![] };
    set.write().unwrap();
    assert_eq!(Runs::open(&folder).unwrap(), set);
    assert_eq!(Runs::open(&folder.join(FILE)).unwrap(), set);
    let text = fs::read_to_string(folder.join(FILE)).unwrap();
    assert!(text.contains(r#""profile": "s/1.diyt..s/2.diyt""#) && text.contains(r#""profile": "q1/001""#), "{text}");
    assert_eq!(set.queries(), [Some("q1"), Some("q2")]);
    assert_eq!(set.of(Some("q1")).map(|run| run.number).collect::<Vec<_>>(), [1, 2]);

    // It may be moved, and every run's profile still opens.
    let moved = here.path().join("moved");
    fs::rename(&folder, &moved).unwrap();
    for run in &Runs::open(&moved).unwrap().runs {
        run.profile().unwrap();
    }
    fs::remove_file(moved.join("s/2.diyt")).unwrap();
    let error = why(&moved);
    assert!(error.starts_with("run 2 of q1 in ") && error.contains("s/2.diyt, which is not there"), "{error}");
}

#[test]
fn profiles_and_folders_of_them_are_runs_in_natural_order() {
    let here = tempfile::tempdir().unwrap();
    let names = |path: &str| {
        let set = Runs::open(&here.path().join(path)).unwrap();
        let name = |run: &Run| run.profiles[0].file_name().unwrap().to_string_lossy().into_owned();
        (set.name.clone(), set.runs.iter().map(|run| (run.number, name(run))).collect::<Vec<_>>(), set.warnings.len())
    };
    for name in
        ["files/p-10-900.diyt", "files/p-9-1000.diyt", "folders/10/a.diyt", "folders/9/a.diyt", "folders/9/b.diyt"]
    {
        put(&here.path().join(name), sample());
    }
    put(&here.path().join("files/notes.txt"), "");
    put(&here.path().join("folders/notes/x.txt"), "");
    put(&here.path().join("files/copy.diyt"), snapshot(20_000));
    let two = |a: &str, b: &str| vec![(1, a.to_owned()), (2, b.to_owned())];
    assert_eq!(names("files"), ("files".into(), two("p-9-1000.diyt", "p-10-900.diyt"), 1));
    assert_eq!(names("folders"), ("folders".into(), two("9", "10"), 0));
    assert_eq!(names("files/copy.diyt").1, vec![(1, "copy.diyt".to_owned())]);
    let set = Runs::open(&here.path().join("files")).unwrap();
    assert_eq!(set.runs.iter().map(|run| run.started_unix_ns).collect::<Vec<_>>(), [Some(1000), Some(900)]);

    put(&here.path().join("folders/c.diyt"), sample());
    assert!(why(&here.path().join("folders")).contains("has both profiles and folders of profiles"));
}

#[test]
fn two_snapshots_are_a_set_of_one_run() {
    let here = tempfile::tempdir().unwrap();
    let (from, to) = (here.path().join("1.diyt"), here.path().join("2.diyt"));
    put(&from, snapshot(20_000));
    put(&to, snapshot(30_000));
    let set = Runs::open(&Interval::join(&from, &to)).unwrap();
    assert_eq!(set.runs.len(), 1);
    set.runs[0].profile().unwrap();
    assert!(why(&Interval::join(&from, &here.path().join("3.diyt"))).contains("there is no profile at"));
    assert!(why(here.path()).contains("is a snapshot"));
}

#[test]
fn what_is_no_set_says_so_in_one_sentence() {
    let here = tempfile::tempdir().unwrap();
    let file = here.path().join(FILE);
    let said = |text: &str| {
        fs::write(&file, text).unwrap();
        why(here.path())
    };
    let with = |run: &str| format!(r#"{{"schema": "diytrace-runs/1", "runs": [{run}]}}"#);
    assert!(why(&here.path().join("nowhere")).contains("there is no profile at"));
    assert!(why(here.path()).contains("there is no profile in"));
    for (text, expected) in [
        ("", "is not a set of runs: EOF"),
        ("{}", "missing field `schema`"),
        (r#"{"schema": "diytrace-runs/2", "runs": 7}"#, r#"is a "diytrace-runs/2" and this diytrace reads"#),
        (&with(""), "has no runs: `diytrace bench` was ended"),
        (&with(r#"{"number": 1}"#), "missing field `profile`"),
        (&with(r#"{"number": -1, "profile": "a"}"#), "line 1"),
        (&with(r#"{"number": 1, "profile": ""}"#), "run 1 in"),
        (&with(r#"{"number": 4, "profile": "gone"}"#), "gone, which is not there"),
        (&with(r#"{"number": 1, "profile": "."}, {"number": 1, "profile": "."}"#), "has run 1 twice"),
    ] {
        let error = said(text);
        assert!(error.contains(expected) && !error.contains('\n'), "{text}: {error}");
    }
}
