//! How far it has got, and about how long it will take: one line on stderr, at a terminal only.
//!
//! It is drawn between runs: a clock that ticks would run on a processor that is being measured.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The line.
pub struct Progress {
    bar: ProgressBar,
    begun: Instant,
    done: u64,
}

impl Progress {
    /// For about so many runs.
    pub fn new(runs: u64) -> Self {
        let style = ProgressStyle::with_template("{prefix} {wide_bar:.dim} {pos}/{len}  {msg}");
        let bar = ProgressBar::with_draw_target(Some(runs), ProgressDrawTarget::stderr());
        let bar = bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message("estimating");
        Self { bar, begun: Instant::now(), done: 0 }
    }

    /// What comes next.
    pub fn begin(&self, what: &str) {
        self.bar.set_prefix(what.to_owned());
        self.bar.tick();
    }

    /// One more run is done, of about so many; none begins after the limit.
    pub fn step(&mut self, of: u64, limit: Option<Instant>) {
        self.done += 1;
        self.bar.set_length(of.max(self.done));
        self.bar.set_position(self.done);
        let each = self.begun.elapsed() / u32::try_from(self.done).unwrap_or(u32::MAX);
        let mut left = each.saturating_mul(u32::try_from(of.saturating_sub(self.done)).unwrap_or(u32::MAX));
        if let Some(limit) = limit {
            left = left.min(limit.saturating_duration_since(Instant::now()));
        }
        self.bar.set_message(format!("about {} left", rough(left)));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A time as one says it.
pub fn rough(time: Duration) -> String {
    match time.as_secs_f64().round() as u64 {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", (seconds + 30) / 60),
        seconds => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}
