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
    /// The call lies on a stack that was left, and is found by its place there ([`crate::frame_index`]).
    pub const SUSPENDED: u8 = 16;
    /// The call is in its function's timeline.
    pub const ROOT: u8 = 32;
    /// The call has gone on after its stack had been left: that is a coroutine's, or the thread's own.
    pub const RESUMED: u8 = 64;
}

/// [`Frame::position`] of a call that is noted ([`crate::ring`]), and whose node is not known yet. No node has that name.
pub const NOTED: Ref = Ref::MAX;

/// [`Frame::function`] of a call that is over, whose frame stays as long as others lie above it. One that has just been reserved, and says
/// nothing of its own yet, never has it: [`crate::shadow_stack::pop`] takes it away.
pub const NO_CALL: usize = usize::MAX;

/// [`Frame::sp`] of what is on no stack. Above all that are, also where how far is a signed number.
pub const NOWHERE: usize = isize::MAX as usize;

/// A call that is open. One cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Frame {
    /// Stack pointer at its enter hook. [`NOWHERE`] in the frame at the bottom, in those above the top, and for an
    /// instruction or two in one that has just been reserved.
    pub sp: usize,
    /// The function, or [`NO_CALL`].
    pub function: usize,
    /// The call site.
    pub site: usize,
    /// When it began, in ticks.
    pub start: u64,
    /// [`Thread::count`] when it began; of a noted call the address of its slot.
    ///
    /// [`Thread::count`]: crate::thread::Thread::count
    pub count: u64,
    /// The enter hook's whole return address, of a noted call.
    pub whole_hook: u64,
    /// Return address of the enter hook, its low half: the node knows the other.
    pub hook: u32,
    /// Its node; 0 if it has none.
    pub node: Ref,
    /// The node that its calls are made from. 0 in a frame that is not filled in, as a signal handler has interrupted its
    /// enter hook, and in one of a call that is counted by function only: its calls are made from the frame below.
    pub position: Ref,
    /// [`bits`] of this call.
    pub bits: u8,
    /// Slot of the calls it makes.
    pub inside: u8,
    /// Not used.
    pub reserved: u16,
}

const _: () = assert!(size_of::<Frame>() == 64);

impl Frame {
    /// A frame that stands for no call.
    pub const EMPTY: Frame = Frame {
        sp: NOWHERE,
        function: 0,
        site: 0,
        start: 0,
        count: 0,
        whole_hook: 0,
        hook: 0,
        node: 0,
        position: 0,
        bits: 0,
        inside: 0,
        reserved: 0,
    };
}

/// Reserves address space for frames: as many as can be had, but for `least` of which there must be room.
pub fn reserve(most: usize, least: usize) -> sys::Result<(*mut Frame, usize)> {
    let mut count = most;
    loop {
        match sys::reserve_memory(count * size_of::<Frame>()) {
            Ok(frames) => return Ok((frames.cast(), count)),
            Err(_) if count / 2 >= least => count /= 2,
            Err(errno) => return Err(errno),
        }
    }
}

/// Gives reserved address space memory, and makes the frames in it stand for no call.
///
/// # Safety
/// The frames must be reserved, begin and end a page, and be nobody's yet.
pub unsafe fn commit(frames: *mut Frame, count: usize) -> sys::Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        sys::commit_memory(frames.cast(), count * size_of::<Frame>())?;
        for index in 0..count {
            frames.add(index).write(Frame::EMPTY);
        }
    }
    Ok(())
}
