//! The folder with the results: what an earlier bench left there is kept beside it, as `DIR.old`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Error;
use diytrace_profile::{load, saving};

/// What says that a folder is a bench's: nothing else is moved or removed.
const MARK: &str = "bench.json";

/// Makes the folder, empty but for its mark, and gives its absolute path.
pub fn make(given: &Path, facts: &serde_json::Value) -> Result<PathBuf, Error> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::WriteTo { path, source }
    };
    let folder = std::path::absolute(given).map_err(failed(given))?;
    if is_ours(&folder) {
        let old = old_name(&folder);
        if old.exists() {
            if !is_ours(&old) {
                return Err(Error::Occupied { path: old });
            }
            fs::remove_dir_all(&old).map_err(failed(&old))?;
        }
        fs::rename(&folder, &old).map_err(failed(&old))?;
    } else if has_anything(&folder) {
        return Err(Error::Occupied { path: given.to_owned() });
    }
    fs::create_dir_all(&folder).map_err(failed(&folder))?;
    let mark = folder.join(MARK);
    fs::write(&mark, format!("{facts:#}\n")).map_err(failed(&mark))?;
    Ok(folder)
}

/// A folder that did not exist.
pub fn new(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(|source| Error::WriteTo { path: path.to_owned(), source })
}

/// Gives what a run has recorded its place.
pub fn give_place(from: &Path, to: &Path) -> Result<(), Error> {
    let moved = to.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::rename(from, to));
    moved.map_err(|source| Error::WriteTo { path: to.to_owned(), source })
}

/// Saves the names of what a run has met: a build is often made anew between two benches.
pub fn save_names(run: &Path) {
    if let Ok(profiles) = load::find(&[run.to_owned()]) {
        saving::save(profiles.iter().map(|profile| &*profile.path));
    }
}

/// Forgets what a run has recorded that does not count.
pub fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(Error::WriteTo { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

/// Removes the profiles in a folder.
pub fn clear(folder: &Path) -> Result<(), Error> {
    for found in diytrace_profile::load::find(&[folder.to_owned()]).into_iter().flatten() {
        fs::remove_file(&found.path).map_err(|source| Error::WriteTo { path: found.path.clone(), source })?;
    }
    Ok(())
}

/// A folder's name for each query, each another: its name as far as that can be a file's.
pub fn names<'a>(queries: impl Iterator<Item = Option<&'a str>>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for query in queries {
        let plain =
            |letter: char| if letter.is_ascii_alphanumeric() || "-_+=.".contains(letter) { letter } else { '_' };
        let name: String = query.unwrap_or("").chars().map(plain).take(80).collect();
        let name = if name.starts_with('.') { format!("_{name}") } else { name };
        let mut unique = name.clone();
        let mut number = 2;
        while names.contains(&unique) {
            unique = format!("{name}-{number}");
            number += 1;
        }
        names.push(unique);
    }
    names
}

fn is_ours(folder: &Path) -> bool {
    folder.join(MARK).is_file()
}

fn has_anything(path: &Path) -> bool {
    match fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

fn old_name(folder: &Path) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(".old");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_have_folders_of_their_own() {
        let queries = [Some("q 1"), Some("q/1"), Some("../x"), Some("sort")];
        assert_eq!(names(queries.into_iter()), ["q_1", "q_1-2", "_.._x", "sort"]);
        assert_eq!(names([None].into_iter()), [""]);
    }

    #[test]
    fn an_earlier_result_is_kept_once_and_nothing_else_is_touched() {
        let here = tempfile::tempdir().unwrap();
        let (out, old) = (here.path().join("out"), here.path().join("out.old"));
        for number in 1..=3 {
            make(&out, &serde_json::json!(number)).unwrap();
        }
        assert_eq!(fs::read_to_string(out.join(MARK)).unwrap(), "3\n");
        assert_eq!(fs::read_to_string(old.join(MARK)).unwrap(), "2\n");
        fs::remove_file(old.join(MARK)).unwrap();
        fs::write(old.join("thesis.txt"), "").unwrap();
        assert!(
            make(&out, &serde_json::Value::Null).unwrap_err().to_string().contains("out.old is there and was not made")
        );
        assert!(make(&old, &serde_json::Value::Null).is_err());
        assert!(out.join(MARK).is_file() && old.join("thesis.txt").is_file());
    }
}
