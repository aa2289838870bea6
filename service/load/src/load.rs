//! A step as data: what was sent, what became of it, and how long it took.

use std::collections::BTreeMap;

use diytrace_profile::human;
use diytrace_profile::units::{nanoseconds, optional_nanoseconds};
use serde::Serialize;

use crate::failure::NotSent;
use crate::histogram::Histogram;
use crate::run::Step;
use crate::timeline::Timeline;
use crate::workers::{WorkerLoad, of_step};

/// A step. Times are in nanoseconds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Load {
    /// Requests that were planned, a second; null where connections send as fast as they can.
    pub offered_per_s: Option<f64>,
    /// Requests that were answered well, a second.
    pub achieved_per_s: f64,
    /// How long the step took, without what was waited for at its end.
    pub elapsed_ns: u64,
    /// Requests whose time had come: those that were sent, and those that were not.
    pub planned: u64,
    /// Requests that were sent: answered, failed or cut off.
    pub sent: u64,
    /// Those that were answered well.
    pub answered: u64,
    /// Those that were not sent.
    pub not_sent: u64,
    /// Why: `no free connection` in time, waiting for one `at end`, or `worker lost`.
    pub not_sent_by: BTreeMap<String, u64>,
    /// Those that failed.
    pub errors: u64,
    /// Why: `connect`, `tls`, `timeout`, `closed`, `reset`, `malformed`, `system`, `status N`, `SQLSTATE N`, `error WORD`, `login:` and one of these two, or `exit N`.
    pub errors_by: BTreeMap<String, u64>,
    /// Those whose answer had not come when somebody ended the run, or their worker was lost.
    pub cut_off: u64,
    /// Answers by status.
    pub statuses: BTreeMap<String, u64>,
    /// Bytes of answers.
    pub received_bytes: u64,
    /// Connections that were opened.
    pub opened: u64,
    /// Whether somebody has ended it.
    pub interrupted: bool,
    /// From the planned time to the answer, of those that were answered well.
    pub latency_ns: Times,
    /// From the time they were sent.
    pub from_send_ns: Times,
    /// How late requests were sent for which a connection was free: what the driver itself adds.
    pub late_ns: Times,
    /// The load before the step, which does not count.
    pub warm_up: WarmUp,
    /// When: by planned time.
    pub timeline: Axis,
    /// What each worker had of it; nothing where load comes from one process.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<WorkerLoad>,
}

/// A distribution; null where there is nothing.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Times {
    /// How many.
    pub count: u64,
    /// Their mean.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub mean: Option<f64>,
    /// The shortest.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub min: Option<f64>,
    /// The median.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub p50: Option<f64>,
    /// 75th percentile.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub p75: Option<f64>,
    /// 90th percentile.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub p90: Option<f64>,
    /// 95th percentile.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub p95: Option<f64>,
    /// 99th percentile.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub p99: Option<f64>,
    /// 99.9th percentile.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub p999: Option<f64>,
    /// The longest.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub max: Option<f64>,
}

/// The load before a step.
#[derive(Clone, Debug, Default, Serialize)]
pub struct WarmUp {
    /// Requests that were sent.
    pub sent: u64,
    /// Those that failed.
    pub errors: u64,
}

/// Slices of a step.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Axis {
    /// How wide each is: a power of two nanoseconds.
    pub slice_ns: u64,
    /// From the step's beginning on.
    pub slices: Vec<Slice>,
}

/// What was planned in a slice of time.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Slice {
    /// Requests that were answered well.
    pub answered: u64,
    /// Those that failed.
    pub errors: u64,
    /// Those that were not sent.
    pub not_sent: u64,
    /// Median of the latency, from plan.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub p50_ns: Option<f64>,
    /// 90th percentile.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub p90_ns: Option<f64>,
    /// 99th percentile.
    #[serde(serialize_with = "optional_nanoseconds")]
    pub p99_ns: Option<f64>,
    /// The longest.
    #[serde(serialize_with = "nanoseconds")]
    pub max_ns: f64,
}

impl Load {
    /// Of a step that was run.
    pub fn of(step: &Step) -> Self {
        let Step { pace, elapsed, tally, warm_up, is_cut_short, workers } = step;
        let seconds = elapsed.as_secs_f64();
        let named = |(name, count): (String, &u64)| (name, *count);
        Self {
            offered_per_s: pace.rate(),
            achieved_per_s: if seconds > 0.0 { tally.answered as f64 / seconds } else { 0.0 },
            elapsed_ns: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
            planned: tally.planned,
            sent: tally.sent,
            answered: tally.answered,
            not_sent: tally.all_not_sent(),
            not_sent_by: tally.not_sent.iter().map(|(why, count)| named((why.to_string(), count))).collect(),
            errors: tally.errors(),
            errors_by: tally.failures.iter().map(|(why, count)| named((why.to_string(), count))).collect(),
            cut_off: tally.cut_off,
            statuses: tally.statuses.iter().map(|(status, count)| named((status.to_string(), count))).collect(),
            received_bytes: tally.bytes,
            opened: tally.connections,
            interrupted: *is_cut_short,
            latency_ns: Times::of(&tally.latency),
            from_send_ns: Times::of(&tally.from_send),
            late_ns: Times::of(&tally.late),
            warm_up: WarmUp { sent: warm_up.sent, errors: warm_up.errors() },
            timeline: Axis::of(&tally.timeline),
            workers: of_step(workers),
        }
    }

    /// Requests that were planned, without those that nobody was there to send.
    pub fn asked(&self) -> u64 {
        let lost = self.not_sent_by.get(&NotSent::WorkerLost.to_string()).copied().unwrap_or(0);
        self.planned.saturating_sub(lost)
    }

    /// What it is called.
    pub fn title(&self) -> String {
        self.offered_per_s.map_or_else(|| "max".to_owned(), rate)
    }
}

/// A rate as people read it.
pub fn rate(per_s: f64) -> String {
    match per_s {
        _ if per_s >= 1000.0 => format!("{}/s", human::count(per_s.round() as u64)),
        _ if per_s.fract() == 0.0 => format!("{per_s:.0}/s"),
        _ if per_s >= 100.0 => format!("{per_s:.0}/s"),
        _ => format!("{per_s:.3}").trim_end_matches('0').to_owned() + "/s",
    }
}

impl Times {
    /// Of a histogram.
    pub fn of(histogram: &Histogram) -> Self {
        let at = |share: f64| histogram.percentile(share);
        Self {
            count: histogram.count(),
            mean: histogram.mean(),
            min: histogram.shortest().map(|ns| ns as f64),
            p50: at(0.5),
            p75: at(0.75),
            p90: at(0.9),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
            max: histogram.longest().map(|ns| ns as f64),
        }
    }

    /// By its name, as in `p99`.
    pub fn percentile(&self, name: &str) -> Option<f64> {
        match name {
            "p50" => self.p50,
            "p75" => self.p75,
            "p90" => self.p90,
            "p95" => self.p95,
            "p99" => self.p99,
            "p999" => self.p999,
            _ => None,
        }
    }
}

impl Axis {
    fn of(timeline: &Timeline) -> Self {
        let slices = timeline.slices().iter().map(|slice| Slice {
            answered: slice.latency.count(),
            errors: slice.errors,
            not_sent: slice.not_sent,
            p50_ns: slice.latency.percentile(0.5),
            p90_ns: slice.latency.percentile(0.9),
            p99_ns: slice.latency.percentile(0.99),
            max_ns: slice.latency.longest().unwrap_or(0) as f64,
        });
        Self { slice_ns: timeline.slice_ns(), slices: slices.collect() }
    }
}
