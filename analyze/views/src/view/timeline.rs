//! Timelines as lines of blocks.

use diytrace_profile::human::{count, counted, moment, time};
use diytrace_profile::timeline::{Axis, Timeline, sparkline};

/// Space for what stands before the blocks.
const LABEL: usize = 7;

/// Space for what stands behind them, such as `  peak about 12,345,678/s`.
const PEAK: usize = 26;

/// Fewer blocks than these show nothing.
const LEAST: usize = 8;

/// A timeline in that many columns: time, calls if they rose and fell otherwise, and what a block is. Nothing if it is one
/// slice long, or empty. Calls are exact if all were timed.
pub fn lines(timeline: &Timeline, all_timed: bool, width: Option<usize>) -> Vec<String> {
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(LABEL + PEAK).max(LEAST));
    let about = if all_timed { "" } else { "about " };
    let Some(axis) = Axis::of(std::iter::once(timeline), room).filter(|axis| axis.slices > 1) else {
        return Vec::new();
    };
    let slices = axis.lay(timeline);
    let seconds = axis.slice_ns / 1e9;
    let highest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max) / seconds;
    let (ns, calls) = (slices.iter().map(|slice| slice.total_ns), slices.iter().map(|slice| slice.calls));
    let (most_ns, most_calls) = (highest(&mut ns.clone()), highest(&mut calls.clone()));
    let (of_time, of_calls) = (sparkline(ns), sparkline(calls));
    let mut lines = Vec::new();
    if most_ns > 0.0 {
        lines.push(format!("{:LABEL$}{of_time}  peak {}/s", "time", time(most_ns)));
    }
    if most_calls > 0.0 && of_calls != of_time {
        lines.push(format!("{:LABEL$}{of_calls}  peak {about}{}/s", "calls", per_second(most_calls)));
    }
    if !lines.is_empty() {
        lines.push(format!("{:LABEL$}{}", "", scale(&axis)));
    }
    lines
}

/// What the blocks of an axis are: `64 slices of 9.40 ms from 2026-11-20 12:30:01 UTC`.
pub fn scale(axis: &Axis) -> String {
    format!(
        "{} of {} from {}",
        counted(axis.slices as u64, "slice", "slices"),
        time(axis.slice_ns),
        moment(axis.start_unix_ns)
    )
}

fn per_second(rate: f64) -> String {
    if rate < 9.95 { format!("{rate:.1}") } else { count(rate.round() as u64) }
}
