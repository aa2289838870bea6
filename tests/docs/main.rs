//! The documents tell the truth: links lead somewhere, commands and variables exist, samples are what the commands say,
//! and figures are those of the raw results that are kept.
//!
//! `DIYTRACE_REGENERATE=1 cargo test --test docs` writes samples and figures anew; look at the difference.

#[path = "../common/mod.rs"]
mod common;

mod command;
mod figures;
mod formats;
mod links;
mod page;
mod paths;
mod samples;
mod variables;

use std::path::{Path, PathBuf};

use page::Page;

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All documents for people.
fn pages() -> Vec<Page> {
    let mut paths: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "benches/README.md"]
            .map(PathBuf::from)
            .into();
    page::find(Path::new("docs"), &mut paths);
    paths.into_iter().map(Page::read).collect()
}

/// The pages that tell users how to use it.
fn guides() -> impl Iterator<Item = Page> {
    pages().into_iter().filter(|page| page.path.starts_with("docs") || page.path == Path::new("README.md"))
}

/// Fails with all that is wrong, not the first of it.
#[track_caller]
fn assert_none(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn the_readme_is_short_and_begins_with_its_two_commands() {
    let readme = Page::read("README.md".into());
    assert!(readme.text.lines().count() <= 200);
    let first = readme.blocks.iter().find(|block| block.language == "sh").unwrap();
    assert_eq!(first.text, "bash examples/quickstart.sh\ncargo test --workspace\n");
}
