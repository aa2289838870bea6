//! Progress of long work: a bar on stderr, if that is a terminal and the work is not done at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that is done sooner shows nothing.
const PATIENCE: Duration = Duration::from_millis(400);

/// Work in steps, on any number of threads.
pub struct Progress {
    bar: ProgressBar,
    begun: Instant,
    is_shown: AtomicBool,
}

impl Progress {
    /// Work that has that many steps.
    pub fn new(what: &'static str, steps: usize) -> Self {
        let style = ProgressStyle::with_template("{msg} {wide_bar:.dim} {pos}/{len}");
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::hidden());
        let bar = bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())).with_message(what);
        Self { bar, begun: Instant::now(), is_shown: AtomicBool::new(false) }
    }

    /// One more step is done.
    pub fn step(&self) {
        self.bar.inc(1);
        if self.begun.elapsed() > PATIENCE && !self.is_shown.swap(true, Ordering::Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr()); // which draws nothing where there is no terminal
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
