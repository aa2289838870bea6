//! Ctrl-C and its like while runs go on: they are taken between and during runs, so that what is complete is kept.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Instant;

use libc::c_int;

use crate::signals::Signals;

/// What people and their tools end a program with.
const ENDING: [c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Somebody wants us to stop: the signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupt(pub c_int);

/// The signals, held back until this is dropped.
pub struct Interrupts {
    signals: Signals,
}

/// Why a wait is over.
pub enum Woken {
    /// A child has ended or stopped: perhaps the one that is waited for.
    ByChild,
    /// The time is up.
    ByTime,
}

impl Interrupts {
    /// Holds them back from here on.
    pub fn hold() -> Self {
        Self { signals: Signals::block(&ENDING) }
    }

    /// Has a command begin with its signals as ours were.
    pub fn let_through(&self, command: &mut Command) {
        let signals = self.signals;
        // SAFETY: between fork and exec, the closure only makes two system calls.
        unsafe { command.pre_exec(move || signals.restore()) };
    }

    /// Whether one has come.
    pub fn check(&self) -> Result<(), Interrupt> {
        while let Some(signal) = self.signals.wait_until(Some(Instant::now())) {
            Self::take(signal.si_signo)?;
        }
        Ok(())
    }

    /// Waits for a child, for at most so long.
    pub fn wait(&self, until: Option<Instant>) -> Result<Woken, Interrupt> {
        match self.signals.wait_until(until) {
            None => Ok(Woken::ByTime),
            Some(signal) => Self::take(signal.si_signo).map(|()| Woken::ByChild),
        }
    }

    fn take(signal: c_int) -> Result<(), Interrupt> {
        if signal == libc::SIGCHLD { Ok(()) } else { Err(Interrupt(signal)) }
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        let _ = self.signals.restore();
    }
}
