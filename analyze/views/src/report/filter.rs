//! Which functions are listed.

use diytrace_format::pattern::glob;

use super::document::Function;

/// What functions must be like to be listed. Several patterns of one kind: like any of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Patterns of names: as for roots.
    pub functions: Vec<String>,
    /// Patterns of modules: of their paths or the last parts of those.
    pub modules: Vec<String>,
    /// Patterns of source files: of their paths or the ends of those.
    pub files: Vec<String>,
    /// Least total time in nanoseconds.
    pub min_ns: Option<f64>,
    /// Least share of all time, in percent, that its total is.
    pub min_percent: Option<f64>,
    /// Most levels below where call paths begin at which it is called.
    pub depth: Option<u32>,
}

impl Filter {
    /// Whether it leaves nothing out.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a function is like that; its name and where it is called were looked at before.
    pub fn allows(&self, function: &Function, all_ns: f64) -> bool {
        let is_any = |patterns: &[String], path: Option<&str>| {
            patterns.is_empty() || path.is_some_and(|path| patterns.iter().any(|pattern| ends_like(pattern, path)))
        };
        is_any(&self.modules, Some(&function.module))
            && is_any(&self.files, function.file.as_deref())
            && self.min_ns.is_none_or(|least| function.total_ns >= least)
            && self.min_percent.is_none_or(|least| function.total_ns * 100.0 >= all_ns * least)
    }
}

/// Whether a pattern means a path, or the part of it after any slash.
fn ends_like(pattern: &str, path: &str) -> bool {
    let ends = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
    glob(pattern, path) || ends.into_iter().any(|end| glob(pattern, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_meant_by_their_ends() {
        for pattern in ["/src/lib/parse.c", "parse.c", "lib/parse.c", "*.c", "lib/*", "parse.?"] {
            assert!(ends_like(pattern, "/src/lib/parse.c"), "{pattern}");
        }
        for pattern in ["arse.c", "parse", "src", "/lib/parse.c"] {
            assert!(!ends_like(pattern, "/src/lib/parse.c"), "{pattern}");
        }
    }
}
