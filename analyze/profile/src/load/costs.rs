//! What the hooks cost: as a loop has shown at the program's start, and as trials have while it ran.

use diytrace_format::reader::File;
use diytrace_format::trials::TRIALS;
use diytrace_format::{Arena, Header};
use serde::{Deserialize, Serialize};

use super::timed::Timing;

/// A cost beyond this (in ticks) is a damaged file's.
const SANE_COST: f64 = 1e5;

/// Fewer trials than this say nothing of their spread.
const LEAST_TRIALS: usize = 8;

/// How far off the loop at the start, with what probes add, may be about a pair that only counts, as a fraction.
const COUNTING_UNLIKENESS: f64 = 0.25;

/// How far off trials may be beside that, as a fraction of the whole: they are of paths that are well known, and in them the
/// caches hold what the calls before have left.
const TRIAL_UNLIKENESS: f64 = 0.1;

/// How far off what a timed call among counted ones adds to its own time may be, as a fraction.
const TIMING_UNLIKENESS: f64 = 0.15;

/// Share of the trials at either end that do not count: what the program did in the one stretch and not in the other.
const DISTURBED: f64 = 0.25;

/// The same of probes, which an interrupt may disturb. No more: of the paths that are in no cache there are few, and they
/// weigh.
const INTERRUPTED: f64 = 0.05;

/// What the hooks bring into the caches pushes out some of the program's, which then has to wait for it longer than they
/// did. No trial can show that, as it lasts; whole programs do (see benches/README.md). As it is a guess, all of it is in
/// the error.
const PUSHED_OUT: f64 = 1.5;

/// That is never more than this part of what the hooks take themselves: a program that keeps little in the caches has
/// little to lose.
const MOST_PUSHED_OUT: f64 = 1.0 / 6.0;

/// What hook pairs cost, in ticks or nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// Inside the interval that a pair measures.
    pub inner: f64,
    /// For the caller beside that.
    pub outer: f64,
    /// Standard error of the sum of both.
    pub error: f64,
    /// Of a pair that records nothing, for the caller.
    pub untimed: f64,
    /// Of a pair that counts a call without timing it, for the caller.
    pub counted: f64,
    /// Trials in the running program that `inner` and `outer` come from; 0 if a loop at the program's start had to do.
    pub trials: u64,
}

impl Costs {
    /// What most of the calls inside another add to its time.
    pub fn of_most(&self, timing: Timing) -> f64 {
        match timing {
            Timing::All => self.inner + self.outer,
            Timing::Sampled | Timing::Off => self.counted,
        }
    }

    /// How far off that may be, with what a call adds to its own time where not all are timed.
    pub fn error_of_most(&self, timing: Timing) -> f64 {
        match timing {
            Timing::All => self.error,
            // A pair that only counts costs so little that nothing tells it closely: in whole programs between half of what
            // is taken off and half more.
            Timing::Sampled | Timing::Off => (self.counted / 2.0).hypot(self.inner * TIMING_UNLIKENESS),
        }
    }

    /// As a loop has shown at the start, or `None` if they cannot be.
    fn of_loop(header: &Header) -> Option<Self> {
        let costs = Self {
            inner: ticks(header.inner_cost),
            outer: ticks(header.outer_cost),
            error: ticks(header.cost_error),
            untimed: ticks(header.untimed_cost),
            counted: ticks(header.counted_cost),
            trials: 0,
        };
        let all = [costs.inner, costs.outer, costs.error, costs.untimed, costs.counted];
        all.iter().all(|&cost| cost <= SANE_COST).then_some(costs)
    }

    /// The same in units of another length.
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            inner: self.inner * factor,
            outer: self.outer * factor,
            error: self.error * factor,
            untimed: self.untimed * factor,
            counted: self.counted * factor,
            trials: self.trials,
        }
    }

    /// With the results of trials, if those tell more than the loop has.
    fn tried(self, mut trials: Trials, timing: Timing) -> Self {
        let Some((difference, error)) = trimmed(&mut trials.differences, DISTURBED) else { return self };
        let Some((excess, spread)) = trimmed(&mut trials.excesses, INTERRUPTED) else { return self };
        let counted = (self.counted + excess).max(0.0);
        let own = if timing == Timing::All { difference + counted } else { counted };
        let pushed_out = (excess * PUSHED_OUT).clamp(0.0, (own * MOST_PUSHED_OUT).max(0.0));
        let (counted, own) = (counted + pushed_out, own + pushed_out);
        let unlikeness = COUNTING_UNLIKENESS * self.counted.max(counted);
        let error = error.hypot(spread).hypot(pushed_out).hypot(unlikeness);
        let of_loop = self.inner + self.outer;
        let trials = trials.differences.len() as u64;
        if timing != Timing::All {
            // A blank's excess is that of the exit hook; the enter hook goes as unusual a way.
            let (inner, outer) = ((self.inner + difference).max(0.0), (self.outer + difference).max(0.0));
            let error = error.hypot(TRIAL_UNLIKENESS * (inner + outer));
            return Self { inner, outer, error, trials, counted, ..self };
        }
        if own <= 0.0 || of_loop <= 0.0 {
            return self;
        }
        // Which part of it lies inside the interval, the loop must tell.
        let scale = own / of_loop;
        let error = error.hypot(TRIAL_UNLIKENESS * own);
        Self { inner: self.inner * scale, outer: self.outer * scale, error, trials, counted, ..self }
    }
}

