//! Views over HTTP: the commands of the same names, asked by a request.

use clap::Parser;
use clap::error::{ContextKind, ContextValue};
use diytrace_profile::error::Error;
use diytrace_serve::{Answer, Refusal, Views, Why};
use diytrace_views::view;
use serde::Serialize;

use super::answered::Answered;
use super::{history, samples, series, verdicts};
use crate::cli::{self, annotate, callers, diff, export, report, similar, tree};

/// Options that a request may set, as the command line has them: none names a file.
const VALUES: [&str; 16] = [
    "select",
    "since",
    "until",
    "by",
    "root",
    "function",
    "module",
    "file",
    "min-time",
    "min-percent",
    "depth",
    "limit",
    "time",
    "sort",
    "names",
    "recursion",
];

/// Those that are there or not.
const FLAGS: [&str; 7] = ["raw", "by-address", "timeline", "callers", "sites", "no-callees", "compact"];

/// Those of a history.
const OF_HISTORIES: [&str; 6] = ["select", "since", "until", "type", "over", "slices"];

/// Those of sampled profiles.
const OF_SAMPLES: [&str; 7] = ["select", "since", "until", "id", "type", "sort", "limit"];

/// Those of a comparison.
const OF_COMPARISONS: [&str; 10] =
    ["since", "until", "replicate", "type", "min-change", "max-spread", "min-share", "level", "correction", "limit"];

/// Those of whether two selections perform alike.
const OF_SIMILARITY: [&str; 10] =
    ["since", "until", "replicate", "metrics", "cutoff", "last", "scheme", "ratio", "significance", "pass"];

/// Those of a list of verdicts.
const OF_VERDICTS: [&str; 3] = ["kind", "since", "until"];

/// The commands that a request may ask.
#[derive(Parser)]
#[command(name = "diytrace", disable_help_flag = true)]
enum Asked {
    Report(report::Arguments),
    Tree(tree::Arguments),
    Callers(callers::Arguments),
    Annotate(annotate::Arguments),
    Series(series::Arguments),
    Samples(Box<samples::Arguments>),
    History(history::Arguments),
    Export(export::Arguments),
    Diff(Box<diff::Arguments>),
    Similar(Box<similar::Arguments>),
    Verdicts(verdicts::Arguments),
}

/// Answers of a store.
pub struct Answers {
    store: String,
    answered: Answered,
}

impl Answers {
    /// Of this one; at most so many bytes of answers are kept for who asks the same.
    pub fn new(store: String, most_bytes: usize) -> Self {
        Self { store, answered: Answered::bounded(most_bytes) }
    }
}

impl Views for Answers {
    fn answer(&self, view: &str, parameters: &[(String, String)]) -> Result<Answer, Refusal> {
        let words = words(view, &self.store, parameters)?;
        let asked = Asked::try_parse_from(words).map_err(|error| refused(sentence(&error)))?;
        match self.answered.of(&self.store, (view, parameters), || asked.answer()) {
            Ok(body) => Ok(Answer { content_type: content_type(view), body }),
            Err(error) => Err(Refusal { why: why(&error), sentence: error.to_string() }),
        }
    }
}

impl Asked {
    /// What the command says.
    fn answer(self) -> Result<Vec<u8>, Error> {
        match self {
            Self::Report(arguments) => arguments.json(),
            Self::Tree(arguments) => arguments.json(),
            Self::Callers(arguments) => json(arguments.document()),
            Self::Annotate(arguments) => json(arguments.document()),
            Self::Series(arguments) => json(arguments.document_or_none()),
            Self::Samples(arguments) if arguments.lists() => json(arguments.listed()),
            Self::Samples(arguments) if arguments.is_export() => arguments.bytes(),
            Self::Samples(arguments) => json(arguments.document()),
            Self::History(arguments) => json(arguments.document()),
            Self::Export(arguments) => arguments.bytes(),
            Self::Verdicts(arguments) => json(arguments.document()),
            Self::Similar(arguments) => json(arguments.document().map_err(|error| match error {
                cli::Error::Analyze(error) => error,
                error => Error::Elsewhere(error.into()),
            })),
            Self::Diff(arguments) => {
                let mut bytes = Vec::new();
                arguments.answer(&mut bytes).map(|()| bytes)
            }
        }
    }
}

fn json<T: Serialize>(document: Result<T, Error>) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    view::json::write(&document?, &mut bytes)?;
    Ok(bytes)
}

