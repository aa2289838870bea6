//! Programs of `c-fixtures/`, compiled by the lines at their tops.
//!
//! A compile line is a line ` *   cc …` or ` *   c++ …` of the comment that a fixture begins with; several are run in
//! their order. `cc` and `c++` stand for the compiler and its level of optimisation. What a line writes goes into a
//! folder of the fixture's own.

use std::collections::HashMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};

use super::{Build, Recording, builds};

/// A compiled fixture.
#[derive(Clone, Debug)]
pub struct Program {
    /// How it was compiled.
    pub build: Build,
    /// Where everything is that the compile lines made.
    pub folder: PathBuf,
    /// The program: the file without an extension that is called like the fixture.
    pub path: PathBuf,
}

impl Program {
    /// A run of it under the recorder.
    pub fn record(&self) -> Recording<'_> {
        Recording::of(self)
    }

    /// The program, run by a shell script that knows it as `PROGRAM`.
    pub fn wrapped(&self, script: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        script.hash(&mut hasher);
        let path = self.folder.join(format!("wrapped-{:x}", hasher.finish()));
        let text = format!("#!/bin/sh\nexport PROGRAM='{}'\n{script}\n", self.path.display());
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Self { path, ..self.clone() }
    }
}

/// Tells a story once for every compiler and level of optimisation.
pub fn each_build(source: &str, story: impl Fn(&Program)) {
    for &build in builds() {
        eprintln!("── {source} by {build}"); // shown if the story ends badly
        story(&fixture(source, build));
    }
}

/// A fixture, compiled once.
pub fn fixture(source: &str, build: Build) -> Program {
    fixture_with(source, build, &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// A fixture compiled with more options, once, or what the compiler said.
pub fn fixture_with(source: &str, build: Build, options: &[&str]) -> Result<Program, String> {
    type Key = (String, Build, String);
    type Cell = Arc<OnceLock<Result<Program, String>>>;
    static COMPILED: Mutex<Option<HashMap<Key, Cell>>> = Mutex::new(None);
    let key = (source.to_owned(), build, options.join(" "));
    let cell = {
        let mut compiled = COMPILED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        Arc::clone(compiled.get_or_insert_default().entry(key).or_default())
    };
    cell.get_or_init(|| compile(source, build, options)).clone()
}

fn compile(source: &str, build: Build, options: &[&str]) -> Result<Program, String> {
    let sources = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/c-fixtures"));
    let name = Path::new(source).file_stem().unwrap().to_str().unwrap();
    let folder = scratch().join(format!("{name}-{}{}{}", build.compiler, build.level, options.concat()));
    fs::create_dir_all(&folder).unwrap();
    let text = fs::read_to_string(sources.join(source)).unwrap_or_else(|error| panic!("{source}: {error}"));
    let comment = text.split("*/").next().unwrap();
    let lines: Vec<_> = comment.lines().filter_map(compile_line).collect();
    assert!(!lines.is_empty(), "{source} has no compile line at its top");
    for line in lines {
        let mut words = line.split_whitespace().map(|word| word.replace('\'', ""));
        let mut compiler = Command::new(build.driver(&words.next().unwrap()));
        compiler.arg(build.level).args(options).current_dir(&folder);
        for word in words {
            let file = sources.join(&word);
            if file.is_file() {
                compiler.arg(file)
            } else {
                compiler.arg(word)
            };
        }
        let output = compiler.output().unwrap();
        if !output.status.success() {
            return Err(format!("{compiler:?}\n{}", String::from_utf8_lossy(&output.stderr)));
        }
    }
    Ok(Program { build, path: folder.join(name), folder })
}

/// The number of the first line of a fixture that begins with this text.
pub fn line_of(source: &str, text: &str) -> u32 {
    let sources = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/c-fixtures"));
    let lines = fs::read_to_string(sources.join(source)).unwrap();
    let index = lines.lines().position(|line| line.trim_start().starts_with(text));
    index.unwrap_or_else(|| panic!("{source} has no line with {text}")) as u32 + 1
}

fn compile_line(line: &str) -> Option<&str> {
    let line = line.trim_start().strip_prefix('*')?.trim_start();
    (line.starts_with("cc -") || line.starts_with("c++ -")).then_some(line)
}

/// A folder for this run of the tests; those of earlier runs are removed.
pub fn scratch() -> &'static Path {
    const PREFIX: &str = "fixtures-";
    static SCRATCH: OnceLock<PathBuf> = OnceLock::new();
    SCRATCH.get_or_init(|| {
        let here = Path::new(env!("CARGO_TARGET_TMPDIR"));
        for entry in fs::read_dir(here).unwrap().flatten() {
            let process = entry.file_name().to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok());
            if process.is_some_and(|process| !Path::new("/proc").join(process.to_string()).exists()) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let mine = here.join(format!("{PREFIX}{}", std::process::id()));
        let _ = fs::remove_dir_all(&mine);
        fs::create_dir_all(&mine).unwrap();
        mine
    })
}
