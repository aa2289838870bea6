//! How the file's space is handed out.

use super::sync::{AtomicU64, Ordering};

/// Takes `size` bytes behind those handed out so far (`Header::used`), below `limit`. `make_usable` is asked beforehand
/// whether a range can be written to. Gives the range's offset, or `None`.
pub fn take(used: &AtomicU64, size: u64, limit: u64, mut make_usable: impl FnMut(u64) -> bool) -> Option<u64> {
    loop {
        let offset = used.load(Ordering::Acquire);
        let end = offset.checked_add(size).filter(|&end| end <= limit)?;
        if !make_usable(offset) {
            return None;
        }
        // Made usable first: if another process took this range meanwhile, nothing is lost by trying the next.
        if used.compare_exchange(offset, end, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            return Some(offset);
        }
    }
}
