//! What the hooks cost: as a loop has shown at the program's start, and as windows have while it ran.

use diytrace_format::calibration::RESULTS;
use diytrace_format::reader::File;
use diytrace_format::{Arena, Header};
use serde::{Deserialize, Serialize};

/// A cost beyond this (in ticks) is a damaged file's.
const SANE_COST: f64 = 1e5;

/// Fewer windows than this say nothing of their spread.
const LEAST_WINDOWS: usize = 8;

/// What noting a call takes, of what a second note of it takes longer, at least and at most. With hooks that note all the time, once or
/// twice, and keep nothing, the first took 0.4 (cppcheck) to 1.0 (SQLite) of the second.
const LEAST_NOTE: f64 = 0.4;
const MOST_NOTE: f64 = 1.1;

/// The same where noted calls take many times what a second note does: the program waits, for memory or after wrong guesses of the
/// processor, and a note behind that is done beside nothing else. A tree of 87,000 paths met at random showed 1.7, where noted calls
/// took six second notes.
const MOST_NOTE_WAITING: f64 = 2.0;
const WAITING: f64 = 3.0;

/// What a body that was inlined takes, of what a call does: its hooks are called, and it is not.
const BODY: f64 = 0.9;

/// How many standard errors may be so. Windows are no independent draws: some dozens of windows, each of which lies in one part of
/// what the program does. With two, and less of a note, 26 of 33 runs of seven programs were covered.
const STANDARD_ERRORS: f64 = 3.0;

/// How far off windows may be beside that, as a fraction of what a noted call takes with what it does: what they found of
/// whole programs was more than what these took with such hooks alone, by one to six hundredths.
const WINDOW_UNLIKENESS: f64 = 0.06;

/// Results of windows further from their median than so many times the median of such distances are taken for this far: what
/// kept the thread waiting without the kernel's knowledge. No nearer, as programs have cold phases, and those weigh.
const FARTHEST: f64 = 30.0;

/// How far off what the loop tells may be, as a fraction of what the recorder has measured of its rare work and taken off: that is cold,
/// and cools the hooks. Of three programs that ended before there were windows, 0.1 to 0.15 of it was still in their times.
const RARE: f64 = 0.2;

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
    /// Calibration windows in the running program that `inner` and `outer` come from; 0 if a loop at the program's start had to do.
    pub windows: u64,
}

/// What a loop at the start of a recording has shown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Loop {
    inner: f64,
    outer: f64,
    error: f64,
    untimed: f64,
    /// How many calls the recording has; 0 if that is not known. Called so in stores, which had nothing there.
    #[serde(rename = "windows")]
    calls: u64,
}

impl Loop {
    /// `None` if they cannot be.
    fn of(header: &Header) -> Option<Self> {
        let costs = Self {
            inner: ticks(header.inner_cost),
            outer: ticks(header.outer_cost),
            error: ticks(header.cost_error),
            untimed: ticks(header.untimed_cost),
            calls: 0,
        };
        costs.all().iter().all(|&cost| cost <= SANE_COST).then_some(costs)
    }

    fn all(&self) -> [f64; 4] {
        [self.inner, self.outer, self.error, self.untimed]
    }

    fn scaled(&self, factor: f64) -> Self {
        let [inner, outer, error, untimed] = self.all().map(|cost| cost * factor);
        Self { inner, outer, error, untimed, calls: self.calls }
    }
}

