//! Threads of this process that make load.

use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;

use crate::Error;
use crate::fleet::{Driven, Fleet, Going, Stretch};
use crate::phase::{Driver, Part, Phase, Shared};
use crate::tally::Tally;

/// A phase begins so long after its threads are told of it.
const LEAD: Duration = Duration::from_millis(2);

/// Observers look on so often.
const LOOK: Duration = Duration::from_millis(20);

/// Threads that have a stretch of load for themselves.
pub struct Threads<'a, D> {
    drivers: &'a mut [D],
    /// What they tell while they drive, if anybody wants to know.
    parts: Option<Receiver<Part>>,
}

impl<'a, D: Driver> Threads<'a, D> {
    /// One for each driver.
    pub fn of(drivers: &'a mut [D]) -> Self {
        Self { drivers, parts: None }
    }

    /// The same, whose threads tell what they count to whoever has the other end of this.
    pub fn telling(self, parts: Receiver<Part>) -> Self {
        Self { parts: Some(parts), ..self }
    }
}

impl<D: Driver> Fleet for Threads<'_, D> {
    fn drive(
        &mut self,
        stretch: &Stretch,
        shared: &Shared,
        look: &mut dyn FnMut(Going<'_>) -> Result<(), Error>,
    ) -> Result<Driven, Error> {
        let Stretch { pace, duration, seed } = *stretch;
        let begins_ns = shared.now_ns() + LEAD.as_nanos() as u64;
        let ends_ns = begins_ns.saturating_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX / 4));
        let phase = Phase { pace, begins_ns, ends_ns, threads: self.drivers.len() as u64, seed };
        let parts = self.parts.as_ref();
        let mut so_far = Driven { tally: Tally::new(begins_ns), ..Driven::nothing() };
        let take = |so_far: &mut Driven| {
            let mut has_any = false;
            for part in parts.into_iter().flat_map(Receiver::try_iter) {
                so_far.elapsed = so_far.elapsed.max(Duration::from_nanos(part.until_ns.saturating_sub(begins_ns)));
                so_far.tally.merge(part.tally);
                has_any = true;
            }
            has_any
        };
        let mut look = |part: f64| {
            let is_new = take(&mut so_far);
            look(Going { done: shared.done.load(Ordering::Relaxed), part, so_far: is_new.then_some(&so_far) })
        };
        let (rest, elapsed) = drive(self.drivers, &phase, 0, shared, &mut look)?;
        take(&mut so_far);
        so_far.tally.merge(rest);
        Ok(Driven { elapsed, ..so_far })
    }
}

/// Drives a phase's threads from the `first` on, with somebody who looks on; what they have come to, and how long it took.
pub fn drive<D: Driver>(
    drivers: &mut [D],
    phase: &Phase,
    first: u64,
    shared: &Shared,
    look: &mut dyn FnMut(f64) -> Result<(), Error>,
) -> Result<(Tally, Duration), Error> {
    let Phase { begins_ns, ends_ns, .. } = *phase;
    let length_ns = ends_ns.saturating_sub(begins_ns);
    let mut sum = Tally::new(begins_ns);
    let mut looked = Ok(());
    let mut over_ns = ends_ns;
    thread::scope(|scope| {
        let drive = |(number, driver): (usize, _)| {
            let driver: &mut D = driver;
            scope.spawn(move || driver.drive(phase, first + number as u64, shared))
        };
        let threads: Vec<_> = drivers.iter_mut().enumerate().map(drive).collect();
        loop {
            let now = shared.now_ns();
            let is_over = shared.is_over.load(Ordering::Relaxed);
            if is_over {
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
