//! What is measured of a run beside its profile. The names are `runs.json`'s; others may be there, too.

use std::collections::BTreeMap;

/// Values by name; the name ends with the unit where there is one. Only finite numbers.
pub type Metrics = BTreeMap<String, f64>;

/// From start to end, in nanoseconds.
pub const WALL: &str = "wall_ns";
/// On a processor, in the program.
pub const USER: &str = "user_ns";
/// On a processor, in the kernel.
pub const SYSTEM: &str = "system_ns";
/// On a processor, in both: what is known of a server.
pub const CPU: &str = "cpu_ns";
/// The most memory resident at one time, of the largest process; only where that is more than `bench` itself had.
pub const PEAK_MEMORY: &str = "peak_memory_bytes";
/// Pages that were there.
pub const MINOR_FAULTS: &str = "minor_faults";
/// Pages that had to be read.
pub const MAJOR_FAULTS: &str = "major_faults";
/// Waits.
pub const VOLUNTARY_SWITCHES: &str = "voluntary_switches";
/// Times that somebody else was let run.
pub const INVOLUNTARY_SWITCHES: &str = "involuntary_switches";
/// Instructions retired; this and what follows where the machine has counters.
pub const INSTRUCTIONS: &str = "instructions";
/// Cycles of the processor.
pub const CYCLES: &str = "cycles";
/// Branches that were predicted wrongly.
pub const BRANCH_MISSES: &str = "branch_misses";
/// Reads beyond the last cache.
pub const CACHE_MISSES: &str = "cache_misses";
