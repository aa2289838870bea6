//! The moment at which both clocks were last compared, which any process writes: in turn to several places, each with a
//! check, so that a reader takes none that is half written.

use super::sync::{AtomicU32, AtomicU64, Ordering};
use crate::header::Anchor;

/// A place for a moment.
pub struct Place<'a> {
    /// The recorder's clock.
    pub ticks: &'a AtomicU64,
    /// The kernel's.
    pub monotonic_ns: &'a AtomicU64,
    /// [`Anchor::check`] of both.
    pub check: &'a AtomicU64,
}

/// Which place is written next.
pub fn turn(turns: &AtomicU32) -> usize {
    turns.fetch_add(1, Ordering::Relaxed) as usize
}

impl Place<'_> {
    /// Writes a moment.
    pub fn write(&self, anchor: Anchor) {
        self.check.store(0, Ordering::Release);
        self.ticks.store(anchor.ticks, Ordering::Release);
        self.monotonic_ns.store(anchor.monotonic_ns, Ordering::Release);
        self.check.store(anchor.check(), Ordering::Release);
    }

    /// The moment, if there is one as it was written.
    pub fn read(&self) -> Option<Anchor> {
        let check = self.check.load(Ordering::Acquire);
        let monotonic_ns = self.monotonic_ns.load(Ordering::Acquire);
        let anchor = Anchor { ticks: self.ticks.load(Ordering::Acquire), monotonic_ns };
        (check == anchor.check()).then_some(anchor)
    }
}
