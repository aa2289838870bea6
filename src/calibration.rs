//! What timing costs in the running program: the results of windows.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Most results that are kept of one arena. Two become one when there is no room for another.
pub const RESULTS: usize = 63;

/// The results of an arena's windows.
///
/// A window is a stretch of calls that are only noted (see [`crate::ring`]), between others that are timed. Whatever the program
/// does is the same in both on the average, so the difference of their times is what timing costs, where and when the program
/// runs. The timed calls are all since the last window; of a thread that has waited there, those just before this one.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Calibration {
    /// Results here.
    pub count: u64,
    /// Windows so far.
    pub made: u64,
    /// What a timed call took longer than a noted one, in 1/1024 ticks.
    pub differences: [i32; RESULTS],
    /// How many calls a result stands for, in thousands: those since the one before.
    pub weights: [i32; RESULTS],
    /// How much longer a noted call took in the second part of its stretch than in the third, in 1/1024 ticks: what the hooks
    /// that time have pushed out of the caches was still coming back. The first part is warm-up, and `differences` are of the
    /// third.
    pub declines: [i32; RESULTS],
    /// What a noted call took in that third part, in 1/1024 ticks.
    pub noted: [i32; RESULTS],
    /// What a call took longer that was noted twice, in the last part, than one that was noted once, in the third, in 1/1024
    /// ticks: about what noting takes.
    pub own: [i32; RESULTS],
    /// The least that a call took which does nothing and whose hooks do nothing, in 1/1024 ticks: what such a call takes without the
    /// recorder. 0 = not measured.
    pub empty_call: u32,
}

/// What a window has found: see [`Calibration`]. In 1/1024 ticks for a call.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// What a timed call took.
    pub timed: i32,
    /// What a noted call took.
    pub noted: i32,
    /// What a second note of each call takes.
    pub own: i32,
    /// How much longer a noted call took before.
    pub decline: i32,
    /// For how many calls that stands, in thousands.
    pub calls: i32,
}

impl Calibration {
    /// Adds a result.
    pub fn add(&mut self, found: &Found) {
        let mut count = (self.count as usize).min(RESULTS);
        if count == RESULTS {
            self.join_two();
            count -= 1;
        }
        (self.differences[count], self.weights[count]) = (found.timed.saturating_sub(found.noted), found.calls);
        (self.declines[count], self.noted[count], self.own[count]) = (found.decline, found.noted, found.own);
        self.count = count as u64 + 1;
    }

    /// Makes one result of the two neighbours that stand for the fewest calls together: so all come to stand for about as many, and tell
    /// how far windows differ, however many there were.
    fn join_two(&mut self) {
        let weight = |at: usize| i64::from(self.weights[at]).max(1);
        let lightest = (1..RESULTS).min_by_key(|&second| weight(second - 1) + weight(second));
        let Some(second) = lightest else { return };
        let first = second - 1;
        let weights = [weight(first), weight(second)];
        let sum = weights[0] + weights[1];
        for results in [&mut self.differences, &mut self.declines, &mut self.noted, &mut self.own] {
            let both = i64::from(results[first]) * weights[0] + i64::from(results[second]) * weights[1];
            results[first] = (both / sum) as i32;
            results.copy_within(second + 1.., second);
        }
        self.weights[first] = sum.min(i32::MAX.into()) as i32;
        self.weights.copy_within(second + 1.., second);
    }

    /// Has the latest result stand for so many thousand calls more, each of which took so long.
    pub fn extend(&mut self, timed: i32, calls: i32) {
        let Some(last) = (self.count as usize).min(RESULTS).checked_sub(1) else { return };
        let weight = i64::from(self.weights[last]).max(1);
        let all = (weight + i64::from(calls)).max(1);
        let longer = i64::from(timed.saturating_sub(self.noted[last]));
        self.differences[last] =
            ((i64::from(self.differences[last]) * weight + longer * i64::from(calls)) / all) as i32;
        self.weights[last] = all.min(i32::MAX.into()) as i32;
    }
}

const _: () = assert!(size_of::<Calibration>() == 1280);

#[cfg(test)]
mod tests {
    use super::*;
    use zerocopy::FromZeros;

    /// The mean over all calls, of what timed ones took longer.
    fn mean(windows: &Calibration) -> f64 {
        let weights = || windows.weights[..windows.count as usize].iter().map(|weight| f64::from(*weight));
        let sum: f64 =
            windows.differences.iter().zip(weights()).map(|(ticks, weight)| f64::from(*ticks) * weight).sum();
        sum / weights().sum::<f64>()
    }

    /// The first result once stood for nearly all calls of a long run, and the others for the last few windows.
    #[test]
    fn results_stand_for_about_as_many_calls_however_many_there_were() {
        for made in [63, 64, 100, 1_000, 20_000] {
            let mut windows = Calibration::new_zeroed();
            for window in 0..made {
                let noted = if window < made / 10 { 200 } else { 30 };
                windows.add(&Found { timed: noted + 60, noted, own: 5, decline: 0, calls: 131 });
            }
            let weights = &windows.weights[..windows.count as usize];
            let [least, most] = [weights.iter().min(), weights.iter().max()].map(|weight| *weight.unwrap());
            assert_eq!(weights.iter().map(|weight| i64::from(*weight)).sum::<i64>(), i64::from(made) * 131);
            // Those that have come last stand for themselves.
            assert!(i64::from(most) <= (4 * i64::from(made) / RESULTS as i64 + 4) * 131, "{made}: {least} to {most}");
            assert_eq!(mean(&windows), 60.0);
        }
    }

    #[test]
    fn the_last_calls_of_a_thread_count_in_the_mean() {
        let mut windows = Calibration::new_zeroed();
        windows.extend(900, 10); // there is no result that they could belong to
        assert_eq!(windows.count, 0);
        for _ in 0..3 {
            windows.add(&Found { timed: 110, noted: 10, own: 5, decline: 0, calls: 20 });
        }
        windows.extend(410, 30);
        assert_eq!((windows.count, windows.made, windows.weights[2]), (3, 0, 50));
        assert_eq!(mean(&windows), (100.0 * 60.0 + 400.0 * 30.0) / 90.0);
        windows.extend(9_000, 0);
        assert_eq!(mean(&windows), 200.0, "calls that there are none of change nothing");
    }
}
