//! The summary in the terminal: what changed, by how much ± what, and why.

use std::io::{self, Write};

use super::headline::{headline, name_in, names_of};
use super::words::{
    because, callers, counted, exactly, metric, metric_name, percent, plus_minus, signed, signed_time, why,
};
use crate::diff::tester::LEAST_RUNS;
use crate::diff::{CauseKind, Comparison, Function, Metric, Moved, On, Query, Verdict};
use crate::observed::code::CodeState;
use crate::statistics::{Correction, smallest_p};
use diytrace_profile::human::{self, count, time};
use diytrace_views::view::Screen;
use diytrace_views::view::table::grid::{Column, Grid, LEAST_NAME, Row, Style};

/// Writes the summary, with at most that many functions in each section.
pub fn write(comparison: &Comparison, screen: &Screen, limit: usize, out: &mut dyn Write) -> io::Result<()> {
    for (index, query) in comparison.queries.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let summary = Summary { comparison, query, screen, limit };
        for line in summary.lines() {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

struct Summary<'a> {
    comparison: &'a Comparison,
    query: &'a Query,
    screen: &'a Screen,
    limit: usize,
}

impl Summary<'_> {
    fn lines(&self) -> Vec<String> {
        let Self { comparison, query, .. } = self;
        let name = query.query.as_ref().map(|name| format!("{name} · ")).unwrap_or_default();
        let runs = match query.left_runs == query.right_runs {
            true => format!("{} a side", human::counted(query.left_runs as u64, "run", "runs")),
            false => format!("{} and {} runs", query.left_runs, query.right_runs),
        };
        let tested = human::counted(query.tests as u64, "function", "functions");
        let mut lines = vec![
            headline(query, |function| self.name(function)),
            format!("{name}{} → {} · {runs} · {tested} tested", comparison.left.name, comparison.right.name),
            self.total(),
        ];
        lines.extend(query.metrics.iter().filter(|metric| metric.verdict == Verdict::Changed).map(metric_line));
        lines.extend(self.explained());

        for (title, verdict) in [
            (
                "Changed together: cost moved between them, and only their sum tells whether they take longer",
                Verdict::Changed,
            ),
            (
                "Unconfirmed together: fresh runs do not show their sum to have changed, or not in this size",
                Verdict::Unconfirmed,
            ),
        ] {
            let groups = query.together.iter().filter(|group| group.verdict == verdict);
            let groups: Vec<String> = groups.map(|group| moved_line(query, group)).collect();
            if !groups.is_empty() {
                lines.extend([String::new(), title.to_owned()]);
                lines.extend(groups);
            }
        }
        self.section(&mut lines, "Changed", Verdict::Changed, |rows| self.times(rows, changed));
        self.section(&mut lines, "Called more or less often", Verdict::Calls, |rows| self.counts(rows));
        let following = "Changed with their callers";
        self.section(&mut lines, following, Verdict::Follows, |rows| {
            self.times(rows, |function| format!("follows {}", function.follows.join(", ")))
        });
        self.section(&mut lines, "Same code, other cost", Verdict::SameCode, |rows| {
            self.times(rows, |function| because(query, function))
        });
        self.section(
            &mut lines,
            "Moved: others take as much less or more; no change of the sum is certain",
            Verdict::Moved,
            |rows| {
                let groups = query.moved.iter().map(|moved| moved_line(query, moved));
                self.times(rows, |function| because(query, function)).into_iter().chain(groups).collect()
            },
        );
        self.section(&mut lines, "On one side only", Verdict::OneSided, |rows| self.one_sided(rows));
        self.section(
            &mut lines,
            "Unconfirmed: fresh runs do not show it beyond chance, or in this size",
            Verdict::Unconfirmed,
            |rows| {
                self.times(rows, |function| {
                    let again = function.repeat.and_then(|repeat| repeat.difference);
                    format!("then {}", again.map(signed).unwrap_or("not measured".to_owned()))
                })
            },
        );
        let few = format!("Underpowered: they look changed, and {} a side would tell", self.runs_that_tell());
        self.section(&mut lines, &few, Verdict::Underpowered, |rows| self.times(rows, why));
        self.candidates(&mut lines);
        lines.extend(self.rest());
        lines
    }

    /// How much of the whole is explained by what is named.
    fn explained(&self) -> Option<String> {
        let explained = &self.query.explained;
        let whole = explained.difference_ns;
        let is_named =
            |function: &Function| function.verdict <= Verdict::OneSided && function.verdict != Verdict::Unconfirmed;
        // Of what chance makes there are no parts.
        let is_known = self.query.total.self_ns.reaches_threshold() && whole != 0.0;
        if !is_known || !self.query.functions.iter().any(is_named) {
            return None;
        }
        let part = |ns: f64, what: &str| match ns {
            0.0 => None,
            _ => Some(format!("{what} {} ({:.0}%)", signed_time(ns), ns / whole * 100.0)),
        };
        let parts = [
            part(explained.changed_ns, "changed functions explain"),
            part(explained.same_code_ns, "the same code at other cost"),
            part(explained.moved_ns, "what moved"),
            part(explained.rest_ns, "all others"),
        ];
        let wall = explained.wall_ns.map(|ns| format!(" The run: {}.", signed_time(ns))).unwrap_or_default();
        Some(format!(
            "Of {}, {}.{wall}",
            signed_time(whole),
            parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
        ))
    }

    /// What looks like a change and is not called one, and why not.
    fn candidates(&self, lines: &mut Vec<String>) {
        let all: Vec<&Function> = self.query.functions.iter().filter(|function| function.is_candidate).collect();
        if all.is_empty() {
            return;
        }
        lines.extend([String::new(), "Candidates: all runs of one side are beyond all of the other".to_owned()]);
        let said = |function: &&Function| {
            let test = &function.self_ns;
            let code = if function.code == CodeState::Another { "its code changed; " } else { "" };
            format!("  {} {}: {code}{}", self.name(function), percent(test.difference), self.no_verdict(function))
        };
        lines.extend(all.iter().take(self.limit).map(said));
        if all.len() > self.limit {
            lines.push(format!("  … and {} more", count((all.len() - self.limit) as u64)));
        }
    }

    /// Why a function is not called changed.
    fn no_verdict(&self, function: &Function) -> String {
        let test = &function.self_ns;
        match function.verdict {
            Verdict::TooSmall => format!("less than the {:.1}% that matter", function.min_change * 100.0),
            Verdict::Unresolved => {
                format!(
                    "the correction may be off by {}, and it is {}",
                    time(test.error_ns),
                    signed_time(test.difference_ns())
                )
            }
            Verdict::Unstable => format!("it varies by {:.0}%", test.spread.unwrap_or_default() * 100.0),
            _ => format!("so few runs do that by chance among {} functions", count(self.query.tests as u64)),
        }
    }

    fn total(&self) -> String {
        let test = &self.query.total.self_ns;
        let said = match self.query.total.verdict {
            Verdict::Changed => String::new(),
            Verdict::NotSignificant => "  not significant".to_owned(),
            Verdict::TooSmall => "  too small to matter".to_owned(),
            verdict => format!("  {}", verdict.name()),
        };
        match test.left_median > 0.0 && test.right_median > 0.0 {
            true => format!(
                "all functions together{}: {} → {}  {} {}{said}",
                if self.query.without_preempted { ", less preempted time" } else { "" },
                time(test.left_median),
                time(test.right_median),
                percent(test.difference),
                plus_minus(test)
            ),
            false => "all functions together: no time that could be told".to_owned(),
        }
    }

    fn section(
        &self,
        lines: &mut Vec<String>,
        title: &str,
        verdict: Verdict,
        grid: impl FnOnce(&[usize]) -> Vec<String>,
    ) {
        let functions = self.query.functions.iter().enumerate();
        let all: Vec<usize> =
            functions.filter(|(_, function)| function.verdict == verdict).map(|(index, _)| index).collect();
        if all.is_empty() {
            return;
        }
        lines.extend([String::new(), title.to_owned()]);
        lines.extend(grid(&all[..all.len().min(self.limit)]));
        if let Some(more) = all.len().checked_sub(self.limit).filter(|more| *more > 0) {
            lines.push(format!("  … and {}", human::counted(more as u64, "more function", "more functions")));
        }
    }

    fn grid(&self, columns: Vec<Column>, rows: Vec<Row>) -> Vec<String> {
        Grid { columns, name_title: "function", least_name: LEAST_NAME, rows }.lines(self.screen)
    }

    fn times(&self, rows: &[usize], remark: impl Fn(&Function) -> String) -> Vec<String> {
        let columns = vec![
            Column::number("self before", 2),
            Column::number("after", 0),
            Column::number("change", 0),
            Column::number("±", 1),
            Column::number("with callees", 4),
            Column::text("why", 3),
        ];
        let row = |&index: &usize| {
            let function = &self.query.functions[index];
            let test = &function.self_ns;
            Row {
                numbers: vec![
                    human::resolved(test.left_median, test.left_error_ns),
                    human::resolved(test.right_median, test.right_error_ns),
                    percent(test.difference),
                    plus_minus(test),
                    percent(function.total_ns.difference),
                    remark(function),
                ],
                name: self.name(function),
                remark: callers(self.query, index).join("; "),
                style: if function.verdict == Verdict::Changed { Style::Strong } else { Style::Plain },
                ..Row::default()
            }
        };
        self.grid(columns, rows.iter().map(row).collect())
    }

    fn counts(&self, rows: &[usize]) -> Vec<String> {
        let columns = vec![
            Column::number("calls before", 0),
            Column::number("after", 0),
            Column::number("change", 0),
            Column::number("self", 1),
        ];
        let row = |&index: &usize| {
            let function = &self.query.functions[index];
            Row {
                numbers: vec![
                    counted(function.calls.left_median),
                    counted(function.calls.right_median),
                    exactly(function.calls.difference),
                    human::resolved(function.self_ns.right_median, function.self_ns.right_error_ns),
                ],
                name: self.name(function),
                remark: callers(self.query, index).join("; "),
                ..Row::default()
            }
        };
        self.grid(columns, rows.iter().map(row).collect())
    }

    fn one_sided(&self, rows: &[usize]) -> Vec<String> {
        let columns = vec![Column::text("only", 0), Column::number("calls", 0), Column::number("self", 1)];
        let row = |&index: &usize| {
            let function = &self.query.functions[index];
            let of_self = &function.self_ns;
            let (side, calls, ns, error) = match function.on {
                On::Left => ("before", function.calls.left_median, of_self.left_median, of_self.left_error_ns),
                _ => ("after", function.calls.right_median, of_self.right_median, of_self.right_error_ns),
            };
            let perhaps = function.perhaps.as_ref().map(|name| match function.on {
                On::Left => format!("perhaps renamed to {name}"),
                _ => format!("perhaps renamed from {name}"),
            });
            Row {
                numbers: vec![side.to_owned(), counted(calls), human::resolved(ns, error)],
                name: self.name(function),
                remark: perhaps.unwrap_or_default(),
                ..Row::default()
            }
        };
        self.grid(columns, rows.iter().map(row).collect())
    }

    /// A function's name, with what tells it from others of that name.
    fn name(&self, function: &Function) -> String {
        name_in(self.query, function)
    }

    /// How many runs can tell one changed function among all that are tested.
    fn runs_that_tell(&self) -> String {
        let options = &self.comparison.options;
        let tests = if options.correction == Correction::None { 1 } else { self.query.tests.max(1) };
        let suffices = |runs: &usize| smallest_p(*runs, *runs) * tests as f64 <= self.query.level;
        let runs = (LEAST_RUNS..100).find(suffices).unwrap_or(100);
        human::counted(runs as u64, "run", "runs")
    }

    /// Functions of other code that take as long as before.
    fn other_code(&self) -> Option<String> {
        const SHOWN: usize = 8;
        let is_one = |function: &&Function| {
            function.code == CodeState::Another
                && function.on == On::Both
                && !function.is_candidate
                && (function.verdict > Verdict::OneSided || function.verdict == Verdict::Calls)
                && function.verdict != Verdict::Underpowered
        };
        let mut all: Vec<&Function> = self.query.functions.iter().filter(is_one).collect();
        all.sort_by(|a, b| b.share.total_cmp(&a.share));
        let names: Vec<String> = all.iter().take(SHOWN).map(|function| self.name(function)).collect();
        let more = match all.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (!all.is_empty()).then(|| format!("Code changed, no change of time found: {}{more}", names.join(", ")))
    }

    /// Functions that have changed no more than they usually do.
    fn usual(&self) -> Option<String> {
        let options = &self.comparison.options;
        let is_usual = |function: &&Function| {
            function.verdict == Verdict::TooSmall && function.self_ns.is_at_least(options.min_change)
        };
        let said = |function: &Function| {
            let usual = function.min_change * 100.0;
            format!("{} {} (usually within {usual:.1}%)", self.name(function), percent(function.self_ns.difference))
        };
        let said: Vec<String> = self.query.functions.iter().filter(is_usual).map(said).collect();
        (!said.is_empty()).then(|| format!("Changed as they usually do: {}", said.join(", ")))
    }

    /// The functions of which nothing can be told, those that take the most first.
    fn unstable(&self) -> Option<String> {
        const SHOWN: usize = 8;
        let mut all: Vec<&Function> =
            self.query.functions.iter().filter(|function| function.verdict == Verdict::Unstable).collect();
        all.sort_by(|a, b| b.share.total_cmp(&a.share));
        let said = |function: &&Function| {
            format!("{} by {:.0}%", self.name(function), function.self_ns.spread.unwrap_or_default() * 100.0)
        };
        let said: Vec<String> = all.iter().take(SHOWN).map(said).collect();
        let more = match all.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let varying = (!all.is_empty()).then(|| said.join(", "));
        varying.map(|names| format!("Unstable, a change would not be seen: {names}{more}"))
    }

    /// What became of the functions that are not listed.
    fn rest(&self) -> Vec<String> {
        let of = |verdict: Verdict| self.query.functions.iter().filter(|function| function.verdict == verdict).count();
        let said = [
            (Verdict::NotSignificant, "not significant"),
            (Verdict::TooSmall, "changed too little to matter"),
            (Verdict::Unresolved, "below what the correction can resolve"),
            (Verdict::Skipped, "take too little to be tested"),
        ];
        let unstable = self.unstable();
        let said: Vec<String> = said
            .into_iter()
            .map(|(verdict, what)| (of(verdict), what))
            .filter(|(functions, _)| *functions > 0)
            .map(|(functions, what)| format!("{} {what}", count(functions as u64)))
            .collect();
        let is_shown = |verdict: &Verdict| *verdict <= Verdict::OneSided && *verdict != Verdict::Unconfirmed;
        let mut lines = vec![String::new()];
        let is_any_shown = self.query.functions.iter().any(|function| is_shown(&function.verdict));
        if !said.is_empty() {
            lines.push(format!("{}: {}", if is_any_shown { "Others" } else { "Functions" }, said.join(", ")));
        }
        lines.extend(self.other_code());
        lines.extend(self.usual());
        lines.extend(unstable);
        if lines.len() == 1 {
            lines.clear();
        }
        lines
    }
}

