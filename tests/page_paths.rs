//! Call paths on the service's page, and two selections beside each other: told by scripts of `tests/browser/`, in Chromium. And what all of the page's
//! scripts have to hold to.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use common::service::Service;
use common::{Build, Recording, browser, builds, diytrace, fixture_with, run_to_end};
use needs::needs;

/// Records a build of `changes.c` some times, and puts that into the store of a folder.
fn record(folder: &Path, build: Build, options: &[&str], labels: &[&str], times: usize) {
    let program = fixture_with("changes.c", build, options).unwrap();
    for _ in 0..times {
        let recorded = Recording::of(&program).args(&["100"]).run();
        let mut push = diytrace(folder);
        push.args(["push", "--store", "s.db"]).args(labels).arg(recorded.out());
        assert!(run_to_end(&mut push).status.success());
        sleep(Duration::from_millis(300)); // the next is in another slice of time
    }
}

#[needs(chromium, npm)]
#[test]
fn call_paths_are_turned_filtered_searched_and_saved() {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path(), builds()[0], &[], &[], 1);
    browser::tell("paths.mjs", &Service::start(folder.path(), &[]), &["lookup", "handle"]);
}

#[needs(chromium, npm)]
#[test]
fn two_selections_are_looked_at_beside_each_other() {
    let folder = tempfile::tempdir().unwrap();
    // Only one side has `audit`, and both have their courses of time all the same.
    for (commit, options) in [("commit=a1", &[][..]), ("commit=b2", &["-DLOOKUPS=9", "-DAUDIT"])] {
        record(folder.path(), builds()[0], options, &["--label", commit], 5);
    }
    let service = Service::start(folder.path(), &[]);
    browser::tell("beside.mjs", &service, &["commit=a1", "commit=b2", "lookup"]);
}

/// Where the page's scripts lie: its own, those that exported pages have, too, and what others have written.
const SCRIPTS: [&str; 3] = ["service/serve/page", "analyze/views/src/page", "service/serve/vendor/uplot"];

/// As the service hands them out: in one folder.
#[needs(npm)]
#[test]
fn types_of_the_scripts_hold() {
    let together = browser::folder().join("page");
    let _ = fs::remove_dir_all(&together);
    fs::create_dir(&together).unwrap();
    for folder in SCRIPTS {
        for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap().flatten() {
            let is_script = entry.path().extension().is_some_and(|extension| extension == "js" || extension == "ts");
            if is_script {
                fs::copy(entry.path(), together.join(entry.file_name())).unwrap();
            }
        }
    }
    let mut check = Command::new("node");
    let output =
        run_to_end(check.args(["node_modules/typescript/bin/tsc", "--project", "."]).current_dir(browser::folder()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn what_others_have_written_is_as_they_have_published_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(SCRIPTS[2]);
    let mut check = Command::new("sha256sum");
    let output = run_to_end(check.args(["--check", "--strict", "SHA256SUMS"]).current_dir(folder));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
