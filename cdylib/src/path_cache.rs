//! Nodes found lately: where the hooks look for a call's path first.
//!
//! The children of one parent lie side by side, in a line, which begins with the parent's own name: of a line that is
//! another parent's no node is worth looking at, and in a program of millions of paths each look would be a cache miss. A line is
//! two of the processor's, as an interpreter's main loop calls from a hundred places.

use crate::field::Field;
use core::ptr;
use profile::Ref;
use profile::node::{ROOT, SKIPPED};

/// Words of a line: the parent's name, and children. Each child has a place in the second half; where another is put there it goes
/// to its place in the first half, unless that is the name's.
const LINE: usize = 32;

/// Places of children.
const PLACES: usize = LINE / 2;

const LINES: usize = 256;

/// The cache. What is found in it is looked at before it is believed. All zeros, it is empty.
#[repr(C, align(64))]
pub struct PathCache([[Field<Ref>; LINE]; LINES]);

impl PathCache {
    /// The latest child with this call site and hook in the line that begins at an [`offset`], if it is the parent's line.
    #[inline(always)]
    pub fn latest(&self, offset: u32, parent: Ref, site: usize, hook: usize) -> Option<Ref> {
        // SAFETY: offsets lead to a line.
        let line: &[Field<Ref>; LINE] = unsafe { &*(&raw const self.0).byte_add(offset as usize).cast() };
        let node = line[place(site, hook)].get(); // not after the name: neither is to wait for the other
        (line[0].get() == parent).then_some(node)
    }

    /// The nodes that may be a parent's child with this call site and hook.
    #[inline(always)]
    pub fn candidates(&self, parent: Ref, site: usize, hook: usize) -> Option<[Ref; 2]> {
        let line = &self.0[index(parent)];
        let place = place(site, hook);
        (line[0].get() == parent).then(|| [line[place].get(), line[place - PLACES].get()])
    }

    /// Puts a node into it.
    #[inline(always)]
    pub fn insert(&self, parent: Ref, site: usize, hook: usize, node: Ref) {
        let line = &self.0[index(parent)];
        let place = place(site, hook);
        if line[0].get() == parent {
            if place != PLACES {
                line[place - PLACES].set(line[place].get());
            }
        } else {
            // In a few instructions. SAFETY: the thread's own line; a handler in between believes none of its words.
            unsafe { ptr::write_bytes(line.as_ptr().cast_mut(), 0, LINE) };
            line[0].set(parent);
        }
        line[place].set(node);
    }

    /// Forgets what a forked child would find of its parent process': who is called from nowhere. All else belongs to nodes that a
    /// child's calls are not made from, and to clear it would be to copy it.
    pub fn leave_parents(&self) {
        for parent in [ROOT, SKIPPED] {
            self.0[index(parent)][0].set(0);
        }
    }

    /// Forgets all.
    pub fn clear(&self) {
        self.0.iter().for_each(|line| line[0].set(0));
    }
}

/// Where in the cache the parent's line begins, in bytes.
#[inline(always)]
pub fn offset(parent: Ref) -> u32 {
    (index(parent) * LINE * size_of::<Ref>()) as u32
}

#[inline(always)]
fn index(parent: Ref) -> usize {
    parent as usize % LINES
}

/// Where in its parent's line a child is first.
#[inline(always)]
fn place(site: usize, hook: usize) -> usize {
    let child = site.wrapping_add(hook);
    PLACES + (child ^ child >> 4) % PLACES
}
