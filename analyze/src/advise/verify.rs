//! Whether advice comes true: the program is recorded as it was and without what is advised, by turns.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use diytrace_format::node::flag;
use diytrace_profile::error::Error;
use diytrace_profile::load::Summary;
use diytrace_profile::opened::{Opened, Selection};
use diytrace_profile::run::{self, Facts};
use serde::Serialize;

use super::Document;
use crate::record;

/// How it is verified.
#[derive(Clone, Debug)]
pub struct Options {
    /// What is run, with its arguments. Empty: what was recorded.
    pub command: Vec<OsString>,
    /// Runs of each kind.
    pub runs: u32,
}

/// What runs with and without the advice came to.
#[derive(Clone, Debug, Serialize)]
pub struct Verified {
    /// What was run.
    pub command: Vec<String>,
    /// Runs of each kind, after one of each that does not count.
    pub runs: u32,
    /// As it was recorded.
    pub now: Measured,
    /// With the advice as exclude list.
    pub left: Measured,
    /// How much less time runs take that follow each other, in percent.
    pub faster_percent: Spread,
    /// How much less space their profiles take, in percent.
    pub smaller_percent: Spread,
}

/// What runs of one kind came to.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// From start to end on the wall.
    pub wall_ns: Spread,
    /// What their profiles take on the disk.
    pub profile_bytes: Spread,
    /// Calls that reports on them tell.
    pub calls: Spread,
}

/// Several measurements of one thing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Half of them are at most this.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
        let (last, middle) = (values.len().saturating_sub(1), values.len() / 2);
        let median =
            if values.len().is_multiple_of(2) { (at(middle.wrapping_sub(1)) + at(middle)) / 2.0 } else { at(middle) };
        Self { median, min: at(0), max: at(last) }
    }
}

/// One run.
struct Run {
    wall_ns: f64,
    bytes: f64,
    calls: f64,
}

/// Runs the program both ways, and says what that came to. There must be something to leave out.
pub fn verify(options: &Options, advice: &Document, profiles: &[PathBuf], read: &[Summary]) -> Result<Verified, Error> {
    let command = match options.command.is_empty() {
        true => recorded(profiles)?,
        false => options.command.clone(),
    };
    let roots = read.first().map(|profile| profile.roots.iter().map(|root| root.pattern.clone()).collect());
    let roots: Vec<String> = roots.unwrap_or_default();
    let excluded: Vec<String> = advice.functions.iter().map(|function| function.symbol.clone()).collect();
    let once = |excludes: &[String]| once(&command, &roots, excludes);
    // The first of each finds files and pages that are not in memory yet.
    let _ = (once(&[])?, once(&excluded)?);
    let (mut now, mut left) = (Vec::new(), Vec::new());
    for number in 0..options.runs {
        // A machine that becomes slower does so for both: each comes first in turn.
        if number.is_multiple_of(2) {
            now.push(once(&[])?);
            left.push(once(&excluded)?);
        } else {
            left.push(once(&excluded)?);
            now.push(once(&[])?);
        }
    }
    let less = |value: fn(&Run) -> f64| {
        let pairs = now.iter().zip(&left);
        Spread::of(pairs.map(|(now, left)| (1.0 - value(left) / value(now)) * 100.0).collect())
    };
    Ok(Verified {
        command: command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        runs: options.runs,
        faster_percent: less(|run| run.wall_ns),
        smaller_percent: less(|run| run.bytes),
        now: Measured::of(&now),
        left: Measured::of(&left),
    })
}

impl Measured {
    fn of(runs: &[Run]) -> Self {
        let spread = |value: fn(&Run) -> f64| Spread::of(runs.iter().map(value).collect());
        Self {
            wall_ns: spread(|run| run.wall_ns),
            profile_bytes: spread(|run| run.bytes),
            calls: spread(|run| run.calls),
        }
    }
}

/// What the latest of these profiles is of.
fn recorded(profiles: &[PathBuf]) -> Result<Vec<OsString>, Error> {
    let runs = run::find(profiles)?;
    let latest = runs.last().map(|run| Facts::of_all(std::slice::from_ref(run))).unwrap_or_default();
    let unclear = |why: &str| Error::Usage(format!("--verify: {why}: say what to run, behind `--`"));
    match latest.first().map(|facts| (&facts.programs[..], &facts.arguments[..])) {
        Some(([program], [_, arguments @ ..])) => {
            Ok(std::iter::once(program).chain(arguments).map(OsString::from).collect())
        }
        Some(([], _)) | None => Err(unclear("nothing tells which program was recorded")),
        Some(([_], [])) => Err(unclear("the program's arguments are not known")),
        Some(_) => Err(unclear("several programs were recorded")),
    }
}

/// Records one run into a folder that is gone afterwards.
fn once(command: &[OsString], roots: &[String], excludes: &[String]) -> Result<Run, Error> {
    let failed = |why: String| Error::Usage(format!("--verify: {why}"));
    let folder = tempfile::tempdir().map_err(|source| failed(format!("no folder for runs: {source}")))?;
    let options = record::Options {
        roots: roots.to_vec(),
        excludes: excludes.to_vec(),
        out: Some(folder.path().to_owned()),
        ..record::Options::default()
    };
    let environment = record::environment(&options).map_err(|error| failed(error.to_string()))?;
    let (program, arguments) = command.split_first().ok_or_else(|| failed("there is nothing to run".to_owned()))?;
    let mut child = Command::new(program);
    child.args(arguments).envs(environment).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    let status = child.status().map_err(|source| failed(format!("cannot run {}: {source}", program.display())))?;
    let wall_ns = begun.elapsed().as_nanos() as f64;
    if !status.success() {
        return Err(failed(format!("{} ended with {status}; what it says is not shown", shown(program))));
    }
    let profiles = vec![folder.path().to_owned()];
    let runs = run::find(&profiles).map_err(|_| failed(format!("{} recorded nothing", shown(program))))?;
    let bytes = Facts::of_all(&runs).iter().map(|facts| facts.bytes).fold(0, u64::saturating_add);
    let opened = Opened::open(&Selection { profiles, ..Selection::default() })?;
    let paths = opened.merged.groups.iter().flat_map(|group| &group.tree.paths);
    // What is excluded is counted, too, but told nobody.
    let calls = paths
        .filter(|path| !path.is_untimed() && path.key.flags & flag::OTHERS == 0)
        .map(|path| path.counts.calls)
        .fold(0, u64::saturating_add);
    Ok(Run { wall_ns, bytes: bytes as f64, calls: calls as f64 })
}

fn shown(program: &OsString) -> String {
    Path::new(program).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads() {
        assert_eq!(Spread::of(vec![3.0, 1.0, 2.0]), Spread { median: 2.0, min: 1.0, max: 3.0 });
        assert_eq!(Spread::of(vec![4.0, 1.0, 2.0, 3.0]), Spread { median: 2.5, min: 1.0, max: 4.0 });
        assert!(Spread::of(Vec::new()).median.is_nan());
    }
}
