//! Which stack a stack pointer is on. Signal handlers and coroutines run on stacks of their own; a pointer there says
//! nothing about calls that are open elsewhere.

use crate::arch;
use crate::field::Field;
use crate::initial_stack;
use crate::maps;
use crate::spent::Spent;
use crate::suspended::NEAR;
use crate::sys::{self, SignalsBlocked};
use crate::thread::Thread;
use core::ops::Range;
use profile::GRANULE;

/// Whether a call entered at `before` is gone as code runs at `now`, which is on another stack: a signal handler on the
/// alternate stack that was left by `siglongjmp`. A coroutine's call is not: it may go on.
pub fn was_left(before: usize, now: usize) -> bool {
    let (start, end) = sys::alternate_stack();
    let holds = |sp: usize| start <= sp && sp < end;
    holds(before) && !holds(now)
}

/// As far as the program's first stack is taken to have grown since its mapping was looked at. The kernel keeps other
/// mappings further away than that.
const GROWTH: usize = 64 << 20;

/// What can be read or not as a whole.
const PAGE: usize = 4 << 10;

/// Whether so many bytes of the stack that this runs on are there, as far as anybody can tell.
pub fn has_room(bytes: usize) -> bool {
    let here = 0u8;
    let sp = (&raw const here).addr();
    let (start, end) = sys::alternate_stack();
    if (start..end).contains(&sp) {
        return sp - start >= bytes;
    }
    // The first thread's grows as it is used. Where memory may not be asked after, nobody knows.
    let process = sys::getpid();
    let is_there = |below: usize| sys::read_memory(process, sp.saturating_sub(below), &mut [0]);
    sys::gettid() == process || !is_there(0) || (PAGE..=bytes).step_by(PAGE).all(is_there)
}

/// Whether two stack pointers lie on one stack.
///
/// This is asked of every open call whenever code runs on another stack, and a program may have thousands of stacks: so mappings
/// are looked up only where they decide. Far apart, two can only be on the stack that the thread was started on.
pub fn is_same(thread: &Thread, one: usize, other: usize) -> bool {
    let (low, high) = (one.min(other), one.max(other));
    if are_near(low, high) || holds_both(thread.own_stack.get(), low, high) {
        return true;
    }
    if low < below_own(thread) {
        return false;
    }
    if find(thread, low).is_none() || find(thread, high).is_none() {
        look(thread, low, high);
    }
    match (find(thread, low), find(thread, high)) {
        (Some(of_low), Some(of_high)) => of_low == of_high && is_own(of_high),
        _ => false,
    }
}

/// Whether two stack pointers lie so near to each other that they are taken for those of one stack.
pub fn are_near(one: usize, other: usize) -> bool {
    one.abs_diff(other) <= NEAR
}

/// What tells of nearly all stack pointers at once whether they lie on the stack of this one. For who asks of thousands.
pub struct Surroundings {
    sp: usize,
    own: (usize, usize),
    anothers: usize,
}

impl Surroundings {
    /// Those of a stack pointer.
    pub fn of(thread: &Thread, sp: usize) -> Self {
        let own = thread.own_stack.get();
        Self { sp, own: if holds_both(own, sp, sp) { own } else { (0, 0) }, anothers: below_own(thread) }
    }

    /// What [`is_same`] says.
    pub fn is_same(&self, thread: &Thread, other: usize) -> bool {
        if are_near(self.sp, other) || holds_both(self.own, other, other) {
            return true;
        }
        self.sp.min(other) >= self.anothers && is_same(thread, self.sp, other)
    }
}

/// What lies below this, and not on the stack that the thread was started on as far as that is known, lies on none that it or the
/// program was started on: that takes no mappings to tell. 0 if nobody knows.
fn below_own(thread: &Thread) -> usize {
    if thread.own_stack.get() == (0, 0) {
        return 0;
    }
    let program_stack = initial_stack::program_stack();
    // It may have grown since, also further than is taken for granted.
    let lowest = find(thread, program_stack).map_or(program_stack, first).min(program_stack);
    lowest.saturating_sub(2 * GROWTH)
}

