//! The command `bench`: runs one or two sides in turn under the recorder, and keeps each run's profile and metrics.
//!
//! Two sides are compared ([`diytrace_compare::diff`]), and what looks changed is run again.
//!
//! ```text
//! options or [scenario] ──▶ [plan] ──[session]──▶ a set of runs for each side ──▶ [summary], comparison, [history]
//!                                     │  ▲
//!        [shell]: a fresh process ────┤  └── [interrupts]: what is complete is kept
//!        [server]: two [snapshots] ───┘
//! ```
//!
//! Beside its profile, a run has what the kernel says of it (`metrics`) and what the processor has counted
//! (`counters`). Runs go on until there are enough, until the median is known well enough (`precision`), or as long as more
//! may decide something (`looking`).

mod counters;
mod error;
mod folder;
mod history;
mod interrupts;
mod layout;
mod looking;
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

use std::io::{self, Write};
use std::path::Path;

pub use error::Error;
pub use plan::{Amount, Layouts, Options, Plan, Subject};

use crate::ctl;
use counters::Available;
use diytrace_compare::diff::{self, Comparison};
use diytrace_compare::runs::Runs;
use diytrace_profile::human;
use interrupts::{Interrupt, Interrupts};
use session::{Measured, Session};

/// What a bench came to.
#[cfg_attr(not(feature = "service"), expect(dead_code, reason = "nobody keeps it"))]
pub struct Benched<'a> {
    /// A set of runs for each side.
    pub sides: &'a [Runs],
    /// What they were compared to, if there are two.
    pub comparison: Option<&'a Comparison>,
    /// The exit status.
    pub status: u8,
}

/// Who keeps what benches come to.
pub trait Keep {
    /// Keeps it.
    fn keep(&mut self, benched: &Benched) -> Result<(), diytrace_profile::error::Error>;
}

/// Runs it all, compares, has it kept by whoever is asked to, and gives the exit status: 128 and the signal's number if it was
/// ended by one.
pub fn run(options: &Options, keeper: Option<Box<dyn Keep>>, out: &mut dyn Write) -> Result<u8, Error> {
    let plan = match &options.subject {
        Subject::Plan(plan) => plan.clone(),
        Subject::Scenario(path) => scenario::read(path)?,
    };
    // What is wrong with the history is better said before the runs.
    let mut judging = options.how.with_history()?;
    if let Amount::Decided(looks) = options.amount {
        judging.looks = Some(looks);
    }
    let judging = judging;
    let machine = machine::facts();
    let folder = folder::make(&options.output, &machine)?;
    let available = Available::probe();
    if let Some(reason) = &available.lacking {
        say(&format!("no hardware counters: {reason}"));
    }
    let measure = |queries: &[usize], folder: &Path, amount: Amount, layouts_from: u32| {
        let interrupts = Interrupts::hold();
        let (plan, machine, available, interrupts) = (&plan, &machine, &available, &interrupts);
        let session = Session { options, plan, machine, available, interrupts, judging: &judging, layouts_from };
        session.measure(queries, folder, amount)
    };
    let all: Vec<usize> = (0..plan.queries.len()).collect();
    let measured = measure(&all, &folder, options.amount, 0)?;
    tell(&measured, options);
    let mut interrupt = measured.interrupt;
    let (mut told, mut compared) = (Ok(0), None);
    match &measured.sides[..] {
        [left, right] if !left.runs.is_empty() && !right.runs.is_empty() => {
            let _ = summary::write(&measured.sides, &mut io::stderr());
            let mut comparison = diff::compare(left, right, &judging)?;
            if options.confirms && interrupt.is_none() {
                let changed = changed(&comparison, &plan);
                // In fresh layouts, too.
                let layouts = options.layouts.as_ref().map_or(0, |layouts| layouts.count);
                let again = |amount| measure(&changed, &folder.join("confirm"), amount, layouts);
                interrupt = confirm(&mut comparison, &changed, again)?;
            }
            told = options.how.tell(&comparison, Some(&folder.join("report")), out);
            say(&format!("the whole report is {}", options.output.join("report/report.html").display()));
            compared = Some(comparison);
        }
        sides => summary::write(sides, out)?,
    }
    if let Some(name) = &options.save {
        save(&measured, &options.how, name)?;
    }
    let status = *told.as_ref().unwrap_or(&0);
    match keeper {
        Some(mut keeper) if interrupt.is_none() => {
            let benched = Benched { sides: &measured.sides, comparison: compared.as_ref(), status };
            keeper.keep(&benched).map_err(Error::Store)?;
        }
        Some(_) => say("nothing was put into the store: it was interrupted"),
        None => {}
    }
    // Whoever reads it may be gone: what was measured is kept all the same.
    told?;
    out.flush()?;
    Ok(interrupt.map_or(status, |Interrupt(signal)| u8::try_from(128 + signal).unwrap_or(u8::MAX)))
}

/// Which queries have anything to confirm.
fn changed(comparison: &Comparison, plan: &Plan) -> Vec<usize> {
    let claims = diff::to_confirm(comparison);
    let is_claimed = |&query: &usize| claims.contains(&plan.queries[query].name.as_deref());
    (0..plan.queries.len()).filter(is_claimed).collect()
}

/// Has what looks changed run again, in fresh processes and as often, and holds it against that.
fn confirm(
    comparison: &mut Comparison,
    changed: &[usize],
    measure: impl FnOnce(Amount) -> Result<Measured, Error>,
) -> Result<Option<Interrupt>, Error> {
    if changed.is_empty() {
        return Ok(None);
    }
    let runs = comparison.queries.iter().map(|query| query.left_runs.max(query.right_runs)).max().unwrap_or(1);
    say("something looks changed: running it again, to see whether it repeats");
    let again = measure(Amount::Runs(u32::try_from(runs).unwrap_or(u32::MAX)))?;
    match &again.sides[..] {
        [left, right] if !left.runs.is_empty() && !right.runs.is_empty() => diff::confirm(comparison, left, right)?,
        _ => say("nothing is confirmed: there was no time for it"),
    }
    Ok(again.interrupt)
}

/// Keeps the left side's runs; of a bench that was ended early, that would be a set that others are held against.
fn save(measured: &Measured, how: &diff::How, name: &str) -> Result<(), Error> {
    match measured.sides.first().filter(|set| !set.runs.is_empty()) {
        Some(set) if measured.interrupt.is_none() => {
            let history = how.history.clone().unwrap_or_else(diff::history_folder);
            let place = history::save(set, &history, name)?;
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
            Amount::Decided(_) => "before more runs would decide nothing".to_owned(),
        };
        say(&format!("the time limit came {reached}"));
    }
}

/// Everything but data goes to stderr.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "diytrace: {text}");
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
