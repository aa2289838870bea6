//! A server: started under the recorder, asked, and stopped.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use super::counters::{Available, Counters};
use super::interrupts::Interrupts;
use super::plan::{Server, Side};
use super::shell::{Output, Shell};
use super::snapshots::{self, Rest};
use super::step::{self, Environment, how};
use super::{Error, Stop, say};

/// Between two checks whether it is ready, or has ended.
const LOOK: Duration = Duration::from_millis(50);

/// A server that answers.
pub struct Running<'a> {
    /// Its side.
    pub side: &'a Side,
    /// Its profiles.
    pub folder: PathBuf,
    /// What it counts for the kernel and the processor.
    pub counters: Counters,
    server: &'a Server,
    shell: Shell,
    rest: Rest,
    log: PathBuf,
}

impl<'a> Running<'a> {
    /// Starts it and waits until it is ready.
    pub fn start(
        (side, server): (&'a Side, &'a Server),
        recorded: &Environment,
        (folder, log): (PathBuf, PathBuf),
        (available, interrupts): (&Available, &Interrupts),
    ) -> Result<Self, Stop> {
        let output = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&log)
            .map_err(|source| Error::WriteTo { path: log.clone(), source })?;
        // In a thread of its own, for its counters: see there.
        let start = || (available.open(true), Shell::start(&server.start, recorded, Output::File(output), interrupts));
        let (counters, shell) = thread::scope(|scope| scope.spawn(start).join()).expect("it does not panic");
        let what = || format!("{} start", side.name);
        let shell = shell.map_err(|source| Error::NoShell { what: what(), source })?;
        let mut running = Self { side, folder, counters, server, shell, rest: Rest::default(), log };
        running.get_ready(interrupts)?;
        Ok(running)
    }

    fn get_ready(&mut self, interrupts: &Interrupts) -> Result<(), Stop> {
        let limit = Instant::now() + self.server.limit;
        let environment = step::environment(self.side);
        loop {
            let ended = self.shell.look();
            if let Some(ended) = ended.filter(|ended| !ended.status.success()) {
                return Err(self.ended(how(ended.status), "before it was ready").into());
            }
            let seems_ready = match &self.server.ready {
                None => snapshots::is_running(&self.folder)?,
                Some(check) => {
                    let shell = Shell::start(check, &environment, Output::Discarded, interrupts);
                    let mut shell =
                        shell.map_err(|source| Error::NoShell { what: format!("{} ready", self.side.name), source })?;
                    // A check that hangs is one that did not succeed.
                    shell.wait(interrupts, Some(limit))?.is_some_and(|ended| ended.status.success())
                }
            };
            // What is ready already may be what an earlier server has left, while this one still begins.
            if seems_ready && snapshots::is_running(&self.folder)? {
                return Ok(());
            }
            if Instant::now() > limit {
                if seems_ready && ended.is_none() {
                    return Ok(()); // it runs, and does not let us see it
                }
                let check = self.server.ready.clone().filter(|_| !seems_ready);
                let waited_for = check.unwrap_or_else(|| "for a profile to begin".to_owned());
                let (side, limit, log) = (self.side.name, self.server.limit, self.log.clone());
                return Err(Error::NotReady { side, waited_for, limit, log }.into());
            }
            thread::sleep(LOOK);
            interrupts.check()?;
        }
    }

    /// Waits until it does nothing.
    pub fn settle(&mut self, interrupts: &Interrupts) -> Result<bool, Stop> {
        if let Some(ended) = self.shell.look() {
            let is_gone = !snapshots::is_running(&self.folder)?;
            if !ended.status.success() || is_gone {
                return Err(self.ended(how(ended.status), "while it was asked").into());
            }
        }
        self.rest.wait(&self.folder, self.server.settle, interrupts)
    }

    fn ended(&self, how: String, when: &'static str) -> Error {
        Error::ServerEnded { side: self.side.name, how, when, log: self.log.clone() }
    }

    /// Ends it, by force if need be. What its end counts is nobody's.
    pub fn stop(mut self, interrupts: &Interrupts) -> Result<(), Stop> {
        let limit = Instant::now() + self.server.limit;
        match &self.server.stop {
            Some(command) => step::run(self.side, "stop", command, false, interrupts)?,
            None => _ = self.shell.end(),
        }
        while self.shell.look().is_none() || snapshots::is_running(&self.folder)? {
            if Instant::now() > limit {
                let name = self.side.name;
                say(&format!(
                    "warning: the {name} server still ran {} s after it was told to stop: does its `stop` in the scenario do that?",
                    self.server.limit.as_secs_f64()
                ));
                break;
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }
}
