//! Comparisons of sampled profiles as text and CSV.

use std::io::{self, Write};

use diytrace_compare::diff::{Test, Verdict};
use diytrace_profile::human::counted;
use diytrace_views::view::Screen;
use diytrace_views::view::table::dim;
use diytrace_views::view::table::grid::{Column, Grid, LEAST_NAME, Row, Style};

use super::document::{Comparison, Function, Run, Sampling};

/// How many functions a headline names.
const NAMED: usize = 3;

/// What came out, in a sentence.
pub fn headline(comparison: &Comparison) -> String {
    let Comparison { functions, replicates, options, .. } = comparison;
    let named = |functions: &[&Function], change: &dyn Fn(&Function) -> String| {
        let names: Vec<String> =
            functions.iter().take(NAMED).map(|function| format!("{} {}", function.name, change(function))).collect();
        let more = functions.len().saturating_sub(NAMED);
        if more > 0 { format!("{} and {more} more", names.join(", ")) } else { names.join(", ") }
    };
    if replicates.suffice {
        let changed: Vec<&Function> = functions.iter().filter(|one| one.verdict == Verdict::Changed).collect();
        return match changed.len() {
            0 => "No function changed.".to_owned(),
            many => format!(
                "{} changed: {}.",
                counted(many as u64, "function", "functions"),
                named(&changed, &|one| change(&one.flat))
            ),
        };
    }
    let beyond: Vec<&Function> =
        functions.iter().filter(|one| is_beyond(one.sampling.as_ref(), options.level)).collect();
    match (comparison.left.samples.zip(comparison.right.samples), beyond.len()) {
        (None, _) => "No function can be called changed.".to_owned(),
        (Some(_), 0) => "No function can be called changed; none differs by more than its sampling error.".to_owned(),
        (Some(_), many) => format!(
            "No function can be called changed; {} by more than the sampling error: {}.",
            counted(many as u64, "function differs", "functions differ"),
            named(&beyond, &|one| change(&one.flat))
        ),
    }
}

fn is_beyond(sampling: Option<&Sampling>, level: f64) -> bool {
    sampling.and_then(|sampling| sampling.p_adjusted).is_some_and(|p| p <= level)
}

/// Right less left, as a part of left.
fn change(test: &Test) -> String {
    match test.difference {
        Some(part) => format!("{}{:.0}%", if part < 0.0 { "−" } else { "+" }, 100.0 * part.abs()),
        None if test.right_median > 0.0 => "new".to_owned(),
        None => String::new(),
    }
}

/// For people: what came out, and the functions that differ the most.
pub fn write_table(comparison: &Comparison, screen: &Screen, limit: usize, out: &mut dyn Write) -> io::Result<()> {
    let Comparison { left, right, kind, per, replicates, total, functions, .. } = comparison;
    writeln!(out, "{}", headline(comparison))?;
    let run = match replicates.of {
        Run::Profile => "profile",
        Run::Host => "host",
    };
    writeln!(
        out,
        "{} → {} · {}, {} · {} and {} runs, each a {run} · {} tested",
        left.name,
        right.name,
        kind.name,
        per.words(),
        left.runs,
        right.runs,
        counted(replicates.tests as u64, "function", "functions")
    )?;
    if let Some(total) = total {
        let values = &total.values;
        let [before, after] = [values.left_median, values.right_median].map(|value| per.shown(value, kind));
        let all = format!("all together: {before} → {after}, {}", change(values));
        writeln!(
            out,
            "{}",
            dim(&format!("{all} ({})", said(total.verdict, total.sampling.as_ref(), comparison)), screen)
        )?;
    }
    writeln!(out)?;
    let is_told = |function: &&Function| function.verdict != Verdict::Skipped;
    let rows = functions.iter().filter(is_told).take(limit).map(|function| row(comparison, function));
    let columns = vec![
        Column::number("flat before", 0),
        Column::number("after", 0),
        Column::number("difference", 1),
        Column::number("", 0),
        Column::number("±", 2),
        Column::number("p", 3),
        Column::number("cum before", 5),
        Column::number("after", 4),
    ];
    let grid = Grid { columns, name_title: "function", least_name: LEAST_NAME, rows: rows.collect() };
    for line in grid.lines(screen) {
        writeln!(out, "{line}")?;
    }
    let left_out = functions.iter().filter(is_told).count().saturating_sub(limit);
    if left_out > 0 {
        writeln!(out, "{}", dim(&format!("  {} left out", counted(left_out as u64, "row", "rows")), screen))?;
    }
    Ok(())
}

