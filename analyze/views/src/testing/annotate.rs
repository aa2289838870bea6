//! An annotated function, made by hand.

use super::document;
use crate::annotate::{Call, Document, Function, Line, Report};
use crate::subject::Clock;
use diytrace_profile::functions::CallKind;
use diytrace_profile::units::Address;

/// A function of a few lines.
pub fn annotated() -> Document {
    let call = |name: &str, calls, total_ns| Call {
        name: name.to_owned(),
        module: "/srv/server".to_owned(),
        address: Address(0x1300),
        call: CallKind::Direct,
        via: None,
        site: Address(0x1250),
        file: Some("/src/handle.c".to_owned()),
        line: Some(12),
        calls,
        total_ns,
        self_ns: total_ns / 2.0,
        total_error_ns: 25_000.0,
        self_error_ns: 1_000.0,
        is_recursion: false,
    };
    let lines = [
        ("static int", vec![]),
        ("handle(struct request *request, int depth)", vec![]),
        ("{", vec![]),
        ("\tint length = ns::parse(request->text);", vec![call("ns::parse(char const*)", 100_000, 1_200_000.0)]),
        ("\tif (depth < 3 && length > request->longest_length_that_is_answered_at_once)", vec![]),
        ("\t\treturn handle(request, depth + 1);", vec![Call { is_recursion: true, ..call("handle", 5, 0.0) }]),
        (
            "\tsort(request);",
            vec![
                Call { via: Some("qsort".to_owned()), ..call("compare", 200_000, 900_000.0) },
                Call { call: CallKind::Inlined, ..call("swap", 7, 1_000.0) },
            ],
        ),
        ("}", vec![]),
    ];
    let line = |(index, (text, calls)): (usize, (&str, Vec<Call>))| Line::new(index as u32 + 7, text.to_owned(), calls);
    let function = Function {
        name: "handle".to_owned(),
        module: "/srv/server".to_owned(),
        address: Address(0x1200),
        file: Some("/build/handle.c".to_owned()),
        line: Some(8),
        source: Some("/src/handle.c".to_owned()),
        calls: 100_005,
        open: 1,
        total_ns: 3_000_000.0,
        self_ns: 800_000.0,
        total_error_ns: 50_000.0,
        self_error_ns: 1_000.0,
        lines: lines.into_iter().enumerate().map(line).collect(),
        instructions: Vec::new(),
        elsewhere: vec![Call { file: Some("/src/log.h".to_owned()), ..call("log_line", 1, 30_000.0) }],
        hidden: None,
    };
    let subject = document(&[]).reports.remove(0).subject;
    Document {
        schema: "diytrace-annotate/1",
        clock: Clock { source: "tsc", hz: 2e9 },
        runs: 1,
        warnings: Vec::new(),
        raw: false,
        context: None,
        reports: vec![Report { subject, functions: vec![function] }],
    }
}
