//! Saves names beside profiles, while the files are there that tell them: [`symbolize::saved`](crate::symbolize::saved) is what is written.
//!
//! Nobody waits for it: what cannot be saved is not, and nobody hears of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::archive::Writer;
use crate::opened::{Opened, Selection};
use crate::symbolize::{gather_met, saved};

/// Most profiles that one command saves names of: each is read once more.
const MOST: usize = 16;

/// Saves the names of these profiles, if it was not done.
pub fn save<'a>(profiles: impl IntoIterator<Item = &'a Path>) {
    let unsaved = profiles.into_iter().filter(|profile| !saved::path(profile).exists());
    for profile in unsaved.take(MOST).map(PathBuf::from) {
        if let Ok(opened) = Opened::open(&Selection { profiles: vec![profile.clone()], ..Selection::default() }) {
            let _ = write(&opened, &profile);
        }
    }
}

/// Saves the names of profiles that were read, if it was not done, or of less than there is now.
pub fn save_read(opened: &Opened) {
    if !opened.loaded.archives.is_empty() {
        return; // they have names of their own, and their profiles lie elsewhere
    }
    let mut profiles = opened.loaded.profiles.iter().map(|profile| &*profile.path);
    match (profiles.next(), profiles.next()) {
        (Some(profile), None) => {
            if saved::places(profile) != Some(places(opened)) {
                let _ = write(opened, profile);
            }
        }
        _ => save(opened.loaded.profiles.iter().map(|profile| &*profile.path)),
    }
}

fn places(opened: &Opened) -> u64 {
    opened.merged.places.len() as u64
}

/// Whether something is saved of each instrumented module that was met.
fn has_all(opened: &Opened, saved: &saved::Modules) -> bool {
    let met: BTreeSet<_> = opened.merged.places.iter().filter_map(|place| place.module).collect();
    let met = met.into_iter().map(|id| &opened.merged.modules[id as usize]).filter(|module| module.is_instrumented);
    met.filter_map(|module| module.key()).all(|key| saved.contains_key(&key))
}

fn write(opened: &Opened, profile: &Path) -> std::io::Result<()> {
    let path = saved::path(profile);
    let writer = Writer::beside(&path)?; // first: most of what can go wrong is found here
    let symbols = opened.symbols();
    let met = gather_met(&opened.merged, &symbols);
    let known = met.filter_map(|(id, met)| Some((opened.merged.modules[id as usize].key()?, met)));
    let known: Vec<_> = known.collect();
    // What is no longer here was saved before.
    let before = saved::read(&path);
    let saved_before = before.as_ref().map_or(0, BTreeMap::len);
    let is_new = before.is_err();
    let mut modules = before.unwrap_or_default();
    modules.extend(known);
    let places = if has_all(opened, &modules) { places(opened) } else { 0 };
    if places == 0 && !is_new && modules.len() == saved_before {
        return Ok(()); // nothing here can tell more
    }
    saved::write(writer, profile, places, &modules)
}
