//! Makes a history out of the parts of a selection.

use std::collections::{BTreeMap, BTreeSet};

use diytrace_profile::error::Error;
use diytrace_profile::opened::Opened;
use diytrace_profile::warnings::sentences;

use super::coarse::Coarse;
use super::document::{Course, Document, Measure, SCHEMA};
use super::found::Found;
use super::part::Part;
use super::points::{Values, bin, numbers, of_a_call, of_a_run, of_the_middle, points, resolution, samples};
use super::significance::keep_significant;
use super::steps::{LEVEL, smallest_p, spread, steps};
use crate::observed::identity::{Identity, Key, Matching};
use crate::observed::{Apart, Measured, Part as Said};

/// Functions that vary by less from one part to the next are not named,
const LEAST_SPREAD: f64 = 0.2;

/// nor those with less of all exclusive time,
const LEAST_SHARE: f64 = 0.01;

/// and of the others so many.
const SHOWN: usize = 5;

/// What to tell.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Patterns of functions' names. Empty: all functions that have become slower, or are called more often.
    pub functions: Vec<String>,
    /// What the parts are: `time`, or a label.
    pub over: String,
    /// Of `time`: how long a slice is.
    pub slice_ns: Option<i64>,
    /// And what came late.
    pub coarse: Vec<Coarse>,
    /// Whether distributions are told.
    pub histogram: bool,
}

/// The history of functions in the groups of a selection, of which each is a part. Parts without a group counted nothing.
pub fn history(opened: &Opened, parts: &[Part], options: &Options) -> Result<Document, Error> {
    let Apart { functions: identities, parts: mut said, warnings } = Apart::of(opened, &options.functions)?;
    let there = parts.iter().filter_map(|part| Some((part.clone(), said.remove(&part.group)?)));
    let (parts, said): (Vec<Part>, Vec<Said>) = there.unzip();
    let mut warnings: BTreeSet<String> = sentences(&warnings).into_iter().collect();
    let is_timed = said.iter().all(|said| said.is_timed);
    if !is_timed {
        warnings.insert("some of these recordings have no times: only calls are looked at for steps".to_owned());
    }
    warnings.extend(Coarse::told(&options.coarse));
    let numbers = numbers(&parts, options.slice_ns.is_some());
    let keys = keys(&identities, &said);
    let calls: BTreeSet<(usize, usize)> = said.iter().flat_map(|said| said.calls.iter().copied()).collect();
    let (functions, without_preempted) = functions(&keys, said);
    let named: Vec<(&Key, &Values)> = functions.iter().collect();
    let are_named = !options.functions.is_empty();
    if named.is_empty() {
        warnings.insert("none of these functions was called there".to_owned());
    }
    let is_time = options.slice_ns.is_some();
    let looked = Looked { parts: &parts, numbers: &numbers, is_timed, is_time };
    let mut steps: Vec<Vec<Found<Measure>>> = named.iter().map(|(_, values)| looked.steps(values)).collect();
    let tested = looked.correct(&mut steps, &named, &mut warnings);
    warnings.extend(looked.varying(&named));
    if !are_named {
        leave_to_callees(&mut steps, &named, &keys, &calls);
    }
    let courses = named.iter().zip(steps).map(|((key, values), steps)| Course {
        name: key.name.clone(),
        module: key.module.clone(),
        file: key.file.clone(),
        points: points(&parts, &numbers, values, options.histogram),
        steps,
    });
    let mut functions: Vec<Course> = match are_named {
        true => courses.collect(),
        false => courses.filter(|course| course.steps.iter().any(|step| step.change > 0.0)).collect(),
    };
    functions.sort_by(|a, b| rise(b).total_cmp(&rise(a)).then_with(|| a.name.cmp(&b.name)));
    Ok(Document {
        schema: SCHEMA,
        over: options.over.clone(),
        slice_ns: options.slice_ns,
        coarse: options.coarse.clone(),
        warnings: warnings.into_iter().collect(),
        without_preempted,
        tested,
        functions,
    })
}

