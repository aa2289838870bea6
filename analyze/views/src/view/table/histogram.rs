//! Distributions as pictures: how many calls took how long.

use crate::report::Bar;
use diytrace_profile::human::{count, share, time};

/// Most cells of a row.
const MOST_CELLS: usize = 24;

/// Widest bar of a block, in columns.
const WIDEST: usize = 32;

/// More empty lines than this are one.
const MOST_EMPTY: usize = 2;

/// Heights of a cell, the lowest first.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Parts of a column, the smallest first.
const PARTS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// Times along which several distributions are drawn: each cell is an octave or a few.
pub struct Axis {
    first: i32,
    octaves_of_cell: i32,
    cells: usize,
}

impl Axis {
    /// One that has all of them, if there is anything to draw.
    pub fn of<'a>(histograms: impl Iterator<Item = &'a [Bar]>) -> Option<Self> {
        let octaves: Vec<i32> = histograms.flatten().map(octave).collect();
        let (first, last) = (*octaves.iter().min()?, *octaves.iter().max()?);
        let octaves = (last - first + 1) as usize;
        let octaves_of_cell = octaves.div_ceil(MOST_CELLS);
        Some(Self { first, octaves_of_cell: octaves_of_cell as i32, cells: octaves.div_ceil(octaves_of_cell) })
    }

    /// Where it begins and ends.
    pub fn title(&self) -> String {
        let end = self.first + self.octaves_of_cell * self.cells as i32;
        let (from, to) = (short_time(self.first), short_time(end));
        let gap = self.cells.saturating_sub(from.chars().count() + to.chars().count());
        if gap == 0 { format!("{from}–{to}") } else { format!("{from}{}{to}", "·".repeat(gap)) }
    }

    /// A distribution, a character a cell.
    pub fn cells(&self, bars: &[Bar]) -> String {
        let mut calls = vec![0u64; self.cells];
        for bar in bars {
            let cell = ((octave(bar) - self.first) / self.octaves_of_cell) as usize;
            calls[cell] = calls[cell].saturating_add(bar.calls);
        }
        let most = calls.iter().copied().max().unwrap_or(0).max(1);
        let height = |calls: u64| match calls {
            0 => ' ',
            _ => HEIGHTS[((calls as f64 / most as f64 * 8.0).ceil() as usize).clamp(1, 8) - 1],
        };
        calls.into_iter().map(height).collect()
    }
}

/// A distribution as a block of lines, one for each octave.
pub fn block(bars: &[Bar]) -> Vec<String> {
    let mut octaves: Vec<(i32, u64)> = Vec::new();
    for bar in bars {
        match octaves.last_mut().filter(|(known, _)| *known == octave(bar)) {
            Some((_, calls)) => *calls = calls.saturating_add(bar.calls),
            None => octaves.push((octave(bar), bar.calls)),
        }
    }
    let (Some(&(first, _)), Some(&(last, _))) = (octaves.first(), octaves.last()) else { return Vec::new() };
    let calls_of = |octave: i32| octaves.iter().filter(|(known, _)| *known == octave).map(|(_, calls)| calls).sum();
    let rows: Vec<(i32, u64)> = (first..=last).map(|octave| (octave, calls_of(octave))).collect();
    let most = rows.iter().map(|(_, calls)| *calls).max().unwrap_or(0).max(1);
    let all = rows.iter().fold(0u64, |sum, (_, calls)| sum.saturating_add(*calls));
    let width = count(most).len();
    let line = |&(octave, calls): &(i32, u64)| {
        let line = format!(
            "  {:>8} – {:<8} {:>width$}  {:>6}  {}",
            short_time(octave),
            short_time(octave + 1),
            count(calls),
            share(calls as f64, all as f64),
            bar_of(calls as f64 / most as f64)
        );
        line.trim_end().to_owned()
    };
    let mut lines = Vec::new();
    for run in rows.chunk_by(|(_, a), (_, b)| (*a == 0) == (*b == 0)) {
        match run[0].1 == 0 && run.len() > MOST_EMPTY {
            true => lines.push(format!("  {:>8} – {}", short_time(run[0].0), short_time(run[run.len() - 1].0 + 1))),
            false => lines.extend(run.iter().map(line)),
        }
    }
    lines
}

fn bar_of(part: f64) -> String {
    let eighths = (part * WIDEST as f64 * 8.0).ceil() as usize;
    let last = (!eighths.is_multiple_of(8)).then(|| PARTS[eighths % 8 - 1]);
    "█".repeat(eighths / 8).chars().chain(last).collect()
}

/// The power of two, in nanoseconds, that a bar's middle lies above.
fn octave(bar: &Bar) -> i32 {
    let middle = (bar.from_ns + bar.to_ns) / 2.0;
    middle.max(1.0).log2().floor() as i32
}

/// A power of two in nanoseconds.
fn short_time(octave: i32) -> String {
    time(2f64.powi(octave)).replace(".00 ", " ").replace(".0 ", " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars() -> Vec<Bar> {
        [(16.0, 17.0, 100), (20.0, 21.0, 300), (64.0, 68.0, 1), (2048.0, 2100.0, 50)]
            .map(|(from_ns, to_ns, calls)| Bar { from_ns, to_ns, calls })
            .to_vec()
    }

    #[test]
    fn cells_of_an_axis() {
        let bars = bars();
        let axis = Axis::of([&bars[..], &[]].into_iter()).unwrap();
        assert_eq!(axis.title(), "16 ns–4.10 µs");
        assert_eq!(axis.cells(&bars), "█ ▁    ▁"[..].to_owned());
        assert_eq!(axis.cells(&[]), "        ");
        assert!(Axis::of(std::iter::empty()).is_none());
    }

    #[test]
    fn a_line_for_each_octave() {
        let lines = block(&bars());
        assert_eq!(lines.len(), 5);
        assert_eq!(lines[3], "    128 ns – 2.05 µs");
        assert_eq!(lines[0], format!("     16 ns – 32 ns    400   88.7%  {}", "█".repeat(32)));
        assert_eq!(lines[1], "     32 ns – 64 ns      0      0%");
    }
}
