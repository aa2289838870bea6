//! The command `bench`: runs one or two sides in turn under the recorder, and keeps each run's profile and metrics.
//!
//! ```text
//! options or [`scenario`] ──▶ [`plan`] ──[`session`]──▶ a set of runs for each side ([`crate::runs`]) ──▶ [`summary`]
//!                                          │  ▲
//!        [`shell`]: a fresh process ───────┤  └── [`interrupts`]: what is complete is kept
//!        [`server`]: two [`snapshots`] ────┘
//! ```
//!
//! Beside its profile, a run has what the kernel says of it ([`metrics`]) and what the processor has counted
//! ([`counters`]). Runs go on until there are enough, or the median is known well enough ([`precision`]).

mod counters;
mod error;
mod folder;
mod history;
mod interrupts;
mod machine;
mod metrics;
mod plan;
mod precision;
mod progress;
mod scenario;
mod server;
mod session;
mod shell;
mod snapshots;
mod step;
mod summary;

use std::io::Write;

pub use error::Error;
pub use history::{default_folder as default_history, is_name as is_history_name};
pub use plan::{Amount, Options, Plan, Query, Saving, Server, Side, Subject};

use crate::ctl;
use crate::view::human;
use counters::Available;
use interrupts::{Interrupt, Interrupts};
use session::{Measured, Session};

/// Runs it all and gives the exit status: 128 and the signal's number if it was ended by one.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<u8, Error> {
    let plan = match &options.subject {
        Subject::Plan(plan) => plan.clone(),
        Subject::Scenario(path) => scenario::read(path)?,
    };
    let machine = machine::facts();
    let folder = folder::make(&options.output, &machine)?;
    let available = Available::probe();
    if let Some(reason) = &available.lacking {
        say(&format!("no hardware counters: {reason}"));
    }
    let measured = {
        let interrupts = Interrupts::hold();
        let (plan, machine, available, interrupts) = (&plan, &machine, &available, &interrupts);
        let session = Session { options, plan, machine, available, interrupts };
        let queries: Vec<usize> = (0..plan.queries.len()).collect();
        session.measure(&queries, &folder, options.amount)?
    };
    tell(&measured, options);
    summary::write(&measured.sides, out)?;
    if let [left, right] = &measured.sides[..] {
        let sets = [left, right].map(|set| crate::record::typed(&options.output.join(&set.name)));
        say(&format!("compare them with: diytrace diff {} {}", sets[0], sets[1]));
    }
    out.flush()?;
    if let Some(saving) = &options.saving {
        save(&measured, saving)?;
    }
    Ok(measured.interrupt.map_or(0, |Interrupt(signal)| u8::try_from(128 + signal).unwrap_or(u8::MAX)))
}

/// Keeps the left side's runs; of a bench that was ended early, that would be a set that others are held against.
fn save(measured: &Measured, Saving { history, name }: &Saving) -> Result<(), Error> {
    match measured.sides.first().filter(|set| !set.runs.is_empty()) {
        Some(set) if measured.interrupt.is_none() => {
            let place = history::save(set, history, name)?;
            say(&format!("saved the {} side as {}", set.name, place.display()));
        }
        _ => say("nothing was saved: it was interrupted"),
    }
    Ok(())
}

/// Tells why there may be less than was asked for.
fn tell(measured: &Measured, options: &Options) {
    let complete: usize = measured.sides.iter().map(|side| side.runs.len()).sum();
    if measured.interrupt.is_some() {
        say(&format!("interrupted; the {complete} runs that were complete are in {}", options.output.display()));
    } else if measured.is_cut_short {
        let reached = match options.amount {
            Amount::Runs(runs) => format!("before {runs} runs of each were complete"),
            Amount::Precision(wanted) => format!("before the medians were known to {}", human::percent(wanted)),
        };
        say(&format!("the time limit came {reached}"));
    }
}

/// Everything but data goes to stderr.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "diytrace: {text}");
}

/// Why something was not done to its end.
enum Stop {
    /// It failed.
    Failed(Error),
    /// Somebody ended it.
    Interrupted(Interrupt),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<ctl::Error> for Stop {
    fn from(error: ctl::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl From<Interrupt> for Stop {
    fn from(interrupt: Interrupt) -> Self {
        Self::Interrupted(interrupt)
    }
}
