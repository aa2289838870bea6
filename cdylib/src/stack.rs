//! Which stack a stack pointer is on. Signal handlers and coroutines run on stacks of their own; a pointer there says
//! nothing about calls that are open elsewhere.

use crate::arch;
use crate::clock;
use crate::life;
use crate::maps;
use crate::sys::{self, SignalsBlocked};
use crate::thread::Thread;

/// Whether a call entered at `before` is gone as code runs at `now`, which is on another stack: a signal handler on the
/// alternate stack that was left by `siglongjmp`. A coroutine's call is not: it may go on.
pub fn was_left(before: usize, now: usize) -> bool {
    let (start, end) = sys::alternate_stack();
    let holds = |sp: usize| start <= sp && sp < end;
    holds(before) && !holds(now)
}

/// How far apart two open calls on one coroutine's stack may be. Several such stacks may be carved out of one block of
/// memory, which the mapping does not tell; they are larger than this.
const NEAR: usize = 16 << 10;

/// Whether two stack pointers lie on one stack.
pub fn is_same(thread: &mut Thread, one: usize, other: usize) -> bool {
    let (low, high) = (one.min(other), one.max(other));
    let holds = |(start, end): (usize, usize), sp| start <= sp && sp < end;
    let known = thread.stacks.iter().find(|&&stack| holds(stack, high)).copied();
    if let Some(stack) = known
        && (holds(stack, low) || thread.stacks.iter().any(|&other| other != stack && holds(other, low)))
    {
        return holds(stack, low) && (high - low <= NEAR || is_own(stack));
    }
    // Not seen before, or grown since.
    let _blocked = SignalsBlocked::new();
    let began = clock::now(thread.family.clock);
    let mut of_low = (0, 0);
    let mut of_high = (0, 0);
    let read = maps::each(|mapping| {
        let range = (mapping.start, mapping.end);
        if holds(range, low) {
            of_low = range;
        }
        if holds(range, high) {
            of_high = range;
        }
    });
    thread.forget_time_since(began);
    if !read || of_high.1 == 0 {
        return false;
    }
    for stack in [of_low, of_high] {
        if stack.1 != 0 && !thread.stacks.contains(&stack) {
            // The same stack, grown, takes its own place.
            let place = thread.stacks.iter().position(|&(_, end)| end == stack.1).unwrap_or(thread.next_stack);
            thread.stacks[place] = stack;
            thread.next_stack = (thread.next_stack + 1) % thread.stacks.len();
        }
    }
    of_low == of_high && (high - low <= NEAR || is_own(of_high))
}

/// Whether a mapping is the stack that the thread was started on. A thread made by libc has its control block there.
fn is_own((start, end): (usize, usize)) -> bool {
    let holds = |address: usize| start <= address && address < end;
    holds(arch::thread_pointer()) || holds(life::program_stack())
}
