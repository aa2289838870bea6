//! What an arena keeps of its functions ([`profile::Function`]), and the thread's index of that.

use crate::arena;
use crate::family::at;
use crate::thread::Thread;
use profile::{Function, Ref};

/// What is kept of a function, if anything is.
pub fn find(thread: &Thread, function: usize) -> Option<Ref> {
    let base = thread.base;
    // SAFETY: the index holds records of the thread's arena only.
    let is_it = |record| unsafe { (*at::<Function>(base, record)).address == function as u64 };
    thread.functions.find(function as u64, is_it)
}

/// The same, made if there is none, also of the last room if it is `spare`. `None` if there is no room.
///
/// The state must be [`crate::busy`], or not yet be seen by its hooks.
pub fn find_or_make(thread: &Thread, function: usize, spare: bool) -> Option<Ref> {
    if let Some(record) = find(thread, function) {
        return Some(record);
    }
    let made = if spare { arena::record(thread, true) } else { arena::lasting_record(thread) };
    let (reference, record): (_, *mut Function) = made?;
    // SAFETY: the record is new, zeroed and the thread's.
    unsafe {
        (*record).address = function as u64;
        (*record).min = u64::MAX;
    }
    insert(thread, reference, function).then_some(reference)
}

/// Enters a function's record in the thread's index, unless it is there.
pub fn index(thread: &Thread, record: Ref, function: usize) {
    if record != 0 && find(thread, function).is_none() {
        insert(thread, record, function);
    }
}

/// False if there is no room.
fn insert(thread: &Thread, record: Ref, function: usize) -> bool {
    let base = thread.base;
    // SAFETY: the index holds records of the thread's arena only.
    let key_of = |record| unsafe { (*at::<Function>(base, record)).address };
    let has_room = thread.functions.make_room(true, key_of);
    if has_room {
        thread.functions.insert(function as u64, record);
    }
    has_room
}

/// Makes room in the thread's index for so many more, as it cannot grow later.
///
/// The state must be [`crate::busy`].
pub fn make_room_ahead(thread: &Thread, functions: usize) {
    let base = thread.base;
    // SAFETY: the index holds records of the thread's arena only.
    thread.functions.make_room_for(functions, |record| unsafe { (*at::<Function>(base, record)).address });
}
