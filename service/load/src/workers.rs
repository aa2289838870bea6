//! Workers in a run's document: what each had of it.

use diytrace_profile::human::{count, time};
use serde::Serialize;

use crate::fleet::{Counts, Share};

/// A worker of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Worker {
    /// Host and process.
    pub name: String,
    /// Requests that it has sent in all steps, with their warm-ups.
    pub sent: u64,
    /// Whether it was lost before the run was over.
    pub lost: bool,
    /// Why it has taken no part, in a sentence; null for one that has.
    pub refused: Option<String>,
}

/// What a worker had of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WorkerLoad {
    /// Host and process.
    pub name: String,
    /// Its threads.
    pub threads: u64,
    /// Its connections.
    pub connections: u64,
    /// Its requests.
    #[serde(flatten)]
    pub counts: Counts,
    /// Requests that it has sent before the step, which do not count.
    pub warm_up_sent: u64,
    /// How far its clock may be from the service's: it began that much earlier or later than others, at most.
    pub clock_error_ns: u64,
    /// Where it was lost: what is not known of it.
    pub lost: Option<Missing>,
}

/// What is not known of a worker that was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// `step`, or `warm-up` of the load before it.
    pub during: &'static str,
    /// Up to when it has told what it sent, in nanoseconds since that began.
    pub told_ns: u64,
    /// When it was known to be gone.
    pub known_ns: u64,
    /// Requests that count as not sent, or as not planned where somebody has ended the run, and that it may have sent between the two:
    /// at most so many. Null where that cannot be known, as at `--rate max`.
    pub most_unknown: Option<u64>,
}

/// Of a step, and the load before it.
pub fn of_step([warm_up, step]: &[Vec<Share>; 2]) -> Vec<WorkerLoad> {
    let mut all: Vec<WorkerLoad> = step.iter().map(|share| of(share, "step")).collect();
    for share in warm_up {
        match all.iter_mut().find(|worker| worker.name == share.worker) {
            Some(worker) => worker.warm_up_sent = share.counts.sent,
            // It was lost before the step, and others have its share.
            None => {
                let before = of(share, "warm-up");
                let warm_up_sent = share.counts.sent;
                all.push(WorkerLoad { name: before.name, warm_up_sent, lost: before.lost, ..WorkerLoad::default() });
            }
        }
    }
    all
}

fn of(share: &Share, during: &'static str) -> WorkerLoad {
    let Share { worker, threads, connections, counts, clock_error_ns, lost } = share;
    WorkerLoad {
        name: worker.clone(),
        threads: *threads,
        connections: *connections,
        counts: *counts,
        warm_up_sent: 0,
        clock_error_ns: *clock_error_ns,
        lost: lost.map(|lost| Missing {
            during,
            told_ns: lost.told_ns,
            known_ns: lost.known_ns,
            most_unknown: lost.most_unknown,
        }),
    }
}

impl WorkerLoad {
    /// What there is to say of it in a step of this name, if it was lost.
    pub fn warning(&self, title: &str) -> Option<String> {
        let Missing { during, told_ns, known_ns, most_unknown } = self.lost.as_ref()?;
        let from = if *during == "step" { title.to_owned() } else { format!("{title}, warm-up") };
        let unknown = match most_unknown {
            Some(0) => "; it has told all that it sent".to_owned(),
            Some(most) => format!(", of which it may have sent up to {} between the two", count(*most)),
            None => "; what it sent between the two is not known".to_owned(),
        };
        Some(format!(
            "{from}: worker {} was lost: it has told what it sent up to {}, and was known to be gone at {}; {} of its requests count as \
             not sent{unknown}",
            self.name,
            time(*told_ns as f64),
            time(*known_ns as f64),
            count(self.counts.not_sent),
        ))
    }
}
