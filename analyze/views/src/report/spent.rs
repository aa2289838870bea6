//! Where times were spent: on a processor or not.

use serde::Serialize;

use diytrace_profile::merge::{OffCpu, Split};
use diytrace_profile::time::Time;
use diytrace_profile::units::optional_nanoseconds;

/// The parts of a total and of a self time. None where the recording cannot tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spent {
    /// Of the total, on a processor.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub cpu_ns: Option<f64>,
    /// Waiting.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub wait_ns: Option<f64>,
    /// While others had the processor.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub preempted_ns: Option<f64>,
    /// Of the self time, on a processor.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub self_cpu_ns: Option<f64>,
    /// Waiting.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub self_wait_ns: Option<f64>,
    /// While others had the processor.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub self_preempted_ns: Option<f64>,
}

impl Spent {
    /// Of a total and a self time, with what of them was off the processor, and the total's error.
    pub fn of([total, own]: [Time; 2], [off, own_off]: [OffCpu; 2], error: Time) -> Self {
        let total = off.split(total);
        let own = own_off.split(own).map(|own| total.map_or(own, |total| own.within(total, error)));
        let known = |split: Option<Split>, part: fn(Split) -> Time| split.map(|split| part(split).ns());
        Self {
            cpu_ns: known(total, |split| split.cpu),
            wait_ns: known(total, |split| split.wait),
            preempted_ns: known(total, |split| split.preempted),
            self_cpu_ns: known(own, |split| split.cpu),
            self_wait_ns: known(own, |split| split.wait),
            self_preempted_ns: known(own, |split| split.preempted),
        }
    }
}
