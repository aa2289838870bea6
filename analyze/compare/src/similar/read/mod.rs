//! From paths to runs with values, whatever they are in: profiles or JSON.

mod folder;
mod numbers;
mod perf_dashboard;
mod profiles;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::Error;
use super::metric::Value;
use super::source::Source;
use crate::runs::{FILE, Runs};

/// One of the two environments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Side {
    /// Where its runs come from, for people.
    pub name: String,
    /// In the order in which they were started, as far as that is known.
    pub runs: Vec<Run>,
    /// What is to be known of them.
    pub warnings: Vec<String>,
}

/// One run of the test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// What it is called, for people.
    pub title: String,
    /// Its query; only runs of one are comparable.
    pub query: Option<String>,
    /// When it was started, or written, in nanoseconds since 1970.
    pub at_unix_ns: Option<i128>,
    /// One for each of its metrics.
    pub values: Vec<Value>,
}

/// Reads one side: its runs, or every path's in this order, or those of the recordings there that are wanted.
pub fn side(source: &Source) -> Result<Side, Error> {
    let (paths, wanted) = match source {
        Source::At { paths, wanted } => (paths, wanted.as_deref()),
        Source::Of(runs) => {
            let mut side = Side { name: runs.name.clone(), ..Side::default() };
            profiles::read(runs.clone(), &mut side)?;
            return Ok(side);
        }
    };
    let names: Vec<_> = paths.iter().take(3).map(|path| path.display().to_string()).collect();
    let more =
        if paths.len() > names.len() { format!(" and {} more", paths.len() - names.len()) } else { String::new() };
    let mut side = Side { name: names.join(", ") + &more, ..Side::default() };
    for path in paths {
        if let Some(wanted) = wanted {
            profiles::read(Runs::chosen(path, wanted)?, &mut side)?;
        } else if let Some(runs) = json(path)? {
            side.runs.extend(runs);
        } else {
            profiles::read(Runs::open(path)?, &mut side)?;
        }
    }
    Ok(side)
}

/// The runs of a path that is a file or folder of JSON.
fn json(path: &Path) -> Result<Option<Vec<Run>>, Error> {
    if path.is_dir() {
        return folder::runs(path);
    }
    match path.file_name() {
        Some(name) if name == FILE => Ok(None),
        Some(_) if path.is_file() && is_json(path)? => Ok(Some(vec![folder::run_of_file(path)?])),
        _ => Ok(None),
    }
}

/// Whether a file is, or claims to be, JSON.
fn is_json(path: &Path) -> Result<bool, Error> {
    if path.extension().is_some_and(|extension| extension == "json") {
        return Ok(true);
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(64).read_to_end(&mut start));
    read.map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
    Ok(start.iter().find(|byte| !byte.is_ascii_whitespace()).is_some_and(|byte| b"{[".contains(byte)))
}
