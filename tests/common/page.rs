//! A page in a file, and somebody who uses it: a story that a script tells in Chromium.

use std::fs;
use std::path::Path;

use super::browser;

/// What was told of what was seen.
pub struct Told(Vec<String>);

impl Told {
    /// A story about a page; `tests/browser/story.mjs` has the words for it.
    #[track_caller]
    pub fn of(page: &[u8], story: &str, folder: &Path) -> Self {
        let (path, script) = (folder.join("page.html"), folder.join("story.js"));
        fs::write(&path, page).unwrap();
        fs::write(&script, story).unwrap();
        Self(browser::look("story.mjs", &[&path, &script]).lines().map(str::to_owned).collect())
    }

    /// What was told of one thing.
    #[track_caller]
    pub fn text(&self, what: &str) -> &str {
        let line = self.0.iter().find_map(|line| line.strip_prefix(what)?.strip_prefix(": "));
        line.unwrap_or_else(|| panic!("nothing of {what}: {:?}", self.0))
    }
}
