//! The command as a child that shares the terminal, and the signals on their way to it.
//!
//! Signals are blocked and taken one by one: no handler interrupts anything, and a signal says who sent it. What a
//! terminal sends (Ctrl-C, Ctrl-Z, a new size) reaches the child anyway, as it is in the same process group; what
//! somebody sends to us is passed on. When the child stops, we stop, so the shell above sees a job that stopped.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus};

use libc::{c_int, pid_t};

use crate::signals::Signals;
use diytrace_profile::load::state::monotonic_ns;

/// Signals that are passed on.
const PASSED_ON: [c_int; 12] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGWINCH,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGCONT,
];

/// How a command ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// With this status.
    pub status: ExitStatus,
    /// Its process's number.
    pub pid: u32,
    /// What that process was called in the end: the start of its program's name, unless it has chosen another.
    pub name: Vec<u8>,
    /// When we saw it, by `CLOCK_MONOTONIC`.
    pub monotonic_ns: u64,
}

/// Runs a program under the name it was given, and waits for its end.
pub fn run(
    name: &OsStr,
    path: &Path,
    arguments: &[OsString],
    variables: Vec<(&'static str, OsString)>,
) -> io::Result<Ended> {
    let signals = Signals::block(&PASSED_ON);
    let mut command = Command::new(path);
    command.arg0(name).args(arguments).envs(variables);
    // SAFETY: between fork and exec, the closure only makes two system calls.
    unsafe { command.pre_exec(move || signals.restore()) };
    // From here on the signals stay blocked: a Ctrl-C that ends the child must not take our exit status away.
    let child = command.spawn()?.id() as pid_t;
    loop {
        let signal = signals.wait();
        if signal.si_signo != libc::SIGCHLD {
            pass_on(&signal, child);
            continue;
        }
        // The kernel keeps it until the process is waited for.
        let name = fs::read(format!("/proc/{child}/comm")).unwrap_or_default();
        if let Some(status) = changed(child) {
            match status.stopped_signal() {
                None => return Ok(Ended { status, pid: child as u32, name, monotonic_ns: monotonic_ns() }),
                Some(libc::SIGSTOP) => {} // somebody looks at the child alone; they will have it go on
                // SAFETY: it stops this process until SIGCONT, which is then passed on to the child.
                Some(_) => _ = unsafe { libc::raise(libc::SIGSTOP) },
            }
        }
    }
}

/// The exit status as a shell has it.
pub fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// Whether the child has ended or stopped. Several signals of children can have become one.
fn changed(child: pid_t) -> Option<ExitStatus> {
    let mut status = 0;
    // SAFETY: the status is a place to write to.
    let changed = unsafe { libc::waitpid(child, &mut status, libc::WNOHANG | libc::WUNTRACED) };
    (changed == child).then(|| ExitStatus::from_raw(status))
}

fn pass_on(signal: &libc::siginfo_t, child: pid_t) {
    let from_terminal = signal.si_code == libc::SI_KERNEL;
    // SAFETY: the sender is there for every signal that a process sent; otherwise the number is not used.
    if from_terminal || descends_from(unsafe { signal.si_pid() }, child) {
        return; // the child has it already: `kill 0` in a script reaches its whole group, and us
    }
    // SAFETY: the child has not been waited for, so its number is still its own.
    unsafe { libc::kill(child, signal.si_signo) };
}

fn descends_from(mut process: pid_t, ancestor: pid_t) -> bool {
    while process > 1 && process != ancestor {
        process = parent(process).unwrap_or(0);
    }
    process == ancestor
}

fn parent(process: pid_t) -> Option<pid_t> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?; // the name may hold anything
    after_name.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_a_shells() {
        assert_eq!(exit_code(ExitStatus::from_raw(7 << 8)), 7);
        assert_eq!(exit_code(ExitStatus::from_raw(libc::SIGTERM)), 143);
    }

    #[test]
    fn ancestry() {
        let this = std::process::id() as pid_t;
        assert!(descends_from(this, parent(this).unwrap()));
        assert!(descends_from(this, this));
        assert!(!descends_from(parent(this).unwrap(), this));
    }
}
