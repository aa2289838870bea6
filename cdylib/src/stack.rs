//! Which stack a stack pointer is on. Signal handlers and coroutines run on stacks of their own; a pointer there says
//! nothing about calls that are open elsewhere.

use crate::maps;
use crate::sys::SignalsBlocked;
use crate::thread::Thread;

/// Whether two stack pointers, the lower one first, lie on one stack.
pub fn is_same(thread: &mut Thread, low: usize, high: usize) -> bool {
    let holds = |(start, end): (usize, usize), sp| start <= sp && sp < end;
    let known = thread.stacks.iter().find(|&&stack| holds(stack, high)).copied();
    if let Some(stack) = known
        && (holds(stack, low) || thread.stacks.iter().any(|&other| other != stack && holds(other, low)))
    {
        return holds(stack, low);
    }
    // Not seen before, or grown since.
    let _blocked = SignalsBlocked::new();
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
    of_low == of_high
}
