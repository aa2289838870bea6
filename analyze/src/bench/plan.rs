//! What is measured: one or two sides, and what is asked of each.

use std::path::PathBuf;
use std::time::Duration;

use crate::record;
use diytrace_compare::diff;
use diytrace_compare::statistics::Looks;

/// What to run, how often, and where its profiles go.
#[derive(Clone, Debug)]
pub struct Options {
    /// What to run.
    pub subject: Subject,
    /// How often.
    pub amount: Amount,
    /// Begin no more runs after this time.
    pub time_limit: Option<Duration>,
    /// Runs of each side and query before those that count.
    pub warmup: u32,
    /// The folder for the sets of runs.
    pub output: PathBuf,
    /// Whether what the commands write is shown.
    pub show_output: bool,
    /// Whether a run that fails counts as any other.
    pub ignore_failure: bool,
    /// What is recorded; folder and command are not from here.
    pub record: record::Options,
    /// The name by which to keep the left side's runs, in the history.
    pub save: Option<String>,
    /// How the sides are compared.
    pub how: diff::How,
    /// Whether what changed is run again.
    pub confirms: bool,
    /// Over how many layouts of their code the sides' runs are spread.
    pub layouts: Option<Layouts>,
}

/// Layouts of the sides' code.
#[derive(Clone, Debug, PartialEq)]
pub struct Layouts {
    /// How many.
    pub count: u32,
    /// The command that links a side in one of them: which, it sees as `DIYTRACE_LAYOUT`.
    pub link: String,
}

/// What to run.
#[derive(Clone, Debug)]
pub enum Subject {
    /// Commands.
    Plan(Plan),
    /// What a file says.
    Scenario(PathBuf),
}

/// How often each side runs, for each query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// So often.
    Runs(u32),
    /// Until the median of the wall times is known to this part of it (0.01 is a percent), on both sides.
    Precision(f64),
    /// Until more runs would decide nothing, which is looked at so often.
    Decided(Looks),
}

/// Sides, and what is asked of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// One or two.
    pub sides: Vec<Side>,
    /// At least one.
    pub queries: Vec<Query>,
    /// Rounds (a run of each query on each side) after which servers are started afresh; 0: never.
    pub restart_after: u32,
    /// Patterns of functions to record inside of.
    pub roots: Vec<String>,
    /// Deepest recorded call below a root.
    pub depth: Option<u32>,
    /// Patterns of functions not to record.
    pub excludes: Vec<String>,
}

/// A side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Side {
    /// `left` or `right`; its commands see it as `DIYTRACE_SIDE`.
    pub name: &'static str,
    /// What it is, for people.
    pub title: String,
    /// Variables for all of its commands.
    pub environment: Vec<(String, String)>,
    /// A command before everything else.
    pub setup: Option<String>,
    /// A command after everything else.
    pub cleanup: Option<String>,
    /// The server that answers its queries; otherwise the queries' commands are what is measured.
    pub server: Option<Server>,
}

/// A server.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// The command that is the server, or that starts it and ends.
    pub start: String,
    /// A command that succeeds once it answers. Without one it is ready when it has begun a profile.
    pub ready: Option<String>,
    /// How long it may take to be ready, and to end.
    pub limit: Duration,
    /// A command that ends it. Without one it is sent SIGTERM.
    pub stop: Option<String>,
    /// How long to wait for it to come to rest after a query.
    pub settle: Duration,
}

/// Something that is run on each side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// Its name; none if it is the only one.
    pub name: Option<String>,
    /// The command, for each side.
    pub commands: Vec<String>,
    /// A command before each run.
    pub prepare: Option<String>,
}

impl Plan {
    /// One or two commands.
    pub fn commands(
        commands: Vec<String>,
        prepare: Option<String>,
        setup: Option<String>,
        cleanup: Option<String>,
    ) -> Self {
        let side = |(name, title): (&'static str, &String)| Side {
            name,
            title: title.clone(),
            setup: setup.clone(),
            cleanup: cleanup.clone(),
            ..Side::default()
        };
        let sides = SIDES.into_iter().zip(&commands).map(side).collect();
        Self { sides, queries: vec![Query { name: None, commands, prepare }], ..Self::default() }
    }
}

/// The sides' names.
pub const SIDES: [&str; 2] = ["left", "right"];
