//! A run as rows, one a step.

use std::io::{self, Write};

use crate::document::Document;
use crate::load::Times;

/// Columns of a distribution.
const TIMES: [&str; 9] = ["mean", "min", "p50", "p75", "p90", "p95", "p99", "p999", "max"];

/// Writes a row for each step.
pub fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    let counts = [
        "offered_per_s",
        "achieved_per_s",
        "elapsed_ns",
        "planned",
        "sent",
        "answered",
        "not_sent",
        "errors",
        "cut_off",
        "received_bytes",
    ];
    let mut header: Vec<String> = counts.map(str::to_owned).to_vec();
    for kind in ["latency", "from_send", "late"] {
        header.extend(TIMES.map(|name| format!("{kind}_{name}_ns")));
    }
    writer.write_record(&header)?;
    for step in &document.steps {
        let mut row = vec![
            step.offered_per_s.map(|rate| format!("{rate:.3}")).unwrap_or_default(),
            format!("{:.3}", step.achieved_per_s),
        ];
        let numbers = [
            step.elapsed_ns,
            step.planned,
            step.sent,
            step.answered,
            step.not_sent,
            step.errors,
            step.cut_off,
            step.received_bytes,
        ];
        row.extend(numbers.map(|number| number.to_string()));
        for times in [&step.latency_ns, &step.from_send_ns, &step.late_ns] {
            row.extend(columns(times));
        }
        writer.write_record(&row)?;
    }
    writer.flush()
}

fn columns(times: &Times) -> [String; 9] {
    let Times { mean, min, p50, p75, p90, p95, p99, p999, max, .. } = times;
    [mean, min, p50, p75, p90, p95, p99, p999, max].map(|ns| ns.map(|ns| format!("{ns:.0}")).unwrap_or_default())
}
