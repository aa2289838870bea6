//! When a process ended that could not say so itself: a note that `diytrace record` leaves beside the profile.
//!
//! A process that is killed leaves no moment of its end: of one that was killed in the middle of its only call, the profile
//! tells only when that began. Whoever waited for it knows better. The note is a line of text, in a file named after the
//! profile's; without it, everything is as it was.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Family;

/// The first word of the line.
const MARK: &str = "diytrace-ending/1";

/// The end of the process that made a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Its number.
    pub pid: u32,
    /// When its profile was begun, in nanoseconds since 1970: of another profile that came to have this name, it is not.
    pub started_unix_ns: u64,
    /// When it was seen to have ended, by `CLOCK_MONOTONIC`.
    pub monotonic_ns: u64,
}

impl Ending {
    /// Leaves the note beside a profile.
    pub fn write(&self, profile: &Path) -> io::Result<()> {
        let Self { pid, started_unix_ns, monotonic_ns } = self;
        fs::write(beside(profile), format!("{MARK} {pid} {started_unix_ns} {monotonic_ns}\n"))
    }

    /// The note beside a profile, if there is one.
    fn read(profile: &Path) -> Option<Self> {
        let line = fs::read_to_string(beside(profile)).ok()?;
        let mut words = line.split_whitespace();
        if words.next() != Some(MARK) {
            return None;
        }
        let (pid, started_unix_ns) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(Self { pid, started_unix_ns, monotonic_ns: words.next()?.parse().ok()? })
    }

    /// Tells a family, read from its file, what the note beside that says of it.
    pub fn apply(family: &mut Family) {
        let is_its = |ending: &Self| (ending.pid, ending.started_unix_ns) == (family.pid, family.started_unix_ns);
        if let Some(ending) = Self::read(&family.path).filter(is_its) {
            family.end_ticks = family.clock.ticks_at(ending.monotonic_ns);
        }
    }
}

fn beside(profile: &Path) -> PathBuf {
    profile.with_extension("end")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::family;

    #[test]
    fn a_note_is_of_one_profile_or_of_none() {
        let here = tempfile::tempdir().unwrap();
        let mut family = family(Vec::new());
        family.path = here.path().join("a.diyt");
        Ending::apply(&mut family);
        assert_eq!(family.end_ticks, 0, "there is none");
        let ending = Ending { pid: family.pid, started_unix_ns: family.started_unix_ns, monotonic_ns: 4_700 };
        for (note, ticks) in [
            (Ending { pid: 1 + family.pid, ..ending }, 0),
            (Ending { started_unix_ns: 7, ..ending }, 0),
            (ending, 4_700),
        ] {
            family.end_ticks = 0;
            note.write(&family.path).unwrap();
            Ending::apply(&mut family);
            assert_eq!(family.end_ticks, ticks);
        }
        fs::write(here.path().join("a.end"), "something else").unwrap();
        assert_eq!(Ending::read(&family.path), None);
    }
}
