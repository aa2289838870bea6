//! Nodes found lately: where the hooks look for a call's path first.
//!
//! The children of one parent lie side by side, in one cache line, which begins with the parent's own name: of a line that is
//! another parent's no node is worth looking at, and in a program of millions of paths each look would be a cache miss.

use crate::field::Field;
use core::ptr;
use profile::Ref;

/// Words of a line: the parent, and children.
const LINE: usize = 16;

const LINES: usize = 128;

/// The cache. What is found in it is looked at before it is believed.
#[repr(C, align(64))]
pub struct PathCache([[Field<Ref>; LINE]; LINES]);

impl PathCache {
    /// The parent's line, if it has one.
    #[inline(always)]
    pub fn line(&self, parent: Ref) -> Option<&[Field<Ref>; LINE]> {
        let line = &self.0[index(parent)];
        (line[0].get() == parent).then_some(line)
    }

    /// Puts a node into it. The one that was in its place goes to the place beside it.
    #[inline(always)]
    pub fn insert(&self, parent: Ref, place: usize, node: Ref) {
        let line = &self.0[index(parent)];
        if line[0].get() == parent {
            line[place ^ 1].set(line[place].get());
        } else {
            // In a few instructions. SAFETY: the thread's own line; a handler in between believes none of its words.
            unsafe { ptr::write_bytes(line.as_ptr().cast_mut(), 0, LINE) };
            line[0].set(parent);
        }
        line[place].set(node);
    }

    /// Forgets all.
    pub fn clear(&self) {
        self.0.as_flattened().iter().for_each(|word| word.set(0));
    }
}

#[inline(always)]
fn index(parent: Ref) -> usize {
    parent as usize % LINES
}

/// Where in its parent's line a child is; or else in the place beside it, whose number differs in the last bit.
#[inline(always)]
pub fn place(function: usize, site: usize, hook: usize) -> usize {
    let child = (function >> 4).wrapping_add(site).wrapping_add(hook);
    let place = (child ^ child >> 4) % LINE;
    if place < 2 { place + 2 } else { place } // not beside the parent's name
}
