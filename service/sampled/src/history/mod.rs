//! The command `history` of sampled profiles: functions over builds, commits or time, and where they changed for good.
//!
//! ```text
//! profiles by a label, or in slices of time ──▶ flat and cum of each function ──[steps of history]──▶ changes that stayed
//! ```

mod document;
mod points;
mod view;

use std::collections::BTreeSet;

use diytrace_compare::history::{Found, Part, keep_significant, numbers, smallest_p};
use diytrace_format::pattern::matches_demangled;
use diytrace_profile::nearest::{nearest_names, nearest_sentence};
use diytrace_store::{Apart, Engine, Over, Query, SampledFacts, sampled_over};

pub use document::History;
use document::{Course, Measure, SCHEMA};
use points::Series;
pub use view::{regressions as write_regressions, table as write_histories, write_csv as write_histories_csv};

use crate::measured::{Key, Known, Measured};
use crate::{Error, Kind, Per};

/// What to tell.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The type of samples; `None`: the one that all profiles show first.
    pub of: Option<String>,
    /// Whether values are shares of each profile.
    pub are_shares: bool,
    /// Patterns of functions' names. Empty: all functions whose flat values rose.
    pub functions: Vec<String>,
    /// What the points are called: `time`, or a label.
    pub over: String,
    /// What the profiles are taken apart by.
    pub apart: Over,
}

/// The history of functions in the sampled profiles of a selection.
pub fn history(
    store: &dyn Engine,
    profiles: Vec<SampledFacts>,
    query: &Query,
    asked: &Asked,
) -> Result<History, Error> {
    let kind = Kind::of_all(&[("the selection", &profiles)], asked.of.as_deref())?;
    let profiles = kind.keep(profiles);
    let per = Per::of(&kind, &profiles, asked.are_shares);
    let Apart { parts, slice: slice_ns, .. } = sampled_over(&profiles, query, &asked.apart)?;
    let mut known = Known::default();
    let mut runs = vec![Measured::default(); parts.len()];
    for facts in &profiles {
        let is_in = |part: &diytrace_store::Part| match &part.query.session {
            Some(id) => *id == facts.id,
            None => facts.ended > part.started && facts.ended <= part.ended,
        };
        let Some(at) = parts.iter().position(is_in) else { continue };
        if let Some(measured) = Measured::read(store, facts, &kind, &mut known, None)? {
            runs[at].add(&measured);
        }
    }
    let part = |part: diytrace_store::Part| Part {
        group: String::new(),
        value: part.value,
        started: part.started,
        ended: part.ended,
        inside: part.inside,
    };
    let parts: Vec<Part> = parts.into_iter().map(part).collect();
    let mut wanted = wanted(&known, &asked.functions)?;
    let numbers = numbers(&parts, slice_ns.is_some());
    let series = Series { parts: &parts, numbers: &numbers, runs: &runs, per };
    // What all functions are looked at for is what they do themselves: what calls them rises with them.
    let are_named = !asked.functions.is_empty();
    wanted.retain(|number| {
        are_named || runs.iter().any(|run| run.functions.get(number).is_some_and(|[flat, _]| *flat != 0))
    });
    let measures: &[Measure] = if are_named { &[Measure::Flat, Measure::Cum] } else { &[Measure::Flat] };
    let mut found: Vec<Vec<Found<Measure>>> =
        wanted.iter().map(|number| measures.iter().flat_map(|of| series.found(*number, *of)).collect()).collect();
    let reachable = |number: &usize| smallest_p(&series.samples(*number, Measure::Flat));
    let reachable: Vec<f64> = wanted.iter().map(reachable).collect();
    let each = if slice_ns.is_some() { "side" } else { "value" };
    let (tested, warning) = keep_significant(&mut found, &reachable, ("profiles", each));
    let courses = wanted.iter().zip(found).map(|(number, steps)| {
        let Key { name, file } = &known.all[*number];
        let file = (!file.is_empty()).then(|| file.clone());
        Course { name: name.clone(), file, points: series.points(*number), steps }
    });
    let has_risen = |course: &Course| course.steps.iter().any(|step| step.after > step.before);
    let mut functions: Vec<Course> = courses.filter(|course| are_named || has_risen(course)).collect();
    let rise = |course: &Course| course.steps.iter().map(|step| step.after - step.before).fold(0.0, f64::max);
    functions.sort_by(|a, b| rise(b).total_cmp(&rise(a)).then_with(|| a.name.cmp(&b.name)));
    Ok(History {
        schema: SCHEMA,
        over: asked.over.clone(),
        slice_ns,
        kind,
        per,
        warnings: warning.into_iter().collect(),
        tested,
        functions,
    })
}

/// The numbers of functions that patterns mean; without patterns, of all.
fn wanted(known: &Known, patterns: &[String]) -> Result<Vec<usize>, Error> {
    if patterns.is_empty() {
        return Ok((0..known.all.len()).collect());
    }
    let mut wanted: BTreeSet<usize> = BTreeSet::new();
    for pattern in patterns {
        let is_meant = |key: &Key| matches_demangled(pattern, &key.name);
        let meant: Vec<usize> = (0..known.all.len()).filter(|number| is_meant(&known.all[*number])).collect();
        if meant.is_empty() {
            let nearest = nearest_names(pattern, known.all.iter().map(|key| &*key.name));
            let nearest: Vec<String> = nearest.into_iter().map(str::to_owned).collect();
            return Err(Error::UnknownFunction { pattern: pattern.clone(), nearest: nearest_sentence(&nearest, "") });
        }
        wanted.extend(meant);
    }
    Ok(wanted.into_iter().collect())
}
