//! `runs.json`: read with every name checked, written whole or not at all.

use std::collections::HashSet;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Error, Metrics, Run, Runs};
use diytrace_profile::load::interval::Interval;
use diytrace_profile::new_file::NewFile;

const SCHEMA: &str = "diytrace-runs/1";

/// The file.
#[derive(Serialize, Deserialize)]
struct Set {
    schema: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    command: String,
    #[serde(default)]
    machine: serde_json::Value,
    runs: Vec<Entry>,
}

/// What a file of any schema says.
#[derive(Deserialize)]
struct Marked {
    schema: String,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    #[serde(default)]
    query: Option<String>,
    number: u32,
    #[serde(default)]
    started_unix_ns: Option<u64>,
    profile: Profile,
    #[serde(default)]
    status: u8,
    #[serde(default)]
    metrics: Metrics,
}

/// Usually one.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Profile {
    One(String),
    Several(Vec<String>),
}

pub fn read(path: &Path) -> Result<Runs, Error> {
    let text = fs::read(path).map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
    let malformed = |source| Error::Malformed { path: path.to_owned(), source };
    // First what it is: a newer file may differ in all else.
    let Marked { schema } = serde_json::from_slice(&text).map_err(malformed)?;
    if schema != SCHEMA {
        return Err(Error::Schema { path: path.to_owned(), schema });
    }
    let set: Set = serde_json::from_slice(&text).map_err(malformed)?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    if set.runs.is_empty() {
        return Err(Error::Empty { path: path.to_owned() });
    }
    let mut seen = HashSet::new();
    let runs = set.runs.into_iter().map(|entry| {
        if !seen.insert((entry.query.clone(), entry.number)) {
            return Err(Error::Twice { path: path.to_owned(), run: title(entry.query.as_deref(), entry.number) });
        }
        entry.resolve(path, &folder)
    });
    let runs = runs.collect::<Result<_, _>>()?;
    let name = if set.name.is_empty() { super::find::name_of(&folder) } else { set.name };
    Ok(Runs { name, command: set.command, machine: set.machine, folder, runs, warnings: Vec::new() })
}

impl Entry {
    fn resolve(self, file: &Path, folder: &Path) -> Result<Run, Error> {
        let Self { query, number, started_unix_ns, profile, status, metrics } = self;
        let run = || title(query.as_deref(), number);
        let names = match profile {
            Profile::One(name) => vec![name],
            Profile::Several(names) => names,
        };
        let names: Vec<_> = names.into_iter().filter(|name| !name.is_empty()).collect();
        if names.is_empty() {
            return Err(Error::NoProfile { path: file.to_owned(), run: run() });
        }
        let mut profiles = Vec::with_capacity(names.len());
        for name in &names {
            let (path, parts) = located(folder, Path::new(name));
            if let Some(missing) = parts.into_iter().find(|part| !part.exists()) {
                return Err(Error::ProfileMissing { path: file.to_owned(), run: run(), profile: missing });
            }
            profiles.push(path);
        }
        Ok(Run { query, number, started_unix_ns, profiles, elsewhere: None, status, metrics })
    }
}

/// A profile as the loader takes it, and the files that this needs.
fn located(folder: &Path, name: &Path) -> (PathBuf, Vec<PathBuf>) {
    match Interval::names_in(folder, name) {
        None => (folder.join(name), vec![folder.join(name)]),
        Some((from, to)) => {
            let (from, to) = (folder.join(from), folder.join(to));
            (Interval::join(&from, &to), vec![from, to])
        }
    }
}

pub fn write(runs: &Runs, path: &Path) -> Result<(), Error> {
    let failed = |source| Error::WriteTo { path: path.to_owned(), source };
    let entry = |run: &Run| -> io::Result<Entry> {
        let names = run.profiles.iter().map(|profile| relative(&runs.folder, profile));
        let mut names = names.collect::<io::Result<Vec<_>>>()?;
        Ok(Entry {
            query: run.query.clone(),
            number: run.number,
            started_unix_ns: run.started_unix_ns,
            profile: if names.len() == 1 { Profile::One(names.remove(0)) } else { Profile::Several(names) },
            status: run.status,
            metrics: run.metrics.clone(),
        })
    };
    let Runs { name, command, machine, .. } = runs.clone();
    let entries = runs.runs.iter().map(entry).collect::<io::Result<_>>().map_err(failed)?;
    let set = Set { schema: SCHEMA.into(), name, command, machine, runs: entries };
    let (new, file) = NewFile::beside(path).map_err(failed)?;
    let mut out = BufWriter::new(file);
    serde_json::to_writer_pretty(&mut out, &set).map_err(|error| failed(error.into()))?;
    out.write_all(b"\n").map_err(failed)?;
    let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
    new.appear(&file, path).map_err(failed)
}

/// A profile's name beside `runs.json`, with `/` between folders.
fn relative(folder: &Path, profile: &Path) -> io::Result<String> {
    let one = |path: &Path| {
        let path = path.strip_prefix(folder).unwrap_or(path);
        path.to_str().map(str::to_owned).ok_or_else(|| io::Error::other("a profile's name is not UTF-8"))
    };
    match Interval::names(profile) {
        None => one(profile),
        Some((from, to)) => Ok(format!("{}..{}", one(&from)?, one(&to)?)),
    }
}

fn title(query: Option<&str>, number: u32) -> String {
    query.map_or_else(|| number.to_string(), |query| format!("{number} of {query}"))
}