fn row(comparison: &Comparison, function: &Function) -> Row {
    let Comparison { kind, per, options, .. } = comparison;
    let Function { flat, cum, sampling, .. } = function;
    let off = plus_minus(comparison, function).map(|value| per.shown(value, kind)).unwrap_or_default();
    let p = p_adjusted(comparison, function).map(|p| format!("{p:.1e}")).unwrap_or_default();
    let is_changed = function.verdict == Verdict::Changed;
    let difference = per.shown(flat.difference_ns(), kind);
    Row {
        numbers: vec![
            per.shown(flat.left_median, kind),
            per.shown(flat.right_median, kind),
            if flat.difference_ns() > 0.0 { format!("+{difference}") } else { difference },
            change(flat),
            off,
            p,
            per.shown(cum.left_median, kind),
            per.shown(cum.right_median, kind),
        ],
        name: function.name.clone(),
        remark: said(function.verdict, sampling.as_ref(), comparison),
        style: if is_changed || (!comparison.replicates.suffice && is_beyond(sampling.as_ref(), options.level)) {
            Style::Strong
        } else {
            Style::Plain
        },
        ..Row::default()
    }
}

/// How far off the difference may be: as the runs say, or if they are too few, as sampling does.
fn plus_minus(comparison: &Comparison, function: &Function) -> Option<f64> {
    match comparison.replicates.suffice {
        true => function.flat.plus_minus.map(|part| part * function.flat.left_median),
        false => function.sampling.map(|sampling| sampling.plus_minus),
    }
}

fn p_adjusted(comparison: &Comparison, function: &Function) -> Option<f64> {
    match comparison.replicates.suffice {
        true => function.flat.p_adjusted,
        false => function.sampling.and_then(|sampling| sampling.p_adjusted),
    }
}

/// A verdict in words: of too few runs, what sampling says.
fn said(verdict: Verdict, sampling: Option<&Sampling>, comparison: &Comparison) -> String {
    match (comparison.replicates.suffice, sampling) {
        (true, _) => verdict.name().replace('-', " "),
        (false, None) => String::new(),
        (false, Some(_)) if is_beyond(sampling, comparison.options.level) => "more than its sampling error".to_owned(),
        (false, Some(_)) => "within its sampling error".to_owned(),
    }
}

/// A row for each function.
pub fn write_csv(comparison: &Comparison, separator: u8, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::WriterBuilder::new().delimiter(separator).from_writer(out);
    csv.write_record([
        "function",
        "file",
        "verdict",
        "share",
        "flat_left",
        "flat_right",
        "flat_difference",
        "flat_plus_minus",
        "p",
        "p_adjusted",
        "cum_left",
        "cum_right",
        "samples_left",
        "samples_right",
        "sampling_plus_minus",
        "sampling_p",
        "sampling_p_adjusted",
    ])?;
    let maybe = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    for function in &comparison.functions {
        let Function { name, file, verdict, share, flat, cum, sampling } = function;
        let samples = |of: fn(&Sampling) -> u64| sampling.as_ref().map(|one| of(one).to_string()).unwrap_or_default();
        csv.write_record([
            name.clone(),
            file.clone().unwrap_or_default(),
            verdict.name().to_owned(),
            share.to_string(),
            flat.left_median.to_string(),
            flat.right_median.to_string(),
            flat.difference_ns().to_string(),
            maybe(flat.plus_minus.map(|part| part * flat.left_median)),
            flat.p.to_string(),
            maybe(flat.p_adjusted),
            cum.left_median.to_string(),
            cum.right_median.to_string(),
            samples(|one| one.left),
            samples(|one| one.right),
            maybe(sampling.map(|one| one.plus_minus)),
            maybe(sampling.map(|one| one.p)),
            maybe(sampling.and_then(|one| one.p_adjusted)),
        ])?;
    }
    csv.flush()
}
