//! What the documents say of formats.

use std::fs;
use std::path::Path;

use super::common::tool;
use super::page::Page;
use super::{assert_none, pages};

#[test]
fn names_of_formats_exist() {
    let command = String::from_utf8_lossy(&fs::read(tool("diytrace")).unwrap()).into_owned();
    let mut wrong = Vec::new();
    for page in pages() {
        let is_schema = |span: &&String| {
            let number = span.strip_prefix("diytrace-").and_then(|rest| rest.split_once('/'));
            number.is_some_and(|(_, number)| number.parse::<u32>().is_ok())
        };
        let missing = page.spans.iter().filter(is_schema).filter(|span| !command.contains(span.as_str()));
        wrong.extend(missing.map(|span| format!("{}: there is no {span}", page.path.display())));
    }
    assert_none(wrong);
}

#[test]
fn the_version_of_profiles_is_the_present_one() {
    let page = Page::read(Path::new("docs/formats.md").into());
    assert!(page.text.contains(&format!("Its version ({}) rises", diytrace_format::VERSION)));
}
