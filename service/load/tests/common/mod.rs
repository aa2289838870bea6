//! What the stories of this crate are told with.

#![allow(dead_code)] // every test file uses its part

pub mod database;
pub mod redis;
mod scram;

use std::sync::Arc;
use std::time::Duration;

use diytrace_load::socket::{Protocol, Target, Worker};
use diytrace_load::{Observer, Plan, Shared, Tally, run};

/// Forty requests to a server, a hundred a second, over four connections.
pub fn drive<P: Protocol>(target: Target<P>) -> Tally {
    drive_at("100", Duration::from_millis(400), target)
}

/// Requests to a server, at a rate and for so long.
pub fn drive_at<P: Protocol>(rate: &str, duration: Duration, target: Target<P>) -> Tally {
    let mut workers = [Worker::new(Arc::new(target), 4).unwrap()];
    let plan = Plan { rates: rate.parse().unwrap(), is_poisson: false, duration, warm_up: Duration::ZERO, seed: 1 };
    let mut steps = run(&plan, &mut workers, &Shared::new(), &mut Nobody).unwrap();
    steps.remove(0).tally
}

struct Nobody;

impl Observer for Nobody {}
