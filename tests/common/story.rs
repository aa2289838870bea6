//! A store in ClickHouse, and recordings that are put into it.

use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use super::clickhouse::{ClickHouse, Cluster};
use super::{builds, diytrace, record_into, run_to_end};

/// Where stores can be: a ClickHouse, or two.
pub trait Engine {
    /// With its data in a folder, which is made.
    fn start(folder: &Path) -> Self;

    /// A store in a database of it.
    fn store(&self, database: &str) -> String;
}

impl Engine for ClickHouse {
    fn start(folder: &Path) -> Self {
        Self::start(folder)
    }

    fn store(&self, database: &str) -> String {
        self.store(database)
    }
}

impl Engine for Cluster {
    fn start(folder: &Path) -> Self {
        Self::start(folder)
    }

    fn store(&self, database: &str) -> String {
        self.store(database)
    }
}

/// A folder with recordings, and where their store is.
pub struct Story<E> {
    pub folder: TempDir,
    pub engine: E,
}

impl<E: Engine> Story<E> {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let engine = E::start(&folder.path().join("engine"));
        Self { folder, engine }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn store(&self) -> String {
        self.engine.store("runs")
    }

    /// Records a program, a copy of its own, into a folder of that name.
    pub fn record(&self, source: &str, name: &str) {
        record_into(self.path(), source, builds()[0], name);
    }

    /// A command; `STORE` is the store.
    pub fn run(&self, line: &str) -> Output {
        let store = self.store();
        let words = line.split(' ').map(|word| if word == "STORE" { &store } else { word });
        run_to_end(diytrace(self.path()).args(words).env("DIYTRACE_CACHE", "off"))
    }

    pub fn done(&self, line: &str) -> Output {
        let output = self.run(line);
        assert!(output.status.success(), "{line}: {}", text(&output.stderr));
        output
    }

    pub fn told(&self, line: &str) -> String {
        text(&self.done(line).stdout)
    }

    /// What is said, and how it ends.
    pub fn refused(&self, line: &str) -> String {
        let output = self.run(line);
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""), "{line}");
        let said = text(&output.stderr);
        assert_eq!(said.lines().count(), 1, "{line}: one sentence, not {said}");
        said
    }

    /// The one number that a query answers.
    pub fn number(&self, query: &str) -> u64 {
        self.number_of(&self.store(), query)
    }

    /// The same of another store.
    pub fn number_of(&self, store: &str, query: &str) -> u64 {
        let output = run_to_end(diytrace(self.path()).args(["sql", "--store", store, query]));
        let (answer, said) = (text(&output.stdout), text(&output.stderr));
        answer.lines().nth(1).and_then(|line| line.parse().ok()).unwrap_or_else(|| panic!("{query}: {answer}{said}"))
    }
}

/// Bytes that a command has written.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Numbers that nobody thought of, the same each time.
pub struct Random(pub u64);

impl Random {
    /// The next one.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.0 >> 33
    }

    /// One that is less than that.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}
