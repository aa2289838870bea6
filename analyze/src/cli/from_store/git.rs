//! What git knows of the place where a program lies.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A work tree, and what is checked out there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// Its folder.
    pub folder: PathBuf,
    /// The first digits of the commit; with `-dirty` if files of it were changed since.
    pub commit: String,
    /// The branch, if there is one.
    pub branch: Option<String>,
}

impl Checkout {
    /// The one that a file lies in; `None` if it lies in none, or there is no git.
    pub fn of(file: &Path) -> Option<Self> {
        let folder = file.parent()?;
        let ask = |words: &[&str]| {
            let mut git = Command::new("git");
            // A hook that runs us has a repository of its own.
            git.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE").env_remove("GIT_INDEX_FILE");
            git.arg("-C").arg(folder).args(words).stdin(Stdio::null()).stderr(Stdio::null());
            let output = git.output().ok().filter(|output| output.status.success())?;
            let text = String::from_utf8(output.stdout).ok()?;
            Some(text.trim_end_matches('\n').to_owned()).filter(|text| !text.is_empty())
        };
        let top = ask(&["rev-parse", "--show-toplevel"])?;
        let commit = ask(&["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"])?;
        let branch = ask(&["symbolic-ref", "--short", "-q", "HEAD"]);
        Some(Self { folder: top.into(), commit, branch })
    }
}
