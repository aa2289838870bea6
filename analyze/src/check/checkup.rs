//! What a checkup tells: plain data, in the shape of `diytrace check --format json`.

use serde::Serialize;

use super::memory::Memory;

/// The name and version of the JSON's shape.
pub const SCHEMA: &str = "diytrace-check/1";

/// What recording a program would show, and what stands in its way.
#[derive(Clone, Debug, Serialize)]
pub struct Checkup {
    /// The name and version of this shape.
    pub schema: &'static str,
    /// The program or library.
    pub program: String,
    /// The script that it runs, if that is what was asked about.
    pub script: Option<String>,
    /// Whether anything of it can be recorded.
    pub works: bool,
    /// The answer in a sentence.
    pub verdict: String,
    /// The command to type next.
    pub next: String,
    /// How much room a recording may need, if there can be one.
    pub memory: Option<Memory>,
    /// What is to be known, the worst first.
    pub findings: Vec<Finding>,
    /// The program and the libraries it starts with, nearest first.
    pub modules: Vec<Module>,
    /// Names of libraries that it needs and that are not there.
    pub missing_libraries: Vec<String>,
}

/// Something to be known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// One word for it, for programs.
    pub code: &'static str,
    /// What it is, without a full stop. If it is fatal, "it" is the program.
    pub text: String,
    /// What to do about it.
    pub advice: Option<String>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing can be recorded.
    Fatal,
    /// Something will be missed.
    Warning,
    /// Good to know.
    Note,
}

/// A program or library.
#[derive(Clone, Debug, Serialize)]
pub struct Module {
    /// Its file.
    pub path: String,
    /// What it is.
    pub role: Role,
    /// Class and processor.
    pub kind: String,
    /// Its build ID in hexadecimal.
    pub build_id: Option<String>,
    /// Its functions.
    pub functions: Functions,
    /// Calls of the hook for entering.
    pub enters: Enters,
    /// Calls of the hook for leaving.
    pub exits: Exits,
    /// Whose hooks are called.
    pub hooks: Hooks,
    /// Which functions have names.
    pub symbols: Symbols,
    /// Whether there are source lines of addresses.
    pub lines: bool,
    /// What was split off it for debuggers.
    pub debug_file: Option<DebugFile>,
    /// The option that it was instrumented with.
    pub option: Instrumenting,
    /// Its compilers, the busiest first.
    pub compilers: Vec<Compiler>,
    /// Folders of its source files.
    pub folders: Vec<Folder>,
    /// Functions whose bodies are inlined most often, and are instrumented each time.
    pub most_inlined: Vec<Inlined>,
    /// Options of other tools that it was compiled with.
    pub other_tools: Vec<&'static str>,
    /// It loads libraries later.
    pub loads_libraries: bool,
}

/// What a module is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It is run.
    Program,
    /// It is loaded.
    Library,
}

/// Counts of functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Functions {
    /// All that have code of their own.
    pub all: usize,
    /// Of these, those that call the hook when they are entered.
    pub instrumented: usize,
}

/// Calls of the hook for entering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Enters {
    /// All.
    pub sites: usize,
    /// Of these, those in bodies that are inlined in another function.
    pub inlined: usize,
}

/// Calls of the hook for leaving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Exits {
    /// All.
    pub sites: usize,
    /// Of these, jumps: the hook then returns to the function's caller.
    pub tail_jumps: usize,
}

/// Whose hooks a module calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Hooks {
    /// Nobody's: it is not instrumented.
    #[default]
    None,
    /// The recorder's, once that is preloaded.
    Recorder,
    /// The program's, which come before the recorder's.
    Program,
    /// Its own.
    Own,
}

/// Which functions of a module have names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Symbols {
    /// All.
    All,
    /// All, by the debug file.
    DebugFile,
    /// Those that other modules may use.
    Exported,
    /// None.
    #[default]
    None,
}

/// A separate debug file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DebugFile {
    /// Where it is.
    pub path: String,
    /// How it was found: `build-id` or `debuglink`.
    pub found_by: &'static str,
}

/// The option that hooks come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Instrumenting {
    /// There are none.
    #[default]
    #[serde(rename = "none")]
    None,
    /// In every function of the source, wherever it ends up.
    #[serde(rename = "-finstrument-functions")]
    Functions,
    /// Only in functions that were not inlined: clang's.
    #[serde(rename = "-finstrument-functions-after-inlining")]
    AfterInlining,
    /// One of clang's two: the code does not tell.
    #[serde(rename = "-finstrument-functions or -finstrument-functions-after-inlining")]
    Either,
    /// The code does not tell, and there is nothing else.
    #[serde(rename = "unknown")]
    Unknown,
}

/// A compiler and what it made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Compiler {
    /// `gcc 12.2.0`.
    pub name: String,
    /// Source files that it compiled; `null` without debug information.
    pub files: Option<usize>,
    /// Of these, those whose code calls hooks.
    pub instrumented_files: Option<usize>,
    /// Its options that leave functions out.
    pub exclusions: Vec<String>,
}

/// A folder of source files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Folder {
    /// Its path, as the compiler saw it.
    pub path: String,
    /// Files in it that were compiled.
    pub files: usize,
    /// Of these, those whose code calls hooks.
    pub instrumented_files: usize,
}

/// A function that is inlined and instrumented in many places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Inlined {
    /// Its name.
    pub name: String,
    /// In how many places.
    pub sites: usize,
}

impl Module {
    /// Its file's own name.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Whether the recorder will see anything of it.
    pub fn is_recorded(&self) -> bool {
        self.hooks == Hooks::Recorder
    }
}
