//! What a request costs in each function, in some time.

use std::collections::BTreeMap;

use diytrace_compare::observed::identity::Identity;
use diytrace_compare::observed::{Measured, Observed};
use diytrace_profile::opened::Opened;
use diytrace_profile::warnings::Warning;

use crate::Error;

/// What was counted in some time.
#[derive(Default)]
pub struct Costs {
    /// Requests meanwhile.
    pub requests: u64,
    /// By function.
    pub functions: BTreeMap<Identity, Measured>,
    /// What the reader should know.
    pub warnings: Vec<Warning>,
}

impl Costs {
    /// Of what was recorded for so many requests.
    pub fn of(opened: &Opened, requests: u64) -> Result<Self, Error> {
        let observed = Observed::of(opened)?;
        let mut functions = BTreeMap::<Identity, Measured>::new();
        for (identity, measured) in observed.functions {
            if measured.calls > 0 || measured.own > 0.0 {
                functions.entry(identity).or_default().add(&measured);
            }
        }
        Ok(Self { requests, functions, warnings: observed.warnings })
    }

    /// Calls entered, for each request.
    pub fn calls(&self, function: &Identity) -> f64 {
        let calls = self.functions.get(function).map_or(0, |measured| measured.calls);
        calls as f64 / self.requests.max(1) as f64
    }

    /// Time without callees, in nanoseconds a request.
    pub fn own(&self, function: &Identity) -> f64 {
        let own = self.functions.get(function).map_or(0.0, |measured| measured.own_without_preempted());
        own / self.requests.max(1) as f64
    }

    /// What of that was on a processor, where the recording knows.
    pub fn cpu(&self, function: &Identity) -> Option<f64> {
        self.known(function, |measured| measured.own_cpu)
    }

    /// What of it was waiting, where the recording knows.
    pub fn wait(&self, function: &Identity) -> Option<f64> {
        self.known(function, |measured| measured.own_wait)
    }

    fn known(&self, function: &Identity, part: fn(&Measured) -> Option<f64>) -> Option<f64> {
        // Who was not called has not waited.
        let part = self.functions.get(function).map_or(Some(0.0), part);
        part.map(|ns| ns / self.requests.max(1) as f64)
    }
}
