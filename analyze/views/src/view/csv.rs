//! CSV: a row for each function; or with roots, for each root a row of its own (`call` is `self`) and one for each
//! callee; or of timelines a row for each slice. The header of either form is the same in every report.

use std::io::{self, Write};

use csv::Writer;

use crate::report::columns::{Column, Value};
use crate::report::{Document, Function, Layout};
use crate::subject::Subject;

/// Writes a document as CSV.
pub fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer::from_writer(out);
    match &document.layout {
        Layout::Functions(columns) if columns.is_empty() => functions(document, &mut writer)?,
        Layout::Functions(columns) => chosen(document, columns, &mut writer)?,
        Layout::Roots => roots(document, &mut writer)?,
        Layout::Timelines => slices(document, &mut writer)?,
    }
    writer.flush()
}

fn functions(document: &Document, writer: &mut Writer<&mut dyn Write>) -> csv::Result<()> {
    let fields = [
        "name",
        "module",
        "address",
        "calls",
        "open",
        "inlined_calls",
        "total_ns",
        "self_ns",
        "total_error_ns",
        "total_raw_ns",
        "self_raw_ns",
        "mean_ns",
        "min_ns",
        "p50_ns",
        "p90_ns",
        "p99_ns",
        "p999_ns",
        "max_ns",
    ];
    writer.write_record(header(document, fields))?;
    for report in &document.reports {
        for function in &report.functions {
            let mut record: Vec<String> = identity(&report.subject).collect();
            record.extend([function.name.clone(), function.module.clone()]);
            record.extend([function.address.to_string(), function.calls.to_string(), function.open.to_string()]);
            record.push(function.inlined_calls.to_string());
            record.extend(times(function));
            writer.write_record(record)?;
        }
    }
    Ok(())
}

/// Columns that were asked for.
fn chosen(document: &Document, columns: &[Column], writer: &mut Writer<&mut dyn Write>) -> csv::Result<()> {
    let fields = columns.iter().map(|column| column.field());
    writer.write_record(header(document, ["name"].into_iter().chain(fields)))?;
    for report in &document.reports {
        for function in &report.functions {
            let text = |column: &Column| match (column, column.value(function)) {
                (Column::Address, _) => function.address.to_string(),
                (_, Value::Count(number)) => number.to_string(),
                (_, Value::Time(ns)) => ns.map(number).unwrap_or_default(),
                (_, Value::Share(ns)) if report.all_self_ns > 0.0 => number(ns / report.all_self_ns),
                (_, Value::Share(_)) => String::new(),
                (_, Value::Text(text)) => text.to_owned(),
                (_, Value::Line(line)) => line.map(|(file, line)| format!("{file}:{line}")).unwrap_or_default(),
            };
            let name = [function.name.clone()];
            writer.write_record(identity(&report.subject).chain(name).chain(columns.iter().map(text)))?;
        }
    }
    Ok(())
}

fn times(function: &Function) -> impl Iterator<Item = String> {
    let sums =
        [function.total_ns, function.self_ns, function.total_error_ns, function.total_raw_ns, function.self_raw_ns];
    let spread = [
        function.mean_ns,
        function.min_ns,
        function.p50_ns,
        function.p90_ns,
        function.p99_ns,
        function.p999_ns,
        function.max_ns,
    ];
    sums.map(Some).into_iter().chain(spread).map(|ns| ns.map(number).unwrap_or_default())
}

fn roots(document: &Document, writer: &mut Writer<&mut dyn Write>) -> csv::Result<()> {
    let fields = [
        "root",
        "root_calls",
        "root_total_ns",
        "name",
        "module",
        "address",
        "call",
        "via",
        "calls",
        "total_ns",
        "self_ns",
        "total_raw_ns",
    ];
    writer.write_record(header(document, fields))?;
    for report in &document.reports {
        for root in report.functions.iter().filter(|function| function.root) {
            let of_root = [root.name.clone(), root.calls.to_string(), number(root.total_ns)];
            let of_root: Vec<String> = identity(&report.subject).chain(of_root).collect();
            writer.write_record(of_root.iter().cloned().chain([
                root.name.clone(),
                root.module.clone(),
                root.address.to_string(),
                "self".to_owned(),
                String::new(),
                root.calls.to_string(),
                number(root.total_ns),
                number(root.self_ns),
                number(root.total_raw_ns),
            ]))?;
            for callee in &root.callees {
                writer.write_record(of_root.iter().cloned().chain([
                    callee.name.clone(),
                    callee.module.clone(),
                    callee.address.to_string(),
                    callee.call.to_string(),
                    callee.via.clone().unwrap_or_default(),
                    callee.calls.to_string(),
                    number(callee.total_ns),
                    number(callee.self_ns),
                    number(callee.total_raw_ns),
                ]))?;
            }
        }
    }
    Ok(())
}

