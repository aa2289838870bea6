//! Both sides of a comparison, read: runs of profiles, and all stacks of each.

use std::collections::BTreeMap;

use diytrace_pprof::{Profile, folded};
use diytrace_store::{Engine, SampledFacts};

use super::document::Run;
use crate::measured::{Known, Measured, place};
use crate::{Error, Kind, Per};

/// A side.
#[derive(Debug, Default)]
pub struct Read {
    /// Its runs, by time.
    pub runs: Vec<Measured>,
    /// All of them together.
    pub whole: Measured,
    /// All stacks.
    sum: Profile,
}

impl Read {
    /// The profiles of a side as runs. Such in which nothing was sampled are none where values are shares.
    pub fn of(
        store: &dyn Engine,
        profiles: &[SampledFacts],
        (kind, per, run): (&Kind, Per, Run),
        known: &mut Known,
    ) -> Result<Self, Error> {
        let mut read = Self::default();
        let mut runs: BTreeMap<(i64, String), Measured> = BTreeMap::new();
        let mut first: BTreeMap<&str, i64> = BTreeMap::new();
        for facts in profiles {
            let Some(measured) = Measured::read(store, facts, kind, known, Some(&mut read.sum))? else { continue };
            read.whole.add(&measured);
            let name = match run {
                Run::Profile => &*facts.id,
                Run::Host => facts.labels.get("host").unwrap_or_default(),
            };
            // They come by time: the first of a host tells when it began.
            let started = *first.entry(name).or_insert(facts.started);
            runs.entry((started, name.to_owned())).or_default().add(&measured);
        }
        read.runs = runs.into_values().filter(|run| run.whole(per) > 0.0).collect();
        Ok(read)
    }

    /// Its stacks, `outer;inner`, and what samples there add up to.
    pub fn stacks(&self, kind: &Kind) -> BTreeMap<String, i64> {
        let Some(of) = place(&self.sum, kind) else { return BTreeMap::new() };
        let split = |line: String| {
            let (stack, value) = line.rsplit_once(' ')?;
            Some((stack.to_owned(), value.parse().ok()?))
        };
        folded(&self.sum, of).into_iter().filter_map(split).collect()
    }
}
