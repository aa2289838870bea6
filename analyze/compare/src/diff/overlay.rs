//! When functions ran: the runs of both sides, laid over each other.
//!
//! Runs begin at different times of day, and a recording may have waited long before it was asked anything. So time counts
//! from the first slice of a run in which anything ran that has a timeline: it is off by a slice at most.

use serde::Serialize;

use crate::statistics::median;
use diytrace_profile::timeline::{Axis, SLICES, Timeline};

/// When a function ran on both sides, in slices of one axis. Time counts from where a run's first call is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overlay {
    /// How long a slice is, in nanoseconds.
    pub slice_ns: f64,
    /// The runs before.
    pub left: Course,
    /// The runs after.
    pub right: Course,
}

/// Time of a function in each slice, over the runs of a side, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Course {
    /// The median of the runs.
    pub median_ns: Vec<u64>,
    /// The least of any run.
    pub low_ns: Vec<u64>,
    /// The most of any run.
    pub high_ns: Vec<u64>,
}

/// Moves a run's timelines to where its first call is.
pub fn begin_at_zero(run: &mut [(usize, Timeline)]) {
    let Some(earliest) = run.iter().map(|(_, timeline)| timeline.start_unix_ns).min() else { return };
    let begins = run.iter_mut().map(|(_, timeline)| {
        let empty = timeline.slices.iter().take_while(|slice| slice.calls == 0.0 && slice.total_ns == 0.0).count();
        timeline.slices.drain(..empty);
        (timeline.start_unix_ns - earliest) as f64 + timeline.slice_ns * empty as f64
    });
    let begins: Vec<f64> = begins.collect();
    let first = begins.iter().copied().fold(f64::INFINITY, f64::min);
    for ((_, timeline), begin) in run.iter_mut().zip(begins) {
        timeline.start_unix_ns = (begin - first).round() as u64;
    }
}

impl Overlay {
    /// Of a function's timelines, each with the number of its run among so many of a side. `None` if there is no time in them.
    pub fn of(sides: &[Vec<(usize, Timeline)>; 2], runs: [usize; 2]) -> Option<Self> {
        let timelines = || sides.iter().flatten().map(|(_, timeline)| timeline);
        let axis = Axis::starting_at(0, timelines(), SLICES)?;
        let [left, right] = [0, 1].map(|side: usize| course(&sides[side], runs[side], &axis));
        let any = [&left, &right].iter().any(|course| course.high_ns.iter().any(|ns| *ns > 0));
        any.then_some(Self { slice_ns: axis.slice_ns, left, right })
    }
}

fn course(timelines: &[(usize, Timeline)], runs: usize, axis: &Axis) -> Course {
    // A run without the function spent no time in it.
    let mut times = vec![vec![0.0; runs]; axis.slices];
    for (run, timeline) in timelines {
        for (times, slice) in times.iter_mut().zip(axis.lay(timeline)) {
            times[*run] += slice.total_ns;
        }
    }
    let of = |choose: fn(&[f64]) -> f64| times.iter().map(|times| choose(times).round() as u64).collect();
    Course {
        median_ns: of(median),
        low_ns: of(|times| times.iter().copied().fold(f64::INFINITY, f64::min)),
        high_ns: of(|times| times.iter().copied().fold(0.0, f64::max)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diytrace_profile::timeline::TimelineSlice;

    fn timeline(start_unix_ns: u64, slice_ns: f64, times: &[f64]) -> Timeline {
        let slices = times.iter().map(|&total_ns| TimelineSlice { calls: 0.0, total_ns }).collect();
        Timeline { start_unix_ns, slice_ns, slices }
    }

    #[test]
    fn a_run_begins_where_anything_of_it_does() {
        let mut run = [(0, timeline(1000, 10.0, &[0.0, 0.0, 0.0, 5.0])), (1, timeline(1005, 10.0, &[0.0, 3.0, 4.0]))];
        begin_at_zero(&mut run);
        assert_eq!(run, [(0, timeline(15, 10.0, &[5.0])), (1, timeline(0, 10.0, &[3.0, 4.0]))]);
    }

    #[test]
    fn runs_of_a_side_are_a_median_and_what_is_around_it() {
        let left =
            vec![(0, timeline(0, 8.0, &[1.0, 2.0])), (1, timeline(0, 8.0, &[3.0])), (2, timeline(0, 8.0, &[5.0]))];
        let right = vec![(0, timeline(16, 16.0, &[9.0]))];
        let overlay = Overlay::of(&[left, right], [3, 2]).unwrap();
        let course = |median: &[u64], low: &[u64], high: &[u64]| Course {
            median_ns: median.into(),
            low_ns: low.into(),
            high_ns: high.into(),
        };
        assert_eq!(overlay.slice_ns, 16.0);
        assert_eq!(overlay.left, course(&[3, 0], &[3, 0], &[5, 0]));
        assert_eq!(overlay.right, course(&[0, 5], &[0, 0], &[0, 9]));
        assert_eq!(Overlay::of(&[Vec::new(), Vec::new()], [3, 3]), None);
        assert_eq!(Overlay::of(&[vec![(0, timeline(0, 8.0, &[0.0]))], Vec::new()], [1, 1]), None);
    }
}