impl Costs {
    /// With the results of windows, if those tell more than the loop has.
    ///
    /// What timing costs is what a timed call takes longer than a noted one, and what noting takes, which is told by how much
    /// longer noting it twice takes. That is a property of the hooks, and found in the middle of all windows.
    ///
    /// What timed calls take is no sample: the results together have all of them. How far off this may be is therefore how
    /// far off the noted calls are, of which there are few.
    fn measured(self, windows: &Calibration) -> Self {
        let Some((longer, _)) = windows.mean(|result| result.first) else { return self };
        let Some((noted, error)) = windows.mean(|result| result.noted) else { return self };
        let Some((second_note, of_second_note)) = windows.middle(|result| result.own) else { return self };
        let Some((decline, of_decline)) = windows.mean(|result| result.decline) else { return self };
        let note = Note::of(noted, second_note, windows.empty_call);
        let program = noted - note.first;
        let of_samples = error.hypot(of_second_note * MOST_NOTE).hypot(of_decline) * STANDARD_ERRORS;
        // As much again is still to come back after the last part, if it comes back by half in each.
        let still = decline.max(0.0);
        let (own, of_loop) = (longer + note.first + still, self.inner + self.outer);
        if own <= 0.0 || of_loop <= 0.0 {
            return self;
        }
        // Which part of it lies inside the interval, the loop must tell.
        let scale = own / of_loop;
        let unlike = note.unknown.hypot(program.max(0.0) * WINDOW_UNLIKENESS);
        let error = of_samples.hypot(still / 2.0).hypot(unlike);
        Self { inner: self.inner * scale, outer: self.outer * scale, error, windows: windows.made, ..self }
    }
}

/// What noting a call takes.
#[derive(Clone, Copy, Debug)]
struct Note {
    first: f64,
    /// How far off that may be.
    unknown: f64,
}

impl Note {
    /// Where a noted call takes so long, a second note of it so much longer, and one that does nothing so long without any.
    ///
    /// The processor does some of a first note's work while the program waits for something else, and then there is less room for the
    /// second's: a first one may take far less. But what it leaves for the program is no less than a call takes that does nothing.
    fn of(noted: f64, second: f64, empty_call: f64) -> Self {
        let second = second.max(0.0);
        let (mut least, mut most) =
            (second * LEAST_NOTE, (noted / WAITING).clamp(second * MOST_NOTE, second * MOST_NOTE_WAITING));
        if empty_call > 0.0 {
            most = most.min(noted - empty_call * BODY).max(0.0);
            least = least.min(most * LEAST_NOTE);
        }
        Self { first: (least + most) / 2.0, unknown: (most - least) / 2.0 }
    }
}

/// All that tells what the hooks cost where a program ran: of one recording, or of several that were made alike. It can be
/// added up; what it comes to is asked for once, of the sum.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// As a loop has shown at the start of each recording.
    loops: Vec<Loop>,
    calibration: Calibration,
}

impl Evidence {
    /// That of a profile, in ticks; or `None` if it cannot be.
    pub fn of(header: &Header, calibration: Calibration) -> Option<Self> {
        Some(Self { loops: vec![Loop::of(header)?], calibration })
    }

    /// That of a program in which so many ticks were spent on rare work in so many calls: of those the loop is less sure.
    pub fn with_rare_work(mut self, ticks: u64, calls: u64) -> Self {
        let unsure = (RARE * ticks as f64 / calls.max(1) as f64).min(SANE_COST);
        self.loops.iter_mut().for_each(|costs| (costs.error, costs.calls) = (costs.error + unsure, calls.max(1)));
        self
    }

    /// That of a loop alone.
    #[cfg(any(test, feature = "testing"))]
    pub fn of_costs(costs: Costs) -> Self {
        let Costs { inner, outer, error, untimed, .. } = costs;
        Self { loops: vec![Loop { inner, outer, error, untimed, calls: 0 }], ..Self::default() }
    }

    /// The memory that it takes beside itself.
    pub fn bytes(&self) -> usize {
        self.loops.capacity() * size_of::<Loop>() + self.calibration.results.capacity() * size_of::<Tried>()
    }

