//! A run as data, in the shape of its JSON (`diytrace-load/1`). Fields may be added, none changed.

use diytrace_profile::human;
use serde::Serialize;

use crate::Error;
use crate::load::Load;
use crate::profile::{self, Response, Seen, bend, ends, sentence};
use crate::run::Step;
use crate::workers::Worker;

/// The name of the shape.
pub const SCHEMA: &str = "diytrace-load/1";

/// A run.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// The name of the shape: `diytrace-load/1`.
    pub schema: &'static str,
    /// Who was driven, and how.
    #[serde(flatten)]
    pub target: Target,
    /// What the reader should know.
    pub warnings: Vec<String>,
    /// What the run has come to, in a sentence or two.
    pub summary: String,
    /// Whether somebody has ended it.
    pub interrupted: bool,
    /// Which step goes on, of a run that is not over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub going: Option<usize>,
    /// One for each rate.
    pub steps: Vec<Load>,
    /// The lowest rate while the recording was paused, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unrecorded: Option<Load>,
    /// Who has made the load, with what each sent; nothing where it comes from one process.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<Worker>,
    /// How the server's functions respond, if its recording was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<Response>,
}

/// Who was driven, and how.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Target {
    /// Its address, or the command.
    pub target: String,
    /// `constant`, `poisson`, or `max` where connections send as fast as they can.
    pub schedule: &'static str,
    /// Whether HTTP/2 was spoken.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub http2: bool,
    /// Connections, or commands that may run at once.
    pub connections: usize,
    /// Threads that have driven them.
    pub threads: usize,
    /// Whether connections were used again.
    pub keep_alive: bool,
    /// How long an answer could take, in nanoseconds.
    pub timeout_ns: u64,
}

impl Document {
    /// Of steps that were run.
    pub fn new(target: Target, steps: &[Step]) -> Self {
        Self::of(target, steps.iter().map(Load::of).collect())
    }

    /// Of steps that were run, as data.
    pub fn of(target: Target, loads: Vec<Load>) -> Self {
        let interrupted = loads.iter().any(|load| load.interrupted);
        let warnings = warnings(&loads);
        let summary = sentence(&loads, bend(&loads), None);
        Self {
            schema: SCHEMA,
            target,
            warnings,
            summary,
            interrupted,
            going: None,
            steps: loads,
            unrecorded: None,
            workers: Vec::new(),
            response: None,
        }
    }

    /// The same, whose load these workers have made.
    pub fn by(mut self, workers: Vec<Worker>) -> Self {
        let of_a_worker = |name: &str| {
            let loads = self
                .steps
                .iter()
                .chain(&self.unrecorded)
                .flat_map(|step| &step.workers)
                .filter(|load| load.name == name);
            loads.map(|load| load.counts.sent + load.warm_up_sent).sum()
        };
        self.workers = workers.into_iter().map(|worker| Worker { sent: of_a_worker(&worker.name), ..worker }).collect();
        let threads = |step: &Load| step.workers.iter().map(|worker| worker.threads).sum::<u64>();
        self.target.threads = self.steps.iter().map(threads).max().unwrap_or(0) as usize;
        for worker in &self.workers {
            if let Some(why) = &worker.refused {
                self.warnings.push(format!("worker {} has taken no part: {why}", worker.name));
            }
        }
        self
    }

    /// The same, with a step that goes on: nothing is concluded from that yet.
    pub fn with_going(mut self, going: Load) -> Self {
        self.going = Some(self.steps.len());
        self.steps.push(going);
        self
    }

    /// The same, with a step that was run while the recording was paused.
    pub fn with_unrecorded(mut self, step: Option<&Step>) -> Self {
        self.unrecorded = step.map(Load::of);
        self
    }

    /// The same, with what the server has recorded meanwhile: one for each step.
    pub fn beside(mut self, seen: &[Seen]) -> Result<Self, Error> {
        if seen.len() != self.steps.len() || seen.is_empty() {
            return Ok(self);
        }
        let bend = bend(&self.steps);
        let (from, to) = bend.map_or_else(|| ends(&self.steps), |bend| (bend.base, bend.step));
        let request_ns = self.steps[from].from_send_ns.p50.unwrap_or(0.0);
        let (mut response, warnings) = Response::of(seen, (from, to), request_ns)?;
        response.spikes = profile::spikes(&self.steps, seen)?;
        self.summary = sentence(&self.steps, bend, Some(&response));
        self.warnings.extend(warnings);
        self.response = Some(response);
        Ok(self)
    }
}

/// A driver that is later than this with one request in a hundred is part of what it measures.
const LATE_NS: f64 = 1e6;

fn warnings(steps: &[Load]) -> Vec<String> {
    let mut warnings = Vec::new();
    for step in steps {
        let title = step.title();
        warnings.extend(step.workers.iter().filter_map(|worker| worker.warning(&title)));
        if step.not_sent > 0 {
            let why: Vec<_> =
                step.not_sent_by.iter().map(|(why, count)| format!("{} {why}", human::count(*count))).collect();
            warnings.push(format!(
                "{title}: {} of {} requests were not sent ({}); latencies are without them",
                human::count(step.not_sent),
                human::count(step.planned),
                why.join(", ")
            ));
        }
        if let Some(late) = step.late_ns.p99.filter(|late| *late > LATE_NS) {
            warnings.push(format!(
                "{title}: this machine has sent 1% of the requests more than {} late, and latencies have that in them: \
                 leave a processor free, or try --threads",
                human::time(late)
            ));
        }
    }
    warnings
}
