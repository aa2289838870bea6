//! Environment variables that the documents name, and those that the release build has.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use super::common::tool;
use super::{assert_none, guides, pages, repository};

const PREFIX: &str = "DIYTRACE_";

/// The names in a text.
fn names(text: &str) -> BTreeSet<String> {
    let is_name = |letter: &char| letter.is_ascii_uppercase() || *letter == '_';
    let starts = text.match_indices(PREFIX).map(|(at, _)| &text[at..]);
    let names = starts.map(|start| start.chars().take_while(is_name).collect::<String>());
    names.map(|name| name.trim_end_matches('_').to_owned()).filter(|name| name.len() > PREFIX.len()).collect()
}

/// The names in the sources of some folders.
fn of(folders: &[&str]) -> BTreeSet<String> {
    let folders = folders.iter().map(|folder| repository().join(folder));
    let listing = Command::new("grep").args(["-rhoE", "DIYTRACE_[A-Z_]+"]).args(folders).output().unwrap();
    names(&String::from_utf8(listing.stdout).unwrap())
}

/// Those of the sources that the release build still has in it, where they may run into the next string.
fn of_the_release() -> BTreeSet<String> {
    let files = ["diytrace", "libdiytrace.so"].map(|name| fs::read(tool(name)).unwrap());
    let texts = files.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let names = of(&["src", "cdylib", "analyze"]).into_iter();
    names.filter(|name| texts.iter().any(|text| text.contains(name.as_str()))).collect()
}

#[test]
fn variables_exist() {
    let known: BTreeSet<_> = of_the_release().union(&of(&["tests", "benches", "examples"])).cloned().collect();
    let mut wrong = Vec::new();
    for page in pages() {
        let missing = names(&page.text).into_iter().filter(|name| !known.contains(name));
        wrong.extend(missing.map(|name| format!("{}: there is no {name}", page.path.display())));
    }
    assert_none(wrong);
}

#[test]
fn every_variable_has_its_place() {
    let told: BTreeSet<_> =
        guides().filter(|page| page.path.starts_with("docs")).flat_map(|page| names(&page.text)).collect();
    assert_none(of_the_release().difference(&told).map(|name| format!("no page in docs/ tells of {name}")).collect());
}
