//! A run for people.

use std::io::{self, Write};

use diytrace_profile::human::{count, counted, percent, time};
use diytrace_profile::timeline::sparkline;
use diytrace_views::view::Screen;
use diytrace_views::view::table::grid::{Column, Grid, Row, Style};

use crate::document::Document;
use crate::load::{Load, Slice, rate};
use crate::profile::{Function, Response, how, said, why};
use crate::workers::{Worker, WorkerLoad};

/// Writes it.
pub fn write(document: &Document, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let target = &document.target;
    let connections = counted(target.connections as u64, "connection", "connections");
    let threads = counted(target.threads as u64, "thread", "threads");
    let http2 = if target.http2 { " · HTTP/2" } else { "" };
    writeln!(out, "{}{http2} · {} · {connections} · {threads}", target.target, target.schedule)?;
    if !document.summary.is_empty() {
        writeln!(out, "{}", document.summary)?;
    }
    writeln!(out)?;
    for line in steps(document).lines(screen) {
        writeln!(out, "{line}")?;
    }
    errors(document, out)?;
    workers(document, screen, out)?;
    unrecorded(document, out)?;
    over_time(document, screen, out)?;
    let spikes = document.response.iter().flat_map(|response| &response.spikes);
    for sentence in spikes.filter_map(|spikes| said(spikes, &document.steps)) {
        writeln!(out, "  {sentence}")?;
    }
    if let Some(response) = &document.response {
        writeln!(out)?;
        let [from, to] = [response.from_step, response.to_step].map(|step| document.steps[step].title());
        writeln!(out, "what a request costs at {to}, beside {from}")?;
        writeln!(out)?;
        for line in functions(response, screen).lines(screen) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// Fewer slices show nothing.
const LEAST_SLICES: usize = 8;

/// Most blocks of a line.
const MOST_BLOCKS: usize = 60;

/// What stands beside blocks and title.
const BESIDE_BLOCKS: usize = 42;

/// Most functions that are listed.
const LISTED: usize = 15;

/// A screen that is narrower has no room for all that can be said of a function.
const WIDE: usize = 100;

fn functions(response: &Response, screen: &Screen) -> Grid<'static> {
    let is_wide = screen.width.is_none_or(|width| width >= WIDE);
    let has_any_waited = response.functions.iter().any(|function| function.growth.has_waited_longer);
    let mut columns = vec![
        Column::number("added", 0),
        Column::number("±", 6),
        Column::number("share", 0),
        Column::number("self", 0),
        Column::number("before", 3),
    ];
    // Where the recording knows what was on a processor, and what was not.
    let knows_waits = knows_waits(response);
    if knows_waits {
        columns.extend([Column::number("cpu", 2), Column::number("wait", 1)]);
    }
    columns.extend([
        Column::number("calls", 1),
        Column::number("before", 4),
        Column::number("p99", 2),
        Column::number("before", 5),
    ]);
    let rows =
        response.functions.iter().take(LISTED).map(|function| function_row(function, response, is_wide)).collect();
    let least_name = if is_wide && has_any_waited { 64 } else { 48 };
    Grid { columns, name_title: "function", least_name, rows }
}

fn knows_waits(response: &Response) -> bool {
    response.functions.iter().any(|function| function.growth.to.self_wait_ns_per_request.is_some_and(|ns| ns > 0.0))
}

fn function_row(function: &Function, response: &Response, is_wide: bool) -> Row {
    let (from, to) = (&function.steps[response.from_step], &function.steps[response.to_step]);
    let growth = &function.growth;
    let known = |ns: Option<f64>| ns.map_or_else(String::new, time);
    let signed = |ns: f64| if ns < 0.0 { format!("-{}", time(-ns)) } else { time(ns) };
    let per_request = |calls: f64| match calls {
        _ if calls == 0.0 => "0".to_owned(),
        _ if calls < 0.005 => "<0.01".to_owned(),
        _ if calls >= 1000.0 => count(calls.round() as u64),
        _ => format!("{calls:.2}"),
    };
    let mut numbers = vec![
        signed(growth.self_ns_per_request),
        time(growth.error_ns_per_request),
        if growth.is_certain { percent(growth.share) } else { String::new() },
        time(growth.to.self_ns_per_request),
        time(growth.from.self_ns_per_request),
    ];
    if knows_waits(response) {
        numbers.extend([growth.to.self_cpu_ns_per_request, growth.to.self_wait_ns_per_request].map(known));
    }
    numbers.extend([
        per_request(growth.to.calls_per_request),
        per_request(growth.from.calls_per_request),
        known(to.p99_ns),
        known(from.p99_ns),
    ]);
    Row {
        numbers,
        name: function.name.clone(),
        detail: match (growth.is_certain, is_wide) {
            (false, _) => String::new(),
            (true, false) => how(function),
            (true, true) => why(function),
        },
        style: if growth.is_certain { Style::Plain } else { Style::Dim },
        ..Row::default()
    }
}

fn steps(document: &Document) -> Grid<'static> {
    let columns = vec![
        Column::number("achieved", 0),
        Column::number("sent", 0),
        Column::number("errors", 0),
        Column::number("not sent", 0),
        Column::number("p50", 0),
        Column::number("p90", 2),
        Column::number("p99", 0),
        Column::number("p99.9", 3),
        Column::number("max", 1),
        Column::number("p99 from send", 4),
    ];
    Grid { columns, name_title: "offered", least_name: 8, rows: document.steps.iter().map(row).collect() }
}