/// All that tells what the hooks cost where a program ran: of one recording, or of several that were made alike. It can be
/// added up; what it comes to is asked for once, of the sum.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// As a loop has shown at the start of each recording.
    loops: Vec<Costs>,
    trials: Trials,
    timing: Timing,
}

impl Evidence {
    /// That of a profile, in ticks; or `None` if it cannot be.
    pub fn of(header: &Header, trials: Trials) -> Option<Self> {
        Some(Self { loops: vec![Costs::of_loop(header)?], trials, timing: Timing::of(header) })
    }

    /// That of a loop alone.
    #[cfg(any(test, feature = "testing"))]
    pub fn of_costs(costs: Costs) -> Self {
        Self { loops: vec![costs], ..Self::default() }
    }

    /// As the loops have shown: their mean.
    pub fn of_loop(&self) -> Costs {
        let mean = |cost: fn(&Costs) -> f64| {
            let mut all: Vec<f64> = self.loops.iter().map(cost).collect();
            all.sort_unstable_by(f64::total_cmp); // sums of floats depend on the order
            all.iter().sum::<f64>() / all.len().max(1) as f64
        };
        Costs {
            inner: mean(|costs| costs.inner),
            outer: mean(|costs| costs.outer),
            error: mean(|costs| costs.error),
            untimed: mean(|costs| costs.untimed),
            counted: mean(|costs| costs.counted),
            trials: 0,
        }
    }

    /// What a loop at the start has shown of a pair, for each recording.
    pub fn loops(&self) -> impl Iterator<Item = f64> {
        self.loops.iter().map(|costs| costs.inner + costs.outer)
    }

    /// What it comes to.
    pub fn costs(&self) -> Costs {
        self.of_loop().tried(self.trials.clone(), self.timing)
    }

    /// The same in units of another length.
    pub fn scaled(&self, factor: f64) -> Self {
        let scaled = |values: &[f64]| values.iter().map(|value| value * factor).collect();
        let Trials { differences, excesses } = &self.trials;
        let trials = Trials { differences: scaled(differences), excesses: scaled(excesses) };
        let loops = self.loops.iter().map(|costs| costs.scaled(factor)).collect();
        Self { loops, trials, timing: self.timing }
    }

    /// Adds that of another recording, in the same unit and recorded in the same way.
    pub fn add(&mut self, other: &Self) {
        self.timing = other.timing;
        self.loops.extend(&other.loops);
        self.trials.differences.extend(&other.trials.differences);
        self.trials.excesses.extend(&other.trials.excesses);
    }

    /// The same, in an order that does not tell in which it was added up.
    pub fn sorted(mut self) -> Self {
        let key = |costs: &Costs| [costs.inner, costs.outer, costs.error, costs.untimed, costs.counted];
        self.loops.sort_by(|a, b| {
            let unequal = key(a).into_iter().zip(key(b)).map(|(a, b)| a.total_cmp(&b)).find(|order| order.is_ne());
            unequal.unwrap_or(std::cmp::Ordering::Equal)
        });
        self.trials.differences.sort_unstable_by(f64::total_cmp);
        self.trials.excesses.sort_unstable_by(f64::total_cmp);
        self
    }
}

fn ticks(cost: u64) -> f64 {
    cost as f64 / 1024.0
}

/// The results of trials, in ticks for a call: see [`diytrace_format::Trials`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trials {
    differences: Vec<f64>,
    excesses: Vec<f64>,
}

impl Trials {
    /// Adds those of an arena.
    pub fn add(&mut self, file: &File, arena: &Arena) {
        let Some(trials) = (arena.trials != 0).then(|| file.trials(arena.trials)).flatten() else { return };
        let len = trials.count.min(TRIALS as u64) as usize;
        let ticks = |&ticks: &i32| f64::from(ticks) / 1024.0;
        self.differences.extend(trials.differences[..len].iter().map(ticks));
        self.excesses.extend(trials.excesses[..len].iter().map(ticks));
    }
}