    /// As the loops have shown: their mean, in which each counts by the calls of its recording, if they are known of all.
    pub fn of_loop(&self) -> Costs {
        let are_known = self.loops.iter().all(|costs| costs.calls > 0);
        let mean = |cost: fn(&Loop) -> f64| {
            let weight = |costs: &Loop| if are_known { costs.calls as f64 } else { 1.0 };
            let mut all: Vec<(f64, f64)> = self.loops.iter().map(|costs| (cost(costs), weight(costs))).collect();
            // Sums of floats depend on the order.
            all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
            let Some(&(least, _)) = all.first() else { return 0.0 };
            let [beyond, weights] = all.iter().fold([0.0; 2], |[beyond, weights], (cost, weight)| {
                [beyond + (cost - least) * weight, weights + weight]
            });
            least + beyond / weights // of one, just that
        };
        Costs {
            inner: mean(|costs| costs.inner),
            outer: mean(|costs| costs.outer),
            error: mean(|costs| costs.error),
            untimed: mean(|costs| costs.untimed),
            windows: 0,
        }
    }

    /// What a loop at the start has shown of a pair, for each recording.
    pub fn loops(&self) -> impl Iterator<Item = f64> {
        self.loops.iter().map(|costs| costs.inner + costs.outer)
    }

    /// What it comes to.
    pub fn costs(&self) -> Costs {
        self.of_loop().measured(&self.calibration)
    }

    /// The same in units of another length.
    pub fn scaled(&self, factor: f64) -> Self {
        let scaled = |&Tried { first, weight, decline, noted, own }: &Tried| Tried {
            own: own * factor,
            first: first * factor,
            weight,
            decline: decline * factor,
            noted: noted * factor,
        };
        let results = self.calibration.results.iter().map(scaled).collect();
        let calibration =
            Calibration { results, made: self.calibration.made, empty_call: self.calibration.empty_call * factor };
        let loops = self.loops.iter().map(|costs| costs.scaled(factor)).collect();
        Self { loops, calibration }
    }

    /// Adds that of another recording, in the same unit and recorded in the same way.
    pub fn add(&mut self, other: &Self) {
        self.loops.extend(&other.loops);
        self.calibration.results.extend(&other.calibration.results);
        self.calibration.made += other.calibration.made;
        self.calibration.know_empty_call(other.calibration.empty_call);
    }

    /// The same, in an order that does not tell in which it was added up.
    pub fn sorted(mut self) -> Self {
        self.loops.sort_by(|a, b| {
            let unequal = a.all().into_iter().zip(b.all()).map(|(a, b)| a.total_cmp(&b)).find(|order| order.is_ne());
            unequal.unwrap_or_else(|| a.calls.cmp(&b.calls))
        });
        self.calibration.results.sort_unstable_by(|a, b| {
            let of_own = || a.noted.total_cmp(&b.noted).then(a.own.total_cmp(&b.own));
            let of_noted = || a.decline.total_cmp(&b.decline).then_with(of_own);
            let of_rest = || a.weight.total_cmp(&b.weight).then_with(of_noted);
            a.first.total_cmp(&b.first).then_with(of_rest)
        });
        self
    }
}

fn ticks(cost: u64) -> f64 {
    cost as f64 / 1024.0
}

/// The result of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Tried {
    /// What a timed call took longer, in ticks.
    first: f64,
    /// How many calls that stands for.
    weight: f64,
    /// How much longer a noted call took in the second third of its stretch than in the last, in ticks.
    decline: f64,
    /// What it took there, in ticks.
    noted: f64,
    /// How much longer it took where it was noted twice, in ticks.
    own: f64,
}

/// The results of windows: see [`diytrace_format::Calibration`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    results: Vec<Tried>,
    /// How many windows they come from.
    made: u64,
    /// The least that a call took that does nothing, without the recorder; 0 if that is not known.
    empty_call: f64,
}