fn row(step: &Load) -> Row {
    let known = |ns: Option<f64>| ns.map_or_else(|| "–".to_owned(), time);
    let some = |number: u64| if number == 0 { String::new() } else { count(number) };
    let latency = &step.latency_ns;
    Row {
        numbers: vec![
            rate(step.achieved_per_s),
            count(step.sent),
            some(step.errors),
            some(step.not_sent),
            known(latency.p50),
            known(latency.p90),
            known(latency.p99),
            known(latency.p999),
            known(latency.max),
            known(step.from_send_ns.p99),
        ],
        name: step.title(),
        remark: if step.interrupted { "interrupted".to_owned() } else { String::new() },
        ..Row::default()
    }
}

/// How slow the slowest requests were, slice by slice; of steps that have enough of them.
fn over_time(document: &Document, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let titles: Vec<String> = document.steps.iter().map(Load::title).collect();
    let width_of_titles = titles.iter().map(|title| title.chars().count()).max().unwrap_or(0);
    let mut is_first = true;
    for (step, title) in document.steps.iter().zip(&titles) {
        let slices = &step.timeline.slices;
        let room = screen.width.map_or(MOST_BLOCKS, |width| width.saturating_sub(width_of_titles + BESIDE_BLOCKS));
        let together = slices.len().div_ceil(room.clamp(LEAST_SLICES, MOST_BLOCKS));
        let slowest = |some: &[Slice]| some.iter().filter_map(|slice| slice.p99_ns).fold(0.0, f64::max);
        let p99 = || slices.chunks(together).map(slowest);
        let highest = p99().fold(0.0, f64::max);
        if slices.len() < LEAST_SLICES || highest == 0.0 {
            continue;
        }
        if std::mem::take(&mut is_first) {
            writeln!(out, "\np99 over time")?;
        }
        let width = time((step.timeline.slice_ns * together as u64) as f64);
        writeln!(out, "  {title:>width_of_titles$}  {}  highest {}, {width} a block", sparkline(p99()), time(highest))?;
    }
    Ok(())
}

/// What recording costs a request.
fn unrecorded(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let Some(without) = &document.unrecorded else { return Ok(()) };
    let Some(with) = document.steps.iter().find(|step| step.offered_per_s == without.offered_per_s) else {
        return Ok(());
    };
    let known = |ns: Option<f64>| ns.map_or_else(|| "–".to_owned(), time);
    let (with, without, title) = (&with.latency_ns, &without.latency_ns, without.title());
    writeln!(
        out,
        "\nwhile recording was paused, at {title}: p50 {}, p99 {}; recorded: p50 {}, p99 {}",
        known(without.p50),
        known(without.p99),
        known(with.p50),
        known(with.p99)
    )
}

