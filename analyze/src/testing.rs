//! Data for tests, made by hand.

use diytrace::histogram::{SUBS, bin};

use crate::histogram::Histogram;
use crate::load;

/// A histogram of these times in ticks.
pub fn histogram_of(ticks: &[u64], hz: f64) -> Histogram {
    let mut histogram = Histogram::default();
    histogram.add(&function_of(0, ticks), hz);
    histogram
}

/// A function whose calls took these times.
pub fn function_of(address: u64, ticks: &[u64]) -> load::Function {
    let mut octaves: Vec<(u8, [u64; SUBS])> = Vec::new();
    for &value in ticks {
        let (octave, sub) = bin(value);
        let index = octaves.iter().position(|&(known, _)| usize::from(known) == octave).unwrap_or_else(|| {
            octaves.push((octave as u8, [0; SUBS]));
            octaves.len() - 1
        });
        octaves[index].1[sub] += 1;
    }
    let extremes = ticks.iter().min().copied().zip(ticks.iter().max().copied());
    load::Function { address, generation: 0, extremes, unbinned: 0, octaves }
}
