//! Snapshots, what lies between two of them, and archives of them, as they are opened.

use std::fs;
use std::path::Path;

use super::{Options, run};
use crate::archive::Archive;
use crate::load::snapshot::Moment;
use crate::opened::{Opened, Selection};
use crate::testing::sample;

/// A folder with a profile, two snapshots of it beside that folder, and an archive of the first.
fn story() -> tempfile::TempDir {
    let here = tempfile::tempdir().unwrap();
    let snapshot = |ticks| [sample(), Moment { ticks, unix_ns: ticks, running: vec![1] }.bytes()].concat();
    fs::create_dir(here.path().join("out")).unwrap();
    fs::write(here.path().join("out/whole.diyt"), sample()).unwrap();
    fs::write(here.path().join("a.diyt"), snapshot(20_000)).unwrap();
    fs::write(here.path().join("b.diyt"), snapshot(30_000)).unwrap();
    pack(here.path(), &["a.diyt"]).unwrap();
    here
}

fn pack(here: &Path, names: &[&str]) -> Result<(), String> {
    let profiles = names.iter().map(|name| here.join(name)).collect();
    let options = Options { profiles, output: here.join("a.diya"), symbols: false };
    run(&options).map(drop).map_err(|error| error.to_string())
}

fn open(here: &Path, name: impl AsRef<Path>) -> Result<Opened, String> {
    let profiles = vec![here.join(name)];
    Opened::open(&Selection { profiles, ..Selection::default() }).map_err(|error| error.to_string())
}

fn calls(opened: &Opened) -> u64 {
    opened.merged.groups.iter().map(|group| group.calls).sum()
}

#[test]
fn snapshots_beside_their_profile_are_left_out_and_told() {
    let here = story();
    let alone = calls(&open(here.path(), "out").unwrap());
    fs::copy(here.path().join("a.diyt"), here.path().join("out/copy.diyt")).unwrap();
    let opened = open(here.path(), "out").unwrap();
    assert!(opened.loaded.left_out[0].to_string().contains("copy.diyt is a snapshot"), "{:?}", opened.loaded.left_out);
    assert_eq!((calls(&opened), opened.loaded.profiles.len()), (alone, 1));
    assert_eq!(calls(&open(here.path(), "a.diyt").unwrap()), alone);
}

#[test]
fn an_archive_keeps_a_snapshot_as_it_was() {
    let here = story();
    let archive = Archive::open(&here.path().join("a.diya")).unwrap();
    assert!(archive.profile(0).unwrap().0 == fs::read(here.path().join("a.diyt")).unwrap());
    let [kept, direct] = ["a.diya", "a.diyt"].map(|name| open(here.path(), name).unwrap());
    assert_eq!(kept.merged, direct.merged);
    assert_eq!(kept.loaded.profiles, direct.loaded.profiles);
}

#[test]
fn differences_are_of_profiles_and_archives_of_no_differences() {
    let here = story();
    let difference = |from: &str, to: &str| format!("{from}..{}/{to}", here.path().display());
    assert_eq!(calls(&open(here.path(), difference("a.diyt", "b.diyt")).unwrap()), 0);
    for of_archive in [difference("a.diya", "b.diyt"), difference("a.diyt", "a.diya")] {
        let error = open(here.path(), of_archive).map(|_| ()).unwrap_err();
        assert!(error.contains("a.diya is an archive: A..B"), "{error}");
    }
    let error = pack(here.path(), &[&difference("a.diyt", "b.diyt")]).unwrap_err();
    assert!(error.contains("is a difference, and an archive"), "{error}");
}
