//! A run: steps of load one after the other, each with a warm-up that does not count.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use crate::Error;
use crate::pace::{Pace, Rates};
use crate::phase::{Driver, Phase, Shared};
use crate::tally::Tally;

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
}

/// Who looks on, between steps and while they go on.
pub trait Observer {
    /// A step is about to begin; nothing is on its way.
    fn begin(&mut self, _number: usize, _pace: Pace) -> Result<(), Error> {
        Ok(())
    }
    /// It goes on; how many requests were done of the run, and which part of the step is over.
    fn look(&mut self, _done: u64, _part: f64) -> Result<(), Error> {
        Ok(())
    }
    /// It is over, and nothing is on its way.
    fn end(&mut self, _step: &Step) -> Result<(), Error> {
        Ok(())
    }
}

/// A phase begins so long after its threads are told of it.
const LEAD: Duration = Duration::from_millis(2);

/// Observers look on so often.
const LOOK: Duration = Duration::from_millis(20);

/// A server that has less than this share of a step's requests answered in its time cannot keep up.
pub const KEEPS_UP: f64 = 0.9;

/// Most steps of a ramp.
const MOST_STEPS: usize = 24;

/// Runs all steps; what there is if somebody ends it.
pub fn run<D: Driver>(
    plan: &Plan,
    drivers: &mut [D],
    shared: &Shared,
    observer: &mut dyn Observer,
) -> Result<Vec<Step>, Error> {
    let mut steps: Vec<Step> = Vec::new();
    while let Some(pace) = next(plan, &steps) {
        let number = steps.len();
        let seed = plan.seed.wrapping_add(number as u64 * 1000);
        let warm_up = match plan.warm_up.is_zero() {
            true => Tally::new(0),
            false => phase(pace, plan.warm_up, !seed, drivers, shared, &mut |_| Ok(()))?.0,
        };
        if is_over(shared) && !steps.is_empty() {
            break;
        }
        observer.begin(number, pace)?;
        let mut look = |part: f64| observer.look(shared.done.load(Ordering::Relaxed), part);
        let (tally, elapsed) = phase(pace, plan.duration, seed, drivers, shared, &mut look)?;
        let is_cut_short = is_over(shared);
        let step = Step { pace, elapsed, tally, warm_up, is_cut_short };
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
    step.tally.answered as f64 >= KEEPS_UP * step.tally.planned as f64
}

/// Load at one pace, on all threads, with somebody who looks on; and how long it took.
fn phase<D: Driver>(
    pace: Pace,
    duration: Duration,
    seed: u64,
    drivers: &mut [D],
    shared: &Shared,
    look: &mut dyn FnMut(f64) -> Result<(), Error>,
) -> Result<(Tally, Duration), Error> {
    let begins_ns = shared.now_ns() + LEAD.as_nanos() as u64;
    let length_ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX / 4);
    let ends_ns = begins_ns.saturating_add(length_ns);
    let phase = Phase { pace, begins_ns, ends_ns, threads: drivers.len() as u64, seed };
    let mut sum = Tally::new(begins_ns);
    let mut looked = Ok(());
    let mut over_ns = ends_ns;
    thread::scope(|scope| {
        let drive = |(number, driver): (usize, _)| {
            let driver: &mut D = driver;
            let phase = &phase;
            scope.spawn(move || driver.drive(phase, number as u64, shared))
        };
        let threads: Vec<_> = drivers.iter_mut().enumerate().map(drive).collect();
        loop {
            let now = shared.now_ns();
            if is_over(shared) {
                over_ns = over_ns.min(now);
            }
            if threads.iter().all(|thread| thread.is_finished()) {
                break;
            }
            let part = now.saturating_sub(begins_ns) as f64 / length_ns.max(1) as f64;
            if looked.is_ok() && part <= 1.0 {
                looked = look(part);
            }
            if looked.is_err() {
                shared.is_over.store(true, Ordering::Relaxed);
            }
            let until_end = Duration::from_nanos(ends_ns.saturating_sub(shared.now_ns()));
            thread::sleep(if until_end.is_zero() { Duration::from_millis(1) } else { LOOK.min(until_end) });
        }
        for thread in threads {
            match thread.join() {
                Ok(tally) => sum.merge(tally),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    looked?;
    Ok((sum, Duration::from_nanos(over_ns.saturating_sub(begins_ns))))
}
