//! What a store has, beside what the recordings have that it came from.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Document, Function, diytrace, run_to_end};

/// The report of a source: a store, a folder.
#[track_caller]
pub fn report(folder: &Path, source: &[&str]) -> Document {
    let output = run_to_end(diytrace(folder).args(["report", "--format", "json"]).args(source));
    assert!(output.status.success(), "{source:?}: {}", String::from_utf8_lossy(&output.stderr));
    Document::parse(&output.stdout)
}

/// Calls of functions, and of each by its callers.
pub fn counts(document: &Document) -> BTreeMap<(String, String), u64> {
    let mut counts = BTreeMap::new();
    for report in &document.reports {
        *counts.entry((String::new(), "lost".to_owned())).or_default() += report.lost_calls;
        for function in &report.functions {
            *counts.entry((function.name.clone(), String::new())).or_default() += function.calls;
            for callee in &function.callees {
                *counts.entry((function.name.clone(), callee.name.clone())).or_default() += callee.calls;
            }
        }
    }
    counts
}

/// What a store has is what the recordings have: calls by function and edge, those that are open, shortest and longest calls and percentiles; and times,
/// but for what the clock's rate was taken for.
#[track_caller]
pub fn assert_nothing_is_lost(folder: &Path, store: &[&str], recordings: &[&str], what: &str) {
    let (stored, recorded) = (report(folder, store), report(folder, recordings));
    assert_eq!(counts(&stored), counts(&recorded), "{what}");
    for recorded in &recorded.reports[0].functions {
        // Two whose times are nearly the same may be in the other order.
        let stored = stored.reports[0].functions.iter().find(|stored| stored.name == recorded.name).unwrap();
        assert_eq!(stored.open, recorded.open, "{what}: {}", stored.name);
        let name = &recorded.name;
        let total = [stored.total_raw_ns, recorded.total_raw_ns];
        let near = total[1] * 1e-3 + 1e4;
        // Who read while a process ran knows that its open calls lasted until then, though it was killed and has left no later sign.
        let may_be_longer = recorded.open_bound.as_deref() == Some("last sign of life");
        let is_near = total[0] > total[1] - near && (may_be_longer || total[0] < total[1] + near);
        assert!(is_near, "{what}: times of {name}: {total:?}");
        // By their bins: one that is missing, or there twice, moves the middle of few calls.
        // Where hooks cost about as much as all calls took, little is left of any: of so many of them no more is known than the error tells.
        let error = stored.total_error_ns.max(recorded.total_error_ns);
        type Of = fn(&Function) -> Option<f64>;
        let times: [(Of, f64); 4] =
            [(|it| it.min_ns, 1.0), (|it| it.p50_ns, 0.5), (|it| it.p99_ns, 0.01), (|it| it.max_ns, 0.0)];
        for (of, share) in times {
            let both = [of(stored), of(recorded)];
            let error = error / (recorded.calls as f64 * share).max(1.0);
            let is_near = match both {
                [Some(stored), Some(recorded)] => (stored - recorded).abs() < recorded * 0.02 + 20.0 + error,
                [stored, recorded] => stored == recorded,
            };
            assert!(is_near, "{what}: bins of {name}: {both:?}");
        }
    }
}
