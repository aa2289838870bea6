//! Which runs there are: by the names and the first bytes of files, so that it is quick.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use diytrace_format::{BLOCKS_START, reader};

use super::note::Note;
use super::{Error, Run};
use crate::archive::Archive;
use crate::load::{self, snapshot};

/// The runs at these paths, or in `diytrace.data` if there are none, the oldest first. Snapshots are copies and no runs.
pub fn find(paths: &[PathBuf]) -> Result<Vec<Run>, Error> {
    let mut runs: BTreeMap<(Option<PathBuf>, String), Run> = BTreeMap::new();
    for found in load::find_below(paths)? {
        let path = found.path;
        let is_archive = Archive::is_at(&path);
        if !is_archive && !found.is_named && snapshot::is_at(&path) {
            continue;
        }
        let started = if is_archive { written(&path) } else { started(&path) };
        let note = if is_archive { None } else { Note::read(&path) };
        let key = match &note {
            Some(note) => (path.parent().map(Path::to_owned), note.run.clone()),
            None => (Some(path.clone()), String::new()),
        };
        let run = runs.entry(key).or_insert_with(|| Run { started_unix_ns: started, ..Run::default() });
        run.label = run.label.take().or(note.and_then(|note| note.label));
        run.started_unix_ns = run.started_unix_ns.min(started);
        run.files.push(path);
    }
    let mut runs: Vec<Run> = runs.into_values().collect();
    runs.sort_by(|a, b| (a.started_unix_ns, &a.files).cmp(&(b.started_unix_ns, &b.files)));
    (1..).zip(&mut runs).for_each(|(number, run)| run.number = number);
    Ok(runs)
}

/// When a profile was begun; a damaged one may say so by its name.
fn started(path: &Path) -> u64 {
    let of_header = || {
        let mut bytes = Vec::new();
        File::open(path).ok()?.take(BLOCKS_START as u64).read_to_end(&mut bytes).ok()?;
        Some(reader::File::open(&bytes).ok()?.header().started_unix_ns)
    };
    let of_name = || path.file_stem()?.to_str()?.rsplit_once('-')?.1.parse().ok();
    of_header().or_else(of_name).unwrap_or_else(|| written(path))
}

fn written(path: &Path) -> u64 {
    let at = fs::metadata(path).ok().and_then(|facts| facts.modified().ok());
    let since = at.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_nanos().try_into().unwrap_or(u64::MAX))
}
