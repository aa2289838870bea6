//! When functions ran: a line for each that has a timeline, all on one axis.

use super::dim;
use crate::report::{Document, Function, Report};
use crate::view::{Screen, timeline};
use diytrace_profile::human::{counted, shorten, time};
use diytrace_profile::timeline::{Axis, Timeline, sparkline};

/// What is left for names.
const NAME: usize = 28;

/// What stands between: indent, gaps and the total.
const BESIDE: usize = 2 + 2 + 9 + 2;

/// Fewer blocks than these show nothing.
const LEAST: usize = 8;

/// The table's lines.
pub fn lines(document: &Document, report: &Report, screen: &Screen) -> Vec<String> {
    let with = |function: &'_ Function| function.timeline.is_some();
    let rows: Vec<&Function> = report.functions.iter().filter(|function| with(function)).collect();
    let shown = &rows[..rows.len().min(document.limit.unwrap_or(usize::MAX))];
    let room = screen.width.map_or(usize::MAX, |width| width.saturating_sub(BESIDE + NAME).max(LEAST));
    let timelines = || shown.iter().filter_map(|function| function.timeline.as_ref());
    let Some(axis) = Axis::of(timelines(), room) else {
        return vec![
            "  none of these functions has a timeline: roots have, and what nothing recorded has called".to_owned(),
        ];
    };
    // The words below the blocks are wider than a few of them.
    let blocks = axis.slices.max("time".len());
    let name_width = screen.width.map_or(usize::MAX, |width| width.saturating_sub(BESIDE + blocks).max(NAME / 2));
    let heading = format!("  {:blocks$}  {:>9}  function", "time", "total");
    let mut lines = vec![dim(&heading, screen)];
    for function in shown {
        let of_time = function.timeline.as_ref().map_or_else(String::new, |timeline| blocks_of(&axis, timeline));
        let (total, name) = (time(function.total_ns), shorten(&function.name, name_width));
        lines.push(format!("  {of_time:blocks$}  {total:>9}  {name}"));
    }
    if rows.len() > shown.len() {
        let more = counted((rows.len() - shown.len()) as u64, "more function", "more functions");
        lines.push(format!("  … and {more}"));
    }
    lines.push(dim(&format!("  {}", timeline::scale(&axis)), screen));
    lines
}

/// Time; calls where none was measured.
fn blocks_of(axis: &Axis, timeline: &Timeline) -> String {
    let slices = axis.lay(timeline);
    match slices.iter().any(|slice| slice.total_ns > 0.0) {
        true => sparkline(slices.iter().map(|slice| slice.total_ns)),
        false => sparkline(slices.iter().map(|slice| slice.calls)),
    }
}
