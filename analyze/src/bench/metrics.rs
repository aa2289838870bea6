//! What the kernel says of a program that has ended.

use std::mem::MaybeUninit;

use super::shell::Ended;
use diytrace_compare::runs::{Metrics, metric};

/// Its metrics: of everything that the shell has waited for.
pub fn of(ended: &Ended) -> Metrics {
    let usage = &ended.usage;
    let ns = |time: libc::timeval| time.tv_sec as f64 * 1e9 + time.tv_usec as f64 * 1e3;
    let values = [
        (metric::WALL, ended.wall.as_nanos() as f64),
        (metric::USER, ns(usage.ru_utime)),
        (metric::SYSTEM, ns(usage.ru_stime)),
        (metric::PEAK_MEMORY, usage.ru_maxrss as f64 * 1024.0), // the kernel counts in KiB
        (metric::MINOR_FAULTS, usage.ru_minflt as f64),
        (metric::MAJOR_FAULTS, usage.ru_majflt as f64),
        (metric::VOLUNTARY_SWITCHES, usage.ru_nvcsw as f64),
        (metric::INVOLUNTARY_SWITCHES, usage.ru_nivcsw as f64),
    ];
    let mut metrics: Metrics = values.map(|(name, value)| (name.to_owned(), value)).into();
    // A program begins with the memory of whoever started it, and the kernel counts that: of a smaller one the peak is not
    // known.
    if usage.ru_maxrss <= own_peak() {
        metrics.remove(metric::PEAK_MEMORY);
    }
    metrics
}

/// The most memory that we have had, in KiB.
fn own_peak() -> libc::c_long {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call fills in the structure; if it fails, zeros are what a usage may be.
    unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init().ru_maxrss
    }
}
