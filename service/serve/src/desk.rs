//! Load that workers make, while it is made.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use diytrace_load::crew::Board;
use tokio::sync::watch;

/// Who makes load, and the clock that all of it has.
pub struct Desk {
    board: Mutex<Board>,
    /// Told whenever there may be something new to do.
    pub changed: watch::Sender<()>,
    began: Instant,
}

impl Default for Desk {
    fn default() -> Self {
        Self { board: Mutex::default(), changed: watch::channel(()).0, began: Instant::now() }
    }
}

impl Desk {
    /// Nanoseconds since it began.
    pub fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Who does what.
    pub fn board(&self) -> MutexGuard<'_, Board> {
        // It is whole between any two of its steps, and load is not worth more than that.
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
