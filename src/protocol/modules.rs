//! Which modules the file has: numbered once for all processes, and linked, latest first.

use super::sync::{AtomicU32, Ordering};
use crate::Ref;

/// The number of a module that is about to be recorded (`Header::modules`), from 1.
pub fn number(modules: &AtomicU32) -> u32 {
    modules.fetch_add(1, Ordering::Relaxed).saturating_add(1)
}

/// Puts a complete record at the head of the list (`Header::last_module`); `previous` is the record's own link.
pub fn link(head: &AtomicU32, previous: &AtomicU32, record: Ref) {
    let mut first = head.load(Ordering::Acquire);
    loop {
        previous.store(first, Ordering::Relaxed);
        match head.compare_exchange(first, record, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return,
            Err(found) => first = found,
        }
    }
}
