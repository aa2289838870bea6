//! A run: steps of load one after the other, each with a warm-up that does not count.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::Error;
use crate::failure::NotSent;
use crate::fleet::{Driven, Fleet, Going, Share, Stretch};
use crate::pace::{Pace, Rates};
use crate::phase::{Driver, Shared};
use crate::tally::Tally;
use crate::threads::Threads;

/// How a run goes.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its steps.
    pub rates: Rates,
    /// Whether requests come independently of each other, not at equal distances.
    pub is_poisson: bool,
    /// How long a step takes.
    pub duration: Duration,
    /// How long load is made before each, which does not count.
    pub warm_up: Duration,
    /// Random numbers come of this.
    pub seed: u64,
}

/// A step that was run.
#[derive(Clone, Debug)]
pub struct Step {
    /// How it was paced.
    pub pace: Pace,
    /// How long it took, without what was waited for at its end.
    pub elapsed: Duration,
    /// What it has come to.
    pub tally: Tally,
    /// What the load before it has come to.
    pub warm_up: Tally,
    /// Whether somebody has ended it.
    pub is_cut_short: bool,
    /// What each worker had of it and of the load before it, if there were any.
    pub workers: [Vec<Share>; 2],
}

/// Who looks on, between steps and while they go on.
pub trait Observer {
    /// A step is about to begin; nothing is on its way.
    fn begin(&mut self, _number: usize, _pace: Pace) -> Result<(), Error> {
        Ok(())
    }
    /// It goes on.
    fn look(&mut self, _going: Going<'_>) -> Result<(), Error> {
        Ok(())
    }
    /// It is over, and nothing is on its way.
    fn end(&mut self, _step: &Step) -> Result<(), Error> {
        Ok(())
    }
}

/// A server that has less than this share of a step's requests answered in its time cannot keep up.
pub const KEEPS_UP: f64 = 0.9;

/// Most steps of a ramp.
const MOST_STEPS: usize = 24;

/// Runs all steps on threads of this process; what there is if somebody ends it.
pub fn run<D: Driver>(
    plan: &Plan,
    drivers: &mut [D],
    shared: &Shared,
    observer: &mut dyn Observer,
) -> Result<Vec<Step>, Error> {
    run_on(plan, &mut Threads::of(drivers), shared, observer)
}

/// Runs all steps, wherever load is made.
pub fn run_on(
    plan: &Plan,
    fleet: &mut dyn Fleet,
    shared: &Shared,
    observer: &mut dyn Observer,
) -> Result<Vec<Step>, Error> {
    let mut steps: Vec<Step> = Vec::new();
    while let Some(pace) = next(plan, &steps) {
        let number = steps.len();
        let seed = plan.seed.wrapping_add(number as u64 * 1000);
        let warm_up = match plan.warm_up.is_zero() {
            true => Driven::nothing(),
            false => fleet.drive(&Stretch { pace, duration: plan.warm_up, seed: !seed }, shared, &mut |_| Ok(()))?,
        };
        if is_over(shared) && !steps.is_empty() {
            break;
        }
        observer.begin(number, pace)?;
        let stretch = Stretch { pace, duration: plan.duration, seed };
        let driven = fleet.drive(&stretch, shared, &mut |going| observer.look(going))?;
        let is_cut_short = is_over(shared);
        let Driven { tally, elapsed, shares } = driven;
        let workers = [warm_up.shares, shares];
        let step = Step { pace, elapsed, tally, warm_up: warm_up.tally, is_cut_short, workers };
        observer.end(&step)?;
        steps.push(step);
        if is_cut_short {
            break;
        }
    }
    Ok(steps)
}

fn is_over(shared: &Shared) -> bool {
    shared.is_over.load(Ordering::Relaxed)
}

/// The pace of the next step.
fn next(plan: &Plan, steps: &[Step]) -> Option<Pace> {
    let at = |rate: f64| if plan.is_poisson { Pace::Poisson(rate) } else { Pace::Constant(rate) };
    match &plan.rates {
        Rates::Listed(all) => all.get(steps.len()).copied().map(at),
        Rates::Max => steps.is_empty().then_some(Pace::Max),
        Rates::Ramp(foot) => match steps.last() {
            None => Some(at(*foot)),
            Some(last) => (steps.len() < MOST_STEPS && keeps_up(last))
                .then(|| last.pace.rate().map(|rate| at(rate * 2.0)))
                .flatten(),
        },
    }
}

/// Whether a server has kept up with a step.
pub fn keeps_up(step: &Step) -> bool {
    // What a lost worker has not sent is no fault of the server's.
    let asked = step.tally.planned - step.tally.not_sent.get(&NotSent::WorkerLost).copied().unwrap_or(0);
    step.tally.answered as f64 >= KEEPS_UP * asked as f64
}
