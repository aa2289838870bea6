//! Requests that are commands: each runs one, and its end is the answer.

use std::collections::VecDeque;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::{Failure, NotSent};
use crate::pace::{Pace, Plan};
use crate::phase::{Driver, EVERY, GRACE, Part, Patience, Phase, Shared};
use crate::tally::{Sent, Tally};

/// The variable that tells a command its request's number.
const NUMBER: &str = "DIYTRACE_REQUEST";

/// The end of a command is looked for no less often.
const LOOK: Duration = Duration::from_micros(500);

/// Runs commands, at most so many at once.
#[derive(Debug)]
pub struct Commands {
    command: String,
    at_once: usize,
    patience: Patience,
    /// Requests so far, in all phases.
    number: AtomicU64,
}

impl Commands {
    /// A command for the shell.
    pub fn new(command: String, at_once: usize, patience: Patience) -> Self {
        Self { command, at_once, patience, number: AtomicU64::new(0) }
    }
}

/// What those who run commands share.
struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

struct Waiting {
    /// When requests were planned, and whether nobody was free then.
    planned: VecDeque<(u64, bool)>,
    free: usize,
    is_over: bool,
    tally: Tally,
}

impl Driver for Commands {
    fn drive(&mut self, phase: &Phase, thread: u64, shared: &Shared) -> Tally {
        let waiting = Waiting {
            planned: VecDeque::new(),
            free: self.at_once,
            is_over: false,
            tally: Tally::new(phase.begins_ns),
        };
        let queue = Queue { waiting: Mutex::new(waiting), changed: Condvar::new() };
        let commands = &*self;
        thread::scope(|scope| {
            for _ in 0..self.at_once {
                scope.spawn(|| commands.work(phase, &queue, shared));
            }
            let plan =
                Plan::new(phase.pace, phase.begins_ns, (thread, phase.threads), fastrand::Rng::with_seed(phase.seed));
            plan_all(plan, phase, thread, &queue, shared);
        });
        queue.waiting.into_inner().unwrap_or_else(PoisonError::into_inner).tally
    }
}

/// Has what is due be taken, until the phase is over.
fn plan_all(mut plan: Plan, phase: &Phase, thread: u64, queue: &Queue, shared: &Shared) {
    let mut next_part = phase.begins_ns + EVERY.as_nanos() as u64;
    loop {
        let now = shared.now_ns();
        let is_cut_short = shared.is_over.load(Ordering::Relaxed);
        let mut waiting = queue.lock();
        while !is_cut_short && plan.peek() <= now && plan.peek() < phase.ends_ns {
            let waits = waiting.free <= waiting.planned.len();
            waiting.planned.push_back((plan.peek(), waits));
            waiting.tally.planned += 1;
            plan.advance();
            queue.changed.notify_one();
        }
        if now >= phase.ends_ns || is_cut_short {
            for (planned, _) in std::mem::take(&mut waiting.planned) {
                waiting.tally.skip(planned, NotSent::AtEnd);
            }
            waiting.is_over = true;
            queue.changed.notify_all();
            return;
        }
        if let Some(parts) = shared.parts.as_ref().filter(|_| now >= next_part) {
            next_part = now + EVERY.as_nanos() as u64;
            let tally = std::mem::replace(&mut waiting.tally, Tally::new(phase.begins_ns));
            // Who is told no more has gone, and with it whoever would want to know.
            let _ = parts.send(Part { thread, until_ns: now, tally });
        }
        drop(waiting);
        let until = Duration::from_nanos(plan.peek().min(phase.ends_ns).saturating_sub(shared.now_ns()));
        thread::sleep(until.min(Duration::from_millis(20)));
    }
}

impl Queue {
    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next request to send; `None`: there is none any more.
    fn take(&self, phase: &Phase, too_late: Duration, shared: &Shared) -> Option<Sent> {
        let mut waiting = self.lock();
        loop {
            if waiting.is_over {
                return None;
            }
            let now = shared.now_ns();
            if phase.pace == Pace::Max && now >= phase.begins_ns && now < phase.ends_ns {
                waiting.tally.planned += 1;
                let sent = Sent { planned_ns: now, sent_ns: now };
                waiting.tally.send(sent, false);
                return Some(sent);
            }
            while let Some((planned_ns, waited)) = waiting.planned.pop_front() {
                if now.saturating_sub(planned_ns) > too_late.as_nanos() as u64 {
                    waiting.tally.skip(planned_ns, NotSent::NoFreeConnection);
                    continue;
                }
                let sent = Sent { planned_ns, sent_ns: now };
                waiting.tally.send(sent, waited);
                waiting.free -= 1;
                return Some(sent);
            }
            let most = Duration::from_millis(if phase.pace == Pace::Max { 1 } else { 50 });
            waiting = self.changed.wait_timeout(waiting, most).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// How a command has ended.
enum End {
    Exited(ExitStatus),
    Failed(Failure),
    CutOff,
}

impl Commands {
    /// Runs one command after the other.
    fn work(&self, phase: &Phase, queue: &Queue, shared: &Shared) {
        while let Some(sent) = queue.take(phase, self.patience.for_connection, shared) {
            let end = self.run(shared);
            let now = shared.now_ns();
            let mut waiting = queue.lock();
            if phase.pace != Pace::Max {
                waiting.free += 1;
            }
            match end {
                End::Exited(status) if status.success() => waiting.tally.answer(sent, now),
                End::Exited(status) => {
                    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
                    waiting.tally.fail(sent, Failure::Exit(code));
                }
                End::Failed(failure) => waiting.tally.fail(sent, failure),
                End::CutOff => waiting.tally.cut_off += 1,
            }
            shared.done.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn run(&self, shared: &Shared) -> End {
        let number = self.number.fetch_add(1, Ordering::Relaxed) + 1;
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &self.command]).env(NUMBER, number.to_string());
        // A group of its own, so that what it has started ends with it.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let Ok(mut child) = command.spawn() else { return End::Failed(Failure::System) };
        let began = Instant::now();
        let mut over_since = None;
        let mut pause = LOOK / 10;
        let end = loop {
            match child.try_wait() {
                Ok(Some(status)) => return End::Exited(status),
                Ok(None) => {}
                Err(_) => break End::Failed(Failure::System),
            }
            if began.elapsed() > self.patience.timeout {
                break End::Failed(Failure::Timeout);
            }
            if shared.is_over.load(Ordering::Relaxed) && over_since.get_or_insert_with(Instant::now).elapsed() > GRACE {
                break End::CutOff;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LOOK);
        };
        // SAFETY: it is a group that was made for a child of ours, which nobody has waited for yet.
        unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
        let _ = child.wait();
        end
    }
}
