//! The runs of both sides, side by side: every function and edge with what each run says of it.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::flames::Flames;
use super::overlay;
use super::tester::Errors;
use crate::observed::code::{CodeState, Seen};
use crate::observed::identity::{Key, Matching};
use crate::observed::uncertainty::{Code, OfDifference, Uncertainty};
use crate::observed::{Called, Measured, Observed};
use diytrace_profile::timeline::Timeline;

/// The runs of one query, by function.
#[derive(Clone, Debug, Default)]
pub struct Sides {
    /// Functions of either side, in the order of their names.
    pub functions: Vec<(Key, Series)>,
    /// Calls of one by another, by their places.
    pub edges: BTreeMap<(usize, usize), Series>,
    /// Runs of each side.
    pub runs: [usize; 2],
    /// Self time of all functions in each run of each side.
    pub total: [Vec<f64>; 2],
    /// How far off that may be, in the mean of a side's runs.
    total_error: [f64; 2],
    /// Whether calls were timed in all runs.
    pub are_timed: bool,
    /// Whether self times leave out when others had the processor: where all runs of both sides know.
    pub are_without_preempted: bool,
    /// For flame graphs.
    pub flames: Flames,
}

/// What each run of each side says of a function, or of calls. Nothing, where it is not in a run.
#[derive(Clone, Debug, Default)]
pub struct Series {
    pub calls: [Vec<u64>; 2],
    pub own: [Vec<f64>; 2],
    pub total: [Vec<f64>; 2],
    /// Mean errors of a side's runs.
    pub own_error: [Uncertainty; 2],
    pub total_error: [f64; 2],
    /// Distributions, over all runs of a side.
    pub histograms: [diytrace_profile::histogram::Histogram; 2],
    /// Build IDs of the function's module.
    builds: [BTreeSet<Vec<u8>>; 2],
    /// Its code, in all runs of a side.
    seen: [Seen; 2],
    /// What of `own` it waited, of the runs that know.
    pub own_wait: [Vec<f64>; 2],
    /// When it ran, from the start of the run whose number stands beside it.
    pub timelines: [Vec<(usize, Timeline)>; 2],
}

/// With so many builds of a module on each side, what it does where code lies is in how runs vary.
const LEAST_LAYOUTS: usize = 5;

impl Sides {
    /// Puts runs side by side.
    pub fn of(left: &[Observed], right: &[Observed]) -> Self {
        let sides = [left, right];
        let [before, after] = sides
            .map(|runs| runs.iter().flat_map(|run| &run.functions).map(|(identity, _)| identity).collect::<Vec<_>>());
        let matching = Matching::of(&before, &after);
        let mut keys: Vec<Key> = before.iter().chain(&after).map(|identity| matching.key(identity)).collect();
        keys.sort_unstable();
        keys.dedup();
        let places: FxHashMap<&Key, usize> = keys.iter().enumerate().map(|(place, key)| (key, place)).collect();
        let runs = sides.map(<[Observed]>::len);
        let mut gathered = Self {
            functions: keys.iter().map(|key| (key.clone(), Series::empty(runs))).collect(),
            total: runs.map(|runs| vec![0.0; runs]),
            are_timed: sides.iter().all(|runs| runs.iter().all(|run| run.is_timed)),
            are_without_preempted: sides.iter().all(|runs| runs.iter().all(|run| run.knows_preempted)),
            runs,
            ..Self::default()
        };
        for (side, runs) in sides.into_iter().enumerate() {
            for (number, run) in runs.iter().enumerate() {
                let numbers: Vec<usize> =
                    run.functions.iter().map(|(identity, _)| places[&matching.key(identity)]).collect();
                gathered.add(side, number, run, &numbers);
            }
        }
        gathered
    }

    /// How far off the self time of all functions may be.
    pub fn total_errors(&self) -> Errors {
        let of_each = self.functions.iter().map(|(_, series)| series.difference_error());
        Errors { sides: self.total_error, difference: OfDifference::sum(of_each).ns() }
    }

    /// Whether both sides ran the same builds of all modules, so that nothing in them can be the reason of a difference.
    pub fn are_one_build(&self) -> bool {
        let of = |side: usize| -> BTreeSet<&Vec<u8>> {
            self.functions.iter().flat_map(|(_, series)| &series.builds[side]).collect()
        };
        let builds = of(0);
        builds == of(1) && !builds.iter().any(|build| build.is_empty())
    }

    fn add(&mut self, side: usize, number: usize, run: &Observed, places: &[usize]) {
        let runs = self.runs;
        let is_without_preempted = self.are_without_preempted;
        for ((_, measured), &place) in run.functions.iter().zip(places) {
            // A function of which only addresses are known, as a forked child inherited it, was not called here.
            let own = if is_without_preempted { measured.own_without_preempted() } else { measured.own };
            self.functions[place].1.add(side, number, own, measured, runs);
            self.total[side][number] += own;
            self.total_error[side] += measured.own_error.error() / runs[side] as f64;
        }
        let ran = run.functions.iter().zip(places);
        let mut timelines: Vec<_> =
            ran.filter_map(|((_, measured), &place)| Some((place, measured.ran.finish(false)?))).collect();
        overlay::begin_at_zero(&mut timelines);
        for (place, timeline) in timelines {
            self.functions[place].1.timelines[side].push((number, timeline));
        }
        for (&(caller, callee), called) in &run.edges {
            let edge = self.edges.entry((places[caller], places[callee])).or_insert_with(|| Series::empty(runs));
            let preempted = called.preempted.filter(|_| is_without_preempted).unwrap_or_default();
            edge.add_called(side, number, &Called { own: called.own - preempted, ..*called }, runs);
        }
        self.flames.add(side, run, places, runs[side]);
    }
}