/// Takes a rise of the median off a function if what it calls has the most of it.
fn leave_to_callees(
    steps: &mut [Vec<Found<Measure>>],
    named: &[(&Key, &Values)],
    keys: &[Key],
    calls: &BTreeSet<(usize, usize)>,
) {
    let places: BTreeMap<&Key, usize> = named.iter().enumerate().map(|(place, (key, _))| (*key, place)).collect();
    let place = |number: usize| places.get(&keys[number]).copied();
    let edges = calls.iter().filter_map(|&(caller, callee)| Some((place(caller)?, place(callee)?)));
    let callees: BTreeSet<(usize, usize)> = edges.filter(|(caller, callee)| caller != callee).collect();
    let before = steps.to_vec();
    let rise = |step: &Found<Measure>| step.after - step.before;
    for (caller, steps) in steps.iter_mut().enumerate() {
        let below = || callees.range((caller, 0)..=(caller, usize::MAX)).flat_map(|(_, callee)| &before[*callee]);
        steps.retain(|step| {
            // Of two that call each other one is the smaller, and keeps its own.
            let is_of = |other: &Found<Measure>| {
                other.point == step.point
                    && other.measure != Measure::CallsPerRun
                    && other.after < step.after
                    && rise(other) >= rise(step) / 2.0
            };
            step.measure != Measure::P50Ns || !below().any(is_of)
        });
    }
}

/// What a function's steps add to a recording, in nanoseconds.
fn rise(course: &Course) -> f64 {
    let added = |step: &Found<Measure>| {
        let Some(point) = course.points.get(step.point) else { return 0.0 };
        match step.measure {
            Measure::SelfPerCallNs | Measure::P50Ns => (step.after - step.before) * point.calls_per_run,
            Measure::CallsPerRun => (step.after - step.before) * point.self_per_call_ns.unwrap_or(0.0),
        }
    };
    course.steps.iter().map(added).filter(|added| added.is_finite()).sum()
}

/// What all builds call functions.
fn keys(identities: &[Identity], parts: &[Said]) -> Vec<Key> {
    let called = |part: &Said| part.all.iter().map(|number| &identities[*number]).collect();
    let matching = Matching::of_parts(&parts.iter().map(called).collect::<Vec<Vec<&Identity>>>());
    identities.iter().map(|identity| matching.key(identity)).collect()
}

/// Functions by what all builds call them, with what each part says. Whether all of it knows when others had the processor; if not, none
/// does: times with and without that cannot be held against each other.
fn functions(keys: &[Key], parts: Vec<Said>) -> (BTreeMap<Key, Values>, bool) {
    let mut functions: BTreeMap<Key, Values> = BTreeMap::new();
    let count = parts.len();
    for (at, said) in parts.into_iter().enumerate() {
        for (number, measured) in said.functions {
            let values = functions.entry(keys[number].clone()).or_insert_with(|| vec![None; count]);
            values[at].get_or_insert_default().add(&measured);
        }
    }
    let mut measured = functions.values().flatten().flatten().filter(|measured| measured.calls > 0).peekable();
    let all_know = measured.peek().is_some() && measured.all(|measured| measured.preempted.is_some());
    if !all_know {
        functions.values_mut().flatten().flatten().for_each(|measured| measured.preempted = None);
    }
    (functions, all_know)
}

/// What steps are looked for in.
struct Looked<'a> {
    parts: &'a [Part],
    numbers: &'a [usize],
    is_timed: bool,
    is_time: bool,
}

impl Looked<'_> {
    /// What is looked at: how often a function is called says something of builds, but not of a service's days.
    fn measures(&self) -> impl Iterator<Item = Measure> {
        let all = [
            (Measure::SelfPerCallNs, self.is_timed),
            (Measure::P50Ns, self.is_timed),
            (Measure::CallsPerRun, !self.is_time),
        ];
        all.into_iter().filter(|(_, is_looked_at)| *is_looked_at).map(|(measure, _)| measure)
    }

    fn steps(&self, values: &Values) -> Vec<Found<Measure>> {
        let of_measure = |measure| {
            let value = of(measure);
            let (samples, at) = samples(self.parts, self.numbers, values, value);
            let resolution = |before: std::ops::Range<usize>, after: std::ops::Range<usize>| match measure {
                Measure::SelfPerCallNs => resolution(values, &at[before], &at[after]),
                Measure::P50Ns => bin(values, before.chain(after).map(|number| at[number])),
                Measure::CallsPerRun => 0.0,
            };
            let steps = steps(&samples, LEVEL, resolution);
            steps.into_iter().map(move |step| Found::of(measure, &step, samples[step.at].point)).collect::<Vec<_>>()
        };
        self.measures().flat_map(of_measure).collect()
    }

    /// What the reader should know of functions whose times vary so much that a rise may be missed.
    fn varying(&self, named: &[(&Key, &Values)]) -> Option<String> {
        let own = |values: &Values| values.iter().flatten().map(|measured| measured.own).sum::<f64>();
        let all: f64 = named.iter().map(|(_, values)| own(values)).sum();
        let spread = |values: &Values| {
            let of_measure = |measure| spread(&samples(self.parts, self.numbers, values, of(measure)).0);
            let times = self.measures().filter(|measure| *measure != Measure::CallsPerRun);
            times.filter_map(of_measure).min_by(f64::total_cmp)
        };
        let of_weight = named.iter().filter(|(_, values)| own(values) >= LEAST_SHARE * all);
        let spreads = of_weight.filter_map(|(key, values)| Some((spread(values)?, key.name.as_str())));
        let mut spreads: Vec<(f64, &str)> = spreads.filter(|(spread, _)| *spread >= LEAST_SPREAD).collect();
        spreads.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(other.1)));
        let told: Vec<String> =
            spreads.iter().take(SHOWN).map(|(spread, name)| format!("{name} by {:.0}%", spread * 100.0)).collect();
        let more = match spreads.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more by at least {:.0}%", LEAST_SPREAD * 100.0),
        };
        let each = if self.is_time { "slice of time" } else { "recording" };
        let told = (!told.is_empty()).then(|| told.join(", "))?;
        Some(format!("times vary from one {each} to the next, and a smaller change is not found: {told}{more}"))
    }

    /// Keeps the steps that chance is unlikely to show among all the functions. How many functions that were.
    fn correct(
        &self,
        steps: &mut [Vec<Found<Measure>>],
        named: &[(&Key, &Values)],
        warnings: &mut BTreeSet<String>,
    ) -> usize {
        let smallest = |values: &Values| {
            let of_measure = |measure| smallest_p(&samples(self.parts, self.numbers, values, of(measure)).0);
            self.measures().map(of_measure).fold(1.0, f64::min)
        };
        let reachable: Vec<f64> = named.iter().map(|(_, values)| smallest(values)).collect();
        let each = if self.is_time { "side" } else { "value" };
        let (tested, warning) = keep_significant(steps, &reachable, ("recordings", each));
        warnings.extend(warning);
        tested
    }
}

