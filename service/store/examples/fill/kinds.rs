//! What is asked of a store: by this program where it is the store's own, by the command where it is a view.

use std::collections::BTreeSet;
use std::error::Error;
use std::process::{Command, Stdio};

use diytrace_profile::correct::correct;
use diytrace_store::{Address, GroupBy, Query, Range, open, open_selection};

use crate::SECOND;
use crate::ask::{Kind, Question, Span};

/// All kinds; each opens the store anew. `program` is the command, and `function` one that the recording has.
pub fn kinds<'a>(address: &'a Address, program: &'a str, function: &'a str) -> Vec<Kind<'a>> {
    let all = || GroupBy::All;
    let by_build = || GroupBy::Label("build".to_owned());
    let view = move |words: &'static [&'static str]| {
        move |question: &Question| run(program, address, question, words, &[&select(question)])
    };
    vec![
        ("one_profile", Span::Frame, Box::new(move |question| selected(address, question, Some("h3"), &all()))),
        ("one_host_all_time", Span::Always, Box::new(move |question| selected(address, question, Some("h3"), &all()))),
        ("service_hour", Span::Hour, Box::new(move |question| selected(address, question, None, &all()))),
        ("service_all_time", Span::Always, Box::new(move |question| selected(address, question, None, &all()))),
        ("service_by_build", Span::Always, Box::new(move |question| selected(address, question, None, &by_build()))),
        ("top_functions", Span::Hour, Box::new(view(&["report", "--sort=self", "--limit=20", "--format=json"]))),
        ("flame_graph", Span::Hour, Box::new(view(&["export", "flamegraph"]))),
        (
            "function_over_time",
            Span::Hour,
            Box::new(move |question| {
                run(
                    program,
                    address,
                    question,
                    &["history", "--over=time", "--format=json"],
                    &[&select(question), function],
                )
            }),
        ),
        (
            "diff_of_builds",
            Span::Hour,
            Box::new(move |question| {
                let side = |build: &str| format!("service=s{},build={build}", question.service);
                let sides = [side("b0"), side("b1")];
                run(program, address, question, &["diff", "--format=json"], &[&sides[0], &sides[1]])
            }),
        ),
        ("index_of_series", Span::Always, Box::new(move |_| some(open(address, false)?.series()?.len()))),
        (
            "index_of_range",
            Span::Hour,
            Box::new(move |question| some(open(address, false)?.frames(&query(question, None))?.len())),
        ),
        (
            "label_values",
            Span::Always,
            Box::new(move |question| {
                let (series, query) = (open(address, false)?.series()?, query(question, None));
                let of = series.iter().filter(|facts| query.selects(&facts.labels));
                let hosts: BTreeSet<_> = of.filter_map(|facts| facts.labels.get("host")).collect();
                some(hosts.len())
            }),
        ),
        (
            "profile_types",
            Span::Always,
            Box::new(move |_| {
                // The latest of each series: none has ended after all time.
                let latest = open(address, false)?.all_sampled(Range { since: i64::MAX, until: i64::MAX })?;
                let types: BTreeSet<&str> = latest.iter().flat_map(|facts| &facts.types).map(|of| &*of.name).collect();
                some(types.len())
            }),
        ),
    ]
}

fn query(question: &Question, host: Option<&str>) -> Query {
    let mut labels = vec![("service".to_owned(), format!("s{}", question.service))];
    labels.extend(host.map(|host| ("host".to_owned(), host.to_owned())));
    Query { labels, range: question.range, session: None }
}

/// A service, or one host of it, when all is added up and corrected.
fn selected(address: &Address, question: &Question, host: Option<&str>, by: &GroupBy) -> Result<(), Box<dyn Error>> {
    let opened = open_selection(open(address, false)?, &query(question, host), by)?;
    let paths: usize = opened.merged.groups.iter().map(|group| correct(group).corrected.len()).sum();
    some(paths)
}

/// Whether there is anything.
pub fn some(count: usize) -> Result<(), Box<dyn Error>> {
    if count == 0 { Err("nothing is there".into()) } else { Ok(()) }
}

fn select(question: &Question) -> String {
    format!("--select=service=s{}", question.service)
}

/// Runs the command, whose answer may be "no".
fn run(
    program: &str,
    address: &Address,
    question: &Question,
    words: &[&str],
    others: &[&str],
) -> Result<(), Box<dyn Error>> {
    let moment = |ns: i64| format!("@{}", ns / SECOND);
    let Range { since, until } = question.range;
    let mut command = Command::new(program);
    command.args(words).arg(format!("--store={}", address_of(address)));
    command.arg(format!("--since={}", moment(since))).arg(format!("--until={}", moment(until))).args(others);
    let output = command.stdin(Stdio::null()).output()?;
    match output.status.code() {
        Some(0 | 1) if !output.stdout.is_empty() => Ok(()),
        _ => Err(String::from_utf8_lossy(&output.stderr).into()),
    }
}

fn address_of(address: &Address) -> String {
    match address {
        Address::Sqlite(path) => path.display().to_string(),
        Address::ClickHouse(place) => place.to_string(),
    }
}