fn holds_both((start, end): (usize, usize), low: usize, high: usize) -> bool {
    start <= low && high < end
}

/// Where a word lies on the stack that code runs on, and what is asked of it holds: looked for from the first address to the second, as
/// far as there is memory.
///
/// # Safety
/// The first address must lie on that stack, not below its stack pointer.
pub unsafe fn find_word(
    thread: &Thread,
    addresses: Range<usize>,
    is_it: impl Fn(usize, usize) -> bool,
) -> Option<usize> {
    let mut known_until = end_of_readable(thread, addresses.start);
    addresses.step_by(size_of::<usize>()).find_map(|at| {
        if at < known_until || sys::is_readable(at) {
            known_until = known_until.max(at - at % PAGE + PAGE);
            // SAFETY: it can be read; whole words do not lie across pages.
            return is_it(at, unsafe { *core::ptr::with_exposed_provenance::<usize>(at) }).then_some(Some(at));
        }
        Some(None)
    })?
}

/// The word at an address on the stack that code runs on, if that can be read.
///
/// # Safety
/// The stack pointer must be that of the code.
pub unsafe fn word_at(thread: &Thread, sp: usize, address: usize) -> Option<usize> {
    let is_there = address.is_multiple_of(size_of::<usize>())
        && (address < end_of_readable(thread, sp) || sys::is_readable(address));
    // SAFETY: it can be read; whole words do not lie across pages.
    is_there.then(|| unsafe { *core::ptr::with_exposed_provenance::<usize>(address) })
}

/// Up to where a stack that code runs on can be read, as is known without asking: its mapping where that is known and stays; of others,
/// which the program may have made smaller, the page that code runs on.
fn end_of_readable(thread: &Thread, sp: usize) -> usize {
    let page = sp - sp % PAGE + PAGE;
    find(thread, sp).filter(|&stack| is_own(stack)).map_or(page, |(_, end)| end)
}

/// Has the mapping of a stack pointer looked up, unless it is known.
pub fn know(thread: &Thread, sp: usize) {
    if find(thread, sp).is_none() {
        look(thread, sp, sp);
    }
}

/// The lowest stack pointer that is surely on the same stack as one that is known.
pub fn reach(thread: &Thread, sp: usize) -> usize {
    know(thread, sp);
    match find(thread, sp) {
        Some(stack) if is_own(stack) => first(stack),
        Some((start, _)) => start.max(sp.saturating_sub(NEAR)),
        None => sp,
    }
}

/// Where a stack may begin, of which that is the mapping.
fn first((start, end): (usize, usize)) -> usize {
    if (start..end).contains(&initial_stack::program_stack()) { end.saturating_sub(GROWTH).min(start) } else { start }
}

/// The mapping that a stack pointer lies in, if it has been seen before.
pub fn find(thread: &Thread, sp: usize) -> Option<(usize, usize)> {
    thread.stacks.iter().map(Field::get).find(|&stack| first(stack) <= sp && sp < stack.1)
}

/// Looks up the mappings of two stack pointers.
#[cold]
fn look(thread: &Thread, low: usize, high: usize) {
    let _blocked = SignalsBlocked::new();
    let spent = Spent::begin(thread);
    let mut found = [(0, 0); 2];
    let mut own = (0, 0);
    maps::each_now_and_then(thread.family.clock, thread.family.pause(), |mapping| {
        for (sp, stack) in [low, high].into_iter().zip(&mut found) {
            if (mapping.start..mapping.end).contains(&sp) {
                *stack = part_of(sp, (mapping.start, mapping.end));
            }
        }
        if (mapping.start..mapping.end).contains(&arch::thread_pointer()) {
            own = part_of(mapping.start, (mapping.start, mapping.end));
        }
    });
    if own.1 != 0 {
        thread.own_stack.set(own);
    }
    for (sp, stack) in [low, high].into_iter().zip(found) {
        keep(thread, if stack.1 != 0 { stack } else { own_by_reading(thread, sp) });
    }
    spent.end(thread);
}

