//! Calls that were left without an exit: by `longjmp`, an exception.
//!
//! The stack pointer tells most of them. Where it cannot, the return address does: where on the stack it lies, and in
//! whose code.

use crate::arch;
use crate::code;
use crate::counted;
use crate::distribution;
use crate::extension;
use crate::field::Field;
use crate::frame::{Frame, NO_CALL, NOTED, NOWHERE, bits};
use crate::frame_index;
use crate::modules;
use crate::node::{self, slot};
use crate::path;
use crate::shadow_stack;
use crate::spent::Spent;
use crate::split_functions::is_called_by;
use crate::stack;
use crate::thread::{DISTANCES, Distance, Source, Thread};
use crate::timeline;
use crate::unwind_info;
use core::mem::offset_of;
use profile::node::ROOT;
use profile::node::mark;
use profile::ring::Event;
use profile::{Arena, Ref, Slot};

/// Most bytes of stack that are searched for a return address.
const SEARCHED: usize = 16 << 20;

/// How far behind an open call's stack pointer the return address of one that took its place may lie.
pub const BEHIND: usize = 64 << 10;

/// Whether the latest open call has been left (`longjmp`, an exception) though its frame does not lie below the new one's
/// stack pointer: a call that took its place may have as large a frame, or a larger one.
///
/// A call made by an open one has its return address below that one's stack pointer; if it does not lie there, the open
/// one is gone, or the new one is part of its body. (A body may give one that lies nowhere: [`is_inlined_elsewhere`].) This is
/// asked once for each path. On a path that is known the parent cannot be wrong, but for recursion: a call from this site was
/// once seen to come from that function.
pub unsafe fn is_gone(thread: &Thread, function: usize, site: usize, hook: usize, sp: usize) -> bool {
    let call = Event { function: function as u64, site: site as u64, hook: hook as u64, sp: sp as u64 };
    // SAFETY: the top frame is there.
    unsafe {
        let top = thread.top.get();
        let is_none = top == thread.bottom.get();
        !is_none && is_gone_from(thread, &*top, (*owner(thread, top)).sp, call, sp)
    }
}

/// The same of another open call. Its frame's stack pointer may be above its own: it is a body that was entered with arguments of the call
/// before it still on the stack.
pub unsafe fn is_gone_from(thread: &Thread, top: &Frame, frame_sp: usize, call: Event, sp: usize) -> bool {
    let (function, site, hook) = (call.function as usize, call.site as usize, call.hook as usize);
    // SAFETY: the caller's frame; the words searched lie in one mapping of the stack.
    unsafe {
        let top_sp = if frame_sp > top.sp && is_body(thread, top) { frame_sp } else { top.sp };
        let reach = top_sp.wrapping_sub(sp);
        if top.position == 0 || reach > SEARCHED {
            return false;
        }
        if reach != 0 {
            if !sp.is_multiple_of(size_of::<usize>()) || !stack::is_same(thread, sp, top_sp) {
                return false;
            }
            let exact = exact_return_address(thread, site, hook, sp);
            let found = exact.or_else(|| look_for_return_address(thread, site, hook, sp, top_sp));
            // Of where the code says that it lies the call site is no copy: one that is found elsewhere is another frame's.
            let is_anothers = || exact.is_none() && unwind_info::return_address_of(thread.family, hook).is_some();
            if found.is_some_and(|at| at <= top_sp || is_inside_of_head(thread, top, at, site))
                || (found.is_none() || is_anothers()) && is_inlined_elsewhere(thread, function, hook)
            {
                return false;
            }
        }
        // A body inlined into the open call's function has its call site, and a hook that lies in no code of its own, or
        // where the open one's lies too.
        if site != top.site {
            return true;
        }
        let spent = Spent::begin(thread);
        let family = thread.family;
        let starts = |hook| code::is_of(family, hook, function);
        let is_gone = match starts(hook) {
            Some(is_own) => is_own && starts(full_hook(thread, top)) == Some(false),
            None => hook >= function && (function >= top.function || top.function > hook),
        };
        spent.end(thread);
        is_gone
    }
}

