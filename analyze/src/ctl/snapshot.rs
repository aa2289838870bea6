//! A copy of a profile at one moment, as it would be reported then.

use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use diytrace_format::MAGIC;

use super::Error;
use super::target::Watched;
use diytrace_profile::archive::Archive;
use diytrace_profile::load::snapshot::Moment;
use diytrace_profile::load::{self, Family};
use diytrace_profile::saving;
use diytrace_profile::symbolize::saved;

/// Writes a snapshot, all of it or nothing, readable by its owner, and gives its path.
pub fn take(watched: &Watched, output: Option<&Path>) -> Result<PathBuf, Error> {
    let Watched { family, bytes, .. } = watched;
    if family.missing_bytes > 0 {
        return Err(load::Error::Truncated { path: family.path.clone() }.into());
    }
    let moment = match &family.snapshot {
        Some(moment) => moment.clone(),
        None => Moment::read(family, bytes.read_monotonic_ns),
    };
    let path = output.map_or_else(|| default_name(family, &moment), Path::to_owned);
    if let Some(what) = recorded(&path) {
        return Err(Error::Occupied { path, what });
    }
    let failed = |source| Error::WriteTo { path: path.clone(), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(&bytes.profile).map_err(failed)?;
    file.write_all(&moment.bytes()).map_err(failed)?;
    file.persist(&path).map_err(|error| failed(error.error))?;
    let _ = fs::remove_file(saved::path(&path)); // of another one that lay here
    saving::save([&*path]);
    Ok(path)
}

/// In the current folder: beside the profile it would only be in the way of reports on that folder.
fn default_name(family: &Family, moment: &Moment) -> PathBuf {
    let mut name = family.path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-at-{}.diyt", moment.unix_ns));
    PathBuf::from(name)
}

/// What was recorded and lies at a path: there may be no other copy of it.
fn recorded(path: &Path) -> Option<&'static str> {
    let is_named_so = path.extension().is_some_and(|extension| extension.as_bytes() == b"diyt");
    if Archive::is_at(path) {
        return Some("an archive");
    }
    let is_recorded = match load::read(path) {
        Ok(bytes) => bytes.profile.starts_with(&MAGIC) && bytes.snapshot.is_none(),
        Err(_) => is_named_so && fs::symlink_metadata(path).is_ok(),
    };
    is_recorded.then_some("a recorded profile")
}
