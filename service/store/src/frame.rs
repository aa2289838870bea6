//! What one recording counted in one span of time, on its way into a store.

use diytrace_profile::load::Summary;
use diytrace_profile::merge::{Merged, PartKey};
use diytrace_profile::module::ModuleKey;
use serde::{Deserialize, Serialize};

use crate::Labels;

/// What one recording counted in one span of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// The series that it is in.
    pub labels: Labels,
    /// Which recording it is of, wherever it is read.
    pub session: String,
    /// Its number among the frames of that; a whole recording is frame 0. One that is put in again has more than it had.
    pub sequence: u64,
    /// Whether what later frames had is in it: they count no more.
    pub holds_later: bool,
    /// When it began, in nanoseconds since 1970.
    pub start: i64,
    /// When it ended.
    pub end: i64,
    /// Where its hooks cost the same.
    pub part: PartKey,
    /// What is told of the recording as a whole.
    pub summary: Summary,
    /// What was counted, of all processes together: one group.
    pub merged: Merged,
}

impl Frame {
    /// What tells one build of the program from others: paths of one are numbered together.
    pub fn build(&self) -> ModuleKey {
        let of_program = |program: &str| {
            let programs = self.merged.modules.iter().filter(|module| module.is_program);
            programs.max_by_key(|module| module.files.iter().any(|file| file.path == program))
        };
        let unknown = || {
            let file =
                diytrace_profile::merge::ModuleFile { path: self.part.program.clone(), size: 0, modified_unix_ns: 0 };
            ModuleKey::File(file)
        };
        of_program(&self.part.program).and_then(|module| module.key()).unwrap_or_else(unknown)
    }
}
