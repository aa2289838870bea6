//! A program that waits in calls until it is told what to do next.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use tempfile::TempDir;

use super::{Document, Program, Report, diytrace, run_to_end, tool};

/// `waiting.c`, with each step done before the next.
pub struct Waiting {
    pub here: TempDir,
    pub process: Child,
    orders: Option<ChildStdin>,
    answers: ChildStdout,
}

impl Waiting {
    /// Recorded into `out`.
    pub fn of(program: &Program) -> Self {
        let here = tempfile::tempdir().unwrap();
        let mut command = Command::new(&program.path);
        command.current_dir(&here).env("DIYTRACE_OUT", "out").env("LD_PRELOAD", tool("libdiytrace.so"));
        Self::start(here, command)
    }

    /// Of a command that runs it.
    pub fn start(here: TempDir, mut command: Command) -> Self {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (orders, answers) = (process.stdin.take(), process.stdout.take().unwrap());
        Self { here, process, orders, answers }
    }

    /// Has it do all these, and waits until it has.
    pub fn tell(&mut self, orders: &str) {
        for order in orders.bytes() {
            self.orders.as_mut().unwrap().write_all(&[order]).unwrap();
            self.answers.read_exact(&mut [0]).unwrap();
        }
    }

    /// Ends it.
    pub fn quit(&mut self) {
        drop(self.orders.take());
        assert!(self.process.wait().unwrap().success());
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        let output = run_to_end(diytrace(self.here.path()).args(arguments));
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    /// What a command writes.
    pub fn said(&self, arguments: &[&str]) -> String {
        String::from_utf8(self.run(arguments).stdout).unwrap()
    }

    pub fn report(&self, profile: &str) -> Report {
        Document::parse(&self.run(&["report", "--format", "json", profile]).stdout).into_only_report()
    }
}

/// A story that ends badly does not leave it running.
impl Drop for Waiting {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.process.wait();
    }
}
