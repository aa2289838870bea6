//! Links within the repository.

use std::path::{Component, Path, PathBuf};

use super::page::Page;
use super::{assert_none, pages, repository};

#[test]
fn links_lead_somewhere() {
    let pages = pages();
    assert_none(pages.iter().flat_map(|page| page.links.iter().filter_map(|link| wrong(&pages, page, link))).collect());
}

fn wrong(pages: &[Page], page: &Page, link: &str) -> Option<String> {
    if link.contains("://") {
        return None;
    }
    let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let target = if file.is_empty() { page.path.clone() } else { from(&page.path, file) };
    if !repository().join(&target).exists() {
        return Some(format!("{}: there is no {link}", page.path.display()));
    }
    let anchor = anchor?;
    let has = pages.iter().any(|page| page.path == target && page.anchors.iter().any(|other| other == anchor));
    (!has).then(|| format!("{}: there is no such heading: {link}", page.path.display()))
}

/// A file that is named in a page, from the repository's folder.
fn from(page: &Path, file: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for component in page.parent().unwrap().join(file).components() {
        match component {
            Component::ParentDir => assert!(path.pop(), "{page:?} names a file outside the repository: {file}"),
            component => path.push(component),
        }
    }
    path
}

#[test]
fn every_page_can_be_reached_from_the_readme() {
    let pages = pages();
    let mut reached = vec![PathBuf::from("README.md")];
    let mut next = 0;
    while let Some(path) = reached.get(next).cloned() {
        next += 1;
        let Some(page) = pages.iter().find(|page| page.path == path) else { continue };
        for link in page.links.iter().filter(|link| !link.contains("://")) {
            let target = from(&path, link.split('#').next().unwrap());
            if !reached.contains(&target) {
                reached.push(target);
            }
        }
    }
    let lost = pages.iter().filter(|page| !reached.contains(&page.path));
    assert_none(lost.map(|page| format!("no link leads to {}", page.path.display())).collect());
}