/// Who has sent what, in all steps.
fn workers(document: &Document, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    if document.workers.is_empty() {
        return Ok(());
    }
    let some = |number: u64| if number == 0 { String::new() } else { count(number) };
    let row = |worker: &Worker| {
        let steps = || document.steps.iter().flat_map(|step| &step.workers).filter(|load| load.name == worker.name);
        let sum = |of: fn(&WorkerLoad) -> u64| steps().map(of).sum::<u64>();
        let remark = match (&worker.refused, worker.lost) {
            (Some(_), _) => "takes no part",
            (None, true) => "lost",
            (None, false) => "",
        };
        Row {
            numbers: vec![
                count(worker.sent),
                count(sum(|load| load.warm_up_sent)),
                some(sum(|load| load.counts.errors)),
                some(sum(|load| load.counts.not_sent)),
                steps().map(|load| load.clock_error_ns).max().map_or_else(String::new, |ns| time(ns as f64)),
            ],
            name: worker.name.clone(),
            remark: remark.to_owned(),
            ..Row::default()
        }
    };
    let columns = vec![
        Column::number("sent", 0),
        Column::number("in warm-ups", 2),
        Column::number("errors", 0),
        Column::number("not sent", 0),
        Column::number("clock off by", 3),
    ];
    let rows = document.workers.iter().map(row).collect();
    writeln!(out)?;
    for line in (Grid { columns, name_title: "worker", least_name: 16, rows }).lines(screen) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// What failed, and why.
fn errors(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut is_first = true;
    for step in document.steps.iter().filter(|step| step.errors + step.cut_off > 0) {
        if std::mem::take(&mut is_first) {
            writeln!(out)?;
        }
        let mut what: Vec<_> = step.errors_by.iter().map(|(why, number)| format!("{} {why}", count(*number))).collect();
        if step.cut_off > 0 {
            what.push(format!("{} cut off", count(step.cut_off)));
        }
        writeln!(out, "errors at {}: {}", step.title(), what.join(", "))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use diytrace_profile::testing::golden_at;

    use super::*;
    use crate::Target;
    use crate::fleet::Counts;
    use crate::load::{Axis, Times};
    use crate::profile::{Growth, OfStep, Typical, Why};
    use crate::workers::Missing;

    fn step(rate: f64, ms: f64) -> Load {
        let times = |factor: f64| {
            let at = |part: f64| Some(ms * 1e6 * part * factor);
            Times { p50: at(0.1), p90: at(0.5), p99: at(1.0), p999: at(1.2), max: at(1.5), ..Times::default() }
        };
        let slice = |number: u32| Slice {
            answered: 10,
            p99_ns: Some(ms * 1e6 * if number.is_multiple_of(5) { 1.0 } else { 0.2 }),
            ..Slice::default()
        };
        let slices = (0..20).map(slice).collect();
        Load {
            offered_per_s: Some(rate),
            achieved_per_s: rate * 0.98,
            planned: rate as u64 * 10,
            sent: rate as u64 * 10 - 7,
            not_sent: if rate > 100.0 { 7 } else { 0 },
            errors: if rate > 100.0 { 12 } else { 0 },
            errors_by: [("status 503".to_owned(), 9), ("timeout".to_owned(), 3)].into(),
            latency_ns: times(1.0),
            from_send_ns: times(0.5),
            timeline: Axis { slice_ns: 1 << 29, slices },
            ..Load::default()
        }
    }

    fn function(name: &str, calls: [f64; 2], own: [f64; 2], is_certain: bool) -> Function {
        // Nine tenths of it are waiting.
        let [cpu, wait] = [0.1, 0.9].map(|part| move |end: usize| Some(own[end] * part));
        let typical = |end: usize| Typical {
            calls_per_request: calls[end],
            self_ns_per_request: own[end],
            self_cpu_ns_per_request: cpu(end),
            self_wait_ns_per_request: wait(end),
        };
        let of_step = |end: usize| OfStep {
            calls: (calls[end] * 1000.0) as u64,
            calls_per_request: calls[end],
            self_ns_per_call: Some(own[end]),
            self_ns_per_request: own[end],
            self_error_ns_per_request: 12.0,
            self_cpu_ns_per_request: cpu(end),
            self_wait_ns_per_request: wait(end),
            total_ns_per_request: own[end],
            p99_ns: Some(own[end] * 3.0),
        };
        let growth = Growth {
            from: typical(0),
            to: typical(1),
            self_ns_per_request: own[1] - own[0],
            error_ns_per_request: 8.0,
            share: if is_certain { 0.71 } else { 0.0 },
            calls_ns: 0.0,
            cost_ns: own[1] - own[0],
            why: if calls[0] == calls[1] { Why::Cost } else { Why::Calls },
            wait_ns_per_request: wait(1).zip(wait(0)).map(|(to, from)| to - from),
            has_waited_longer: calls[0] == calls[1],
            p: Some(0.001),
            is_certain,
        };
        let steps = vec![of_step(0), of_step(1)];
        Function { name: name.to_owned(), module: "server".to_owned(), file: None, growth, steps }
    }

    #[test]
    fn a_run_for_people() {
        let functions = vec![
            function("lookup", [1.0, 1.0], [2e6, 6.2e6], true),
            function("Cache::read(std::string const&)", [0.1, 0.4], [1e5, 4e5], true),
            function("parse", [1.0, 1.0], [4e3, 3e3], false),
        ];
        let response =
            Response { from_step: 0, to_step: 1, added_ns_per_request: 4.5e6, functions, spikes: Vec::new() };
        let target = Target {
            target: "http://127.0.0.1:8080/".to_owned(),
            schedule: "poisson",
            connections: 10,
            threads: 1,
            ..Target::default()
        };
        let document = Document {
            summary: "p99 bends at 400/s (31.2 ms; 1.40 ms at 100/s).".to_owned(),
            unrecorded: Some(step(100.0, 1.3)),
            response: Some(response),
            ..Document::new(target, &[])
        };
        let document = Document { steps: vec![step(100.0, 1.4), step(400.0, 31.2)], ..document };
        for width in [80, 120] {
            let mut out = Vec::new();
            write(&document, &Screen { width: Some(width), color: false }, &mut out).unwrap();
            let path = format!("{}/src/view/golden/run-{width}.txt", env!("CARGO_MANIFEST_DIR"));
            golden_at(Path::new(&path), &String::from_utf8(out).unwrap());
        }
    }

    #[test]
    fn workers_for_people() {
        let of = |name: &str, sent: u64, lost: Option<Missing>| WorkerLoad {
            name: name.to_owned(),
            threads: 1,
            counts: Counts { planned: 1000, sent, answered: sent, not_sent: 1000 - sent, ..Counts::default() },
            warm_up_sent: 100,
            clock_error_ns: 312_000,
            lost,
            ..WorkerLoad::default()
        };
        let lost = Missing { during: "step", told_ns: 3_250_000_000, known_ns: 3_900_000_000, most_unknown: Some(130) };
        let workers = vec![of("web1/4711", 1000, None), of("web2/815", 325, Some(lost))];
        let all = ["web1/4711", "web2/815", "web3/7"].map(|name| Worker {
            name: name.to_owned(),
            lost: name.starts_with("web2"),
            refused: name.starts_with("web3").then(|| "it may not".to_owned()),
            ..Worker::default()
        });
        let target =
            Target { target: "http://web:80/".to_owned(), schedule: "constant", connections: 10, ..Target::default() };
        let document = Document { steps: vec![Load { workers, ..step(200.0, 1.4) }], ..Document::new(target, &[]) };
        let document = document.by(all.into());
        let mut out = Vec::new();
        write(&document, &Screen { width: Some(100), color: false }, &mut out).unwrap();
        let said = document.steps[0].workers.iter().filter_map(|worker| worker.warning("200/s"));
        said.chain(document.warnings.clone()).for_each(|warning| writeln!(out, "{warning}").unwrap());
        let path = format!("{}/src/view/golden/workers.txt", env!("CARGO_MANIFEST_DIR"));
        golden_at(Path::new(&path), &String::from_utf8(out).unwrap());
    }
}