/// Whether a hook lies in a body that was inlined into another function. The call site that it gives may be of long ago: clang
/// keeps a coroutine's return address in the coroutine's memory, so bodies in there go on giving that of whoever began it.
unsafe fn is_inlined_elsewhere(thread: &Thread, function: usize, hook: usize) -> bool {
    let spent = Spent::begin(thread);
    // SAFETY: the hook runs, so its module is there.
    let is_own = unsafe { code::is_of(thread.family, hook, function) };
    spent.end(thread);
    is_own == Some(false)
}

/// Whether a call was made inside of another by its other part: that of a function which gcc has split ([`crate::split_functions`]). Its head, which the
/// enter hook lies in, may have been entered with arguments of the call before it still on the stack; then the part's own return address, which
/// the call gives, lies above that, but in the frame of the code that both were in.
unsafe fn is_inside_of_head(thread: &Thread, head: &Frame, at: usize, site: usize) -> bool {
    // SAFETY: the caller's frame, whose call is open; and its call site, which is on the stack: so their modules are there.
    unsafe {
        if !is_body(thread, head) {
            return false;
        }
        let (family, enter_hook) = (thread.family, full_hook(thread, head));
        match unwind_info::return_address_of(family, enter_hook) {
            Some(unwind_info::Place::Above(bytes)) => {
                at < head.sp.saturating_add(bytes) && is_called_by(family, site, enter_hook)
            }
            _ => false,
        }
    }
}

/// Whether an open call may be a body that was inlined: not what was called from where its caller was called from, by a pointer.
unsafe fn is_body(thread: &Thread, frame: &Frame) -> bool {
    if frame.node <= ROOT && frame.position != NOTED {
        return false;
    }
    let spent = Spent::begin(thread);
    // SAFETY: the caller's frame, which has a node or is noted; its call is open, and so its module is there.
    let is_own = unsafe { code::is_of(thread.family, full_hook(thread, frame), frame.function) };
    spent.end(thread);
    is_own != Some(true)
}

/// A call further out than another.
pub struct Outer {
    /// Its function.
    pub function: usize,
    /// Its call site.
    pub site: usize,
    /// The return address of its enter hook.
    pub hook: usize,
}

/// Whether the latest open call has been left, asked of a call that has returned by now, when its place on the stack tells
/// nothing any more: whether the code that it was made from is that of a call further out. What code without hooks in between has called
/// stays where it is, as does what a part of a function has called that the compiler has split off.
///
/// # Safety
/// Their hooks lie in code that was running a moment ago, the caller's and those of the calls further out.
pub unsafe fn is_gone_by_code(
    thread: &Thread,
    caller: &Frame,
    further_out: impl Iterator<Item = Outer>,
    call: &Event,
) -> bool {
    /// Calls further out that are looked at: a recursion may be a million deep.
    const LOOKED_AT: usize = 1024;
    let spent = Spent::begin(thread);
    let family = thread.family;
    let table = |address| modules::unwind_table(family, address);
    // The call is what lies before its return address: behind one that does not return, another function may begin.
    let made_at = call.site as usize - 1;
    // SAFETY: the caller's frame, which has a node or is noted.
    let callers_hook = unsafe { full_hook(thread, caller) };
    let (of_site, of_caller) = (table(made_at), table(callers_hook));
    let start_in = |address, there: Option<usize>| {
        let is_there = there.is_some() && table(address) == there;
        // SAFETY: asked of modules only in which the caller lies, or a call further out, as it has promised.
        is_there.then(|| unsafe { code::start_of(family, address) }).flatten()
    };
    // Of another module than the caller's the table is there if a call further out lies in that.
    let is_there = |outer: &Outer| of_site == of_caller || table(outer.hook) == of_site;
    let from = || start_in(made_at, of_site);
    let callers_start = start_in(callers_hook, of_caller);
    let mut further_out = further_out.take(LOOKED_AT);
    let is_gone = match callers_start {
        None => false,
        Some(start) if of_site == of_caller && from().is_none_or(|from| from == start) => false,
        Some(start) if caller.site == call.site as usize => {
            // Not a body in the same frame, which may lie in a part of its code that was split off.
            let (function, hook) = (call.function as usize, call.hook as usize);
            let is_start = start_in(hook, of_caller).is_some_and(|start| start == function)
                || of_site != of_caller
                    && further_out.any(|outer| is_there(&outer))
                    && start_in(hook, of_site) == Some(function);
            is_start && start != function
        }
        Some(start) => {
            // Those in whose frame the caller is a body have its call site.
            let is_body = start != caller.function;
            let others = further_out.skip_while(|outer| is_body && outer.site == caller.site);
            let mut others = others.peekable();
            let mut is_found = false;
            while let Some(outer) = others.next().filter(|_| !is_found) {
                // A copy that the compiler made of a function is called by the name of that. The hook of a body, which has the call site of
                // the next one, may lie in a part that was split off.
                let is_body = others.peek().is_some_and(|next| next.site == outer.site);
                is_found = is_there(&outer)
                    && from().is_some_and(|from| {
                        outer.function == from || !is_body && start_in(outer.hook, of_site) == Some(from)
                    });
            }
            is_found
        }
    };
    spent.end(thread);
    is_gone
}

