//! Sets that have no `runs.json`: folders of profiles.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Error, Metrics, Run, Runs};
use diytrace_profile::load::interval::Interval;
use diytrace_profile::load::{self, snapshot};

pub fn find(path: &Path) -> Result<Runs, Error> {
    let (mut profiles, mut warnings) = (Vec::new(), Vec::new());
    if Interval::names(path).is_some() || !path.is_dir() {
        load::find(&[path.to_owned()]).map(drop).or_else(|error| match Interval::names(path) {
            Some((from, to)) => load::find(&[from, to]).map(drop),
            None => Err(error),
        })?;
        profiles.push(path.to_owned());
    } else {
        profiles = in_folder(path, &mut warnings)?;
    }
    let run = |(index, profile): (usize, PathBuf)| Run {
        query: None,
        number: index as u32 + 1,
        started_unix_ns: started(&profile),
        profiles: vec![profile],
        elsewhere: None,
        status: 0,
        metrics: Metrics::new(),
    };
    let runs = profiles.into_iter().enumerate().map(run).collect();
    let machine = serde_json::Value::Null;
    Ok(Runs { name: name_of(path), command: String::new(), machine, folder: path.to_owned(), runs, warnings })
}

/// The profiles of a folder, or else those of its subfolders that have any, in the natural order of their names.
fn in_folder(folder: &Path, warnings: &mut Vec<String>) -> Result<Vec<PathBuf>, Error> {
    let unreadable = |source| Error::Unreadable { path: folder.to_owned(), source };
    let mut subfolders = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() && has_profiles(&path)? {
            subfolders.push(path);
        }
    }
    let mut found = match load::find(&[folder.to_owned()]) {
        Ok(_) if !subfolders.is_empty() => return Err(Error::Ambiguous { path: folder.to_owned() }),
        Ok(files) => without_snapshots(files.into_iter().map(|file| file.path).collect(), warnings)?,
        Err(load::Error::Empty { .. }) if !subfolders.is_empty() => subfolders,
        Err(error) => return Err(error.into()),
    };
    alphanumeric_sort::sort_path_slice(&mut found);
    Ok(found)
}

fn has_profiles(folder: &Path) -> Result<bool, Error> {
    match load::find(&[folder.to_owned()]) {
        Ok(_) => Ok(true),
        Err(load::Error::Empty { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// A copy is no run of its own; where there is nothing else, the first one says why it is none.
fn without_snapshots(files: Vec<PathBuf>, warnings: &mut Vec<String>) -> Result<Vec<PathBuf>, Error> {
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    for path in files {
        match snapshot::is_at(&path) {
            true => left_out.push(load::Error::Snapshot { path }),
            false => kept.push(path),
        }
    }
    warnings.extend(left_out.iter().map(ToString::to_string));
    match left_out.into_iter().next() {
        Some(error) if kept.is_empty() => Err(error.into()),
        _ => Ok(kept),
    }
}

/// When a run was started, as the names of its profiles say (`program-pid-start.diyt`): the earliest.
fn started(profile: &Path) -> Option<u64> {
    let of_file = |path: &Path| path.file_stem()?.to_str()?.rsplit_once('-')?.1.parse().ok();
    match load::find(&[profile.to_owned()]) {
        Ok(files) => files.iter().filter_map(|file| of_file(&file.path)).min(),
        Err(_) => None,
    }
}

/// The last part of a path.
pub fn name_of(path: &Path) -> String {
    let whole = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    whole.file_name().unwrap_or(whole.as_os_str()).to_string_lossy().into_owned()
}