/// Slices of timelines, the first of each is 0.
fn slices(document: &Document, writer: &mut Writer<&mut dyn Write>) -> csv::Result<()> {
    let fields = ["name", "module", "address", "slice", "start_unix_ns", "slice_ns", "calls", "total_ns"];
    writer.write_record(header(document, fields))?;
    for report in &document.reports {
        for function in &report.functions {
            let Some(timeline) = &function.timeline else { continue };
            for (index, slice) in timeline.slices.iter().enumerate() {
                let start = timeline.start_unix_ns.saturating_add((timeline.slice_ns * index as f64).round() as u64);
                writer.write_record(identity(&report.subject).chain([
                    function.name.clone(),
                    function.module.clone(),
                    function.address.to_string(),
                    index.to_string(),
                    start.to_string(),
                    number(timeline.slice_ns),
                    number(slice.calls),
                    number(slice.total_ns),
                ]))?;
            }
        }
    }
    Ok(())
}

/// What subjects are told apart by, as a header: the label if they have one, process and thread.
pub(super) fn identities<'a>(mut subjects: impl Iterator<Item = &'a Subject>) -> Vec<&'static str> {
    let label = subjects.any(|subject| subject.label.is_some()).then_some("label");
    label.into_iter().chain(["pid", "tid"]).collect()
}

/// The same of one: process and thread, if it is one.
pub(super) fn identity(subject: &Subject) -> impl Iterator<Item = String> {
    let pid = subject.process.as_ref().map(|process| process.pid.to_string()).unwrap_or_default();
    let tid = subject.thread.as_ref().map(|thread| thread.tid.to_string()).unwrap_or_default();
    subject.label.clone().into_iter().chain([pid, tid])
}

fn header<'a>(document: &Document, fields: impl IntoIterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    identities(document.reports.iter().map(|report| &report.subject)).into_iter().chain(fields)
}

/// A time, to the picosecond.
pub(super) fn number(ns: f64) -> String {
    if ns.is_nan() {
        return String::new(); // nothing was timed
    }
    ((ns * 1e3).round() / 1e3).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::document;

    fn written(roots: &[&str]) -> String {
        let mut out = Vec::new();
        write(&document(roots), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_row_for_each_function() {
        let csv = written(&[]);
        assert!(csv.starts_with("pid,tid,name,module,address,calls,open,"), "{csv}");
        assert!(
            csv.contains("\n42,,handle,/srv/server,0x1200,100000,0,0,3000000,1780000,50000,9000000,5000000,30,"),
            "{csv}"
        );
        assert!(csv.contains(",\"std::vector<int, std::allocator<int> >::operator[](unsigned long)\","), "{csv}");
        assert_eq!(csv.lines().count(), 4);
    }

    #[test]
    fn a_row_for_each_slice() {
        let mut out = Vec::new();
        write(&Document { layout: Layout::Timelines, ..document(&["handle"]) }, &mut out).unwrap();
        let csv = String::from_utf8(out).unwrap();
        assert!(csv.starts_with("pid,tid,name,module,address,slice,start_unix_ns,slice_ns,calls,total_ns\n"), "{csv}");
        let third = "\n42,,handle,/srv/server,0x1200,2,1700000000018800000,9400000,";
        assert!(csv.contains(third), "{csv}");
        assert_eq!(csv.lines().count(), 1 + 100);
    }

    #[test]
    fn a_row_for_each_root_and_callee() {
        let csv = written(&["handle"]);
        assert!(
            csv.contains("\n42,,handle,100000,3000000,parse,/srv/server,0x1300,direct,qsort,100000,1200000,"),
            "{csv}"
        );
        let of_its_own = csv.lines().filter(|line| line.contains(",handle,/srv/server,0x1200,self,,100000,")).count();
        assert_eq!((of_its_own, csv.lines().count()), (1, 4), "{csv}");
    }
}
