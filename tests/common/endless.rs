//! A program that is recorded until it is told to stop.

use std::fs;
use std::process::{Child, Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{Document, Program, builds, diytrace, fixture, run_to_end, tool};

/// Waits for something that comes soon on a quiet machine.
#[track_caller]
pub fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(600), "it never comes that {what}");
        sleep(Duration::from_millis(5));
    }
}

/// `endless.c`, until it is told to stop.
pub struct Endless {
    pub here: TempDir,
    process: Child,
}

impl Endless {
    /// Of a build, from its very first moment on.
    pub fn of(program: &Program) -> Self {
        let here = tempfile::tempdir().unwrap();
        let mut command = Command::new(&program.path);
        command.current_dir(&here).env("DIYTRACE_OUT", "out").env("DIYTRACE_KEEP", "4");
        let process = command.env("LD_PRELOAD", tool("libdiytrace.so")).spawn().unwrap();
        Self { here, process }
    }

    /// Once something is recorded.
    pub fn start() -> Self {
        let endless = Self::of(&fixture("endless.c", builds()[0]));
        wait_until("something is recorded", || {
            endless.ctl(&["status", "out"]).status.code() == Some(0) && endless.calls() > 0
        });
        endless
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        run_to_end(diytrace(self.here.path()).args(arguments))
    }

    pub fn ctl(&self, arguments: &[&str]) -> Output {
        self.run(&[&["ctl"], arguments].concat())
    }

    pub fn status(&self) -> serde_json::Value {
        serde_json::from_slice(&self.ctl(&["status", "--format", "json", "out"]).stdout).unwrap()
    }

    pub fn calls(&self) -> u64 {
        self.status()[0]["calls"].as_u64().unwrap()
    }

    pub fn pid(&self) -> String {
        self.process.id().to_string()
    }

    pub fn is_running(&mut self) -> bool {
        self.process.try_wait().unwrap().is_none()
    }

    pub fn stop(&mut self) {
        fs::write(self.here.path().join("stop"), "").unwrap();
        assert!(self.process.wait().unwrap().success());
    }

    /// Kills it. What it has forked goes on to its end, and nobody runs any more then.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        wait_until("its children have ended", || self.ctl(&["status", "out"]).status.code() == Some(1));
    }

    pub fn report(&self, profile: &str) -> Document {
        let output = self.run(&["report", "--format", "json", profile]);
        assert!(output.status.success(), "{profile}: {}", String::from_utf8_lossy(&output.stderr));
        Document::parse(&output.stdout)
    }
}

/// A story that ends badly does not leave it running.
impl Drop for Endless {
    fn drop(&mut self) {
        let _ = fs::write(self.here.path().join("stop"), "");
        let _ = self.process.wait();
    }
}
