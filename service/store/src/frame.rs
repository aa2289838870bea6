//! What one recording counted in one span of time, on its way into a store.

use diytrace_profile::load::Summary;
use diytrace_profile::merge::{Merged, Module, ModuleFile, PartKey};
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
        build_of(&self.merged.modules, &self.part)
    }
}

/// The same, of a part's program among modules.
pub fn build_of(modules: &[Module], part: &PartKey) -> ModuleKey {
    let programs = modules.iter().filter(|module| module.is_program);
    let program = programs.max_by_key(|module| module.files.iter().any(|file| file.path == part.program));
    program
        .and_then(|module| module.key())
        .unwrap_or_else(|| ModuleKey::File(ModuleFile { path: part.program.clone(), size: 0, modified_unix_ns: 0 }))
}