/// Gives bodies that are inlined into one frame, and open, the stack pointer that this had when it was entered, where something
/// else comes at one above theirs, and not above that: arguments of the call before them were still on the stack as they were entered,
/// and are not any more.
///
/// # Safety
/// The latest of them must be the frame's.
pub unsafe fn raise_bodies(thread: &Thread, latest: *mut Frame, site: usize, hook: usize, sp: usize) {
    // SAFETY: frames between bottom and top are there.
    unsafe {
        let owner = owner(thread, latest);
        let frame_sp = (*owner).sp;
        if (*latest).sp >= frame_sp || frame_sp < sp || frame_sp == NOWHERE {
            return;
        }
        let spent = Spent::begin(thread);
        let mut body = latest;
        // Not what was called from where its caller was called from, itself or by a pointer; and nothing of a module that may have
        // been unloaded since that was left: a body lies in code that is running.
        let table = |address| modules::unwind_table(thread.family, address);
        let running = [hook, site].map(table);
        let is_raised = |frame: &Frame| {
            frame.node > ROOT && running.contains(&table(full_hook(thread, frame))) && is_body(thread, frame)
        };
        while body > owner && ((*body).position == 0 || is_raised(&*body)) {
            if (*body).position != 0 {
                (*body).sp = (*body).sp.max(frame_sp);
            }
            body = body.sub(1);
        }
        frame_index::forget_above(thread, body);
        spent.end(thread);
    }
}

/// The call in whose frame an open one is a body; itself, if it is none.
///
/// # Safety
/// Frames from there to the bottom must be there.
pub unsafe fn owner(thread: &Thread, latest: *mut Frame) -> *mut Frame {
    let bottom = thread.bottom.get();
    let mut owner = latest;
    loop {
        let mut below = owner.wrapping_sub(1);
        // SAFETY: frames between bottom and top are there.
        unsafe {
            // What stands for no call any more, or is counted by its function only.
            while below > bottom && (*below).position == 0 {
                below = below.wrapping_sub(1);
            }
            if owner <= bottom || below <= bottom || !may_be_body_of(&*owner, &*below) {
                return owner;
            }
        }
        owner = below;
    }
}

/// Whether a call may be a body that is inlined into the same frame as that below it.
fn may_be_body_of(frame: &Frame, below: &Frame) -> bool {
    let is_there = frame.position != 0 && below.position != 0;
    is_there && frame.site == below.site && frame.hook != below.hook && frame.function != below.function
}

/// The return address of the enter hook of an open call that has a node.
pub unsafe fn full_hook(thread: &Thread, frame: &Frame) -> usize {
    if frame.position == NOTED {
        return frame.whole_hook as usize;
    }
    // SAFETY: the caller's frame; its node is in the mapping.
    unsafe { node::full_hook(thread.base, thread.node(frame.node)) }
}