impl Calibration {
    /// Adds those of an arena.
    pub fn add(&mut self, file: &File, arena: &Arena) {
        let Some(windows) = (arena.calibration != 0).then(|| file.calibration(arena.calibration)).flatten() else {
            return;
        };
        let len = windows.count.min(RESULTS as u64) as usize;
        let ticks = |ticks: i32| f64::from(ticks) / 1024.0;
        self.results.extend((0..len).map(|place| Tried {
            first: ticks(windows.differences[place]),
            weight: f64::from(windows.weights[place].max(1)),
            decline: ticks(windows.declines[place]),
            noted: ticks(windows.noted[place]),
            own: ticks(windows.own[place]),
        }));
        self.made = self.made.saturating_add(windows.made.max(len as u64));
        self.know_empty_call(f64::from(windows.empty_call) / 1024.0);
    }

    /// The least of all that was found.
    fn know_empty_call(&mut self, found: f64) {
        let is_news = found > 0.0 && (self.empty_call == 0.0 || found < self.empty_call);
        self.empty_call = if is_news { found } else { self.empty_call };
    }

    /// The median of windows, and its standard error.
    fn middle(&self, of: fn(&Tried) -> f64) -> Option<(f64, f64)> {
        let is_enough = self.results.len() >= LEAST_WINDOWS;
        is_enough.then(|| middle(self.results.iter().map(of).collect()))
    }

