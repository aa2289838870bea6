//! How far a load has got, for people.

use diytrace_load::{Error, Going, Observer, Pace, Step};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How far it has got: a line on stderr, at a terminal only.
pub struct Progress {
    bar: ProgressBar,
    number: u64,
}

impl Progress {
    /// Of a run that begins.
    pub fn new() -> Self {
        let style = ProgressStyle::with_template("{prefix} {wide_bar:.dim} {msg}");
        let bar = ProgressBar::with_draw_target(Some(100), ProgressDrawTarget::stderr());
        let bar = bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_prefix("warm-up");
        Self { bar, number: 0 }
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

    fn look(&mut self, Going { done, part, .. }: Going<'_>) -> Result<(), Error> {
        self.bar.set_position((part * 100.0) as u64);
        self.bar.set_message(format!("{} done", diytrace_profile::human::count(done)));
        Ok(())
    }

    fn end(&mut self, _step: &Step) -> Result<(), Error> {
        self.bar.set_prefix("warm-up");
        Ok(())
    }
}
