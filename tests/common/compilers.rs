//! The compilers that there are.

use std::fmt;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// How a fixture is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Build {
    /// `gcc` or `clang`.
    pub compiler: &'static str,
    /// `-O0` or `-O2`.
    pub level: &'static str,
}

impl Build {
    pub const GCC_O0: Self = Self { compiler: "gcc", level: "-O0" };
    pub const GCC_O2: Self = Self { compiler: "gcc", level: "-O2" };

    /// The compiler for a compile line that begins with `cc` or `c++`.
    pub fn driver(self, generic: &str) -> &'static str {
        match (generic, self.compiler) {
            ("cc", "gcc") => "gcc",
            ("cc", _) => "clang",
            ("c++", "gcc") => "g++",
            ("c++", _) => "clang++",
            _ => panic!("a compile line begins with cc or c++, not {generic}"),
        }
    }

    /// Whether bodies are inlined only where the source says that they must be.
    pub fn is_optimized(self) -> bool {
        self.level == "-O2"
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} {}", self.compiler, self.level)
    }
}

/// Every compiler that is installed, at every level. Where clang is missing, `tests/compilers.rs` says so.
pub fn builds() -> &'static [Build] {
    static BUILDS: OnceLock<Vec<Build>> = OnceLock::new();
    BUILDS.get_or_init(|| {
        let is_installed = |compiler: &&str| {
            let found = Command::new(compiler).arg("--version").stdout(Stdio::null()).status();
            let found = found.is_ok_and(|status| status.success());
            assert!(found || *compiler != "gcc", "{compiler} is not installed");
            found
        };
        let compilers = ["gcc", "clang"].into_iter().filter(is_installed);
        compilers.flat_map(|compiler| ["-O0", "-O2"].map(|level| Build { compiler, level })).collect()
    })
}
