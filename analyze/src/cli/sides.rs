//! Both sides of a comparison: their folders, and which runs of them.

use std::path::PathBuf;

use diytrace_profile::error::Error;
use diytrace_profile::load::DEFAULT_FOLDER;

/// Which runs of both sides.
#[derive(Clone, Debug, clap::Args)]
pub struct Sides {
    /// Only these runs: latest, N or PATTERN, as `diytrace list` has them; once for both sides, or for each. Without folders
    /// they are in diytrace.data
    #[arg(long = "run", value_name = "latest|N|PATTERN")]
    runs: Vec<String>,
}

/// A side: where it is, and which runs of what is there.
pub type Side = (PathBuf, Option<String>);

impl Sides {
    /// Both sides, where they were named or where recordings are; a folder that is named alone has both.
    pub fn of(&self, left: Option<PathBuf>, right: Option<PathBuf>) -> Result<[Side; 2], Error> {
        let left = left.unwrap_or_else(|| DEFAULT_FOLDER.into());
        let right = right.unwrap_or_else(|| left.clone());
        match &self.runs[..] {
            [] => Ok([(left, None), (right, None)]),
            [both] => Ok([(left, Some(both.clone())), (right, Some(both.clone()))]),
            [of_left, of_right] => Ok([(left, Some(of_left.clone())), (right, Some(of_right.clone()))]),
            more => Err(Error::Usage(format!("--run: a comparison has two sides, not {}", more.len()))),
        }
    }
}
