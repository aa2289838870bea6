//! The command `diff` of sampled profiles: two selections of one type of samples, function by function and over each other.
//!
//! ```text
//! profiles of both sides ──[sides]──▶ runs, each with a value of each function ──[tests of diff]──▶ verdicts
//!                                 └──▶ counts of samples ──[statistics::poisson]──▶ what sampling alone is off by
//! ```
//!
//! A run is a profile, or all that a host has. Only runs tell what one run differs from another by; where there are too few of them,
//! counts of samples still tell what chance puts apart by sampling, which is the least that they differ by.

mod document;
mod sides;
mod stacks;
mod view;

use diytrace_compare::diff::{FailOn, Options, Test, Verdict, test_values};
use diytrace_compare::statistics::{Correction, poisson, smallest_p};
use diytrace_store::{Engine, SampledFacts};

use document::SCHEMA;
pub use document::{Comparison, Function, Replicates, Run, Sampling, Side, Total};
use sides::Read;
pub use stacks::Stacks;
pub use view::{headline, write_csv, write_table};

use crate::measured::{Known, Measured};
use crate::{Error, Kind, Per};

/// Most runs of a side that anybody is told to take.
const MOST_NEEDED: usize = 100;

/// How two selections are compared.
#[derive(Clone, Debug)]
pub struct How {
    /// The type of samples; `None`: the one that all profiles show first.
    pub of: Option<String>,
    /// Whether values are shares of each profile.
    pub are_shares: bool,
    /// What one run is.
    pub run: Run,
    /// From when on a difference is a change.
    pub options: Options,
}

/// Compares the profiles of two selections, each by what people call it; and their stacks, to be drawn over each other.
pub fn compare(
    store: &dyn Engine,
    [left, right]: [(&str, Vec<SampledFacts>); 2],
    how: &How,
) -> Result<(Comparison, Stacks), Error> {
    let kind = Kind::of_all(&[(left.0, &left.1), (right.0, &right.1)], how.of.as_deref())?;
    let (names, profiles) = ([left.0, right.0], [kind.keep(left.1), kind.keep(right.1)]);
    let per = Per::of(&kind, profiles.iter().flatten(), how.are_shares);
    let mut known = Known::default();
    let mut read = |profiles: &[SampledFacts]| Read::of(store, profiles, (&kind, per, how.run), &mut known);
    let sides = [read(&profiles[0])?, read(&profiles[1])?];
    for (side, name) in sides.iter().zip(names) {
        if side.runs.is_empty() {
            return Err(Error::NoSamples { side: name.to_owned(), name: kind.name });
        }
    }
    let compared = Compared { sides: &sides, known: &known, per, how };
    let (functions, tests) = compared.functions();
    let replicates = compared.replicates(tests);
    let wholes = [0, 1].map(|side: usize| sides[side].whole.whole(per));
    let scales = [if wholes[0] > 0.0 { wholes[1] / wholes[0] } else { 1.0 }, 1.0];
    let stacks = Stacks::of([sides[0].stacks(&kind), sides[1].stacks(&kind)], scales);
    let side = |number: usize| {
        let Read { runs, whole, .. } = &sides[number];
        Side {
            name: names[number].to_owned(),
            profiles: whole.profiles,
            runs: runs.len(),
            started_unix_ns: whole.started,
            ended_unix_ns: whole.ended,
            duration_ns: whole.duration_ns,
            total: whole.total,
            samples: whole.samples.as_ref().map(|samples| samples.total),
            scale: scales[number],
        }
    };
    let comparison = Comparison {
        schema: SCHEMA,
        left: side(0),
        right: side(1),
        per,
        options: how.options.clone(),
        total: (per != Per::Share).then(|| compared.total()),
        warnings: compared.warnings(&replicates, &kind),
        replicates,
        functions,
        kind,
    };
    Ok((comparison, stacks))
}