/// Why a function changed: calls or cost, and what made it so, where calls do not say that.
fn changed(function: &Function) -> String {
    let why = why(function);
    match function.cause.as_ref().map(|cause| cause.kind) {
        Some(CauseKind::Code) => format!("{why}, other code"),
        Some(CauseKind::Inlining) => format!("{why}, other code: inlining"),
        Some(CauseKind::Unknown) => format!("{why}, code unknown"),
        Some(CauseKind::Surroundings) => format!("{why}, one build"),
        Some(CauseKind::AskedForMore) => {
            format!("{why}, asked for {}", if function.self_ns.difference_ns() < 0.0 { "less" } else { "more" })
        }
        Some(CauseKind::Waits) => format!("{why}, waits"),
        _ => why,
    }
}

/// What moved between functions, and what their sum is.
fn moved_line(query: &Query, moved: &Moved) -> String {
    let Moved { parent, functions, moved_ns, sum_ns, verdict } = moved;
    let doubt = if *verdict == Verdict::Unresolved { ": no chance, but it may be the correction" } else { "" };
    let under = parent.as_ref().map(|parent| format!(" under {parent}")).unwrap_or_default();
    format!(
        "  {}{under}: {} moved; the sum {} → {}, {} {}{doubt}",
        names_of(query, functions),
        time(*moved_ns),
        human::resolved(sum_ns.left_median, sum_ns.left_error_ns),
        human::resolved(sum_ns.right_median, sum_ns.right_error_ns),
        percent(sum_ns.difference),
        plus_minus(sum_ns)
    )
}

fn metric_line(changed: &Metric) -> String {
    let Metric { name, values, .. } = changed;
    format!(
        "{}: {} → {}  {} {}",
        metric_name(name),
        metric(name, values.left_median),
        metric(name, values.right_median),
        percent(values.difference),
        plus_minus(values)
    )
}
