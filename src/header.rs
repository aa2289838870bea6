//! The first page of a profile.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The first eight bytes of every profile.
pub const MAGIC: [u8; 8] = *b"DIYTRACE";

/// The version of the bytes described in this crate. Any change of them raises it.
pub const VERSION: u32 = 8;

/// The oldest version that is read, too: the words that it lacks are zero, and mean what they did not say. Its nodes are
/// [`crate::older`].
pub const OLDEST: u32 = 5;

/// Number of words in the directory of adoptable arenas, which follows the header's page.
pub const DIRECTORY_SLOTS: usize = 3584;

/// Most patterns of `DIYTRACE_ROOT` whose matches are counted each for itself.
pub const ROOT_PATTERNS: usize = 64;

/// Values of [`Header::clock`].
pub mod clock {
    /// Invariant time stamp counter.
    pub const TSC: u32 = 1;
    /// `clock_gettime(CLOCK_MONOTONIC)`; a tick is a nanosecond.
    pub const CLOCK_GETTIME: u32 = 2;
}

/// Values of [`Header::timing`].
pub mod timing {
    /// Every call is timed, but for those of windows (see [`crate::Calibration`]).
    pub const ALL: u32 = 1;
    /// Calls are counted only.
    pub const OFF: u32 = 2;
}

/// One moment on both clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Anchor {
    /// The recorder's clock, in ticks.
    pub ticks: u64,
    /// `CLOCK_MONOTONIC`, in nanoseconds.
    pub monotonic_ns: u64,
}

impl Anchor {
    /// What belongs to this moment and to no mixture of two; 0 for none that was written.
    pub const fn check(self) -> u64 {
        let mixed = self.ticks.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ self.monotonic_ns.rotate_left(32);
        mixed.wrapping_mul(0xd6e8_feb8_6659_fd93) | 1
    }
}

/// Identity, clock, costs, control words and counters of a family.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: [u8; 8],
    /// [`VERSION`] of the writer.
    pub version: u32,
    /// 1 once the recorder has filled the header in.
    pub ready: u32,
    /// Bytes handed out so far, from the start of the file. Readers take the smaller of this and the file's length.
    pub used: u64,
    /// Most bytes that may be handed out (`DIYTRACE_MEMORY`).
    pub capacity: u64,
    /// Bytes that the file has been made to have.
    pub extent: u64,

    /// Control word: not 0 while recording is paused.
    pub paused: u32,
    /// Control word: how often the counters were reset. An arena that says another number has counted before that: it
    /// stands for nothing, and its owner clears it at its next call.
    pub epoch: u32,
    /// Which clock gave the ticks: [`clock`].
    pub clock: u32,
    /// Which calls are timed: [`timing`].
    pub timing: u32,
    /// Ticks per second as estimated when the library was loaded.
    pub ticks_per_second: u64,
    /// Both clocks when the library was loaded.
    pub first_anchor: Anchor,
    /// Both clocks at the latest moments they were compared: see [`Header::last_anchor`].
    pub anchors: [CheckedAnchor; ANCHORS],
    /// Nanoseconds since 1970 at `first_anchor`.
    pub started_unix_ns: u64,
    /// Nanoseconds since 1970 when the counters were last reset; 0 if they never were.
    pub reset_unix_ns: u64,

    /// What a hook pair adds inside the interval it measures, in 1/1024 ticks.
    pub inner_cost: u64,
    /// What a hook pair adds to its caller beside that, in 1/1024 ticks.
    pub outer_cost: u64,
    /// Standard error of the sum of both, in 1/1024 ticks.
    pub cost_error: u64,
    /// What a hook pair that is not recorded adds to its caller, in 1/1024 ticks.
    pub untimed_cost: u64,
    /// Not used; zero.
    pub reserved_costs: [u64; 5],

    /// Process that made the file.
    pub pid: u32,
    /// Its parent.
    pub ppid: u32,
    /// Processes that have recorded so far.
    pub processes: u32,
    /// Processes whose arenas are kept apart (`DIYTRACE_KEEP`).
    pub keep: u32,
    /// Deepest recorded call below a root (`DIYTRACE_DEPTH`); 0 = no limit.
    pub depth: u32,
    /// Number of patterns in `DIYTRACE_ROOT`; 0 = everything is recorded.
    pub roots: u32,
    /// Calls that were counted nowhere else.
    pub lost_calls: u64,
    /// How often a thread looked for memory in the file and found none.
    pub refusals: u64,
    /// Words in use of the directory.
    pub directory: u32,
    /// Where the next search of the directory starts.
    pub cursor: u32,
    /// The kernel's boot identifier, so that a reader knows whether the pids and ticks are of its own machine's.
    pub boot_id: [u8; 16],
    /// Functions that each root pattern has matched.
    pub root_matches: [u32; ROOT_PATTERNS],
    /// Ownerships of arenas so far: [`crate::protocol::directory`].
    pub tokens: u64,
    /// Modules so far.
    pub modules: u32,
    /// The latest module that was recorded; 0 for none.
    pub last_module: crate::Ref,
    /// The block of [`crate::kind::COUNTS`]; 0 for none.
    pub counts: crate::Ref,
    /// How often an anchor was written.
    pub anchor_turns: u32,
    /// How often threads have begun, and ended, to have paths give way to others ([`crate::Recycling`]). Whoever copies the file
    /// while this changes may find some of their calls twice, or not at all.
    pub recycled: [u64; 2],
    /// Control word: until then, in ticks, no path gives way unless there is no other room: somebody copies the file.
    pub copied_until: u64,
    /// The number of the run that it is of (`DIYTRACE_RUN`, which `diytrace record` sets); 0 for none.
    pub run: u64,
}

/// Places for anchors: as many processes may be writing theirs at once, or have died in it.
pub const ANCHORS: usize = 4;

/// An anchor that several may write: see [`crate::protocol::anchors`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct CheckedAnchor {
    /// The moment.
    pub anchor: Anchor,
    /// [`Anchor::check`] of it.
    pub check: u64,
}

impl CheckedAnchor {
    /// A moment that was written as a whole.
    pub const fn new(anchor: Anchor) -> Self {
        Self { anchor, check: anchor.check() }
    }

    /// The moment, unless it is half written, or none was.
    pub fn get(self) -> Option<Anchor> {
        (self == Self::new(self.anchor)).then_some(self.anchor)
    }
}

impl Header {
    /// Both clocks at the latest moment they were compared: the first one if no other is complete.
    pub fn last_anchor(&self) -> Anchor {
        let complete = self.anchors.iter().filter_map(|anchor| anchor.get());
        complete.max_by_key(|anchor| anchor.ticks).unwrap_or(self.first_anchor)
    }
}

const _: () = assert!(size_of::<Header>() <= 4096);
