//! Annotated functions as CSV: a row for each line, or instruction, and callee.

use std::io::{self, Write};

use csv::Writer;

use crate::annotate::{Call, Document, Function};
use crate::view::csv::{identities, identity, number};

const HEADER: [&str; 13] = [
    "function",
    "file",
    "line",
    "site",
    "callee",
    "module",
    "address",
    "call",
    "via",
    "calls",
    "total_ns",
    "self_ns",
    "total_error_ns",
];

/// Writes annotated functions as CSV.
pub fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer::from_writer(out);
    let told_apart = identities(document.reports.iter().map(|report| &report.subject));
    writer.write_record(told_apart.into_iter().chain(HEADER))?;
    for report in &document.reports {
        for function in &report.functions {
            let lines = function.lines.iter().flat_map(|line| &line.calls);
            let instructions = function.instructions.iter().flat_map(|instruction| &instruction.calls);
            for call in lines.chain(instructions).chain(&function.elsewhere) {
                writer.write_record(identity(&report.subject).chain(record(function, call)))?;
            }
        }
    }
    writer.flush()
}

fn record(function: &Function, call: &Call) -> Vec<String> {
    vec![
        function.name.clone(),
        call.file.clone().unwrap_or_default(),
        call.line.map(|line| line.to_string()).unwrap_or_default(),
        call.site.to_string(),
        call.name.clone(),
        call.module.clone(),
        call.address.to_string(),
        call.call.to_string(),
        call.via.clone().unwrap_or_default(),
        call.calls.to_string(),
        number(call.total_ns),
        number(call.self_ns),
        number(call.total_error_ns),
    ]
}
