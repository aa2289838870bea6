//! A graph of functions for Graphviz: who calls whom, how often and for how long.
//!
//! A box is filled by its self time, beside the largest there is, and an edge is drawn by its time. What takes less than 0.5% of the whole is left out
//! (edges: 0.1%), and the graph's label says so.

use std::fmt::Write;

use super::profile::{Edge, Part, Profile};
use diytrace_profile::human::{count, counted, resolved, share, time};

/// One function in so many that is shown.
const LEAST_NODE: u64 = 200;
const LEAST_EDGE: u64 = 1000;

/// The graph; several parts are clusters in it.
pub fn write(profile: &Profile) -> Vec<u8> {
    let mut text = String::new();
    for warning in &profile.warnings {
        let _ = writeln!(text, "// Warning: {}", warning.replace(['\n', '\r'], " "));
    }
    let _ = writeln!(text, "digraph {} {{", quoted(&profile.title));
    text.push_str("  graph [fontname=\"Helvetica\", labelloc=t, labeljust=l, ranksep=0.6, nodesep=0.3];\n");
    text.push_str(
        "  node [shape=box, style=\"filled,rounded\", fontname=\"Helvetica\", fontsize=11, color=\"#999999\"];\n",
    );
    text.push_str("  edge [fontname=\"Helvetica\", fontsize=9, color=\"#666666\"];\n");
    let is_one = profile.parts.len() == 1;
    let mut left_out = 0;
    for (number, part) in profile.parts.iter().enumerate() {
        if !is_one {
            let _ = writeln!(text, "  subgraph cluster_{number} {{\n  label={};", quoted(&part.name));
        }
        left_out += graph(profile, part, number, &mut text);
        if !is_one {
            text.push_str("  }\n");
        }
    }
    let mut label = format!(
        "{} · {} ({}) · {}",
        profile.title,
        time(profile.total_ns() as f64),
        profile.kind_of_time(),
        counted(profile.calls(), "call", "calls")
    );
    if left_out > 0 {
        let _ = write!(label, "\n{} below 0.5% left out", counted(left_out, "function", "functions"));
    }
    // \l ends a line that is justified to the left.
    let _ = writeln!(text, "  label={};\n}}", quoted(&format!("{label}\n")).replace("\\n", "\\l"));
    text.into_bytes()
}

/// Writes a part's functions and calls; gives how many functions are left out.
fn graph(profile: &Profile, part: &Part, number: usize, text: &mut String) -> u64 {
    let all = part.total_ns();
    let most = part.sums.iter().map(|sums| sums.self_ns).max().unwrap_or(0).max(1) as f64;
    let was_called = |function: usize| part.sums[function].calls > 0 || part.sums[function].total_ns > 0;
    let is_shown = |function: usize| was_called(function) && part.sums[function].total_ns >= all / LEAST_NODE;
    let mut left_out = 0;
    for (function, sums) in part.sums.iter().enumerate() {
        if !is_shown(function) {
            left_out += u64::from(was_called(function));
            continue;
        }
        let part_of = |ns: u64, error: u64| match share(ns as f64, all as f64).as_str() {
            "" => resolved(ns as f64, error as f64),
            share => format!("{} ({share})", resolved(ns as f64, error as f64)),
        };
        // The self time is within the total, so it cannot be told better.
        let self_error = if sums.total_ns < sums.error_ns { sums.error_ns } else { sums.self_error_ns };
        let facts = &profile.functions[function];
        let label = format!(
            "{}\ntotal {}\nself {}\n{}{}",
            facts.label,
            part_of(sums.total_ns, sums.error_ns),
            part_of(sums.self_ns, self_error),
            counted(sums.calls, "call", "calls"),
            sums.spread
                .map_or_else(String::new, |spread| format!(", p99 {}", resolved(spread.p99, part.error_of_call(sums))))
        );
        let place = facts.line.as_ref().map_or(String::new(), |line| format!("{}:{}", line.file, line.number));
        let fill = fill(sums.self_ns as f64 / most);
        let (label, place) = (quoted(&label), quoted(&place));
        let _ = writeln!(text, "  f{number}_{function} [label={label}, tooltip={place}, fillcolor=\"{fill}\"];");
    }
    for (caller, sums) in part.sums.iter().enumerate().filter(|(caller, _)| is_shown(*caller)) {
        let edges = sums.callees.iter().filter(|edge| is_shown(edge.callee) && edge.total_ns >= all / LEAST_EDGE);
        for edge in edges {
            let width = 0.6 + 4.0 * edge.total_ns as f64 / all.max(1) as f64;
            let mut label =
                format!(" {}\n × {}", resolved(edge.total_ns as f64, edge.error_ns as f64), count(edge.calls));
            let (p99, is_its_own) = p99(profile, part, edge);
            if let Some(p99) = p99.as_ref().filter(|_| is_its_own) {
                let _ = write!(label, "\n {p99}");
            }
            let tooltip = match p99 {
                Some(p99) if is_its_own => p99,
                Some(p99) => format!("{p99} of all calls of {}", profile.functions[edge.callee].label),
                None => String::new(),
            };
            let (label, tooltip) = (quoted(&label), quoted(&tooltip));
            let _ = writeln!(
                text,
                "  f{number}_{caller} -> f{number}_{} [label={label}, tooltip={tooltip}, penwidth={width:.2}];",
                edge.callee
            );
        }
    }
    left_out
}

/// The 99th percentile for an edge's calls, and whether it is that of these alone. Percentiles are kept by function: they are
/// the edge's own where it has all of its callee's calls.
fn p99(profile: &Profile, part: &Part, edge: &Edge) -> (Option<String>, bool) {
    let callee = &part.sums[edge.callee];
    let p99 = callee.spread.map(|spread| format!("p99 {}", resolved(spread.p99, part.error_of_call(callee))));
    (p99, !profile.is_part && edge.calls == callee.calls)
}

/// From white to orange, for the function with the most.
fn fill(share: f64) -> String {
    let strength = share.clamp(0.0, 1.0).sqrt();
    let channel = |to: f64| (255.0 + (to - 255.0) * strength).round() as u8;
    format!("#{:02x}{:02x}{:02x}", channel(255.0), channel(140.0), channel(60.0))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\r', " ").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::sample::{by_process, golden, server};

    #[test]
    fn functions_and_calls() {
        golden("server.dot", &write(&server()));
    }

    #[test]
    fn processes_are_clusters() {
        golden("processes.dot", &write(&by_process()));
    }

    #[test]
    fn an_edge_has_a_percentile_of_its_own_if_all_calls_are_made_there() {
        let profile = server();
        let part = &profile.parts[0];
        let of = |caller: usize, callee: usize| {
            let edge = part.sums[caller].callees.iter().find(|edge| edge.callee == callee).unwrap();
            p99(&profile, part, edge).1
        };
        // The server alone calls checksum; parse calls itself, too.
        assert_eq!((of(1, 2), of(1, 3), of(3, 3)), (true, false, false));
        let inside = Profile { is_part: true, ..profile.clone() };
        assert!(!p99(&inside, part, &part.sums[1].callees[0]).1, "there may be calls outside");
    }

    #[test]
    fn names_are_quoted() {
        assert_eq!(quoted("operator\"\" \\n\n"), "\"operator\\\"\\\" \\\\n\\n\"");
    }
}
