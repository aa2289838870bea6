//! When roots ran: slices of time, with the calls that ended in each.

mod common;

use common::{Build, Recorded, each_build, fixture};
use serde_json::Value;

struct Timeline {
    slice_ns: f64,
    calls: Vec<f64>,
    total_ns: Vec<f64>,
}

impl Timeline {
    fn calls(&self) -> f64 {
        self.calls.iter().sum()
    }

    fn total_ns(&self) -> f64 {
        self.total_ns.iter().sum()
    }

    /// Time between the first slice with calls and the last.
    fn span_ns(&self) -> f64 {
        let with_calls = |calls: &&f64| **calls > 0.0;
        let filled: Vec<usize> = (0..self.calls.len()).filter(|&at| with_calls(&&self.calls[at])).collect();
        (filled[filled.len() - 1] - filled[0]) as f64 * self.slice_ns
    }
}

fn functions(recorded: &Recorded) -> Vec<Value> {
    let output = recorded.diytrace(&["report", "--format", "json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    document["reports"][0]["functions"].as_array().unwrap().clone()
}

fn timeline(function: &Value) -> Option<Timeline> {
    let timeline = function.get("timeline")?;
    let slices = timeline["slices"].as_array().unwrap();
    let all = |field: &str| slices.iter().map(|slice| slice[field].as_f64().unwrap()).collect::<Vec<_>>();
    assert!(slices.len() <= 128);
    Some(Timeline { slice_ns: timeline["slice_ns"].as_f64().unwrap(), calls: all("calls"), total_ns: all("total_ns") })
}

fn of(functions: &[Value], name: &str) -> (Option<Timeline>, f64) {
    let function = functions.iter().find(|function| function["name"] == name).unwrap();
    (timeline(function), function["total_ns"].as_f64().unwrap())
}

#[test]
fn a_roots_outermost_calls_are_all_in_its_timeline() {
    each_build("bursts.c", |program| {
        let recorded = program.record().roots("burst,lasts").run();
        let functions = functions(&recorded);
        let (burst, total) = of(&functions, "burst");
        let burst = burst.unwrap();
        let calls = burst.calls();
        assert_eq!(calls, 751.0);
        assert!((burst.total_ns() - total).abs() <= total * 1e-3 + 1.0, "{} of {total}", burst.total_ns());
        assert!((0.4e9..10e9).contains(&burst.span_ns()), "{}", burst.span_ns());
        let quiet = burst.calls.iter().filter(|calls| **calls == 0.0).count() as f64 * burst.slice_ns;
        assert!(quiet > 0.3e9, "there was a pause: {quiet}");

        // In the program for 200 ms; in the child, which was killed in it, as long as it is known to have lived.
        let (lasts, total) = of(&functions, "lasts");
        let lasts = lasts.unwrap();
        assert_eq!(lasts.calls(), 1.0);
        assert!(lasts.total_ns() > 0.2e9 && (lasts.total_ns() - total).abs() < total * 1e-2, "{total}");
        let most = lasts.total_ns.iter().copied().fold(0.0, f64::max);
        assert!(most <= lasts.slice_ns * 2.02, "{most} in a slice of {}, of two processes", lasts.slice_ns);
        assert!(of(&functions, "leaf").0.is_none());
    });
}

#[test]
fn where_everything_is_recorded_it_is_that_of_what_nothing_has_called() {
    each_build("bursts.c", |program| {
        let functions = functions(&program.record().run());
        let (main, total) = of(&functions, "main");
        let main = main.unwrap();
        assert!((main.total_ns() - total).abs() < total * 1e-2, "{} of {total}", main.total_ns());
        assert_eq!(main.calls(), 1.0, "the child's never returned, and was not its own");
        assert!(of(&functions, "burst").0.is_none());
    });
}

fn said(recorded: &Recorded, options: &[&str]) -> String {
    let output = recorded.diytrace(&[&["report"], options].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn people_see_when_it_ran_and_spreadsheets_have_a_row_for_each_slice() {
    let recorded = fixture("bursts.c", Build::GCC_O0).record().roots("burst,lasts").run();
    let blocks = |line: &str| line.chars().filter(|letter| ('▁'..='█').contains(letter)).count();

    let table = said(&recorded, &[]);
    let line = |label: &str| table.lines().find(|line| line.starts_with(label)).unwrap_or_else(|| panic!("{table}"));
    assert!(blocks(line("  time ")) >= 2 && line("  time ").contains("s/s"), "{table}");
    assert!(line("  calls ").contains("peak ") && table.contains(" slices of "), "{table}");

    let table = said(&recorded, &["--timeline"]);
    let of = |name: &str| table.lines().find(|line| line.ends_with(name)).unwrap_or_else(|| panic!("{table}"));
    assert!(blocks(of("  burst")) >= 2 && blocks(of("  lasts")) >= 2, "{table}");
    let is_block = |letter: char| ('▁'..='█').contains(&letter);
    let (first, last) = (of("  burst").find(is_block).unwrap(), of("  burst").rfind(is_block).unwrap());
    assert!(of("  burst")[first..last].contains("  "), "there was a pause: {table}");
    assert!(!table.contains("leaf"), "{table}");
    let wrong = recorded.diytrace(&["report", "--timeline", "--histogram"]);
    assert_eq!(wrong.status.code(), Some(2));

    let functions = functions(&recorded);
    let csv = said(&recorded, &["--timeline", "--format", "csv"]);
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("pid,tid,name,module,address,slice,start_unix_ns,slice_ns,calls,total_ns"));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    for name in ["burst", "lasts"] {
        let timeline = of_json(&functions, name);
        let rows: Vec<_> = rows.iter().filter(|row| row[2] == name).collect();
        assert_eq!(rows.len(), timeline.calls.len());
        for (index, row) in rows.iter().enumerate() {
            let number = |at: usize| row[at].parse::<f64>().unwrap();
            assert_eq!((number(5), number(8)), (index as f64, timeline.calls[index]), "{row:?}");
            assert_eq!((number(7), number(9)), (timeline.slice_ns, timeline.total_ns[index]), "{row:?}");
        }
    }
}

fn of_json(functions: &[Value], name: &str) -> Timeline {
    of(functions, name).0.unwrap()
}

#[test]
fn functions_without_a_timeline_say_which_have_one() {
    let recorded = fixture("bursts.c", Build::GCC_O0).record().run();
    let table = said(&recorded, &["--timeline", "--root", "leaf"]);
    assert!(table.contains("none of these functions has a timeline: roots have"), "{table}");
}

#[test]
fn making_a_timeline_is_no_part_of_the_call_that_it_is_made_for() {
    each_build("roots.c", |program| {
        // Shorter than that takes: it would seem to end before it began.
        let document = program.record().roots("helper").run().document(&[]);
        assert!(!document.warns_of(&["stepped back"]), "{:?}", document.warnings);
    });
}

/// Data of the page of `export html`.
fn page(recorded: &Recorded, options: &[&str]) -> Value {
    let output = recorded.diytrace(&[&["export", "html"], options].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = String::from_utf8(output.stdout).unwrap();
    let data = page.split_once(r#"<script type="application/json" id="data">"#).unwrap().1;
    serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn the_page_has_the_same_slices() {
    let program = fixture("bursts.c", Build::GCC_O0);
    for (recorded, options, names) in [
        (program.record().roots("burst,lasts").run(), &[][..], &["burst", "lasts"][..]),
        (program.record().roots("burst,lasts").run(), &["--raw"], &["burst", "lasts"]),
        (program.record().run(), &[], &["main"]),
        (program.record().run(), &["--root", "burst"], &[]),
    ] {
        let page = page(&recorded, options);
        let report = said(&recorded, &[&["--timeline", "--format", "json"], options].concat());
        let report: Value = serde_json::from_str(&report).unwrap();
        let functions = report["reports"][0]["functions"].as_array().unwrap();
        let timelines = &page["parts"][0]["timelines"];
        let rows = timelines["rows"].as_array().unwrap();
        assert_eq!(rows.len(), names.len(), "{timelines}");
        for row in rows {
            let name = page["functions"][row[0].as_u64().unwrap() as usize][0].as_str().unwrap();
            assert!(names.contains(&name), "{name}");
            let timeline = &functions.iter().find(|function| function["name"] == name).unwrap()["timeline"];
            assert_eq!(timelines["start"].as_u64().unwrap() + row[1].as_u64().unwrap(), timeline["start_unix_ns"]);
            assert_eq!(row[2].as_f64(), timeline["slice_ns"].as_f64());
            let slices = timeline["slices"].as_array().unwrap();
            assert_eq!(row[3], slices.len());
            let empty = row[4].as_u64().unwrap() as usize;
            assert!(slices[..empty].iter().all(|slice| slice["calls"] == 0.0 && slice["total_ns"] == 0.0));
            for (column, field, within) in [(5, "calls", 0.0), (6, "total_ns", 0.051)] {
                let shown: Vec<f64> = row[column].as_array().unwrap().iter().map(|of| of.as_f64().unwrap()).collect();
                let known: Vec<f64> = slices[empty..].iter().map(|slice| slice[field].as_f64().unwrap()).collect();
                assert_eq!(shown.len(), known.len());
                let differ = shown.iter().zip(&known).filter(|(shown, known)| (*shown - *known).abs() > within);
                assert_eq!(differ.count(), 0, "{name}: {shown:?}, reported as {known:?}");
            }
        }
    }
}
