//! The runs of a query, read and corrected.

use std::path::Path;

use rayon::prelude::*;

use super::Error;
use super::comparison::Comparison;
use super::pool::Pool;
use crate::observed::Observed;
use crate::observed::code::KnownCode;
use crate::runs::{Run, Runs};
use diytrace_profile::opened::Opened;
use diytrace_profile::progress::Progress;
use diytrace_profile::warnings::Warning;

/// The runs of a query that count.
pub struct Loaded<'a> {
    pub runs: Vec<&'a Run>,
    pub observed: Vec<Observed>,
    /// Which were left out, and why.
    pub left_out: Vec<String>,
}

impl<'a> Loaded<'a> {
    /// Reads those of both sides, and corrects them by what the hooks cost in all of them.
    pub fn both(sets: [&'a Runs; 2], query: Option<&'a str>) -> Result<([Self; 2], Pool), Error> {
        let mut sides = sets.map(|set| Side::open(set, query));
        let pool = Pool::of([sides[0].opened(), sides[1].opened()]);
        for (number, side) in sides.iter_mut().enumerate() {
            side.apply(&pool, number);
        }
        let [left, right] = sides.map(Side::observed);
        Ok(([left?, right?], pool))
    }

    /// Says what the reader should know.
    pub fn say_in(&self, comparison: &mut Comparison, set: &Runs) {
        comparison.errors.extend_from_slice(&self.left_out);
        let several = self.observed.len() > 1;
        for warning in self.observed.iter().flat_map(|observed| &observed.warnings) {
            let what = match warning {
                // Runs say the same about profiles of different names.
                Warning::OfProfile { path, what, .. } if several && is_file_of_run(path) => what.to_string(),
                other => other.to_string(),
            };
            comparison.warnings.push(format!("{}: {what}", set.name));
        }
    }
}

/// Whether a recorder has named a file, and not who keeps runs.
fn is_file_of_run(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "diyt")
}

/// The runs of a set, each read or not, and then why.
struct Side<'a> {
    set: &'a Runs,
    query: Option<&'a str>,
    runs: Vec<(&'a Run, Result<Opened, String>)>,
}

impl<'a> Side<'a> {
    fn open(set: &'a Runs, query: Option<&'a str>) -> Self {
        let all: Vec<&Run> = set.of(query).collect();
        // A program may always end so; one run among others that did not was no run like them.
        let usual = all.iter().map(|run| run.status).min().unwrap_or(0);
        let progress = Progress::new("reading runs", all.len());
        let open = |run: &&'a Run| {
            let opened = match run.status {
                status if status != usual => Err(format!("it ended with status {status}, others with {usual}")),
                _ => run.profile().map_err(|error| error.to_string()),
            };
            progress.step();
            (*run, opened)
        };
        Self { set, query, runs: all.par_iter().map(open).collect() }
    }

    fn opened(&self) -> impl Iterator<Item = &Opened> {
        self.runs.iter().filter_map(|(_, opened)| opened.as_ref().ok())
    }

    fn apply(&mut self, pool: &Pool, side: usize) {
        for opened in self.runs.iter_mut().filter_map(|(_, opened)| opened.as_mut().ok()) {
            let parts = opened.merged.groups.iter_mut().flat_map(|group| &mut group.parts);
            parts.for_each(|part| pool.apply(side, part));
        }
    }

    fn observed(self) -> Result<Loaded<'a>, Error> {
        let Self { set, query, runs } = self;
        let known = KnownCode::default();
        let observe = |(run, opened): (&'a Run, Result<Opened, String>)| {
            (run, opened.and_then(|opened| Observed::with_code(&opened, &known).map_err(|error| error.to_string())))
        };
        let mut loaded = Loaded { runs: Vec::new(), observed: Vec::new(), left_out: Vec::new() };
        for (run, observed) in runs.into_par_iter().map(observe).collect::<Vec<_>>() {
            match observed {
                Ok(observed) => {
                    loaded.runs.push(run);
                    loaded.observed.push(observed);
                }
                Err(why) => {
                    let of = query.map(|query| format!(" of {query}")).unwrap_or_default();
                    loaded.left_out.push(format!("{}: run {}{of} was left out: {why}", set.name, run.number));
                }
            }
        }
        match loaded.left_out.first() {
            Some(why) if loaded.runs.is_empty() => Err(Error::NoRun { set: set.name.clone(), why: why.clone() }),
            _ => Ok(loaded),
        }
    }
}