/// The command line that a request stands for.
fn words(view: &str, store: &str, parameters: &[(String, String)]) -> Result<Vec<String>, Refusal> {
    let (command, how) = match view {
        "timeline" => ("report", "--format=json"),
        "compare" => ("diff", "--format=json"),
        "compare/flamegraph" => ("diff", "--as=flamegraph"),
        "compare/folded" => ("diff", "--as=folded"),
        "heatmap" => ("history", "--format=json"),
        "verdicts" | "verdict" => ("verdicts", "--format=json"),
        "similar" | "history" | "report" | "tree" | "callers" | "annotate" | "series" => (view, "--format=json"),
        "samples" | "profiles" => ("samples", "--format=json"),
        "samples/flamegraph" => ("samples", "--as=flamegraph"),
        "samples/folded" => ("samples", "--as=folded"),
        "samples/pprof" => ("samples", "--as=pprof"),
        _ => match view.strip_prefix("export/") {
            Some(format) if format.bytes().all(|byte| byte.is_ascii_lowercase()) => ("export", format),
            _ => return Err(no_view(view)),
        },
    };
    let mut words = ["diytrace", command, how].map(str::to_owned).to_vec();
    words.push(format!("--store={store}"));
    match view {
        "timeline" => words.push("--timeline".to_owned()),
        "profiles" => words.push("--list".to_owned()),
        "heatmap" => words.extend(["--over=time", "--histogram"].map(str::to_owned)),
        // Frames say which source a function has: it is not theirs to have files of this machine read.
        "annotate" => words.push("--assembly".to_owned()),
        _ => {}
    }
    let mut positional = Vec::new();
    for (name, value) in parameters {
        let option = name.replace('_', "-");
        let is_positional = match command {
            "callers" | "annotate" | "history" => option == "function",
            "diff" | "similar" => option == "left" || option == "right",
            "verdicts" => view == "verdict" && option == "id",
            _ => false,
        };
        let known: &[&str] = match command {
            "diff" => &OF_COMPARISONS,
            "similar" => &OF_SIMILARITY,
            "verdicts" if view == "verdict" => &[],
            "verdicts" => &OF_VERDICTS,
            "history" => &OF_HISTORIES,
            "samples" => &OF_SAMPLES,
            _ => &VALUES,
        };
        let flags: &[&str] = match command {
            "diff" => &["shares"],
            "similar" | "verdicts" => &[],
            "history" => &["regressions", "histogram", "shares"],
            "samples" => &["lines"],
            _ => &FLAGS,
        };
        if is_positional {
            positional.push((option, value.clone()));
        } else if known.contains(&option.as_str()) {
            // A heat map is over time, whatever is asked.
            if view == "heatmap" && option == "over" {
                return Err(refused("heatmap has no parameter `over`: it is over time".to_owned()));
            }
            words.push(format!("--{option}={value}"));
        } else if flags.contains(&option.as_str()) {
            match value.as_str() {
                "" | "1" | "true" => words.push(format!("--{option}")),
                "0" | "false" => {}
                _ => return Err(refused(format!("{name} is 1 or 0, not `{value}`"))),
            }
        } else {
            return Err(refused(format!("{view} has no parameter `{name}`")));
        }
    }
    let has = |option: &str| positional.iter().any(|(given, _)| given == option);
    let is_of_all = words.iter().any(|word| word == "--regressions");
    let wanted = match command {
        "callers" | "annotate" | "history" if !has("function") && !is_of_all => Some(("a function", "function=NAME")),
        "diff" | "similar" if !(has("left") && has("right")) => Some(("two sides", "left=SELECTOR&right=SELECTOR")),
        "verdicts" if view == "verdict" && !has("id") => Some(("its number", "id=ID")),
        _ => None,
    };
    if let Some((what, query)) = wanted {
        return Err(refused(format!("{view} wants {what}: /v1/{view}?{query}")));
    }
    words.push("--".to_owned());
    positional.sort(); // left, then right
    words.extend(positional.into_iter().map(|(_, value)| value));
    if words.last().is_some_and(|last| last == "--") {
        words.pop();
    }
    Ok(words)
}

fn refused(sentence: String) -> Refusal {
    Refusal { why: Why::Wrong, sentence }
}

fn no_view(view: &str) -> Refusal {
    Refusal { why: Why::Missing, sentence: format!("there is no view `{view}`") }
}

/// Of what the command line says to people, in one line: what is wrong, and what could be there.
fn sentence(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    let line = line.strip_prefix("error: ").unwrap_or(line);
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) => format!("{line}: it can be {}", values.join(", ")),
        _ => line.to_owned(),
    }
}

/// Whether what is asked for could be there, but is not, or whoever knows is away.
fn why(error: &Error) -> Why {
    let of_store = |error: &diytrace_store::Error| match error {
        error if error.is_missing() => Why::Missing,
        error if error.is_away() => Why::Away,
        _ => Why::Wrong,
    };
    match error {
        Error::Elsewhere(error) => match error.downcast_ref::<diytrace_sampled::Error>() {
            Some(error) if error.is_missing() => Why::Missing,
            Some(diytrace_sampled::Error::Store(error)) => of_store(error),
            Some(_) => Why::Wrong,
            None => error.downcast_ref::<diytrace_store::Error>().map_or(Why::Wrong, of_store),
        },
        Error::UnknownFunction { .. } | Error::NothingToExport => Why::Missing,
        _ => Why::Wrong,
    }
}

fn content_type(view: &str) -> &'static str {
    match view {
        "export/flamegraph" | "samples/flamegraph" | "compare/flamegraph" => "image/svg+xml",
        "export/html" => "text/html; charset=utf-8",
        "export/folded" | "samples/folded" | "compare/folded" | "export/callgrind" | "export/dot" => {
            "text/plain; charset=utf-8"
        }
        "export/pprof" | "samples/pprof" => "application/octet-stream",
        _ => "application/json",
    }
}
