//! A frame of the shadow stack: a call that is open.

use crate::sys;
use profile::Ref;

/// Bits of [`Frame::bits`].
pub mod bits {
    /// Which of its node's slots the call counts in.
    pub const SLOT: u8 = 1;
    /// The call is not recorded, only counted for its hooks' cost.
    pub const UNTIMED: u8 = 2;
    /// The call was open when this process was forked: not counted again.
    pub const INHERITED: u8 = 4;
    /// The call is counted, but not timed.
    pub const COUNTED: u8 = 8;
    /// The call is timed for [`super::Frame::weight`] calls.
    pub const SAMPLED: u8 = 16;
    /// The call is in its function's timeline.
    pub const ROOT: u8 = 32;
}

/// A call that is open. One cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Frame {
    /// Stack pointer at its enter hook. `usize::MAX` in frames that are not filled in (a signal handler may find one
    /// on top), and in the one at the bottom.
    pub sp: usize,
    /// The function.
    pub function: usize,
    /// The call site.
    pub site: usize,
    /// When it began, in ticks.
    pub start: u64,
    /// [`Thread::count`] when it began.
    pub count: u64,
    /// [`Thread::counted`] when it began, of a sampled call.
    ///
    /// [`Thread::counted`]: crate::thread::Thread::counted
    pub counted: u64,
    /// Return address of the enter hook, its low half: the node knows the other.
    pub hook: u32,
    /// Its node.
    pub node: Ref,
    /// The node that its calls are made from; 0 in a frame that is not filled in.
    pub position: Ref,
    /// [`bits`] of this call.
    pub bits: u8,
    /// Slot of the calls it makes.
    pub inside: u8,
    /// Calls that a sampled one stands for.
    pub weight: u16,
}

const _: () = assert!(size_of::<Frame>() == 64);

impl Frame {
    /// A frame that stands for no call.
    pub const EMPTY: Frame = Frame {
        sp: usize::MAX,
        function: 0,
        site: 0,
        start: 0,
        count: 0,
        counted: 0,
        hook: 0,
        node: 0,
        position: 0,
        bits: 0,
        inside: 0,
        weight: 0,
    };
}

/// Memory for frames, each of which stands for no call.
pub fn map(count: usize) -> sys::Result<*mut Frame> {
    let frames = sys::map_memory(count * size_of::<Frame>())?.cast::<Frame>();
    // SAFETY: the mapping has room for them.
    unsafe { clear(frames, count) };
    Ok(frames)
}

/// Makes frames stand for no call.
///
/// # Safety
/// There must be memory for them.
pub unsafe fn clear(frames: *mut Frame, count: usize) {
    for index in 0..count {
        // SAFETY: the caller's promise.
        unsafe { frames.add(index).write(Frame::EMPTY) };
    }
}