/// Both sides, as they are looked at.
struct Compared<'a> {
    sides: &'a [Read; 2],
    known: &'a Known,
    per: Per,
    how: &'a How,
}

impl Compared<'_> {
    fn runs(&self) -> [usize; 2] {
        [0, 1].map(|side: usize| self.sides[side].runs.len())
    }

    /// A value in each run.
    fn values(&self, of: impl Fn(&Measured) -> f64) -> [Vec<f64>; 2] {
        [0, 1].map(|side: usize| self.sides[side].runs.iter().map(&of).collect())
    }

    /// Functions, those that changed the most first; and how many were tested.
    fn functions(&self) -> (Vec<Function>, usize) {
        let options = &self.how.options;
        let numbers = 0..self.known.all.len();
        let value = |side: usize, number: usize| self.sides[side].whole.of(number, self.per)[0];
        let wholes: f64 = self.sides.iter().map(|side| side.whole.total as f64 / side.whole.whole(self.per)).sum();
        let share = |number: usize| if wholes > 0.0 { (value(0, number) + value(1, number)) / wholes } else { 0.0 };
        // What takes nothing by itself is no test: its callees' values are tested.
        let is_tested = |number: &usize| share(*number) > 0.0 && share(*number) >= options.min_share;
        let (tested, others): (Vec<usize>, Vec<usize>) = numbers.partition(is_tested);
        let tests = tested.len();
        let values = |numbers: &[usize], which: usize| -> Vec<[Vec<f64>; 2]> {
            numbers.iter().map(|number| self.values(|run| run.of(*number, self.per)[which])).collect()
        };
        let test = |numbers: &[usize], which| test_values(&values(numbers, which), self.runs(), options);
        let mut sampling: Vec<Option<Sampling>> = tested.iter().map(|number| self.sampling(Some(*number))).collect();
        adjust(&mut sampling, options.correction);
        let untested = |(mut test, _): (Test, Verdict)| {
            test.p_adjusted = None;
            (test, Verdict::Skipped)
        };
        let flat = test(&tested, 0).into_iter().chain(test(&others, 0).into_iter().map(untested));
        let numbers: Vec<usize> = tested.into_iter().chain(others.iter().copied()).collect();
        let cum = test(&numbers, 1).into_iter().map(untested);
        let sampling = sampling.into_iter().chain(others.iter().map(|number| self.sampling(Some(*number))));
        let all = numbers.iter().zip(flat).zip(cum).zip(sampling);
        let mut functions: Vec<Function> = all
            .map(|(((number, (flat, verdict)), (cum, _)), sampling)| {
                let key = &self.known.all[*number];
                Function {
                    name: key.name.clone(),
                    file: (!key.file.is_empty()).then(|| key.file.clone()),
                    verdict,
                    share: share(*number),
                    flat,
                    cum,
                    sampling,
                }
            })
            .collect();
        let size = |function: &Function| function.flat.difference_ns().abs();
        functions.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| (&a.name, &a.file).cmp(&(&b.name, &b.file))));
        (functions, tests)
    }

    /// What sampling alone says of a function, or of all together.
    fn sampling(&self, function: Option<usize>) -> Option<Sampling> {
        let count = |side: usize| {
            let samples = self.sides[side].whole.samples.as_ref()?;
            let of_function = |number| samples.functions.get(&number).map_or(0, |[flat, _]| *flat);
            Some(function.map_or(samples.total, of_function))
        };
        let counts = [count(0)?, count(1)?];
        let wholes = [0, 1].map(|side: usize| self.sides[side].whole.whole(self.per));
        // Values are counts times what a sample adds, of which each side may have its own.
        let value = |side: usize| self.sides[side].whole.total as f64;
        let of_a_sample = [0, 1].map(|side: usize| {
            let total = self.sides[side].whole.samples.as_ref().map_or(0, |samples| samples.total);
            if total > 0 { value(side) / total as f64 } else { 1.0 }
        });
        let exposures = [0, 1].map(|side: usize| wholes[side] / of_a_sample[side]);
        Some(Sampling {
            left: counts[0],
            right: counts[1],
            plus_minus: poisson::plus_minus(counts, exposures),
            p: poisson::p(counts, exposures),
            p_adjusted: None,
        })
    }

    fn total(&self) -> Total {
        let values = self.values(|run| run.total as f64 / run.whole(self.per));
        let tested = test_values(&[values], self.runs(), &self.how.options).pop();
        let (values, verdict) = tested.unwrap_or((Test::default(), Verdict::Skipped));
        let sampling = self.sampling(None).map(|sampling| Sampling { p_adjusted: Some(sampling.p), ..sampling });
        Total { verdict, values, sampling }
    }

    fn replicates(&self, tests: usize) -> Replicates {
        let [left, right] = self.runs();
        let options = &self.how.options;
        let family = if options.correction == Correction::None { 1 } else { tests.max(1) } as f64;
        let can = |smallest: f64| smallest * family <= options.level;
        let smallest_p = smallest_p(left, right);
        let needed = (1..MOST_NEEDED).find(|runs| can(self::smallest_p(*runs, *runs))).unwrap_or(MOST_NEEDED);
        Replicates { of: self.how.run, tests, smallest_p, suffice: can(smallest_p), needed }
    }

    fn warnings(&self, replicates: &Replicates, kind: &Kind) -> Vec<String> {
        let mut warnings = Vec::new();
        let [left, right] = self.runs();
        let what = match replicates.of {
            Run::Profile => "profile",
            Run::Host => "host",
        };
        if !replicates.suffice {
            let there = match (left, right) {
                (1, 1) => format!("there is one {what} a side, and none to tell what one differs from another by"),
                _ => format!(
                    "{left} and {right} {what}s are too few to call a function changed among {}",
                    replicates.tests
                ),
            };
            let sampling = match self.sampling(None) {
                Some(_) => "the sampling error (Poisson, 95%) is given, which is the least that two differ by",
                None => {
                    "values of this type are no sums of samples, so nothing is known of their sampling error either"
                }
            };
            warnings.push(format!("{there}: {sampling}; {} {what}s of each side or more would do", replicates.needed));
        }
        if self.per == Per::Profile && !crate::growing::is_level(&kind.name) {
            warnings.push(
                "some of these profiles do not tell how long they took: values are those of a profile".to_owned(),
            );
        }
        let left_out: usize = self.sides.iter().map(|side| side.whole.profiles).sum::<usize>()
            - self.sides.iter().flat_map(|side| &side.runs).map(|run| run.profiles).sum::<usize>();
        if left_out > 0 {
            warnings.push(format!("profiles in which nothing was sampled are left out: {left_out}"));
        }
        warnings
    }
}

/// Adjusts the chances of all functions that were tested.
fn adjust(sampling: &mut [Option<Sampling>], correction: Correction) {
    let p: Vec<f64> = sampling.iter().flatten().map(|one| one.p).collect();
    let adjusted = correction.adjust(&p);
    for (one, p) in sampling.iter_mut().flatten().zip(adjusted) {
        one.p_adjusted = Some(p);
    }
}

impl Comparison {
    /// 1 if what was asked for happened, else 0. Of samples no code is known, so that of the same code is as any other.
    pub fn exit_status(&self, fail_on: FailOn) -> u8 {
        let all = self.functions.iter().map(|function| (function.verdict, function.flat.difference_ns()));
        let total = self.total.iter().map(|total| (total.verdict, total.values.difference_ns()));
        let mut changed = all.chain(total).filter(|(verdict, _)| *verdict == Verdict::Changed);
        let is_met = match fail_on {
            FailOn::Never => false,
            FailOn::Changed => changed.next().is_some(),
            FailOn::Slower | FailOn::SameCode => changed.any(|(_, difference)| difference > 0.0),
        };
        is_met.into()
    }
}
