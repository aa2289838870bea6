//! The command: from options to a written comparison and an exit status.

use std::env;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::comparison::{Comparison, On, Verdict};
use super::history::DEFAULT_FOLDER;
use super::{Command, Error, FailOn, History, How, Options, compare, confirm, report};
use crate::runs::Runs;
use diytrace_views::names::{Named, shorten};
use diytrace_views::report::Format;
use diytrace_views::view::{self, Screen};

/// Compares, writes, and gives the exit status; warnings go to stderr.
pub fn run(command: &Command, out: &mut dyn Write) -> Result<u8, Error> {
    command.how.tell(&command.comparison()?, command.output.as_deref(), out)
}

impl Command {
    /// Compares.
    pub fn comparison(&self) -> Result<Comparison, Error> {
        let [left, right] = [self.left.open()?, self.right.open()?];
        let mut comparison = compare(&left, &right, &self.how.with_history()?)?;
        if let Some((left, right)) = &self.confirm {
            confirm(&mut comparison, &Runs::open(left)?, &Runs::open(right)?)?;
        }
        Ok(comparison)
    }
}

impl How {
    /// The options, with the thresholds that come from the past.
    pub fn with_history(&self) -> Result<Options, Error> {
        let mut options = self.options.clone();
        if let Some(name) = &self.against {
            let folder = self.history.clone().unwrap_or_else(history_folder);
            options.history = History::read(&folder, name)?;
        }
        Ok(options)
    }

    /// Writes a comparison, to a folder as well if there is one, and gives the exit status; warnings go to stderr.
    pub fn tell(&self, comparison: &Comparison, folder: Option<&Path>, out: &mut dyn Write) -> Result<u8, Error> {
        if let Some(folder) = folder {
            report::write(folder, comparison)?;
        }
        let mut out = BufWriter::new(out);
        match self.format {
            Format::Table => {
                let mut shown = comparison.clone();
                shorten(&mut shown);
                report::text::write(&shown, &Screen::of(self.color), self.limit, &mut out)?;
            }
            Format::Json => view::json::write(comparison, &mut out)?,
            Format::Csv => out.write_all(&report::tables::functions(comparison, b',')?)?,
        }
        out.flush()?;
        for warning in comparison.errors.iter().chain(&comparison.warnings) {
            let _ = writeln!(io::stderr(), "warning: {warning}"); // if nobody listens there, the answer is worth no less
        }
        Ok(comparison.exit_status(self.fail_on))
    }
}

impl Named for Comparison {
    fn names(&mut self) -> Vec<&mut String> {
        let mut names = Vec::new();
        for query in &mut self.queries {
            for function in &mut query.functions {
                names.push(&mut function.name);
                names.extend(function.follows.iter_mut());
                names.extend(&mut function.perhaps);
                names.extend(function.cause.iter_mut().flat_map(|cause| &mut cause.by));
            }
            let groups = query.moved.iter_mut().chain(&mut query.together);
            names.extend(groups.filter_map(|moved| moved.parent.as_mut()));
            names.extend(query.edges.iter_mut().flat_map(|edge| [&mut edge.caller, &mut edge.callee]));
        }
        names
    }
}

/// Where the history is if no option says so.
pub fn history_folder() -> PathBuf {
    env::var_os("DIYTRACE_HISTORY")
        .filter(|folder| !folder.is_empty())
        .map_or_else(|| DEFAULT_FOLDER.into(), PathBuf::from)
}

impl Comparison {
    /// 1 if what was asked for happened, else 0.
    pub fn exit_status(&self, fail_on: FailOn) -> u8 {
        let is_met = match fail_on {
            FailOn::Slower => self.is_slower(),
            FailOn::SameCode => self.is_slower() || self.is_dearer_for_same_code(),
            FailOn::Changed => self.is_changed(),
            FailOn::Never => false,
        };
        is_met.into()
    }

    /// Whether a function takes longer, by itself or because its callers changed, or all of them together do; those between which cost
    /// moved only as a sum.
    pub fn is_slower(&self) -> bool {
        self.queries.iter().any(|query| {
            let total = &query.total;
            let is_slower = |verdict: Verdict, ns: f64| verdict == Verdict::Changed && ns > 0.0;
            // What the same code costs more is no reason to fail.
            let beside = total.self_ns.difference_ns() - query.explained.same_code_ns;
            (is_slower(total.verdict, total.self_ns.difference_ns())
                && beside >= total.min_change * total.self_ns.left_median)
                || query.together.iter().any(|group| is_slower(group.verdict, group.sum_ns.difference_ns()))
                || query.functions.iter().enumerate().any(|(place, function)| {
                    !query.is_together(place) && is_slower(function.verdict, function.self_ns.difference_ns())
                })
        })
    }

    /// Whether a function takes longer though its code is the same.
    pub fn is_dearer_for_same_code(&self) -> bool {
        let functions = || self.queries.iter().flat_map(|query| &query.functions);
        functions().any(|one| one.verdict == Verdict::SameCode && one.self_ns.difference_ns() > 0.0)
    }

    /// Whether anything at all changed: times, counts, functions that are there.
    pub fn is_changed(&self) -> bool {
        use Verdict::{Calls, Changed, Follows, OneSided};
        self.queries.iter().any(|query| {
            let is_changed = |verdict| matches!(verdict, Calls | Changed | Follows | OneSided);
            is_changed(query.total.verdict)
                || query.functions.iter().any(|function| {
                    let is_alone = function.on != On::Both && function.verdict != Verdict::NotSignificant;
                    is_changed(function.verdict) || is_alone
                })
        })
    }
}
