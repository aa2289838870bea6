//! A comparison as CSV: a row for each metric.

use std::io::{self, Write};

use csv::Writer;

use crate::similar::{Document, Verdict};

const HEADER: [&str; 12] = [
    "metric",
    "unit",
    "verdict",
    "similarity",
    "ratio",
    "d",
    "p",
    "left_average",
    "right_average",
    "left_runs",
    "right_runs",
    "cutoff",
];

/// Writes a comparison as CSV.
pub fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer::from_writer(out);
    writer.write_record(HEADER)?;
    for metric in &document.metrics {
        let number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
        writer.write_record([
            metric.metric.clone(),
            metric.unit.clone(),
            word(metric.verdict).to_owned(),
            metric.similarity.to_string(),
            number(metric.ratio),
            number(metric.d),
            number(metric.p),
            number(metric.left.average),
            number(metric.right.average),
            metric.left.values.len().to_string(),
            metric.right.values.len().to_string(),
            number(metric.cutoff),
        ])?;
    }
    writer.flush()
}

/// A verdict in a word.
pub(super) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Missing => "missing",
        Verdict::Mismatched => "mismatched",
        Verdict::Matched => "matched",
    }
}
