//! Files that the documents name.

use std::process::Command;

use super::{assert_none, pages, repository};

const FOLDERS: [&str; 11] = [
    "src/",
    "cdylib/",
    "analyze/",
    "service/",
    "tests/",
    "c-fixtures/",
    "benches/",
    "examples/",
    "docs/",
    "fuzz/",
    "packaging/",
];

#[test]
fn files_that_are_named_exist() {
    let mut wrong = Vec::new();
    for page in pages() {
        for span in &page.spans {
            let path = span.split([' ', ':']).next().unwrap_or_default();
            let is_ours = FOLDERS.iter().any(|folder| path.starts_with(folder));
            let is_pattern = path.contains(['…', '*']) || path.contains("DATE-");
            if is_ours && !is_pattern && !repository().join(path).exists() {
                wrong.push(format!("{}: there is no {path}", page.path.display()));
            }
        }
    }
    assert_none(wrong);
}

/// ARCHITECTURE names some by their last name alone.
#[test]
fn sources_that_are_named_exist() {
    let folders = FOLDERS.map(|folder| repository().join(folder));
    let listing = Command::new("find").args(folders).args(["-name", "*.rs", "-printf", "%f\n"]).output().unwrap();
    let listing = String::from_utf8(listing.stdout).unwrap();
    let mut wrong = Vec::new();
    for page in pages() {
        let names = page.spans.iter().filter(|span| span.ends_with(".rs") && !span.contains(['/', ' ']));
        let missing = names.filter(|name| !listing.lines().any(|file| file == *name));
        wrong.extend(missing.map(|name| format!("{}: there is no {name}", page.path.display())));
    }
    assert_none(wrong);
}