impl Series {
    /// Whether it was called in any run of each side. What was open all the time, as servers are between snapshots, has time
    /// but no calls: that it has so on one side only is no difference.
    pub fn is_on(&self) -> [bool; 2] {
        [0, 1].map(|side: usize| self.calls[side].iter().any(|&calls| calls > 0))
    }

    fn empty(runs: [usize; 2]) -> Self {
        Self {
            calls: runs.map(|runs| vec![0; runs]),
            own: runs.map(|runs| vec![0.0; runs]),
            total: runs.map(|runs| vec![0.0; runs]),
            ..Self::default()
        }
    }

    fn add(&mut self, side: usize, number: usize, own: f64, measured: &Measured, runs: [usize; 2]) {
        let Measured { calls, preempted, total, own_error, total_error, .. } = *measured;
        self.add_called(side, number, &Called { calls, own, preempted, total, own_error, total_error }, runs);
        self.histograms[side].merge(&measured.histogram);
        self.builds[side].extend(measured.builds.iter().cloned());
        self.seen[side].add(&measured.code);
        self.own_wait[side].extend(measured.own_wait);
    }

    /// Whether both sides ran the same code.
    pub fn code(&self) -> Code {
        let [left, right] = &self.builds;
        match () {
            () if left == right && !left.iter().any(Vec::is_empty) => Code::Same,
            () if left.len().min(right.len()) >= LEAST_LAYOUTS => Code::Spread,
            () => Code::Another,
        }
    }

    /// How far off the difference of its self times may be.
    pub fn difference_error(&self) -> OfDifference {
        let [left, right] = &self.own_error;
        OfDifference::of(left, right, self.code())
    }

    /// Whether its own code, and what is inlined into it, is the same on both sides.
    pub fn code_state(&self) -> CodeState {
        let [left, right] = &self.seen;
        match self.code() {
            Code::Same => CodeState::Same,
            Code::Spread | Code::Another => left.against(right),
        }
    }

    /// Whether its code lies at another place of a page; where it lay at many on both sides, that is no difference of them.
    pub fn is_moved(&self) -> bool {
        let [left, right] = &self.seen;
        self.code() != Code::Spread && !left.lies_alike(right)
    }

    fn add_called(&mut self, side: usize, number: usize, called: &Called, runs: [usize; 2]) {
        let calls = &mut self.calls[side][number];
        *calls = calls.saturating_add(called.calls);
        self.own[side][number] += called.own;
        self.total[side][number] += called.total;
        self.own_error[side].add(&called.own_error.part(1.0 / runs[side] as f64));
        self.total_error[side] += called.total_error / runs[side] as f64;
    }

    /// Mean self time of all runs of both sides: which of them are on which side does not change it, so what is chosen by
    /// it can be tested as if nothing had been chosen.
    pub fn pooled_own(&self) -> f64 {
        mean(self.own.iter().flatten().copied())
    }

    /// The same of its error.
    pub fn pooled_error(&self) -> f64 {
        let [left, right] = [self.own[0].len() as f64, self.own[1].len() as f64];
        (self.own_error[0].error() * left + self.own_error[1].error() * right) / (left + right)
    }
}

/// Nothing has a mean of nothing.
pub fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count == 0.0 { 0.0 } else { sum / count }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observed::identity::Identity;

    /// A run of a function whose own time others have prolonged, which the recording knows or not.
    fn run(own: f64, preempted: Option<f64>) -> Observed {
        let identity = Identity { name: "f".to_owned(), ..Identity::default() };
        let measured = Measured { calls: 1, own, preempted, ..Measured::default() };
        let knows_preempted = preempted.is_some();
        Observed { functions: vec![(identity, measured)], is_timed: true, knows_preempted, ..Observed::default() }
    }

    #[test]
    fn time_that_others_had_the_processor_is_left_out_where_all_runs_know() {
        let known = [run(7.0, Some(3.0)), run(4.0, Some(0.0))];
        let sides = Sides::of(&known, &[run(14.0, Some(10.0))]);
        assert!(sides.are_without_preempted);
        assert_eq!(sides.functions[0].1.own, [vec![4.0, 4.0], vec![4.0]]);
        assert_eq!(sides.total, [vec![4.0, 4.0], vec![4.0]]);
        let sides = Sides::of(&known, &[run(14.0, None)]);
        assert!(!sides.are_without_preempted);
        assert_eq!(sides.functions[0].1.own, [vec![7.0, 4.0], vec![14.0]]);
    }

    #[test]
    fn what_was_only_open_is_not_there_for_that() {
        let mut series = Series::empty([2, 2]);
        series.add_called(0, 1, &Called { total: 5.0, ..Called::default() }, [2, 2]);
        assert_eq!(series.is_on(), [false, false]);
        series.add_called(1, 0, &Called { calls: 1, ..Called::default() }, [2, 2]);
        assert_eq!(series.is_on(), [false, true]);
    }
}
