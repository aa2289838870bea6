//! When a thread's windows are ([`crate::calibration_steps`]), and what its calls take in between.

use crate::calibration::{Between, Moment, Stage};
use crate::clock::{Clock, Tsc};
use crate::off_cpu;
use crate::processor::{self, Off};
use crate::settings::Settings;
use crate::switches;
use crate::thread::Thread;
use profile::header::clock::TSC;
use profile::header::timing;

/// Sets when a thread's first window is, from now on.
pub fn schedule(thread: &Thread) {
    let first = thread.family.settings.windows;
    thread.window.wait();
    thread.window.last_kept.set(0);
    thread.window.between.set(Between::NOTHING);
    let is_tried = thread.family.settings.timing == timing::ALL && thread.family.clock == TSC && first != 0;
    thread.next_window.set(if is_tried { thread.count.get() + first } else { u64::MAX });
    if is_tried {
        // Calls that are open now begin anew.
        begin_anew(thread, Moment { inside: thread.window.inside.get(), ..moment(thread, Tsc::now()) });
    }
}

/// Waits for the next window: ever longer, so that of a long run few calls are not timed; and for no time that the program
/// could keep step with.
pub fn pause(thread: &Thread) {
    thread.window.wait();
    let wait = |so_far: u64| {
        // More often where it was asked for: for tests.
        let is_asked_for = thread.family.settings.windows != Settings::DEFAULT.windows;
        let part = if is_asked_for { 256 } else { 32 };
        let usual = least_pause(thread).max(so_far / part);
        so_far + usual / 2 + u64::from(thread.random_below(usual.min(u32::MAX.into()) as u32 + 1))
    };
    begin_anew(thread, moment(thread, Tsc::now()));
    thread.next_window.set(wait(thread.count.get()));
}

/// All calls are timed again from that moment on.
fn begin_anew(thread: &Thread, since: Moment) {
    // The kernel may have been asked before the thread was switched out for the last time.
    thread.window.is_off_due.set(thread.is_switched());
    thread.window.since.set(since);
}

/// Calls between windows, at first.
pub fn least_pause(thread: &Thread) -> u64 {
    thread.family.settings.windows
}

/// Something else has ended the stretch.
pub fn disturb(thread: &Thread) {
    if thread.window.stage.get() == Stage::Noted {
        pause(thread);
    }
}

/// What outermost calls have taken until now, in ticks.
pub fn inside(thread: &Thread, now: u64) -> u64 {
    // SAFETY: the frame above the bottom is there if any call is open.
    let so_far = if thread.is_empty() { 0 } else { unsafe { now.saturating_sub((*thread.bottom.get().add(1)).start) } };
    thread.window.inside.get().wrapping_add(so_far)
}

pub fn moment(thread: &Thread, now: u64) -> Moment {
    let off = match switches::has_page(thread) {
        true => off_cpu::so_far(thread),
        // Nobody knows which of both it was.
        false => Off { wait: now.wrapping_sub(thread.family.ticks(processor::own_ns())), preempted: 0 },
    };
    Moment { count: thread.count.get(), inside: inside(thread, now), off }
}

/// Adds what calls have taken since they began to be timed again.
pub fn add_up(thread: &Thread, now: u64) {
    let (since, until, so_far) = (thread.window.since.get(), moment(thread, now), thread.window.between.get());
    thread.window.between.set(Between {
        calls: so_far.calls + until.count.saturating_sub(since.count),
        ticks: so_far.ticks + until.inside.saturating_sub(since.inside),
        off: so_far.off.plus(until.off.since(since.off)),
    });
}
