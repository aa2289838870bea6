//! What `diytrace record` knows of a profile and the profile does not: its label, and which others are of the same run.
//!
//! A line of text in a file named after the profile's; without it, a profile is a run of its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The first word of the line.
const MARK: &str = "diytrace-run/1";

/// What the files are called that lie beside a profile: who takes it away takes them, too.
pub const BESIDE: [&str; 3] = ["end", "run", "names"];

/// What is noted of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// What all profiles of a run have in common, and no others of their folder.
    pub run: String,
    /// What somebody called it.
    pub label: Option<String>,
}

impl Note {
    /// Leaves the note beside a profile, unless another run has noted it.
    pub fn write(&self, profile: &Path) -> io::Result<()> {
        if Self::read(profile).is_some() {
            return Ok(());
        }
        let label: String = self.label.iter().flat_map(|label| label.chars()).filter(|c| !c.is_control()).collect();
        fs::write(beside(profile), format!("{MARK} {} {label}\n", self.run))
    }

    /// The note beside a profile, if there is one.
    pub fn read(profile: &Path) -> Option<Self> {
        let text = fs::read_to_string(beside(profile)).ok()?;
        let mut words = text.lines().next()?.splitn(3, ' ');
        if words.next() != Some(MARK) {
            return None;
        }
        let (run, label) = (words.next()?.to_owned(), words.next().filter(|label| !label.is_empty()));
        Some(Self { run, label: label.map(str::to_owned) })
    }
}

fn beside(profile: &Path) -> PathBuf {
    profile.with_extension("run")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_note_stays() {
        let here = tempfile::tempdir().unwrap();
        let profile = here.path().join("server-1-2.diyt");
        assert_eq!(Note::read(&profile), None);
        let note = Note { run: "7-8".to_owned(), label: Some("before the fix\n".to_owned()) };
        note.write(&profile).unwrap();
        Note { run: "9-9".to_owned(), label: None }.write(&profile).unwrap();
        assert_eq!(Note::read(&profile), Some(Note { label: Some("before the fix".to_owned()), ..note }));
    }
}