/// Whether a call's return address is known to lie where it does as a rule: otherwise the call may have been left, and something else may lie
/// there.
pub unsafe fn is_on_stack(thread: &Thread, call: &Event, caller_sp: usize) -> bool {
    let (site, hook, sp) = (call.site as usize, call.hook as usize, call.sp as usize);
    let known = distance(thread, hook).get();
    let may_be_read = sp.is_multiple_of(size_of::<usize>()) && stack::is_same(thread, sp, caller_sp);
    // SAFETY: both lie on one stack.
    known.hook == hook
        && may_be_read
        && unsafe { stack::word_at(thread, sp, sp.saturating_add(known.bytes)) } == Some(site)
}

/// How far above the stack pointer of a hook its call's return address was the last time.
fn distance(thread: &Thread, hook: usize) -> &Field<Distance> {
    &thread.distances[(hook ^ hook >> 8) % DISTANCES]
}

/// Where a call's return address lies as the code of its function says, if it is there: a body that is inlined elsewhere, and not into a
/// function, may give one that lies nowhere.
///
/// # Safety
/// The hook must be running.
pub unsafe fn exact_return_address(thread: &Thread, site: usize, hook: usize, sp: usize) -> Option<usize> {
    let place = distance(thread, hook);
    let known = place.get();
    // SAFETY: the hook's stack pointer.
    let is_there = |at: &usize| unsafe { stack::word_at(thread, sp, *at) } == Some(site);
    if known.hook == hook && known.source != Source::Search {
        let at = Some(sp.saturating_add(known.bytes)).filter(is_there);
        // In another frame of the function it may lie further from the stack pointer: one that is aligned, or has made room in between.
        if at.is_some() || known.source == Source::Code {
            return at;
        }
    }
    // SAFETY: the caller's promise.
    let (at, source) = match unsafe { unwind_info::return_address_of(thread.family, hook) }? {
        unwind_info::Place::Above(bytes) => (sp.saturating_add(bytes), Source::Code),
        unwind_info::Place::At(at) => (at, Source::Once),
    };
    place.set(Distance { hook, bytes: at.wrapping_sub(sp), source });
    Some(at).filter(is_there)
}

/// Where a call's return address lies, if the code does not say it: as far above its hook's stack pointer as the last time at this hook, if it is
/// there; else at the first place that holds it. (That could be in a variable that has no value yet, left there by an
/// earlier and deeper call.) It is looked for until behind `end`.
unsafe fn look_for_return_address(thread: &Thread, site: usize, hook: usize, sp: usize, end: usize) -> Option<usize> {
    let place = distance(thread, hook);
    let known = place.get();
    let (last, end) = (sp.saturating_add(known.bytes), end.saturating_add(BEHIND));
    // SAFETY: the hook's stack pointer.
    if known.hook == hook && last < end && unsafe { stack::word_at(thread, sp, last) } == Some(site) {
        return Some(last);
    }
    // Behind the hook's own return address.
    let words = sp + size_of::<usize>()..end;
    // SAFETY: the hook's stack pointer.
    let found = unsafe { stack::find_word(thread, words, |_, word| word == site) }?;
    place.set(Distance { hook, bytes: found - sp, source: Source::Search });
    Some(found)
}

/// Counts a call that was left without an exit.
///
/// The state must be [`crate::busy`].
pub unsafe fn count_left(thread: &Thread, node: Ref) {
    // SAFETY: the caller's node.
    unsafe { count_left_in(thread, node, || path::is_own(thread, node) && extension::ensure(thread, node)) };
}

/// The same of a call that has been closed, where the state may be anything.
unsafe fn count_left_now(thread: &Thread, node: Ref) {
    let forgotten = thread.forgotten.get();
    // SAFETY: the caller's node.
    unsafe {
        count_left_in(thread, node, || {
            extension::may_be_made(thread) && path::extend(thread, node, || extension::ensure(thread, node))
        })
    };
    // What that took is no part of the calls around it either, which may have been left at the same moment.
    thread.last.set(thread.last.get() + thread.forgotten.get().wrapping_sub(forgotten));
}

