//! Data for tests.

mod bytes;
mod family;
mod giving_way;
mod golden;
mod mutate;
mod simulate;

pub use bytes::{Profile, raw_node, sample};
pub use family::{arena, family, function_of, histogram_of, module, node, slot};
pub use giving_way::give_way;
pub use golden::golden_at;
pub use mutate::Mutations;
pub use simulate::{Call, Truth, calls, record};

/// Reads bytes and does all with them that a report does before it looks for files.
pub fn digest(bytes: &[u8]) {
    let Ok(family) = crate::load::parse(bytes) else { return };
    for by in [crate::merge::By::All, crate::merge::By::Thread] {
        let merged = crate::merge::merge(std::slice::from_ref(&family), by, None);
        let ids = (0..merged.places.len() as u32).map(|place| (place, place)).collect();
        for group in &merged.groups {
            let times = crate::correct::correct(group);
            for function in crate::functions::functions(group, &times, &ids, |_| false).values() {
                let _ = (function.mean(), function.histogram.percentiles([0.5, 0.999]));
            }
        }
    }
}
