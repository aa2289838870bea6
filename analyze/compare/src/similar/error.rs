//! Why two environments cannot be compared.

use std::io;
use std::path::PathBuf;

use crate::runs;
use diytrace_profile::error::Error as Whole;
use diytrace_profile::nearest::nearest_sentence;

/// Why two environments cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no set of runs, or none that can be read.
    #[error(transparent)]
    Runs(#[from] runs::Error),
    /// A run's profile cannot be read.
    #[error("run {run}: {source}")]
    Profile {
        /// The run.
        run: String,
        /// Why.
        source: Whole,
    },
    /// A file or folder cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is not JSON. It is not left out either: a run that cannot be read is no run that was like the others.
    #[error("{} is not JSON: {source}; repair it, or move it away to compare without this run", path.display())]
    NotJson {
        /// The file.
        path: PathBuf,
        /// What, and on which line.
        source: serde_json::Error,
    },
    /// It begins as perf-dashboard's form and goes on as something else.
    #[error("{} is not in perf-dashboard's form: {what}", path.display())]
    NotPerfDashboard {
        /// The file.
        path: PathBuf,
        /// Which item, and what is wrong with it.
        what: String,
    },
    /// The folder has files of runs, and folders of them.
    #[error("{} has both JSON files and folders of them: name the files or one of the folders", path.display())]
    Ambiguous {
        /// The folder.
        path: PathBuf,
    },
    /// A metric has two values in one run.
    #[error("`{metric}` is in run {run} twice, but a metric has one value a run: compare others with --metrics")]
    Twice {
        /// The metric.
        metric: String,
        /// The run.
        run: String,
    },
    /// A metric is in two units.
    #[error(
        "`{metric}` is in {one:?} in one run and in {other:?} in another: convert one, or compare others with --metrics"
    )]
    Units {
        /// The metric.
        metric: String,
        /// A unit.
        one: String,
        /// Another.
        other: String,
    },
    /// A cutoff is a time, and the metrics are none.
    #[error("the cutoff {cutoff} is a time, and `{metric}` is not: give a number in its own unit")]
    NotATime {
        /// The cutoff.
        cutoff: String,
        /// A metric that it was meant for.
        metric: String,
    },
    /// A run does not say when it began.
    #[error("run {run} of {side} does not say when it was started: choose runs with --last")]
    Timeless {
        /// The run.
        run: String,
        /// `A` or `B`.
        side: &'static str,
    },
    /// No run was chosen.
    #[error("{side} has no runs since {since}: {}", match latest { Some(latest) => format!("its last began at {latest}"), None => "it has none at all".into() })]
    NoRuns {
        /// `A` or `B`.
        side: &'static str,
        /// From when on.
        since: String,
        /// When the last one began.
        latest: Option<String>,
    },
    /// A pattern means no metric of either side.
    #[error("no metric of either side is called `{pattern}`{}", nearest_sentence(nearest, &format!("; they have {known}")))]
    UnknownMetric {
        /// The pattern.
        pattern: String,
        /// Metrics whose names come near.
        nearest: Vec<String>,
        /// Some that there are.
        known: String,
    },
    /// A cutoff's pattern means none of the metrics that are compared.
    #[error("no metric that is compared is called `{pattern}`, of --cutoff{}", nearest_sentence(nearest, ""))]
    UnknownCutoff {
        /// The pattern.
        pattern: String,
        /// Metrics whose names come near.
        nearest: Vec<String>,
    },
    /// There is nothing to compare.
    #[error("there is nothing to compare: {known}")]
    NoMetrics {
        /// What there is.
        known: String,
    },
    /// The test could not find any difference.
    #[error(
        "{left} and {right} runs are too few for the scheme ks: even samples wholly apart have p = {least:.3}, which is not \
         below --significance {significance}; compare more runs, or with --scheme avg"
    )]
    Underpowered {
        /// Runs of A.
        left: usize,
        /// Runs of B.
        right: usize,
        /// Smallest *p* there is.
        least: f64,
        /// What was asked for.
        significance: f64,
    },
}
