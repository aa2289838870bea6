//! What of a difference in time comes from calls, and what from the time of each.

/// A part of a difference that is too small to be named as its cause.
pub const MINOR: f64 = 0.1;

/// Δtime = Δcalls × mean cost + mean calls × Δcost, of calls and times before and after: both parts of it.
pub fn split(calls: [f64; 2], times: [f64; 2]) -> (f64, f64) {
    let [old, new] = [times[0] / calls[0], times[1] / calls[1]];
    ((calls[1] - calls[0]) * (old + new) / 2.0, (calls[0] + calls[1]) / 2.0 * (new - old))
}

/// How much of both parts comes from calls, whichever way each goes.
pub fn part_of_calls((calls_ns, cost_ns): (f64, f64)) -> f64 {
    calls_ns.abs() / (calls_ns.abs() + cost_ns.abs()).max(f64::MIN_POSITIVE)
}
