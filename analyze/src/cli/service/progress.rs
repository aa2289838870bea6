//! How a load goes, for people: lines on stderr that are drawn anew, and gone when the report comes.

use diytrace_load::{Driven, Error, Going, Observer, Pace, Slice, Step};
use diytrace_profile::human::{count, time};
use diytrace_profile::timeline::sparkline;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Most blocks of what went on over time.
const MOST_BLOCKS: usize = 60;

/// How far it has got, and what it has come to so far: at a terminal only.
pub struct Progress {
    bar: ProgressBar,
    number: u64,
    so_far: String,
}

impl Progress {
    /// Of a run that begins.
    pub fn new() -> Self {
        let style = ProgressStyle::with_template("{prefix} {wide_bar:.dim} {msg}");
        let bar = ProgressBar::with_draw_target(Some(100), ProgressDrawTarget::stderr());
        let bar = bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_prefix("warm-up");
        Self { bar, number: 0, so_far: String::new() }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress {
    fn begin(&mut self, number: usize, pace: Pace) -> Result<(), Error> {
        self.number = number as u64 + 1;
        let what = pace.rate().map_or_else(|| "as fast as it goes".to_owned(), diytrace_load::rate);
        self.bar.set_prefix(format!("step {}: {what}", self.number));
        Ok(())
    }

    fn look(&mut self, Going { done, part, so_far }: Going<'_>) -> Result<(), Error> {
        self.bar.set_position((part * 100.0) as u64);
        if let Some(driven) = so_far {
            self.so_far = said(driven);
        }
        self.bar.set_message(format!("{} done\n{}", count(done), self.so_far));
        Ok(())
    }

    fn end(&mut self, _step: &Step) -> Result<(), Error> {
        self.bar.set_prefix("warm-up");
        self.so_far.clear();
        Ok(())
    }
}

/// Rate, latency, what failed, and how the p99 went over time.
fn said(driven: &Driven) -> String {
    let Driven { tally, elapsed, .. } = driven;
    let rate = tally.answered as f64 / elapsed.as_secs_f64().max(1e-3);
    let mut parts = vec![format!("so far {}", diytrace_load::rate(rate.round()))];
    for (name, share) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)] {
        let known = tally.latency.percentile(share);
        parts.extend(known.map(|ns| format!("{name} {}", time(ns))));
    }
    for (name, number) in [("errors", tally.errors()), ("not sent", tally.all_not_sent())] {
        if number > 0 {
            parts.push(format!("{} {name}", count(number)));
        }
    }
    let slices = tally.timeline.slices();
    let each = slices.len().div_ceil(MOST_BLOCKS).max(1);
    let highest =
        |slices: &[Slice]| slices.iter().filter_map(|slice| slice.latency.percentile(0.99)).fold(0.0, f64::max);
    let blocks: Vec<f64> = slices.chunks(each).map(highest).collect();
    format!("{}\np99 {}", parts.join(" · "), sparkline(blocks.into_iter()))
}
