//! Memory that is not in use any more.

use std::time::{Duration, Instant};

/// It is given back no more often: what is needed again must be asked for again.
const PAUSE: Duration = Duration::from_secs(10);

/// Gives back what lookups of names and readings as a whole have left: several times what an agent needs from then on, which the
/// allocator would keep, as a few blocks that stay lie between.
#[derive(Default)]
pub struct Heap {
    latest: Option<Instant>,
}

impl Heap {
    /// Gives back what is not in use, if that was not done a moment ago.
    pub fn give_back(&mut self) {
        if self.latest.is_some_and(|latest| latest.elapsed() < PAUSE) {
            return;
        }
        self.latest = Some(Instant::now());
        #[cfg(target_env = "gnu")]
        // SAFETY: it takes the allocator's own locks, and touches no block that is in use.
        unsafe {
            libc::malloc_trim(0);
        }
    }
}
