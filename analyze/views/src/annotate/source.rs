//! Source files: where they were compiled, or where they are now.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A source file.
pub struct Source {
    /// Where it was found.
    pub path: PathBuf,
    /// Its lines.
    pub lines: Vec<String>,
    /// When it was last changed, if that is known.
    pub modified: Option<SystemTime>,
}

impl Source {
    /// The file that a compiler knew by a path: under one of the folders, by as much of the path's end as there is in
    /// one; or where it was.
    pub fn find(path: &str, folders: &[PathBuf]) -> Option<Self> {
        let path = Path::new(path);
        // What is before a `..` need not be there any more.
        let names: Vec<Component> =
            path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir)).collect();
        let after = names.iter().rposition(|part| *part == Component::ParentDir).map_or(0, |at| at + 1);
        let ends = (after..names.len()).map(|from| names[from..].iter().collect::<PathBuf>());
        let relocated = ends.flat_map(|end| folders.iter().map(move |folder| folder.join(&end)));
        relocated.chain([path.to_owned()]).find_map(Self::read)
    }

    fn read(path: PathBuf) -> Option<Self> {
        const LARGEST: u64 = 64 << 20;
        let facts = fs::metadata(&path).ok().filter(|facts| facts.is_file() && facts.len() <= LARGEST)?;
        let text = String::from_utf8_lossy(&fs::read(&path).ok()?).into_owned();
        Some(Self { path, lines: text.lines().map(str::to_owned).collect(), modified: facts.modified().ok() })
    }

    /// Whether it was changed after another file was made; clocks of file systems differ a little.
    pub fn is_newer_than(&self, unix_ns: u64) -> bool {
        const SLACK: Duration = Duration::from_secs(2);
        let then = SystemTime::UNIX_EPOCH + Duration::from_nanos(unix_ns) + SLACK;
        unix_ns > 0 && self.modified.is_some_and(|modified| modified > then)
    }

    /// The line that a function's declaration begins on, if its name is on `first`: a return type may be before it.
    pub fn declaration(&self, first: u32) -> u32 {
        let before = (first as usize).checked_sub(2).and_then(|index| self.lines.get(index));
        let is_type = before.is_some_and(|line| {
            let ends = line.trim_end();
            let begins = line.starts_with(|first: char| first.is_alphabetic() || first == '_');
            begins && !ends.ends_with([';', '}', '{', ':', ',']) && !ends.ends_with("*/")
        });
        if is_type { first - 1 } else { first }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_end_of_a_path_is_found_first() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("lib/parse.c", "right");
        write("parse.c", "wrong");
        let found = |path: &str| Source::find(path, &[folder.path().to_owned()]).map(|source| source.lines.join("\n"));
        assert_eq!(found("/build/x/lib/parse.c").as_deref(), Some("right"));
        assert_eq!(found("/build/x/obj/../lib/parse.c").as_deref(), Some("right"));
        assert_eq!(found("/build/other/parse.c").as_deref(), Some("wrong"));
        assert_eq!(found("/build/missing.c"), None);
    }

    #[test]
    fn a_return_type_on_a_line_of_its_own_belongs_to_the_function() {
        let lines = ["/* of it */", "static int", "parse(char *text)", "{", "}", "int next(void)", "{"];
        let lines = lines.map(str::to_owned).to_vec();
        let source = Source { path: PathBuf::new(), lines, modified: None };
        assert_eq!([3, 6, 1].map(|first| source.declaration(first)), [2, 6, 1]);
    }
}
