//! Sampled profiles of others, kept as they came, with what is asked of all of them beside.
//!
//! They are estimates, by sampling or by what a runtime has counted, so they are series of their own kind and never added to what
//! recordings counted.

use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::{Error, Labels, Query};

/// What a profile's values are, and what they add up to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeTotal {
    /// Such as `cpu`, `alloc_space`.
    #[serde(rename = "type")]
    pub name: String,
    /// Such as `nanoseconds`, `bytes`, `count`.
    pub unit: String,
    /// The sum.
    pub total: i64,
}

/// What is told of a profile without reading it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SampledFacts {
    /// Made of what it is: the same profile has the same.
    pub id: String,
    /// Its series.
    pub labels: Labels,
    /// When it began, in nanoseconds since 1970.
    #[serde(rename = "started_unix_ns")]
    pub started: i64,
    /// When it ended.
    #[serde(rename = "ended_unix_ns")]
    pub ended: i64,
    /// Its types of samples, the one that it shows first.
    pub types: Vec<TypeTotal>,
    /// Samples that differ in stack or labels.
    pub samples: u64,
    /// Bytes of its messages.
    pub bytes: u64,
}

/// A profile to be put in.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// What is told of it; its number is made here.
    pub facts: SampledFacts,
    /// Its messages as the format has them, not packed.
    pub messages: Vec<u8>,
}

impl Sampled {
    /// What the store calls it.
    pub fn id(&self) -> String {
        shown(self.number())
    }

    /// Its number: of its labels, its time and its bytes.
    pub(crate) fn number(&self) -> u64 {
        let facts = &self.facts;
        let id = Id::of("sampled").bytes(facts.labels.to_json().as_bytes());
        id.number(facts.started as u64).number(facts.ended as u64).bytes(&self.messages).finish()
    }
}

/// A number, as people see it.
pub(crate) fn shown(number: u64) -> String {
    format!("{number:016x}")
}

/// A number that people have written.
pub(crate) fn number(id: &str) -> Option<u64> {
    u64::from_str_radix(id, 16).ok()
}

/// Of profiles by time, the oldest that are to go so that what is left takes no more than so many bytes.
pub fn beyond_bytes(profiles: Vec<SampledFacts>, most: u64) -> Vec<String> {
    let mut bytes: u64 = profiles.iter().map(|facts| facts.bytes).sum();
    let mut doomed = Vec::new();
    for facts in profiles {
        if bytes <= most {
            break;
        }
        bytes -= facts.bytes;
        doomed.push(facts.id);
    }
    doomed
}

/// Of all there is, by time, what is asked for.
pub(crate) fn chosen(all: Vec<SampledFacts>, query: &Query, store: &str) -> Result<Vec<SampledFacts>, Error> {
    if all.is_empty() {
        return Err(Error::NoSampled { store: store.to_owned() });
    }
    query.check(&all.iter().map(|facts| &facts.labels).collect::<Vec<_>>(), None, store)?;
    let is_in = |facts: &SampledFacts| facts.ended > query.range.since && facts.ended <= query.range.until;
    let mut found: Vec<SampledFacts> =
        all.into_iter().filter(|facts| is_in(facts) && query.selects(&facts.labels)).collect();
    if found.is_empty() {
        return Err(Error::Nothing { why: query.why_nothing() });
    }
    found.sort_by(|a, b| (a.ended, &a.id).cmp(&(b.ended, &b.id)));
    Ok(found)
}
