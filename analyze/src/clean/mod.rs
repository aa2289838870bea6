//! The command `clean`: removes runs, the oldest first, and what lies beside their profiles.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use diytrace_profile::error::Error;
use diytrace_profile::human::{bytes, counted};
use diytrace_profile::load::DEFAULT_FOLDER;
use diytrace_profile::process::State;
use diytrace_profile::run::{self, Facts, Run, note};

/// Which runs go.
#[derive(Clone, Debug)]
pub struct Options {
    /// Profiles, and folders of them. Empty: `diytrace.data` here.
    pub profiles: Vec<PathBuf>,
    /// So many stay: the last.
    pub keep: Option<usize>,
    /// Those that are younger stay.
    pub older_than: Option<Duration>,
    /// Only tell which.
    pub dry_run: bool,
}

/// Removes them; what was removed goes to `out`, one file a line, and the sum to stderr. What runs stays.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    let runs: Vec<Run> =
        run::find(&options.profiles)?.into_iter().filter(|run| is_of(run, &options.profiles)).collect();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let old = chosen(&runs, options, now);
    let facts = Facts::of_all(&old);
    let (mut removed, mut size, mut running) = (0, 0, 0);
    for (run, facts) in old.iter().zip(&facts) {
        if facts.state == Some(State::Running) {
            running += 1;
            continue;
        }
        for file in &run.files {
            writeln!(out, "{}", file.display())?;
            if !options.dry_run {
                remove(file)?;
            }
        }
        (removed, size) = (removed + 1, size + facts.bytes);
    }
    let what = if options.dry_run { "would be removed" } else { "removed" };
    let mut said = format!("diytrace: {} {what}, {}", counted(removed, "run", "runs"), bytes(size));
    if running > 0 {
        said.push_str(&format!("; {} still running and stays", counted(running, "run is", "runs are")));
    }
    let _ = writeln!(io::stderr(), "{said}");
    Ok(())
}

/// Whether a run lies in the very folders that are meant, or was named: what lies deeper belongs to somebody's set of runs, and
/// an archive was made to be kept.
fn is_of(run: &Run, paths: &[PathBuf]) -> bool {
    let default = [PathBuf::from(DEFAULT_FOLDER)];
    let paths = if paths.is_empty() { &default } else { paths };
    let is_profile = |file: &Path| file.extension().is_some_and(|extension| extension == "diyt");
    let is_in = |file: &Path, folder: &Path| file.parent() == Some(folder) && is_profile(file);
    run.files.iter().all(|file| paths.iter().any(|path| path == file || is_in(file, path)))
}

/// The runs that shall go.
fn chosen(runs: &[Run], options: &Options, now: Duration) -> Vec<Run> {
    let beyond = runs.len().saturating_sub(options.keep.unwrap_or(0));
    let is_old = |run: &Run| {
        let age = now.saturating_sub(Duration::from_nanos(run.started_unix_ns));
        options.older_than.is_none_or(|least| age > least)
    };
    runs[..beyond].iter().filter(|run| is_old(run)).cloned().collect()
}

fn remove(profile: &Path) -> Result<(), Error> {
    fs::remove_file(profile).map_err(|source| Error::Remove { path: profile.to_owned(), source })?;
    for extension in note::BESIDE {
        let _ = fs::remove_file(profile.with_extension(extension)); // most have none
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_runs_and_archives_stay_unless_they_are_named() {
        let run = |file: &str| Run { files: vec![file.into()], ..Run::default() };
        let goes = |file: &str, path: &str| is_of(&run(file), &[path.into()]);
        assert!(goes("out/a-1-2.diyt", "out") && goes("out/a-1-2.diyt", "out/") && goes("kept.diya", "kept.diya"));
        assert!(is_of(&run("diytrace.data/a-1-2.diyt"), &[]));
        assert!(!goes("bench/left/001/a-1-2.diyt", "bench") && !goes("out/kept.diya", "out"));
    }

    #[test]
    fn the_last_stay_and_the_young() {
        let run = |number: usize| Run { number, started_unix_ns: number as u64 * 1_000_000_000, ..Run::default() };
        let runs: Vec<Run> = (1..=5).map(run).collect();
        let numbers = |keep, older_than: Option<u64>| {
            let older_than = older_than.map(Duration::from_secs);
            let options = Options { profiles: Vec::new(), keep, older_than, dry_run: false };
            chosen(&runs, &options, Duration::from_secs(10)).iter().map(|run| run.number).collect::<Vec<_>>()
        };
        assert_eq!(numbers(Some(2), None), [1, 2, 3]);
        assert_eq!(numbers(Some(9), None), [0; 0]);
        assert_eq!(numbers(None, Some(7)), [1, 2]);
        assert_eq!(numbers(Some(4), Some(7)), [1]);
    }
}