/// The part of a mapping that a stack pointer lies in. libc has a thread's control block at the upper end of its stack: what the kernel has put
/// together with that lies behind it, and may be a coroutine's.
fn part_of(sp: usize, (start, end): (usize, usize)) -> (usize, usize) {
    let control = arch::thread_pointer();
    match start < control && control < end {
        true if sp < control => (start, control),
        true => (control, end),
        false => (start, end),
    }
}

/// Remembers a stack's mapping, in the place of what was known of the same memory: the same stack before it grew, or one
/// that is not there any more.
fn keep(thread: &Thread, stack: (usize, usize)) {
    if stack.1 == 0 || thread.stacks.iter().any(|known| known.get() == stack) {
        return;
    }
    let mut place = None;
    for (index, known) in thread.stacks.iter().enumerate() {
        let (start, end) = known.get();
        if start < stack.1 && stack.0 < end {
            known.set((0, 0));
            place = place.or(Some(index));
        }
    }
    let place = place.unwrap_or_else(|| {
        let next = thread.next_stack.get();
        thread.next_stack.set((next + 1) % thread.stacks.len());
        next
    });
    thread.stacks[place].set(stack);
}

/// How much deeper than asked for a stack is looked at that is known by reading: it will grow, and soon nobody may be asked
/// any more (seccomp).
const AHEAD: usize = 1 << 20;

/// The stack that the thread was started on, if a stack pointer lies there, as far as memory can be read on from what surely
/// does (its control block, or the program's arguments). For programs that have changed their root, or have no descriptor
/// left: nobody may tell them their mappings, and if no stack were known, every call that is open would seem to lie on
/// another one for good.
fn own_by_reading(thread: &Thread, sp: usize) -> (usize, usize) {
    let surely = [arch::thread_pointer(), initial_stack::program_stack()];
    let Some(anchor) = surely.into_iter().filter(|&anchor| (sp..sp.saturating_add(GROWTH)).contains(&anchor)).min()
    else {
        return (0, 0);
    };
    let end = (anchor | (GRANULE - 1)) + 1;
    let known = thread.stacks.iter().map(Field::get).find(|&(start, end)| start < anchor && anchor <= end);
    let (start, end) = known.unwrap_or((end, end));
    let start = sys::readable_from(start, sp.saturating_sub(AHEAD) & !(GRANULE - 1));
    // What is known is kept as far as it goes, or each call on another stack below would have it read again.
    if start <= sp || known.is_some() { part_of(sp, (start, end)) } else { (0, 0) }
}

/// Whether a stack pointer is surely on the stack that the thread was started on.
pub fn is_on_own(thread: &Thread, sp: usize) -> bool {
    if holds_both(thread.own_stack.get(), sp, sp) {
        return true;
    }
    if sp < below_own(thread) {
        return false;
    }
    know(thread, sp);
    find(thread, sp).is_some_and(is_own)
}

/// The same as far as that is known already.
pub fn is_known_as_own(thread: &Thread, sp: usize) -> bool {
    holds_both(thread.own_stack.get(), sp, sp) || find(thread, sp).is_some_and(is_own)
}

/// Whether that is the stack that the thread was started on: one made by libc ends at the thread's control block.
fn is_own((start, end): (usize, usize)) -> bool {
    let holds = |address: usize| start <= address && address < end;
    end == arch::thread_pointer() || holds(initial_stack::program_stack())
}

/// Looks the present stack up, while the kernel may still be asked.
pub fn know_this_one(thread: &Thread) {
    know(thread, arch::stack_pointer());
}
