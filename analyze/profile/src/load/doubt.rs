//! What is doubtful of a profile: what its recorder had to say, and what is wrong with its file.

use std::fmt::{self, Display, Formatter};

use diytrace_format::text::{NO_CLOCK, SEALED, SHARED_STORAGE};
use serde::{Deserialize, Serialize};

/// What is doubtful of a profile. Kept as its sentence: who reads that shows it, and does no more with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub enum Doubt {
    /// What the recorder has left, or what was kept of another.
    Told(String),
    /// A process restricted its system calls: its profile could not grow any more.
    Sealed,
    /// A thread may not read the clock any more: its calls are counted by function only.
    NoClock,
    /// Two tasks share a thread's state: so are their calls.
    SharedStorage,
    /// Calls ended before they began.
    BackwardClock {
        /// How many.
        calls: u64,
    },
    /// The clock changed its rate.
    DriftingClock {
        /// Ticks a second when the library was loaded.
        first_hz: f64,
        /// Over the whole run.
        whole_hz: f64,
    },
    /// The counters were reset.
    Reset {
        /// Seconds after the start.
        after_s: f64,
    },
    /// Paths gave way to others, as there was no room for all.
    GaveWay {
        /// How many.
        paths: u64,
        /// How many calls were counted on them.
        calls: u64,
        /// How many a path that came back may have had before, at most.
        most_calls: u64,
        /// How much time that may have been, at most, in nanoseconds.
        most_ns: f64,
    },
    /// Paths gave way to others while the file was read.
    Torn,
    /// Of threads it is not known when they were on a processor.
    WallTime {
        /// How many.
        threads: u64,
    },
    /// The file ends too early.
    Truncated {
        /// Bytes that are missing at its end.
        bytes: u64,
    },
    /// The file is damaged.
    Damaged(Lost),
}

/// What damage has cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The clock or the costs cannot be.
    Clock,
    /// What call paths lie below, of so many.
    Callers(usize),
    /// Calls of so many paths: their counters cannot be what the recorder wrote.
    Calls(usize),
    /// Histograms of so many functions.
    Percentiles(usize),
    /// Times off the processor.
    Waits,
    /// So many blocks, which are no thread's.
    Blocks(usize),
}

impl Display for Doubt {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        const ADVICE: &str = "record with DIYTRACE_CLOCK=clock_gettime";
        match self {
            Self::Told(sentence) => out.write_str(sentence),
            Self::Sealed => out.write_str(SEALED),
            Self::NoClock => out.write_str(NO_CLOCK),
            Self::SharedStorage => out.write_str(SHARED_STORAGE),
            Self::BackwardClock { calls } => write!(
                out,
                "the clock stepped back in {calls} calls, whose time is not known: the processors' counters disagree, or \
                 the virtual machine was moved; {ADVICE}"
            ),
            Self::DriftingClock { first_hz, whole_hz } => write!(
                out,
                "the clock ran at {:.0} MHz at first and at {:.0} MHz over the whole run, so its times are wrong by as much: \
                 the machine was suspended, or the virtual machine moved; {ADVICE}",
                first_hz / 1e6,
                whole_hz / 1e6
            ),
            Self::Reset { after_s } => {
                write!(out, "the counters were reset {after_s:.1} s after the start: what came before is not in here")
            }
            Self::GaveWay { paths, calls, most_calls, most_ns } => {
                write!(
                    out,
                    "{paths} call paths with {calls} calls gave way to others, as DIYTRACE_MEMORY had no room for all: functions \
                     and the calls between them still have those calls, and trees have their time, in the [other calls] of where \
                     they were made"
                )?;
                if *most_calls == 0 && *most_ns == 0.0 {
                    return Ok(()); // none can have come back
                }
                let most_ms = most_ns / 1e6;
                write!(out, "; a path that is there may have had up to {most_calls} more calls and {most_ms:.3} ms more before")
            }
            Self::Torn => out.write_str(
                "call paths gave way to others while this was read, so some of their calls are counted twice or not at all: \
                 read it when its program has ended, or with the right to write to the file",
            ),
            Self::WallTime { threads } => {
                let whose = if *threads == 1 { "1 thread are".to_owned() } else { format!("{threads} threads are") };
                write!(
                    out,
                    "times of {whose} wall time: how much of it they were on a processor was not seen, as the kernel \
                     refuses perf_event_open, the process runs under a filter of system calls (seccomp), the profile had no \
                     room for it (DIYTRACE_MEMORY), or DIYTRACE_WAITS is 0"
                )
            }
            Self::Truncated { bytes } => write!(out, "the file is truncated: its last {bytes} bytes are missing"),
            Self::Damaged(lost) => write!(out, "the file is damaged: {lost}"),
        }
    }
}

impl Display for Lost {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        match self {
            Self::Clock => out.write_str("it has no sound clock, so times are in an unknown unit"),
            Self::Callers(paths) => write!(out, "the callers of {paths} call paths are lost"),
            Self::Calls(paths) => {
                write!(out, "the counters of {paths} call paths cannot be, and these calls are left out")
            }
            Self::Percentiles(functions) => write!(out, "the percentiles of {functions} functions are lost"),
            Self::Waits => out.write_str("some time that was waited counts as time on the processor"),
            Self::Blocks(blocks) => write!(out, "{blocks} blocks belong to no thread"),
        }
    }
}

impl From<Doubt> for String {
    fn from(doubt: Doubt) -> Self {
        doubt.to_string()
    }
}

impl From<String> for Doubt {
    fn from(sentence: String) -> Self {
        match &*sentence {
            SEALED => Self::Sealed,
            NO_CLOCK => Self::NoClock,
            SHARED_STORAGE => Self::SharedStorage,
            _ => Self::Told(sentence),
        }
    }
}
