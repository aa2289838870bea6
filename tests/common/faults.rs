//! The server with faults (`faults.c`), and load that is made to it.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::{Build, diytrace, fixture, run_to_end, tool};

/// A server that runs.
pub struct Faults {
    pub here: TempDir,
    pub port: u16,
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// What a server has served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    pub requests: u64,
    pub connections: u64,
    pub bytes: u64,
}

impl Faults {
    /// With a fault, and not recorded.
    pub fn start(fault: &str) -> Self {
        Self::started(fault, |_| {})
    }

    /// With a fault, recorded into `out`.
    pub fn recorded(fault: &str) -> Self {
        Self::started(fault, |command| {
            command.env("DIYTRACE_OUT", "out").env("LD_PRELOAD", tool("libdiytrace.so"));
        })
    }

    fn started(fault: &str, change: impl FnOnce(&mut Command)) -> Self {
        let program = fixture("faults.c", Build::GCC_O2);
        let here = tempfile::tempdir().unwrap();
        let mut command = Command::new(&program.path);
        command.arg(fault).current_dir(&here).stdin(Stdio::piped()).stdout(Stdio::piped());
        change(&mut command);
        let mut process = command.spawn().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut port = String::new();
        output.read_line(&mut port).unwrap();
        let input = process.stdin.take();
        Self { here, port: port.trim().parse().unwrap(), process, input, output }
    }

    /// How many connections to it there are. Whoever looks whether it is there has one for a moment.
    pub fn connections(&self) -> usize {
        // The server's end of it: address, the other's address, and a state of 1.
        let local = format!("0100007F:{:04X}", self.port);
        let is_it = |line: &str| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            fields.get(1) == Some(&local.as_str()) && fields.get(3) == Some(&"01")
        };
        fs::read_to_string("/proc/net/tcp").unwrap().lines().filter(|line| is_it(line)).count()
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Load to a path, with these arguments.
    pub fn load(&self, path: &str, arguments: &[&str]) -> Loaded {
        Loaded::of(self.here.path(), &[&[self.url(path).as_str()], arguments].concat())
    }

    /// Ends it; what it has served.
    pub fn end(mut self) -> Served {
        drop(self.input.take());
        let mut said = String::new();
        self.output.read_to_string(&mut said).unwrap();
        assert!(self.process.wait().unwrap().success());
        let numbers: Vec<u64> = said.split([' ', ',', '\n']).filter_map(|word| word.parse().ok()).collect();
        let [requests, connections, bytes] = numbers[..] else { panic!("{said}") };
        // Whoever looks whether it is there connects, too.
        Served { requests, connections: connections - 1, bytes }
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.process.wait();
    }
}

/// Load that was made.
#[derive(Debug)]
pub struct Loaded {
    pub output: Output,
    pub json: Value,
}

impl Loaded {
    /// By `diytrace load`, with JSON as its answer.
    pub fn of(folder: &Path, arguments: &[&str]) -> Self {
        let output = run_to_end(diytrace(folder).args(["load", "--format", "json"]).args(arguments));
        let json = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
        Self { output, json }
    }

    pub fn step(&self, number: usize) -> &Value {
        &self.json["steps"][number]
    }

    /// A number of a step.
    pub fn count(&self, step: usize, name: &str) -> u64 {
        self.step(step)[name].as_u64().unwrap_or_else(|| panic!("{name} in {:#}", self.step(step)))
    }

    /// Over all steps, with their warm-ups, how many requests were sent.
    pub fn sent(&self) -> u64 {
        let steps = self.json["steps"].as_array().unwrap();
        let number = |value: &Value| value.as_u64().unwrap();
        steps.iter().map(|step| number(&step["sent"]) + number(&step["warm_up"]["sent"])).sum()
    }

    /// What it says on stderr.
    pub fn said(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }
}