/// With the arena, and with its path if there is a place for that, or one is made.
unsafe fn count_left_in(thread: &Thread, node: Ref, make_place: impl FnOnce() -> bool) {
    // SAFETY: the caller's node; the arena is the thread's.
    unsafe {
        arch::count_at::<{ offset_of!(Arena, unwound) }, _>(thread.arena.get());
        if !extension::count_left(thread, thread.node(node)) && make_place() {
            extension::count_left(thread, thread.node(node));
        }
    }
}

/// How an open call has ended that is not the latest.
#[derive(Clone, Copy)]
pub enum Ended {
    /// Without an exit, at the latest moment that is known of it.
    Left,
    /// By its exit, at about this moment, in ticks.
    Returned(u64),
}

/// Closes a call that others may lie above: its frame stays, and stands for none.
///
/// The state must be [`crate::busy`].
pub unsafe fn close_in_place(thread: &Thread, frame: *mut Frame, ended: Ended) {
    // SAFETY: the caller's frame and its node.
    unsafe {
        let Frame { node, bits, start, .. } = *frame;
        let is_timed = node != 0 && bits & (bits::UNTIMED | bits::COUNTED) == 0;
        let is_own = is_timed && bits & bits::INHERITED == 0;
        let descendants = thread.count.get().saturating_sub((*frame).count);
        let end = match ended {
            Ended::Left => thread.last.get(),
            Ended::Returned(end) => end,
        };
        let end = end.max(start);
        if is_timed {
            if is_own && matches!(ended, Ended::Left) {
                count_left(thread, node);
            }
            let counters = slot(thread.base, thread.node(node), bits);
            arch::add(&raw mut (*counters).ticks, end - start);
            arch::add(&raw mut (*counters).descendants, descendants);
            (*counters).mark = end & !mark::BITS;
        }
        ((*frame).node, (*frame).bits) = (0, bits::UNTIMED);
        ((*frame).position, (*frame).function) = (0, NO_CALL);
        if is_own && matches!(ended, Ended::Returned(_)) {
            let record = node::record(thread.base, thread.node(node));
            if bits & bits::ROOT != 0 {
                timeline::lay(thread, record, start, end);
            }
            let cost = distribution::cost(thread, descendants);
            distribution::file_now(thread, record, (end - start).saturating_sub(cost));
        }
    }
}

/// Closes the latest open call as one that was left without an exit, at the latest moment that is known of it.
pub unsafe fn unwind(thread: &Thread) {
    // SAFETY: the top frame is there, and its node in the mapping.
    unsafe {
        let frame = *thread.top.get();
        if frame.position == 0 || frame.node == 0 || frame.bits & bits::UNTIMED != 0 {
            return shadow_stack::pop(thread);
        }
        if frame.bits & bits::COUNTED != 0 {
            counted::close(thread);
        } else {
            close_partly(thread, thread.last.get().max(frame.start));
        }
        // Last: what it takes to find a place for that is no time of this call, which had ended before.
        if frame.bits & bits::INHERITED == 0 {
            count_left_now(thread, frame.node);
        }
    }
}

/// Closes the latest open call without putting its time into the distribution: it is not that of a whole call.
pub unsafe fn close_partly(thread: &Thread, now: u64) {
    // SAFETY: the top frame is there, and its node in the mapping.
    unsafe {
        let frame = *thread.top.get();
        if frame.bits & bits::ROOT != 0 {
            timeline::add(thread, now);
        }
        let counters = slot(thread.base, thread.node(frame.node), frame.bits);
        arch::add_at::<{ offset_of!(Slot, ticks) }, _>(counters, now.saturating_sub(frame.start));
        arch::add_at::<{ offset_of!(Slot, descendants) }, _>(counters, thread.count.get().saturating_sub(frame.count));
        (*counters).mark = now & !mark::BITS;
        thread.last.set(now);
        shadow_stack::pop(thread);
    }
}
