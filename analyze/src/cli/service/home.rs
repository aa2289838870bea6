//! Folders of a user's own.

use std::env;
use std::path::PathBuf;

/// A folder for what is kept: the store of a service.
pub fn data(name: &str) -> Option<PathBuf> {
    below("XDG_DATA_HOME", ".local/share", name)
}

/// A folder for what can be found out again.
pub fn state(name: &str) -> Option<PathBuf> {
    below("XDG_STATE_HOME", ".local/state", name)
}

fn below(variable: &str, usual: &str, name: &str) -> Option<PathBuf> {
    let set = |variable| env::var_os(variable).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folder = set(variable).or_else(|| Some(set("HOME")?.join(usual)))?;
    Some(folder.join("diytrace").join(name))
}
