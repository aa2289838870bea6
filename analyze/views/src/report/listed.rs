//! A report's functions as rows of numbers (`diytrace-functions/1`): a tenth of the whole document, for lists of many.

use serde::Serialize;

use super::document::{Document, Function, Report};
use crate::subject::{Clock, Subject};
use diytrace_profile::units::{nanoseconds, optional_nanoseconds};

const SCHEMA: &str = "diytrace-functions/1";

/// What the values of a row are, in their order: those of the same names in a report; `module` is a place in `modules`.
const COLUMNS: [&str; 16] = [
    "name",
    "module",
    "build",
    "calls",
    "total_ns",
    "total_error_ns",
    "self_ns",
    "self_error_ns",
    "cpu_ns",
    "wait_ns",
    "self_wait_ns",
    "mean_ns",
    "p50_ns",
    "p90_ns",
    "p99_ns",
    "max_ns",
];

/// The functions of some profiles.
#[derive(Debug, Serialize)]
pub struct Listed<'a> {
    schema: &'static str,
    clock: Clock,
    warnings: &'a [String],
    runs: usize,
    roots: &'a [String],
    raw: bool,
    columns: [&'static str; COLUMNS.len()],
    reports: Vec<Group<'a>>,
}

/// What is reported together.
#[derive(Debug, Serialize)]
struct Group<'a> {
    #[serde(flatten)]
    subject: &'a Subject,
    #[serde(serialize_with = "nanoseconds")]
    all_self_ns: f64,
    #[serde(serialize_with = "optional_nanoseconds")]
    all_self_cpu_ns: Option<f64>,
    #[serde(serialize_with = "optional_nanoseconds")]
    all_self_wait_ns: Option<f64>,
    unlisted: u64,
    unlisted_calls: u64,
    #[serde(serialize_with = "nanoseconds")]
    unlisted_self_ns: f64,
    modules: Vec<&'a str>,
    functions: Vec<Row<'a>>,
}

/// The values of [`COLUMNS`].
#[derive(Debug, Serialize)]
struct Row<'a>(
    &'a str,
    usize,
    Option<&'a str>,
    u64,
    #[serde(serialize_with = "nanoseconds")] f64,
    #[serde(serialize_with = "nanoseconds")] f64,
    #[serde(serialize_with = "nanoseconds")] f64,
    #[serde(serialize_with = "nanoseconds")] f64,
    #[serde(serialize_with = "optional_nanoseconds")] Option<f64>,
    #[serde(serialize_with = "optional_nanoseconds")] Option<f64>,
    #[serde(serialize_with = "optional_nanoseconds")] Option<f64>,
    #[serde(serialize_with = "optional_nanoseconds")] Option<f64>,
    #[serde(serialize_with = "optional_nanoseconds")] Option<f64>,
    #[serde(serialize_with = "optional_nanoseconds")] Option<f64>,
    #[serde(serialize_with = "optional_nanoseconds")] Option<f64>,
    #[serde(serialize_with = "optional_nanoseconds")] Option<f64>,
);

impl<'a> Listed<'a> {
    /// Of a report, whose functions need no callees for that.
    pub fn of(document: &'a Document) -> Self {
        Self {
            schema: SCHEMA,
            clock: document.clock,
            warnings: &document.warnings,
            runs: document.runs,
            roots: &document.roots,
            raw: document.raw,
            columns: COLUMNS,
            reports: document.reports.iter().map(Group::of).collect(),
        }
    }
}

impl<'a> Group<'a> {
    fn of(report: &'a Report) -> Self {
        let mut modules = Vec::new();
        let functions =
            report.functions.iter().map(|function| Row::of(function, place(&mut modules, &function.module)));
        let functions = functions.collect();
        Self {
            subject: &report.subject,
            all_self_ns: report.all_self_ns,
            all_self_cpu_ns: report.all_self_spent_ns.map(|[cpu, _]| cpu),
            all_self_wait_ns: report.all_self_spent_ns.map(|[_, wait]| wait),
            unlisted: report.unlisted,
            unlisted_calls: report.unlisted_calls,
            unlisted_self_ns: report.unlisted_self_ns,
            modules,
            functions,
        }
    }
}

impl<'a> Row<'a> {
    fn of(function: &'a Function, module: usize) -> Self {
        Self(
            &function.name,
            module,
            function.build.as_deref(),
            function.calls,
            function.total_ns,
            function.total_error_ns,
            function.self_ns,
            function.self_error_ns,
            function.spent.cpu_ns,
            function.spent.wait_ns,
            function.spent.self_wait_ns,
            function.mean_ns,
            function.p50_ns,
            function.p90_ns,
            function.p99_ns,
            function.max_ns,
        )
    }
}

/// Where a module is among those that were met; there are few.
fn place<'a>(modules: &mut Vec<&'a str>, module: &'a str) -> usize {
    modules.iter().position(|known| *known == module).unwrap_or_else(|| {
        modules.push(module);
        modules.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::document;

    #[test]
    fn rows_have_what_the_report_has() {
        let report = document(&[]);
        let whole = serde_json::to_value(&report).unwrap();
        let listed = serde_json::to_value(Listed::of(&report)).unwrap();
        let group = &listed["reports"][0];
        for (row, function) in
            group["functions"].as_array().unwrap().iter().zip(whole["reports"][0]["functions"].as_array().unwrap())
        {
            for (at, column) in COLUMNS.iter().enumerate() {
                let value =
                    if *column == "module" { &group["modules"][row[at].as_u64().unwrap() as usize] } else { &row[at] };
                assert_eq!(
                    Some(value).filter(|value| !value.is_null()),
                    function.get(column).filter(|value| !value.is_null()),
                    "{column}"
                );
            }
        }
        assert_eq!(group["calls"], whole["reports"][0]["calls"]);
        assert!(!group["functions"].as_array().unwrap().is_empty());
    }
}
