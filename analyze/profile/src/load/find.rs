//! Finds the files that profiles are in.

use std::fs;
use std::path::{Path, PathBuf};

use super::Error;

/// Where profiles are if nobody says otherwise.
pub const DEFAULT_FOLDER: &str = "diytrace.data";

/// A profile's file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// Where it is.
    pub path: PathBuf,
    /// Whether somebody asked for this very file, and not for all in its folder.
    pub is_named: bool,
}

/// The profiles at these paths, in the order of their names, each once.
pub fn find(paths: &[PathBuf]) -> Result<Vec<Found>, Error> {
    let default = [PathBuf::from(DEFAULT_FOLDER)];
    let mut found = Vec::new();
    for path in if paths.is_empty() { &default } else { paths } {
        match fs::metadata(path) {
            Ok(facts) if facts.is_dir() => found.extend(in_folder(path)?),
            Ok(_) => found.push(Found { path: path.clone(), is_named: true }),
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => {
                return Err(Error::Missing { path: path.clone() });
            }
            Err(source) => return Err(Error::Unreadable { path: path.clone(), source }),
        }
    }
    found.sort();
    found.dedup_by(merge_named);
    Ok(found)
}

/// Folders in a folder of runs are looked into down to here: `diytrace.bench/left/QUERY/001`.
const DEEPEST: usize = 4;

/// The same; of a folder that has no profiles itself, those in its folders.
pub fn find_below(paths: &[PathBuf]) -> Result<Vec<Found>, Error> {
    let default = [PathBuf::from(DEFAULT_FOLDER)];
    let mut found = Vec::new();
    for path in if paths.is_empty() { &default } else { paths } {
        match find(std::slice::from_ref(path)) {
            Err(Error::Empty { .. }) => {
                let below = below(path, DEEPEST)?;
                if below.is_empty() {
                    return Err(Error::Empty { path: path.clone() });
                }
                found.extend(below);
            }
            other => found.extend(other?),
        }
    }
    found.sort();
    found.dedup_by(merge_named);
    Ok(found)
}

fn below(folder: &Path, levels: usize) -> Result<Vec<Found>, Error> {
    let unreadable = |source| Error::Unreadable { path: folder.to_owned(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if levels == 0 || !path.is_dir() || path.is_symlink() {
            continue;
        }
        match in_folder(&path) {
            Err(Error::Empty { .. }) => found.extend(below(&path, levels - 1)?),
            other => found.extend(other?),
        }
    }
    Ok(found)
}

/// Whether two are one file, which was named if one of them was.
fn merge_named(next: &mut Found, kept: &mut Found) -> bool {
    let same = next.path == kept.path;
    kept.is_named |= same && next.is_named;
    same
}

fn in_folder(folder: &Path) -> Result<Vec<Found>, Error> {
    let unreadable = |source| Error::Unreadable { path: folder.to_owned(), source };
    let (mut found, mut archives) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let extension = path.extension().map(|extension| extension.as_encoded_bytes());
        let list = match extension {
            Some(b"diyt") => &mut found,
            Some(b"diya") => &mut archives,
            _ => continue,
        };
        if path.is_file() {
            list.push(Found { path, is_named: false });
        }
    }
    // Archives beside profiles are likely to be made of them: nothing counts twice.
    if found.is_empty() {
        found = archives;
    }
    if found.is_empty() {
        return Err(Error::Empty { path: folder.to_owned() });
    }
    Ok(found)
}
