//! A comparison for people: the metrics, those least alike first, and the answer last, where eyes are.

use std::io::{self, Write};

use super::csv::word;
use crate::similar::{Compared, Document, Sample, SideFacts, Verdict};
use diytrace_profile::human::{bytes, count, counted, time};
use diytrace_views::view::Screen;
use diytrace_views::view::table::grid::{Column, Grid, LEAST_NAME, Row, Style};
use diytrace_views::view::table::strong;

/// Writes a comparison as a table of at most so many metrics.
pub fn write(document: &Document, limit: Option<usize>, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    for line in title(document) {
        writeln!(out, "{}", strong(&line, screen))?;
    }
    writeln!(out)?;
    let is_test = document.significance.is_some();
    let mut columns = vec![Column::number("similarity", 0)];
    match is_test {
        true => columns.extend([Column::number("D", 2), Column::number("p", 0)]),
        false => columns.push(Column::number("A/B", 0)),
    }
    columns.extend([Column::number("A", 0), Column::number("B", 0), Column::text("verdict", 0)]);
    let shown = document.metrics.iter().take(limit.unwrap_or(usize::MAX));
    let rows: Vec<Row> = shown.map(|metric| row(document, metric, is_test)).collect();
    let more = document.metrics.len() - rows.len();
    let grid = Grid { columns, name_title: "metric", least_name: LEAST_NAME, rows };
    for line in grid.lines(screen) {
        writeln!(out, "{line}")?;
    }
    if more > 0 {
        writeln!(out, "  … and {}", counted(more as u64, "more metric", "more metrics"))?;
    }
    writeln!(out, "\nTotal similarity: {:.3}", document.similarity)?;
    writeln!(out, "{}", strong(&answer(document), screen))
}

fn title(document: &Document) -> [String; 2] {
    let side = |letter: &str, side: &SideFacts| {
        format!("{letter} {}, {}", side.name, counted(side.runs as u64, "run", "runs"))
    };
    let rule = match (document.low, document.high, document.significance) {
        (Some(low), Some(high), _) => format!("matched if A/B is within [{low:.2}, {high:.2}]"),
        (_, _, Some(significance)) => format!("matched if p is at least {significance}"),
        _ => String::new(),
    };
    [side("A", &document.left), format!("{} · {rule}", side("B", &document.right))]
}

fn row(document: &Document, metric: &Compared, is_test: bool) -> Row {
    let dash = || "–".to_owned();
    let number = |number: Option<f64>| number.map_or_else(dash, |number| format!("{number:.3}"));
    let mut numbers = vec![format!("{:.3}", metric.similarity)];
    match is_test {
        true => numbers.extend([number(metric.d), number(metric.p)]),
        false => numbers.push(number(metric.ratio)),
    }
    // Where all values were raised to the cutoff, this is as much as is known of them.
    let sign = |average| if Some(average) == metric.cutoff && average > 0.0 { "≤ " } else { "" };
    let text = |average| format!("{}{}", sign(average), value(average, &metric.unit));
    let average = |sample: &Sample| sample.average.map_or_else(dash, text);
    numbers.extend([average(&metric.left), average(&metric.right), word(metric.verdict).to_owned()]);
    Row {
        numbers,
        prefix: String::new(),
        name: metric.metric.clone(),
        remark: remark(document, metric),
        detail: String::new(),
        style: if metric.verdict == Verdict::Matched { Style::Plain } else { Style::Strong },
    }
}

/// What is to be known of a metric that not all runs have.
fn remark(document: &Document, metric: &Compared) -> String {
    let sides = [("A", &metric.left, document.left.runs), ("B", &metric.right, document.right.runs)];
    let of_side = |(letter, sample, runs): (&str, &Sample, usize)| match sample.values.len() {
        0 => Some(format!("not in {letter}")),
        // Queries have runs of their own.
        some if metric.parts.group.is_empty() && some < runs => Some(format!("in {some} of {runs} runs of {letter}")),
        _ => None,
    };
    sides.into_iter().filter_map(of_side).collect::<Vec<_>>().join(", ")
}

/// A number with its unit.
fn value(number: f64, unit: &str) -> String {
    match unit {
        "ns" => time(number),
        "bytes" if number >= 0.0 => bytes(number.round() as u64),
        "" if number >= 0.0 && number.fract() == 0.0 && number < 1e15 => count(number as u64),
        "" => short(number),
        unit => format!("{} {unit}", short(number)),
    }
}

/// Four significant digits.
fn short(number: f64) -> String {
    let size = number.abs();
    match size {
        0.0 => "0".to_owned(),
        _ if !(1e-3..1e9).contains(&size) => format!("{number:.3e}"),
        _ => {
            let before = size.log10().floor() as i32 + 1;
            format!("{number:.*}", usize::try_from(4 - before).unwrap_or(0))
        }
    }
}

/// What came out, in a sentence.
pub fn answer(document: &Document) -> String {
    let missing = match document.missing {
        0 => String::new(),
        some => format!(" ({} missing)", count(some as u64)),
    };
    format!(
        "{}: {} of {} matched{missing}, {:.1}%, and {}% are needed",
        if document.pass { "PASS" } else { "FAIL" },
        count(document.matched as u64),
        counted(document.metrics.len() as u64, "metric", "metrics"),
        floored(document.matched_percent),
        document.needed_percent,
    )
}

/// In tenths, downwards: 89.96% is not 90%.
fn floored(percent: f64) -> f64 {
    (percent * 10.0 + 1e-9).floor() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits_and_their_unit() {
        for (number, unit, expected) in [
            (51_300.0, "ns", "51.3 µs"),
            (13.5, "ms", "13.50 ms"),
            (1234.5, "", "1234"),
            (1_234_567.0, "", "1,234,567"),
            (0.0123456, "1/s", "0.01235 1/s"),
            (3e12 + 0.5, "", "3.000e12"),
            (-2.0, "", "-2.000"),
            (2048.0, "bytes", "2.00 KiB"),
            (0.0, "ms", "0 ms"),
        ] {
            assert_eq!(value(number, unit), expected);
        }
        assert_eq!(floored(89.999), 89.9);
        assert_eq!(floored(100.0 * 9.0 / 10.0), 90.0);
    }
}
