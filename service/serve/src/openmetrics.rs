//! Metrics in OpenMetrics' text form: the service's own, and what roots have counted.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use diytrace_store::Labels;

use crate::roots::{BOUNDS_NS, Root, Sum};
use crate::shared::Service;

/// Labels of ours: a series that has one of that name has it with `label_` before.
const OURS: [&str; 2] = ["function", "le"];

const NS_PER_S: f64 = 1e9;

/// All of a service's.
pub fn written(service: &Service) -> String {
    let mut text = String::new();
    let counters = &service.counters;
    let own: [(&str, &str, &AtomicU64); 4] = [
        ("frames", "Frames taken from agents.", &counters.frames),
        ("frame_bytes", "Bytes of those, as they came.", &counters.bytes),
        ("calls", "Calls counted in those.", &counters.calls),
        ("refused", "Frames and names not taken.", &counters.refused),
    ];
    for (name, help, value) in own {
        family(&mut text, &format!("diytrace_service_{name}"), "counter", None, help);
        let _ = writeln!(text, "diytrace_service_{name}_total {}", value.load(Relaxed));
    }
    let names = |module: &_| service.writer().symbols(module).ok().flatten();
    service.roots.named(names, |roots, left_out| {
        family(&mut text, "diytrace_roots_left_out", "gauge", None, "Roots that are not told, as there are too many.");
        let _ = writeln!(text, "diytrace_roots_left_out {left_out}");
        of_roots(&mut text, roots);
    });
    text.push_str("# EOF\n");
    text
}

fn of_roots(text: &mut String, roots: &[&Root]) {
    // Functions of one name, as static ones of several files have, are one: nothing else would tell them apart.
    let mut all: BTreeMap<String, Sum> = BTreeMap::new();
    roots.iter().for_each(|root| all.entry(labels(root)).or_default().add(&root.sum));
    let calls =
        "All calls of functions that some code without hooks has called, in frames taken since the service started.";
    family(text, "diytrace_root_calls", "counter", None, calls);
    for (labels, sum) in &all {
        let _ = writeln!(text, "diytrace_root_calls_total{{{labels}}} {}", sum.calls);
    }
    let time = "Time of those that no recorded function has made, with what they called, less what recording costs.";
    family(text, "diytrace_root_seconds", "counter", Some("seconds"), time);
    for (labels, sum) in &all {
        let _ = writeln!(text, "diytrace_root_seconds_total{{{labels}}} {}", sum.time.ns() / NS_PER_S);
    }
    let each =
        "How long calls took that returned; one that is up to 6.25% shorter than a bound may be in the bucket above.";
    family(text, "diytrace_root_call_seconds", "histogram", Some("seconds"), each);
    for (labels, sum) in &all {
        let mut calls = 0u64;
        let mut upto = |bucket: usize| {
            calls = calls.saturating_add(sum.buckets.get(&(bucket as u8)).copied().unwrap_or_default());
            calls
        };
        for (bucket, bound) in BOUNDS_NS.iter().enumerate() {
            let (bound, calls) = (*bound as f64 / NS_PER_S, upto(bucket));
            let _ = writeln!(text, "diytrace_root_call_seconds_bucket{{{labels},le=\"{bound:?}\"}} {calls}");
        }
        let (calls, time) = (upto(BOUNDS_NS.len()), sum.ended.ns() / NS_PER_S);
        let _ = writeln!(text, "diytrace_root_call_seconds_bucket{{{labels},le=\"+Inf\"}} {calls}");
        let _ = writeln!(text, "diytrace_root_call_seconds_count{{{labels}}} {calls}");
        let _ = writeln!(text, "diytrace_root_call_seconds_sum{{{labels}}} {time}");
    }
}

fn family(text: &mut String, name: &str, kind: &str, unit: Option<&str>, help: &str) {
    let _ = writeln!(text, "# TYPE {name} {kind}");
    if let Some(unit) = unit {
        let _ = writeln!(text, "# UNIT {name} {unit}");
    }
    let _ = writeln!(text, "# HELP {name} {help}");
}

/// `service="s",function="f"`.
fn labels(root: &Root) -> String {
    let mut text = of_series(&root.labels);
    let _ = write!(text, "function=\"{}\"", escaped(root.name.as_deref().unwrap_or_default()));
    text
}

fn of_series(labels: &Labels) -> String {
    let mut text = String::new();
    for (name, value) in labels.iter() {
        let ours = if OURS.contains(&name) || name.starts_with("__") { "label_" } else { "" };
        let _ = write!(text, "{ours}{name}=\"{}\",", escaped(value));
    }
    text
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two samples with the same labels are none: who scrapes keeps one of them.
    #[test]
    fn functions_of_one_name_are_one() {
        let root = |calls| Root::named("handler", Sum { calls, ..Sum::default() });
        let mut text = String::new();
        of_roots(&mut text, &[&root(5), &root(7)]);
        let samples: Vec<&str> = text.lines().filter(|line| line.starts_with("diytrace_root_calls_total{")).collect();
        assert_eq!(samples, ["diytrace_root_calls_total{function=\"handler\"} 12"]);
    }

    #[test]
    fn labels_are_escaped_and_keep_clear_of_ours() {
        let mut labels = Labels::default();
        labels.set("le", "a\"b\\c".to_owned());
        labels.set("service", "s".to_owned());
        assert_eq!(of_series(&labels), "label_le=\"a\\\"b\\\\c\",service=\"s\",");
    }
}