    /// The mean over the calls of the program, and its standard error.
    fn mean(&self, of: fn(&Tried) -> f64) -> Option<(f64, f64)> {
        if self.results.len() < LEAST_WINDOWS {
            return None;
        }
        let middle = median(self.results.iter().map(of).collect());
        let farthest = median(self.results.iter().map(|result| (of(result) - middle).abs()).collect()) * FARTHEST;
        let near = |result: &Tried| of(result).clamp(middle - farthest, middle + farthest);
        let weights: f64 = self.results.iter().map(|result| result.weight).sum();
        let mean = self.results.iter().map(|result| near(result) * result.weight).sum::<f64>() / weights;
        let off = |result: &Tried| ((near(result) - mean) * result.weight / weights).powi(2);
        let n = self.results.len() as f64;
        let variance = self.results.iter().map(off).sum::<f64>() * n / (n - 1.0);
        Some((mean, variance.sqrt()))
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The middle of some, and its standard error as of normal distributions: what is the same everywhere, and disturbed here and
/// there.
fn middle(values: Vec<f64>) -> (f64, f64) {
    let (n, middle) = (values.len() as f64, median(values.clone()));
    let spread = median(values.iter().map(|value| (value - middle).abs()).collect()) * 1.4826;
    (middle, 1.2533 * spread / n.sqrt())
}

#[cfg(test)]
mod tests {
    use zerocopy::FromZeros;

    use super::*;

    fn header() -> Header {
        let mut header = Header::new_zeroed();
        (header.inner_cost, header.outer_cost) = (10 << 10, 30 << 10);
        header.cost_error = 6 << 10;
        header
    }

    fn windows(differences: Vec<f64>) -> Calibration {
        let made = differences.len() as u64;
        let measured = |first| Tried { first, weight: 256.0, decline: 0.0, noted: 10.0, own: SECOND_NOTE };
        Calibration { results: differences.into_iter().map(measured).collect(), made, empty_call: 0.0 }
    }

    fn found(header: &Header, windows: Calibration) -> Costs {
        Evidence::of(header, windows).unwrap().costs()
    }

    /// What a second note of these windows takes, what a first one does, and what the program does beside them.
    const SECOND_NOTE: f64 = 4.0;
    const NOTE: f64 = SECOND_NOTE * (LEAST_NOTE + MOST_NOTE) / 2.0;
    const PROGRAM: f64 = 10.0 - NOTE;

    /// What is not known of such hooks, in a program that takes so much.
    fn unlikeness(program: f64) -> f64 {
        (SECOND_NOTE * (MOST_NOTE - LEAST_NOTE) / 2.0).hypot(program * WINDOW_UNLIKENESS)
    }

    /// A daemon that executes itself again leaves a recording of four calls beside that of a million.
    #[test]
    fn a_recording_of_few_calls_makes_that_of_many_no_less_sure() {
        let of = |ticks, calls| Evidence::of(&header(), Calibration::default()).unwrap().with_rare_work(ticks, calls);
        let (large, small) = (of(50_000, 1_000_000), of(50_000, 4));
        assert!(small.costs().error > 2000.0);
        let mut both = large.clone();
        both.add(&small);
        let [alone, beside] = [&large, &both].map(|evidence| evidence.costs().error);
        assert!((alone..alone + 0.05).contains(&beside), "{alone} {beside}");
        // Nor does one of none.
        both.add(&of(50_000, 0));
        assert!((alone..alone + 0.05).contains(&both.costs().error), "{alone} {}", both.costs().error);
        // Of older stores, which do not know, each counts the same.
        both.loops.iter_mut().for_each(|costs| costs.calls = 0);
        assert!(both.costs().error > 1000.0);
    }

    #[test]
    fn windows_tell_the_cost_whatever_disturbed_some() {
        let mut results: Vec<f64> = (0..100).map(|n| 40.0 + f64::from(n % 5)).collect();
        results[10..12].fill(1e5);
        let costs = found(&header(), windows(results));
        let total = costs.inner + costs.outer;
        assert!((41.0..43.5).contains(&(total - NOTE)), "what noting takes and the windows' mean, not {total}");
        assert_eq!((costs.inner / total, costs.windows), (0.25, 100));
        assert!(
            (costs.error - unlikeness(PROGRAM)).abs() < 1e-9,
            "what is not known of noted calls, not {}",
            costs.error
        );
    }

    /// cppcheck: what cold call paths cost is in few windows, and was cut off at either end.
    #[test]
    fn cold_phases_weigh_as_much_as_they_are_of_the_program() {
        let mut results: Vec<f64> = (0..90).map(|n| 10.0 + f64::from(n % 5)).collect();
        results.extend([30.0; 10]);
        let costs = found(&header(), windows(results.clone()));
        assert!((costs.inner + costs.outer - 13.8 - NOTE).abs() < 0.01, "{costs:?}");
        let mut weighed = windows(results);
        weighed.results[90..].iter_mut().for_each(|result| result.weight *= 9.0);
        let costs = found(&header(), weighed);
        assert!((costs.inner + costs.outer - 21.0 - NOTE).abs() < 0.01, "{costs:?}");
    }

    /// What most of the windows take was taken for the most that calls take in any, so that the time of long calls was their hooks'.
    #[test]
    fn long_calls_in_a_part_of_the_windows_cost_their_hooks_no_more() {
        let mut results = windows((0..90).map(|n| 60.0 + f64::from(n % 5)).collect());
        for (n, result) in results.results.iter_mut().enumerate() {
            result.noted += if n < 15 { 200.0 } else { 0.1 * (n % 3) as f64 };
        }
        let costs = found(&header(), results);
        assert!((costs.inner + costs.outer - 62.0 - NOTE).abs() < 1.0, "{costs:?}");
    }

    #[test]
    fn what_comes_back_into_the_caches_only_later_is_in_the_cost_and_in_the_error() {
        let mut results = windows(vec![40.0; 20]);
        results.results.iter_mut().for_each(|result| result.decline = 6.0);
        let costs = found(&header(), results);
        assert!((costs.inner + costs.outer - 46.0 - NOTE).abs() < 1e-9, "{costs:?}");
        assert!((costs.error - 3f64.hypot(unlikeness(PROGRAM))).abs() < 1e-9, "{costs:?}");
    }

    #[test]
    fn the_error_is_that_of_the_few_calls_that_were_noted() {
        let mut results = windows(vec![40.0; 20]);
        for (n, result) in results.results.iter_mut().enumerate() {
            // Of timed calls that differ as much nothing is unknown.
            result.first += if n % 4 < 2 { 30.0 } else { 0.0 };
            let more = if n % 2 == 0 { 4.0 } else { 0.0 };
            (result.noted, result.first) = (result.noted + more, result.first - more);
        }
        let costs = found(&header(), results);
        let spread = STANDARD_ERRORS * 2.0 / 19f64.sqrt();
        assert!((costs.error - spread.hypot(unlikeness(PROGRAM + 2.0))).abs() < 1e-9, "{costs:?}");
    }

    /// A note that takes long is no more likely to be one than a note that takes nothing: interrupts come in either part.
    #[test]
    fn what_noting_takes_is_the_middle_of_what_second_notes_took() {
        let mut results = windows(vec![40.0; 21]);
        results.results[..6].iter_mut().for_each(|result| result.own = 90.0);
        results.results[6..12].iter_mut().for_each(|result| result.own = -50.0);
        let costs = found(&header(), results);
        assert!((costs.inner + costs.outer - 40.0 - NOTE).abs() < 1e-9, "{costs:?}");
        assert!(costs.error > unlikeness(PROGRAM), "{costs:?}");
    }

    /// fib on a processor that does most of a first note while the program waits for its own calls and returns.
    #[test]
    fn a_noted_call_takes_no_less_than_one_that_does_nothing() {
        let [alone, bounded] = [0.0, 3.4].map(|empty_call| Note::of(5.9, 4.3, empty_call));
        let program = |note: &Note| 5.9 - note.first;
        assert!(program(&alone) + alone.unknown < 4.7, "{alone:?}");
        assert!((program(&bounded) - 4.4).abs() < bounded.unknown && bounded.unknown < 1.0, "{bounded:?}");
        assert!(program(&bounded) - bounded.unknown < 3.4 && program(&bounded) > 3.4, "{bounded:?}");
        // Where calls take long, that says nothing.
        let [alone, bounded] = [0.0, 3.4].map(|empty_call| Note::of(12.0, 4.3, empty_call));
        assert_eq!((alone.first, alone.unknown), (bounded.first, bounded.unknown));
        assert!(Note::of(2.0, 4.0, 3.4).first.abs() < 1e-9, "what cannot be");
    }

    #[test]
    fn what_a_program_that_waits_notes_takes_more() {
        let [busy, waiting] = [8.0, 21.0].map(|noted| Note::of(noted, 3.2, 3.4));
        assert!(waiting.first > busy.first && waiting.first + waiting.unknown <= 3.2 * MOST_NOTE_WAITING);
    }

    #[test]
    fn the_least_that_an_empty_call_took_is_kept() {
        let mut some = windows(vec![30.0; 5]);
        some.know_empty_call(0.0);
        assert_eq!(some.empty_call, 0.0, "not measured");
        for found in [5.0, 3.0, 0.0, 4.0] {
            some.know_empty_call(found);
        }
        let mut all = Evidence::of(&header(), windows(vec![32.0; 5])).unwrap();
        all.add(&Evidence::of(&header(), some).unwrap().scaled(2.0));
        assert_eq!(all.calibration.empty_call, 6.0);
    }

    #[test]
    fn windows_that_tell_nothing_are_not_taken() {
        let loops = found(&header(), Calibration::default());
        assert_eq!((loops.inner + loops.outer, loops.error, loops.windows), (40.0, 6.0, 0));
        assert_eq!(found(&header(), windows(vec![1.0; 3])), loops);
        assert_eq!(found(&header(), windows(vec![-100.0; 30])), loops);
    }

    #[test]
    fn what_is_pooled_knows_what_each_knows_too_little_of() {
        let some = |differences: Vec<f64>| Evidence::of(&header(), windows(differences)).unwrap();
        let [mut pooled, other] = [some(vec![30.0; 5]), some(vec![32.0; 5])];
        let longer = pooled.scaled(0.5).costs();
        assert_eq!(pooled.costs().windows, 0);
        pooled.add(&other);
        let all = pooled.costs();
        assert_eq!(all.windows, 10);
        assert!((33.0..=35.0).contains(&(all.inner + all.outer)), "{all:?}");
        assert_eq!((longer.inner, longer.outer, longer.error), (5.0, 15.0, 3.0));
    }
}
