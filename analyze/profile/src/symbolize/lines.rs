//! Source lines of addresses.

use std::sync::Arc;

use addr2line::Context;
use rayon::prelude::*;

use super::answers::{Location, Probe};
use super::files::ModuleFiles;
use crate::elf::dwarf::Reader;
use crate::progress::Progress;

/// A core is worth setting up for this many lines.
const LEAST_SHARE: usize = 128;

/// Finds the lines of addresses in one module, which are sorted.
pub fn find(files: &ModuleFiles, wanted: &[(u64, Probe)], found: impl Fn((u64, Probe), Option<Location>) + Sync) {
    let Some(dwarf) = files.dwarf().map(Arc::new) else {
        return wanted.iter().for_each(|&query| found(query, None));
    };
    // Neighbours are in one unit, whose lines are then read once.
    let progress = Progress::new("looking up lines", wanted.len());
    let share = wanted.len().div_ceil(rayon::current_num_threads()).max(LEAST_SHARE);
    wanted.par_chunks(share).for_each(|wanted| {
        let context = Context::from_arc_dwarf(Arc::clone(&dwarf)).ok();
        for &(address, probe) in wanted {
            let location = context.as_ref().and_then(|context| find_one(context, address, probe));
            found((address, probe), location);
            progress.step();
        }
    });
}

fn find_one(context: &Context<Reader>, address: u64, probe: Probe) -> Option<Location> {
    let location = match probe {
        Probe::Function => context.find_location(address).ok()??,
        Probe::Call => context.find_location(address.checked_sub(1)?).ok()??,
        Probe::InlinedCall => {
            let mut frames = context.find_frames(address.checked_sub(1)?).skip_all_loads().ok()?;
            let innermost = frames.next().ok()??;
            // The line of a frame is where it calls the one before, which is the inlined function's own.
            match frames.next().ok()? {
                Some(caller) => caller.location?,
                None => innermost.location?,
            }
        }
    };
    Some(Location { file: location.file?.to_owned(), line: location.line? })
}
