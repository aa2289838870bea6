//! Who owns an arena.
//!
//! A word of the directory names an arena and the token of its owner. Tokens are numbers from the header, used once: a
//! thread's number could be another's in another PID namespace, or later.

use super::sync::{AtomicU32, AtomicU64, Ordering};
use crate::{GRANULE, Ref, UNIT};

/// An ownership: a number that is used once. 0 = none.
pub type Token = u64;

/// Bits of a word for the arena: the number of its first granule.
const ARENA_BITS: u32 = 26;
const UNITS: u32 = (GRANULE / UNIT) as u32;
/// Set once the owner has said that its process ends, though the task may still be there.
const LEAVING: u64 = 1 << 63;

/// A word of the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word(pub u64);

impl Word {
    /// An arena and its owner.
    pub const fn new(arena: Ref, owner: Token) -> Self {
        Self(owner << ARENA_BITS & !LEAVING | (arena / UNITS) as u64)
    }

    /// The arena; 0 = the word is not filled in.
    pub const fn arena(self) -> Ref {
        (self.0 & ((1 << ARENA_BITS) - 1)) as Ref * UNITS
    }

    /// The owner's token; 0 = nobody's.
    pub const fn owner(self) -> Token {
        (self.0 & !LEAVING) >> ARENA_BITS
    }

    /// Whether the owner has said that it ends.
    pub const fn is_leaving(self) -> bool {
        self.0 & LEAVING != 0
    }
}

/// A token that nobody else has (`Header::tokens`).
pub fn token(tokens: &AtomicU64) -> Token {
    tokens.fetch_add(1, Ordering::Relaxed) + 1
}

/// Takes a word that nobody uses yet and fills it in; gives its index. `None` if all `most` are in use.
pub fn enlist<'a>(len: &AtomicU32, most: u32, word: impl Fn(u32) -> &'a AtomicU64, entry: Word) -> Option<u32> {
    let mut index = len.load(Ordering::Acquire);
    loop {
        if index >= most {
            return None;
        }
        match len.compare_exchange(index, index + 1, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => break,
            Err(found) => index = found,
        }
    }
    word(index).store(entry.0, Ordering::Release);
    Some(index)
}

/// Makes an arena whose owner is gone the new owner's. False if another was faster.
pub fn adopt(entry: &AtomicU64, found: Word, owner: Token) -> bool {
    let new = Word::new(found.arena(), owner);
    entry.compare_exchange(found.0, new.0, Ordering::AcqRel, Ordering::Acquire).is_ok()
}

/// Leaves an arena to whoever comes next, unless somebody has taken it for left.
pub fn release(entry: &AtomicU64, arena: Ref, owner: Token) {
    change(entry, owner, Word::new(arena, 0));
}

/// Says that the owner's process is about to end.
pub fn leave(entry: &AtomicU64, arena: Ref, owner: Token) {
    change(entry, owner, Word(Word::new(arena, owner).0 | LEAVING));
}

fn change(entry: &AtomicU64, owner: Token, new: Word) {
    let found = entry.load(Ordering::Acquire);
    if Word(found).owner() == owner {
        let _ = entry.compare_exchange(found, new.0, Ordering::AcqRel, Ordering::Acquire);
    }
}

/// The words of an arena that tell who owns it.
pub struct Owner<'a> {
    /// [`crate::Arena::token`].
    pub token: &'a AtomicU64,
    /// [`crate::Arena::pid_namespace`].
    pub pid_namespace: &'a AtomicU64,
    /// [`crate::Arena::tid`].
    pub tid: &'a AtomicU32,
}

impl Owner<'_> {
    /// Writes who has the arena now.
    pub fn introduce(&self, token: Token, pid_namespace: u64, tid: u32) {
        self.token.store(0, Ordering::Relaxed);
        // Read-modify-write operations, each a release, so that none is seen before what comes before it.
        self.pid_namespace.swap(pid_namespace, Ordering::AcqRel);
        self.tid.swap(tid, Ordering::AcqRel);
        self.token.store(token, Ordering::Release);
    }

    /// The namespace and the task of the owner with this token. `None` if it is not known: it has not introduced itself
    /// yet, or another has the arena by now.
    pub fn of(&self, token: Token) -> Option<(u64, u32)> {
        let is_its = || self.token.load(Ordering::Acquire) == token;
        let known = is_its().then(|| (self.pid_namespace.load(Ordering::Acquire), self.tid.load(Ordering::Acquire)));
        known.filter(|&(namespace, tid)| is_its() && namespace != 0 && tid != 0)
    }
}
