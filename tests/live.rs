//! A profile that is read while it is written: what was counted once stays counted.

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::{Document, Endless, Program, diytrace, each_build, run_to_end};

const READINGS: usize = 50;

fn read(here: &Path) -> Option<Document> {
    let output = run_to_end(diytrace(here).args(["report", "--format", "json", "out"]));
    if !output.status.success() {
        return None; // there is no profile yet
    }
    Some(Document::parse(&output.stdout))
}

#[test]
fn sums_never_go_backwards() {
    each_build("endless.c", read_while_it_runs);
}

fn read_while_it_runs(program: &Program) {
    let mut endless = Endless::of(program);
    let mut before: BTreeMap<String, u64> = BTreeMap::new();
    let (mut lost, mut processes, mut readings) = (0, 0, 0);
    while readings < READINGS {
        assert!(endless.is_running(), "the program ended by itself");
        let Some(document) = read(endless.here.path()) else { continue };
        readings += 1;
        let torn =
            document.warnings.iter().find(|warning| warning.contains("damaged") || warning.contains("truncated"));
        assert_eq!(torn, None, "reading {readings}");
        let Some(report) = document.reports.first() else { continue };
        let now = report.counts();
        for (who, calls) in &before {
            let calls_now = now.get(who).copied().unwrap_or(0);
            assert!(calls_now >= *calls, "reading {readings}: {who} went from {calls} to {calls_now}");
        }
        assert!(report.lost_calls >= lost && report.processes >= processes, "reading {readings}");
        // Three threads, their parent and its child, of which each has one open, and of the recursion six; what was open when a thread ended is over.
        let open = |function: &str| report.functions.iter().find(|f| f.name == function).map_or(0, |f| f.open);
        let most = [("leaf", 5), ("work", 5), ("branch", 5 * 6)];
        let more = most.iter().find(|(function, most)| open(function) > *most);
        assert_eq!(more, None, "reading {readings}: leaf {}, branch {}", open("leaf"), open("branch"));
        (lost, processes) = (report.lost_calls, report.processes);
        before = now;
    }
    endless.stop();

    let report = read(endless.here.path()).unwrap().into_only_report();
    let generations = report.function("generation").calls;
    let works = 5 * generations;
    let branches = (0..=5).map(|level| 3_u64.pow(level)).sum::<u64>() * works;
    assert_eq!((report.function("work").calls, report.function("branch").calls), (works, branches));
    assert_eq!((report.function("leaf").calls, report.lost_calls), (branches, 0));
    assert!(before.values().sum::<u64>() > 0 && report.processes == generations + 1);
}
