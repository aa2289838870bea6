//! Of which type profiles are looked at, side by side or one after the other: one, in one unit, or nothing is told.

use std::collections::BTreeSet;

use diytrace_store::SampledFacts;
use serde::Serialize;

use crate::Error;
use crate::selection::names;

/// A type of samples.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Kind {
    /// Such as `cpu`, `alloc_space`.
    #[serde(rename = "type")]
    pub name: String,
    /// Such as `nanoseconds`, `bytes`, `count`.
    pub unit: String,
}

impl Kind {
    /// The one that all of these have, each by what people call it: the one named, or that which all profiles show first.
    pub fn of_all(parts: &[(&str, &[SampledFacts])], of: Option<&str>) -> Result<Self, Error> {
        let all = || parts.iter().flat_map(|(_, profiles)| profiles.iter());
        let name = match of {
            Some(of) => of,
            None => {
                let first: BTreeSet<&str> = all().filter_map(|facts| Some(&*facts.types.first()?.name)).collect();
                match first.into_iter().collect::<Vec<_>>()[..] {
                    [one] => one,
                    _ => return Err(Error::Types { known: names(all()) }),
                }
            }
        };
        let of_name = |facts: &'_ SampledFacts| facts.types.iter().find(|each| each.name == name).cloned();
        for (side, profiles) in parts {
            if !profiles.iter().any(|facts| of_name(facts).is_some()) {
                let (name, known) = (name.to_owned(), names(profiles.iter()));
                return Err(match parts.len() {
                    1 => Error::Type { name, known },
                    _ => Error::TypeOfSide { side: (*side).to_owned(), name, known },
                });
            }
        }
        let units: BTreeSet<String> = all().filter_map(|facts| Some(of_name(facts)?.unit)).collect();
        match &units.iter().collect::<Vec<_>>()[..] {
            [unit] => Ok(Self { name: name.to_owned(), unit: (*unit).clone() }),
            _ => Err(Error::Units {
                name: name.to_owned(),
                known: units.iter().map(|unit| unit_name(unit)).collect::<Vec<_>>().join(" and "),
            }),
        }
    }

    /// Those of the profiles that have it.
    pub fn keep(&self, profiles: Vec<SampledFacts>) -> Vec<SampledFacts> {
        let is_of = |facts: &SampledFacts| facts.types.iter().any(|each| each.name == self.name);
        profiles.into_iter().filter(is_of).collect()
    }
}

fn unit_name(unit: &str) -> &str {
    if unit.is_empty() { "no unit" } else { unit }
}

#[cfg(test)]
mod tests {
    use diytrace_store::{Labels, TypeTotal};

    use super::*;

    fn profile(types: &[(&str, &str)]) -> SampledFacts {
        let of = |(name, unit): &(&str, &str)| TypeTotal { name: (*name).into(), unit: (*unit).into(), total: 1 };
        SampledFacts {
            id: String::new(),
            labels: Labels::default(),
            started: 0,
            ended: 1,
            types: types.iter().map(of).collect(),
            samples: 1,
            bytes: 1,
        }
    }

    #[test]
    fn two_types_or_two_units_are_refused_with_all_that_there_are() {
        let cpu = [profile(&[("cpu", "nanoseconds"), ("samples", "count")])];
        let heap = [profile(&[("inuse_space", "bytes")])];
        let seconds = [profile(&[("cpu", "seconds")])];
        let said = |left: &[SampledFacts], right: &[SampledFacts], of: Option<&str>| {
            Kind::of_all(&[("a", left), ("b", right)], of).map_err(|error| error.to_string())
        };
        assert_eq!(said(&cpu, &cpu, None).unwrap().unit, "nanoseconds");
        assert_eq!(said(&cpu, &cpu, Some("samples")).unwrap().unit, "count");
        let sentence = said(&cpu, &heap, None).unwrap_err();
        assert!(sentence.contains("cpu, inuse_space, samples"), "{sentence}");
        let sentence = said(&cpu, &heap, Some("cpu")).unwrap_err();
        assert_eq!(sentence, "b has no samples of type `cpu`: its profiles have inuse_space");
        let sentence = said(&cpu, &seconds, None).unwrap_err();
        assert!(sentence.contains("`cpu` in nanoseconds and seconds"), "{sentence}");
    }
}