fn of(measure: Measure) -> fn(&Part, Option<&Measured>) -> Option<f64> {
    match measure {
        Measure::SelfPerCallNs => of_a_call,
        Measure::CallsPerRun => of_a_run,
        Measure::P50Ns => of_the_middle,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(own: f64, preempted: Option<f64>) -> Measured {
        Measured { calls: 1, own, preempted, ..Measured::default() }
    }

    fn said(functions: Vec<Measured>) -> Said {
        Said { functions: functions.into_iter().enumerate().collect(), is_timed: true, ..Said::default() }
    }

    fn keys(names: &[&str]) -> Vec<Key> {
        names.iter().map(|name| Key { name: (*name).to_owned(), ..Key::default() }).collect()
    }

    #[test]
    fn times_are_less_preempted_time_if_all_recordings_know_it() {
        let keys = keys(&["work"]);
        let of_a_call = |parts: Vec<Said>| {
            let (functions, without_preempted) = functions(&keys, parts);
            let part = Part { group: String::new(), value: String::new(), started: 0, ended: 1, inside: 1.0 };
            let values = functions[&keys[0]].iter().map(|measured| of_a_call(&part, measured.as_ref()));
            (values.collect::<Vec<_>>(), without_preempted)
        };
        let disturbed = || said(vec![measured(150.0, Some(50.0))]);
        let all_know = of_a_call(vec![said(vec![measured(100.0, Some(0.0))]), disturbed()]);
        assert_eq!(all_know, (vec![Some(100.0), Some(100.0)], true));
        let one_does_not = of_a_call(vec![said(vec![measured(100.0, None)]), disturbed()]);
        assert_eq!(one_does_not, (vec![Some(100.0), Some(150.0)], false));
    }

    #[test]
    fn it_is_told_where_times_vary_so_much_that_a_change_would_be_missed() {
        let keys = keys(&["steady", "varying", "small"]);
        let runs: Vec<Said> = (0..12)
            .map(|run| {
                let high = f64::from(run % 2);
                let own = [1000.0 + run as f64, 1000.0 + 400.0 * high, 1.0 + high];
                said(own.map(|own| measured(own, None)).to_vec())
            })
            .collect();
        let part = |at: i64| Part {
            group: at.to_string(),
            value: (at / 6).to_string(),
            started: at,
            ended: at + 1,
            inside: 1.0,
        };
        let parts: Vec<Part> = (0..12).map(part).collect();
        let numbers = numbers(&parts, false);
        let (functions, _) = functions(&keys, runs);
        let named: Vec<(&Key, &Values)> = functions.iter().collect();
        let looked = Looked { parts: &parts, numbers: &numbers, is_timed: true, is_time: false };
        assert_eq!(
            looked.varying(&named).as_deref(),
            Some("times vary from one recording to the next, and a smaller change is not found: varying by 33%")
        );
        let steady: Vec<_> = named.into_iter().filter(|(key, _)| key.name == "steady").collect();
        assert_eq!(looked.varying(&steady), None);
    }
}
