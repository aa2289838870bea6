//! What compilers write of themselves and of their options into what they make.

/// A compiler, and those of its options that matter here.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Producer {
    /// `gcc` or `clang`, or another's own words.
    pub compiler: String,
    /// Its version, or nothing.
    pub version: String,
    /// Options that instrument, or leave out; none if the compiler does not say.
    pub options: Option<Vec<String>>,
}

/// Options that have to do with instrumenting functions, by their beginnings.
const OPTIONS: [&str; 7] = [
    "-finstrument-function",
    "-pg",
    "-mfentry",
    "-p",
    "-fxray-instrument",
    "-fpatchable-function-entry",
    "-fno-instrument-functions",
];

impl Producer {
    /// Reads `DW_AT_producer`. Assemblers give none: what they make has no functions to instrument.
    pub fn of_unit(text: &str) -> Option<Self> {
        if text.starts_with("GNU AS ") {
            return None;
        }
        // gcc lists its options; clang does so if it is asked to.
        let options: Vec<&str> = text.split_whitespace().filter(|word| word.starts_with('-')).collect();
        let kept =
            || options.iter().filter(|option| is_of_interest(option)).map(|option| (*option).to_owned()).collect();
        let options = (!options.is_empty()).then(kept);
        Some(Self { options, ..Self::of_comment(text) })
    }

    /// Reads an entry of `.comment`.
    pub fn of_comment(text: &str) -> Self {
        let is_clang = text.contains("clang version");
        let is_gcc = text.starts_with("GNU ") || text.starts_with("GCC: ");
        let version = match text.split_once("clang version ") {
            Some((_, rest)) => rest.split_whitespace().next(),
            // In `GCC: (Debian 12.2.0-14) 12.2.0` the first is of the package: it stands in parentheses.
            None if is_gcc => {
                let bare = text.split_once(") ").map_or(text, |(_, bare)| bare);
                bare.split_whitespace().find(|word| is_version(word))
            }
            None => None,
        };
        let compiler = match (is_clang, is_gcc) {
            (true, _) => "clang",
            (_, true) => "gcc",
            _ => text.trim(),
        };
        Self { compiler: compiler.to_owned(), version: version.unwrap_or_default().to_owned(), options: None }
    }

    /// Both, for people: `gcc 12.2.0`.
    pub fn name(&self) -> String {
        format!("{} {}", self.compiler, self.version).trim_end().to_owned()
    }

    /// Whether it names an option that begins so; `None` if it names none at all.
    pub fn has(&self, option: &str) -> Option<bool> {
        Some(self.options.as_ref()?.iter().any(|given| given.starts_with(option)))
    }
}

fn is_of_interest(option: &str) -> bool {
    OPTIONS.iter().any(|known| match *known {
        "-p" | "-pg" | "-mfentry" => option == *known,
        _ => option.starts_with(known),
    })
}

fn is_version(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_digit()) && word.contains('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        let gcc = "GNU C17 12.2.0 -mtune=generic -g -O2 -finstrument-functions -pthread \
                   -finstrument-functions-exclude-file-list=usr/include -fasynchronous-unwind-tables";
        let gcc = Producer::of_unit(gcc).unwrap();
        assert_eq!(gcc.name(), "gcc 12.2.0");
        assert_eq!(
            gcc.options.as_deref().unwrap(),
            ["-finstrument-functions", "-finstrument-functions-exclude-file-list=usr/include"]
        );
        let clang = Producer::of_unit("Debian clang version 14.0.6").unwrap();
        assert_eq!((clang.name().as_str(), clang.has("-finstrument-functions")), ("clang 14.0.6", None));
        let rust = Producer::of_unit("clang LLVM (rustc version 1.80.0)").unwrap();
        assert_eq!(rust.name(), "clang LLVM (rustc version 1.80.0)");
        assert_eq!(Producer::of_unit("GNU AS 2.40"), None);
    }

    #[test]
    fn comments() {
        for (comment, name) in [
            ("GCC: (Debian 12.2.0-14+deb12u1) 12.2.0", "gcc 12.2.0"),
            ("GCC: (GNU) 4.8.5 20150623 (Red Hat 4.8.5-44)", "gcc 4.8.5"),
            ("GCC: (GNU) 13.2.1 20231011 (Red Hat 13.2.1-4)", "gcc 13.2.1"),
            ("Debian clang version 14.0.6", "clang 14.0.6"),
            ("clang version 17.0.1 (https://github.com/llvm/llvm-project 3f0)", "clang 17.0.1"),
            ("Linker: LLD 14.0.6", "Linker: LLD 14.0.6"),
        ] {
            assert_eq!(Producer::of_comment(comment).name(), name);
        }
    }
}
