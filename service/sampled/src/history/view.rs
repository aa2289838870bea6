//! Histories of sampled profiles as tables and CSV.

use std::io::{self, Write};

use diytrace_compare::history::{Found, moment_of};
use diytrace_profile::human::percent;
use diytrace_views::view::Screen;
use diytrace_views::view::table::grid::{Column, Grid, LEAST_NAME, Row, Style};

use super::document::{Course, History, Measure, Point};

/// For people: a table for each function.
pub fn table(history: &History, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    for (number, course) in history.functions.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        let file = course.file.as_ref().map(|file| format!("  {file}")).unwrap_or_default();
        writeln!(out, "{}{file} · {}, {}", course.name, history.kind.name, history.per.words())?;
        for line in grid(history, course).lines(screen) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// What was found among all functions, and then their tables.
pub fn regressions(history: &History, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let History { over, tested, functions, kind, .. } = history;
    match functions.len() {
        0 => writeln!(out, "No rise of {} that stayed in {tested} functions over {over}.", kind.name),
        one => {
            let have = if one == 1 { "has" } else { "have" };
            writeln!(out, "{one} of {tested} functions {have} risen in {} over {over}, and stayed so:\n", kind.name)?;
            table(history, screen, out)
        }
    }
}

fn grid(history: &History, course: &Course) -> Grid<'static> {
    let is_time = history.slice_ns.is_some();
    let columns = vec![
        Column::number("profiles", 3),
        Column::number("flat", 0),
        Column::number("±", 2),
        Column::number("cum", 0),
        Column::number("flat %", 1),
    ];
    let shown = |value: Option<f64>| value.map(|value| history.per.shown(value, &history.kind)).unwrap_or_default();
    let row = |(number, point): (usize, &Point)| {
        let steps: Vec<String> = course.steps.iter().filter(|step| step.point == number).map(step).collect();
        Row {
            numbers: vec![
                point.profiles.to_string(),
                shown(point.flat),
                shown(point.flat_plus_minus),
                shown(point.cum),
                point.share.map(percent).unwrap_or_default(),
            ],
            name: match history.slice_ns {
                Some(slice) => moment_of(point.started_unix_ns, slice),
                None if point.value.is_empty() => "(none)".to_owned(),
                None => point.value.clone(),
            },
            remark: steps.join(", "),
            style: if steps.is_empty() { Style::Plain } else { Style::Strong },
            ..Row::default()
        }
    };
    Grid {
        columns,
        name_title: if is_time { "since (UTC)" } else { "value" },
        least_name: LEAST_NAME,
        rows: course.points.iter().enumerate().map(row).collect(),
    }
}

fn step(step: &Found<Measure>) -> String {
    step.told(name(step.measure))
}

fn name(measure: Measure) -> &'static str {
    match measure {
        Measure::Flat => "flat",
        Measure::Cum => "cum",
    }
}

/// A row for each point of each function.
pub fn write_csv(history: &History, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record([
        "function",
        "file",
        "value",
        "started_unix_ns",
        "ended_unix_ns",
        "profiles",
        "flat",
        "flat_plus_minus",
        "cum",
        "share",
        "flat_change",
        "cum_change",
    ])?;
    let some = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    for course in &history.functions {
        for (number, point) in course.points.iter().enumerate() {
            let change = |measure| {
                let mut steps = course.steps.iter().filter(|step| step.point == number && step.measure == measure);
                some(steps.next().map(|step| step.change))
            };
            csv.write_record([
                course.name.clone(),
                course.file.clone().unwrap_or_default(),
                point.value.clone(),
                point.started_unix_ns.to_string(),
                point.ended_unix_ns.to_string(),
                point.profiles.to_string(),
                some(point.flat),
                some(point.flat_plus_minus),
                some(point.cum),
                some(point.share),
                change(Measure::Flat),
                change(Measure::Cum),
            ])?;
        }
    }
    csv.flush()
}
