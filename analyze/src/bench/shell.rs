//! A shell's command as a child with a process group of its own, and what the kernel says of it at its end.
//!
//! Ctrl-C at the terminal reaches us alone: we end the whole group, also what a pipeline or a script has started.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use libc::{c_int, pid_t};

use super::interrupts::{Interrupt, Interrupts, Woken};

/// How long a command may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(5);

/// How often a command that was asked to end is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// Where a command writes to.
#[derive(Debug)]
pub enum Output {
    /// Nowhere.
    Discarded,
    /// Where we write to; what it says on its standard output goes to standard error, for that is where no data of ours is.
    Shown,
    /// Into a file, both.
    File(File),
}

/// A command that was started. Dropped before its end, it is ended with all of its group.
pub struct Shell {
    child: Child,
    begun: Instant,
    ended: Option<Ended>,
}

/// How a command ended.
#[derive(Clone, Copy)]
pub struct Ended {
    /// How it ended.
    pub status: ExitStatus,
    /// From just before it was started until its end was seen.
    pub wall: Duration,
    /// What it and all it has waited for have used.
    pub usage: libc::rusage,
}

impl Shell {
    /// Starts a command.
    pub fn start(
        command: &str,
        environment: &[(String, OsString)],
        output: Output,
        interrupts: &Interrupts,
    ) -> io::Result<Self> {
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg(command).stdin(Stdio::null()).process_group(0);
        shell.envs(environment.iter().map(|(name, value)| (name, value)));
        match output {
            Output::Discarded => shell.stdout(Stdio::null()).stderr(Stdio::null()),
            Output::Shown => shell.stdout(io::stderr()).stderr(io::stderr()),
            Output::File(file) => shell.stdout(file.try_clone()?).stderr(file),
        };
        interrupts.let_through(&mut shell);
        let begun = Instant::now();
        Ok(Self { child: shell.spawn()?, begun, ended: None })
    }

    /// Waits for its end, for at most so long: `None` if it goes on.
    pub fn wait(&mut self, interrupts: &Interrupts, until: Option<Instant>) -> Result<Option<Ended>, Interrupt> {
        loop {
            if let Some(ended) = self.look() {
                return Ok(Some(ended));
            }
            if let Woken::ByTime = interrupts.wait(until)? {
                return Ok(self.look());
            }
        }
    }

    /// How it ended, if it has.
    pub fn look(&mut self) -> Option<Ended> {
        if self.ended.is_none() {
            let (mut status, mut usage) = (0, MaybeUninit::uninit());
            // SAFETY: both are places to write to, and the second is read only if the call has filled it in.
            let ended = unsafe { libc::wait4(self.pid(), &mut status, libc::WNOHANG, usage.as_mut_ptr()) };
            if ended == self.pid() {
                // SAFETY: the call has filled it in.
                let usage = unsafe { usage.assume_init() };
                self.ended = Some(Ended { status: ExitStatus::from_raw(status), wall: self.begun.elapsed(), usage });
            }
        }
        self.ended
    }

    /// Asks it and its group to end, then has the kernel end them. Gives its end.
    pub fn end(&mut self) -> Option<Ended> {
        if self.look().is_some() {
            return self.ended; // its number, and its group's, may be somebody else's by now
        }
        self.signal_group(libc::SIGTERM);
        let limit = Instant::now() + GRACE;
        while self.look().is_none() && Instant::now() < limit {
            std::thread::sleep(LOOK);
        }
        if self.look().is_none() {
            self.signal_group(libc::SIGKILL);
            while self.look().is_none() && Instant::now() < limit + GRACE {
                std::thread::sleep(LOOK);
            }
        }
        self.ended
    }

    fn signal_group(&self, signal: c_int) {
        // SAFETY: the group is our child's, which has not been waited for, so its number is still its own.
        unsafe { libc::kill(-self.pid(), signal) };
    }

    fn pid(&self) -> pid_t {
        self.child.id() as pid_t
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.end();
    }
}
