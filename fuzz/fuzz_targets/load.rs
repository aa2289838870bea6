//! Whatever the bytes of a profile are, a report is made of them or an error, and nothing worse.
//!
//! ```text
//! cargo +nightly fuzz run load fuzz/corpus/load fuzz/seeds/load
//! ```
//!
//! The seeds are run by `cargo test` as well, and made anew by `DIYTRACE_REGENERATE=1 cargo test -p diytrace-profile seeds`.

#![no_main]

use diytrace_profile::merge::By;
use diytrace_profile::{correct, functions, load, merge};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(family) = load::parse(bytes) else { return };
    let merged = merge::merge(&[family], By::Process, None);
    let ids = (0..merged.places.len() as u32).map(|place| (place, place)).collect();
    for group in &merged.groups {
        let times = correct::correct(group);
        for function in functions::functions(group, &times, &ids, |_| false).values() {
            let _ = (function.mean(&function.corrected), function.histogram.percentiles([0.5, 0.999]));
        }
    }
});
