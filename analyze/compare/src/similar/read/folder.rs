//! Runs in JSON: a file each, or a folder each with files of several kinds, as Kubernetes keeps them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::{Run, numbers, perf_dashboard};
use crate::runs::FILE;
use crate::similar::Error;
use crate::similar::metric::Value;

/// What Kubernetes' CI writes when a run starts: `{"timestamp": seconds since 1970, …}`.
const STARTED: &str = "started.json";

/// Folders inside a run's folder, `artifacts` in Kubernetes, are looked into down to here.
const DEEPEST: usize = 8;

/// The runs of a folder, in the natural order of their names; `None` if there is no JSON in it, or profiles are.
pub fn runs(folder: &Path) -> Result<Option<Vec<Run>>, Error> {
    let Listed { files, folders, is_set } = list(folder)?;
    if is_set {
        return Ok(None);
    }
    let mut of_folders = Vec::new();
    for folder in folders {
        let files = all_in(&folder, DEEPEST)?;
        if !files.is_empty() {
            of_folders.push((folder, files));
        }
    }
    match (files.is_empty(), of_folders.is_empty()) {
        (true, true) => Ok(None),
        (false, false) => Err(Error::Ambiguous { path: folder.to_owned() }),
        (false, true) => files.iter().map(|file| run_of_file(file)).collect::<Result<_, _>>().map(Some),
        (true, false) => {
            let runs = of_folders.iter().map(|(folder, files)| run_of_folder(folder, files));
            runs.collect::<Result<_, _>>().map(Some)
        }
    }
}

/// A run that is one file.
pub fn run_of_file(path: &Path) -> Result<Run, Error> {
    let values = match perf_dashboard::values(path, "", &read(path)?)? {
        Some(values) => values,
        None => numbers::values("", &read(path)?),
    };
    Ok(Run { title: path.display().to_string(), query: None, at_unix_ns: written(path), values })
}

fn run_of_folder(folder: &Path, files: &[PathBuf]) -> Result<Run, Error> {
    let (mut items, mut others): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    let (mut has_items, mut started) = (false, None);
    for path in files {
        let json = read(path)?;
        if path.file_name().is_some_and(|name| name == STARTED) {
            let seconds = json.get("timestamp").and_then(serde_json::Value::as_i64);
            started = started.or(seconds.map(|seconds| i128::from(seconds) * 1_000_000_000));
            continue;
        }
        let group = kind_of_file(path);
        match perf_dashboard::values(path, &group, &json)? {
            Some(values) => {
                has_items = true;
                items.extend(values);
            }
            None => others.extend(numbers::values(&group, &json)),
        }
    }
    // Beside measurements, CI keeps facts about the run that are no measurements.
    let values = if has_items { items } else { others };
    let at_unix_ns = started.or_else(|| files.iter().filter_map(|path| written(path)).max());
    Ok(Run { title: folder.display().to_string(), query: None, at_unix_ns, values })
}

/// `APIResponsiveness_load_2017-03-01T10:00:00Z.json` is of the kind `APIResponsiveness_load` in every run.
fn kind_of_file(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let is_date = |part: &str| part.len() >= 8 && part.starts_with(|letter: char| letter.is_ascii_digit());
    let end = stem.rmatch_indices('_').find(|(at, _)| is_date(&stem[at + 1..])).map(|(at, _)| at);
    stem[..end.unwrap_or(stem.len())].to_owned()
}

fn read(path: &Path) -> Result<serde_json::Value, Error> {
    let text = fs::read(path).map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    serde_json::from_slice(text).map_err(|source| Error::NotJson { path: path.to_owned(), source })
}

fn written(path: &Path) -> Option<i128> {
    let at = fs::metadata(path).ok()?.modified().ok()?;
    at.duration_since(UNIX_EPOCH).ok().map(|since| since.as_nanos() as i128)
}

/// What is in a folder.
#[derive(Default)]
struct Listed {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    /// Whether profiles are, or what names them.
    is_set: bool,
}

fn list(folder: &Path) -> Result<Listed, Error> {
    let unreadable = |source| Error::Unreadable { path: folder.to_owned(), source };
    let mut listed = Listed::default();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let extension = path.extension().map(|extension| extension.as_encoded_bytes());
        listed.is_set |= path.ends_with(FILE) || matches!(extension, Some(b"diyt" | b"diya"));
        let is_json = extension == Some(b"json");
        if path.is_dir() {
            listed.folders.push(path);
        } else if is_json {
            listed.files.push(path);
        }
    }
    alphanumeric_sort::sort_path_slice(&mut listed.files);
    alphanumeric_sort::sort_path_slice(&mut listed.folders);
    Ok(listed)
}

fn all_in(folder: &Path, depth: usize) -> Result<Vec<PathBuf>, Error> {
    let Listed { mut files, folders, .. } = list(folder)?;
    if depth > 0 {
        for folder in folders {
            files.extend(all_in(&folder, depth - 1)?);
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_kind_is_its_name_without_the_date() {
        for (name, kind) in [
            ("APIResponsiveness_load_2017-03-01T10:00:00Z.json", "APIResponsiveness_load"),
            ("PodStartupLatency_density_20170301.json", "PodStartupLatency_density"),
            ("result.json", "result"),
            ("load_1.json", "load_1"),
        ] {
            assert_eq!(kind_of_file(Path::new(name)), kind);
        }
    }
}
