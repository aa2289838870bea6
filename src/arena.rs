//! An arena: the part of a profile that one thread at a time writes.

use crate::Ref;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Bits of [`Arena::flags`].
pub mod flag {
    /// The owning thread has ended.
    pub const ENDED: u32 = 1;
    /// The owning thread has ended its process by `exit` or `_exit`.
    pub const EXITED: u32 = 2;
    /// More than one process has counted in here: sums are exact, but belong to no single process.
    pub const MERGED: u32 = 4;
    /// There was no room for a path once (`DIYTRACE_MEMORY` was used up, or the disk was full): some are folded.
    pub const FULL: u32 = 8;
    /// When its threads were on a processor is not known, or not always: the kernel could not be asked.
    pub const UNSEEN: u32 = 16;
}

/// Identity and counters of an arena, at [`crate::UNIT`] in its first block.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Arena {
    /// Process of the present or last owner, as it saw itself.
    pub pid: u32,
    /// Thread of the present or last owner.
    pub tid: u32,
    /// Parent of the process.
    pub ppid: u32,
    /// Which process of the family that is, counted from 1.
    pub process: u32,
    /// Threads that have counted in here, one after the other.
    pub owners: u32,
    /// Processes that have counted in here, one after the other.
    pub processes: u32,
    /// Bits of [`flag`].
    pub flags: u32,
    /// [`crate::Header::epoch`] when its counters began.
    pub epoch: u32,
    /// When the owner's process began to record, in ticks.
    pub process_started: u64,
    /// When the owner began to record, in ticks.
    pub started: u64,
    /// Calls that were seen but counted in no node.
    pub lost_calls: u64,
    /// Calls that ended before they began, by the clock: their time is not known.
    pub backward_calls: u64,
    /// Calls that were left without an exit (`longjmp`, exceptions, `noreturn`) and closed later.
    pub unwound: u64,
    /// Exits that belonged to no recorded call and closed none.
    pub stray_exits: u64,
    /// Name of the owner's thread, zero-padded.
    pub name: [u8; 16],
    /// The latest call's time, which is not in its function's histogram yet: [`Pending`].
    pub pending: u64,
    /// Its [`crate::Calibration`]; 0 if it has none.
    pub calibration: Ref,
    /// The block of its [`crate::Ring`]; 0 if it has none.
    pub ring: Ref,
    /// Inode number of the owner's PID namespace, in which its `pid` and `tid` mean something; 0 = not known.
    pub pid_namespace: u64,
    /// The owner's token (see [`crate::protocol::directory`]); 0 while the words about it are being written.
    pub token: u64,
    /// The first of its [`crate::OffCpu`] records; 0 if it has none.
    pub off_cpu: Ref,
    /// Its [`crate::Recycling`]; 0 as long as no path has given way to another.
    pub recycling: Ref,
    /// How long the owner had been off the processor when that was last asked, in nanoseconds: `CLOCK_MONOTONIC_RAW` less its
    /// processor time. Only differences mean something.
    pub away_ns: u64,
    /// Up to when it is known how long the owner was off the processor, in ticks. What its paths have noted later is known too.
    pub away_until: u64,
    /// The same as the two above, as another thread has asked at the end of the process, or of its recording; 0 if none has.
    pub end_away_ns: u64,
    /// See above.
    pub end_until: u64,
    /// When the owner called what does not come back, as a rule (`execve`, `daemon`), in ticks; 0 if it did not. It left then if its
    /// paths have noted nothing later.
    pub left_at: u64,
    /// What the recorder has spent on rare things, such as new paths, in ticks: it is in no call's time. Told now and then.
    pub spent: u64,
    /// When that, and when open calls began, were told last, in ticks: a sign of life.
    pub told_at: u64,
}

/// The time of a call that has returned, with the [`crate::Function`] record that it belongs to.
///
/// Finding a time's bin takes the processor longer than everything else in the exit hook. So the hook only notes the
/// time, and the next one files it while it waits for its own clock. The note lies in the file, so nothing is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The function's record; 0 = nothing is pending.
    pub record: Ref,
    /// Its corrected time, in ticks.
    pub value: u64,
}

impl Pending {
    const RECORD_BITS: u32 = 31;
    /// Times from here up are filed at once.
    pub const TOO_LONG: u64 = 1 << (64 - Self::RECORD_BITS);

    /// The word for a time below [`Self::TOO_LONG`].
    #[inline(always)]
    pub const fn word(self) -> u64 {
        self.value << Self::RECORD_BITS | self.record as u64
    }

    /// What a word says.
    #[inline(always)]
    pub const fn of(word: u64) -> Self {
        Self { record: (word & ((1 << Self::RECORD_BITS) - 1)) as Ref, value: word >> Self::RECORD_BITS }
    }
}

const _: () = assert!(size_of::<Arena>() == crate::ARENA_NODES - crate::UNIT);
