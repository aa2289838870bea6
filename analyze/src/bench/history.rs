//! Sets that are kept for later comparisons: `<history>/NAME/<n>/`, each a set of its own, counted up from 1.
//!
//! The programs may be other ones by then, so a run's profile is kept as an archive, with all that explains it. What lies
//! between two snapshots cannot be archived, and is kept as it is.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Error;
use diytrace_compare::runs::{Run, Runs};
use diytrace_profile::load::interval::Interval;
use diytrace_profile::pack;
use diytrace_profile::symbolize::saved;

/// Keeps a set, all of it or nothing, and gives its place.
pub fn save(set: &Runs, history: &Path, name: &str) -> Result<PathBuf, Error> {
    let folder = history.join(name);
    let failed = |source| Error::WriteTo { path: folder.clone(), source };
    fs::create_dir_all(&folder).map_err(failed)?;
    let new = tempfile::Builder::new().prefix(".new-").tempdir_in(history).map_err(failed)?;
    let mut kept = Runs { folder: new.path().to_owned(), ..set.clone() };
    for (index, run) in kept.runs.iter_mut().enumerate() {
        keep(run, new.path(), index + 1)?;
    }
    kept.write()?;
    let mut number = 1 + last_number(&folder).map_err(failed)?;
    // Somebody else may save at the same time: a folder that has anything in it is not replaced.
    loop {
        let place = folder.join(number.to_string());
        match fs::rename(new.path(), &place) {
            Ok(()) => return Ok(place),
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOTEMPTY | libc::EEXIST)) => number += 1,
            Err(error) => return Err(failed(error)),
        }
    }
}

fn keep(run: &mut Run, folder: &Path, number: usize) -> Result<(), Error> {
    if run.profiles.iter().all(|profile| Interval::names(profile).is_none()) {
        let output = folder.join(format!("{number:04}.diya"));
        let profiles = std::mem::replace(&mut run.profiles, vec![output.clone()]);
        let said = pack::run(&pack::Options { profiles, output, symbols: true })?;
        said.iter().for_each(|warning| super::say(&format!("warning: {warning}")));
        return Ok(());
    }
    for profile in &mut run.profiles {
        let copy = |file: &Path| {
            let mut name = format!("{number:04}-");
            name.push_str(&file.file_name().unwrap_or(OsStr::new("profile")).to_string_lossy());
            let to = folder.join(name);
            fs::copy(file, &to).map_err(|source| Error::WriteTo { path: to.clone(), source })?;
            let _ = fs::copy(saved::path(file), saved::path(&to)); // names, if they were saved
            Ok::<_, Error>(to)
        };
        *profile = match Interval::names(profile) {
            None => copy(profile)?,
            Some((from, to)) => Interval::join(&copy(&from)?, &copy(&to)?),
        };
    }
    Ok(())
}

fn last_number(folder: &Path) -> io::Result<u64> {
    let mut last = 0;
    for entry in fs::read_dir(folder)? {
        last = last.max(entry?.file_name().to_str().and_then(|name| name.parse().ok()).unwrap_or(0));
    }
    Ok(last)
}