/// The mean without a share of the values at either end, and its standard error by the winsorised variance (Tukey and
/// McLaughlin 1963).
fn trimmed(values: &mut [f64], share: f64) -> Option<(f64, f64)> {
    if values.len() < LEAST_TRIALS {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    let cut = (values.len() as f64 * share) as usize;
    let kept = &values[cut..values.len() - cut];
    let (low, high) = (kept[0], kept[kept.len() - 1]);
    let mean = kept.iter().sum::<f64>() / kept.len() as f64;
    let n = values.len() as f64;
    let winsorised = || values.iter().map(|value| value.clamp(low, high));
    let middle = winsorised().sum::<f64>() / n;
    let variance = winsorised().map(|value| (value - middle).powi(2)).sum::<f64>() / (n - 1.0);
    Some((mean, variance.sqrt() / ((1.0 - 2.0 * share) * n.sqrt())))
}

#[cfg(test)]
mod tests {
    use zerocopy::FromZeros;

    use super::*;

    fn header() -> Header {
        let mut header = Header::new_zeroed();
        (header.inner_cost, header.outer_cost, header.counted_cost) = (10 << 10, 30 << 10, 8 << 10);
        header.cost_error = 6 << 10;
        header
    }

    fn trials(differences: Vec<f64>) -> Trials {
        Trials { excesses: vec![0.0; differences.len()], differences }
    }

    fn found(header: &Header, trials: Trials) -> Costs {
        Evidence::of(header, trials).unwrap().costs()
    }

    #[test]
    fn trials_tell_the_cost_whatever_disturbed_some() {
        let mut results: Vec<f64> = (0..100).map(|n| 40.0 + f64::from(n % 5)).collect();
        results[10..20].fill(1e5);
        let costs = found(&header(), trials(results));
        let total = costs.inner + costs.outer;
        assert!((49.0..51.5).contains(&total), "a counted pair and the trials' middle, not {total}");
        assert_eq!((costs.inner / total, costs.trials), (0.25, 100));
        assert!((5.3..5.7).contains(&costs.error), "a tenth, and a quarter of the counted pair's, not {}", costs.error);
    }

    #[test]
    fn what_the_hooks_miss_in_the_caches_is_in_the_cost_and_what_the_program_does_for_it() {
        let mut results = trials(vec![40.0; 20]);
        results.excesses.fill(3.0);
        let costs = found(&header(), results);
        let counted = 8.0 + 3.0 + 3.0 * PUSHED_OUT;
        assert!((costs.counted - counted).abs() < 1e-9, "{}", costs.counted);
        assert!((costs.inner + costs.outer - (40.0 + counted)).abs() < 1e-9);
        assert!(
            costs.error > (counted * COUNTING_UNLIKENESS).hypot(3.0).hypot((40.0 + counted) * TRIAL_UNLIKENESS) - 1e-9
        );
    }

    #[test]
    fn a_program_that_keeps_little_in_the_caches_has_little_to_lose() {
        // A call that is timed may even cost less than one that is counted: the clock is read while memory is waited for.
        let mut results = trials(vec![-10.0; 20]);
        results.excesses.fill(50.0);
        let costs = found(&header(), results);
        let seen = 8.0 + 50.0 - 10.0;
        assert!((costs.inner + costs.outer - seen * (1.0 + MOST_PUSHED_OUT)).abs() < 1e-9, "{costs:?}");
    }

    #[test]
    fn where_some_calls_are_timed_blanks_tell_what_those_cost() {
        let mut sampled = header();
        sampled.timing = diytrace_format::header::timing::SAMPLED;
        let costs = found(&sampled, trials(vec![5.0; 20]));
        assert_eq!((costs.inner, costs.outer, costs.counted), (15.0, 35.0, 8.0));
    }

    #[test]
    fn trials_that_tell_nothing_are_not_taken() {
        let loops = found(&header(), Trials::default());
        assert_eq!((loops.inner + loops.outer, loops.error, loops.trials), (40.0, 6.0, 0));
        assert_eq!(found(&header(), trials(vec![1.0; 3])), loops);
        assert_eq!(found(&header(), trials(vec![-100.0; 30])), loops);
    }

    #[test]
    fn what_is_pooled_knows_what_each_knows_too_little_of() {
        let some = |differences: Vec<f64>| Evidence::of(&header(), trials(differences)).unwrap();
        let [mut pooled, other] = [some(vec![30.0; 5]), some(vec![32.0; 5])];
        let longer = pooled.scaled(0.5).costs();
        assert_eq!(pooled.costs().trials, 0);
        pooled.add(&other);
        let all = pooled.costs();
        assert_eq!((all.trials, all.inner + all.outer), (10, 31.0 + 8.0));
        assert_eq!((longer.inner, longer.outer, longer.error), (5.0, 15.0, 3.0));
    }
}
