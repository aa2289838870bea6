//! Frames of a recording whose program is running.

use std::error::Error;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use diytrace_profile::load::reader::Reader;
use diytrace_store::{Frame, Labelled, frame};

use crate::vary::{Random, vary};

/// How many frames are made of each.
const VARIED: usize = 4;

/// What came between so many readings, one a second, each varied.
pub fn frames(recording: PathBuf, readings: usize) -> Result<Vec<Frame>, Box<dyn Error>> {
    let mut reader = Reader::new(recording);
    let mut before = reader.read()?.family;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut frames = Vec::new();
    for _ in 1..readings {
        sleep(Duration::from_secs(1));
        let now = reader.read()?.family;
        let real = frame(Some(&before), &now, &Labelled::default());
        for _ in 0..VARIED {
            let mut merged = vary(&real.merged, usize::MAX, &mut random);
            // All histograms that came are sent.
            merged.groups[0].functions = real.merged.groups[0].functions.clone();
            frames.push(Frame { merged, ..real.clone() });
        }
        before = now;
    }
    match frames.iter().any(|frame| frame.merged.groups[0].calls == 0) {
        true => Err("the program counts nothing".into()),
        false => Ok(frames),
    }
}
