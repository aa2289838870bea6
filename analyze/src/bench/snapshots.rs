//! What a server has counted during a query: the difference of two snapshots of each of its families.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::Stop;
use super::interrupts::Interrupts;
use crate::ctl::{self, Watched, snapshot};
use diytrace_profile::load;
use diytrace_profile::load::interval::{Interval, counted};

/// Between two looks whether a server has come to rest. A process that is to end but waits for a processor should have
/// got one by then.
const LOOK: Duration = Duration::from_millis(20);

/// A file that grows while it is read is read again.
const ATTEMPTS: usize = 5;

/// Snapshots of a server's families at one moment: the profile, the copy, and all its calls.
pub type Snapshots = BTreeMap<PathBuf, (PathBuf, u64)>;

/// Copies all profiles of a server's folder into another, under their names and this word.
pub fn take(server: &Path, into: &Path, word: &str) -> Result<Snapshots, ctl::Error> {
    let mut attempt = 1;
    loop {
        match try_take(server, into, word) {
            Err(ctl::Error::Load(load::Error::Truncated { .. })) if attempt < ATTEMPTS => attempt += 1,
            result => return result,
        }
    }
}

fn try_take(server: &Path, into: &Path, word: &str) -> Result<Snapshots, ctl::Error> {
    let copy = |watched: &Watched| {
        let mut name = watched.family.path.file_stem().unwrap_or_default().to_owned();
        name.push(format!("-{word}.diyt"));
        let path = snapshot::take(watched, Some(&into.join(name)))?;
        Ok((watched.family.path.clone(), (path, counted(&watched.family))))
    };
    families(server)?.iter().map(copy).collect()
}

/// What lies between two moments, as [`diytrace_profile::opened::Selection`] takes it: of each family that has counted anything.
pub fn between(before: &Snapshots, after: Snapshots) -> Vec<PathBuf> {
    let difference = |(family, (copy, calls)): (PathBuf, (PathBuf, u64))| match before.get(&family) {
        None => (calls > 0).then_some(copy),
        Some((earlier, calls_then)) => (calls > *calls_then).then(|| Interval::join(earlier, &copy)),
    };
    after.into_iter().filter_map(difference).collect()
}

/// Who of a server runs when nothing is asked of it; not known at first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    running: Option<BTreeSet<u32>>,
}

impl Rest {
    /// Waits until the server does nothing: no call is counted from one look to the next, and the processes that the query
    /// has made are gone. Says whether it came to that in this time; processes that stay are then taken for its own.
    pub fn wait(&mut self, server: &Path, limit: Duration, interrupts: &Interrupts) -> Result<bool, Stop> {
        let limit = Instant::now() + limit;
        let mut last = None;
        loop {
            let now = state(server)?;
            let is_still = last.as_ref() == Some(&now);
            let is_alone = self.running.as_ref().is_none_or(|running| now.1.is_subset(running));
            let is_over = Instant::now() > limit;
            if is_still && (is_alone || is_over) || is_over && last.is_some() {
                self.running = Some(now.1);
                return Ok(is_still);
            }
            last = Some(now);
            std::thread::sleep(LOOK);
            interrupts.check()?;
        }
    }
}

/// All calls that were counted, and who runs.
fn state(server: &Path) -> Result<(u64, BTreeSet<u32>), ctl::Error> {
    let families = families(server)?;
    let calls = families.iter().map(|watched| counted(&watched.family)).sum();
    Ok((calls, families.into_iter().flat_map(|watched| watched.running).collect()))
}

/// Whether anything of a server runs, and has begun a profile.
pub fn is_running(server: &Path) -> Result<bool, ctl::Error> {
    Ok(families(server)?.iter().any(Watched::is_running))
}

/// A server's families: none if it has not begun any. A file that is just being made is not one yet.
fn families(server: &Path) -> Result<Vec<Watched>, ctl::Error> {
    use load::Error::{Empty, Foreign, Truncated, Unfinished};
    match Watched::all(&server.to_owned().into()) {
        Err(ctl::Error::Load(Empty { .. } | Foreign { .. } | Truncated { .. } | Unfinished { .. })) => Ok(Vec::new()),
        result => result,
    }
}
