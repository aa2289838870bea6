//! What of the profiles is asked for, added up.

use std::collections::BTreeSet;
use std::collections::hash_map::{DefaultHasher, Entry, HashMap};
use std::hash::{Hash, Hasher};

use diytrace_pprof::{Profile, read};
use diytrace_store::{Engine, Query, Sampled, SampledFacts};

use crate::growing::summed;
use crate::{Error, MOST_BYTES};

/// Profiles, and which of their types is shown.
#[derive(Debug, Default)]
pub struct Selection {
    profiles: Vec<SampledFacts>,
    sum: Profile,
    warnings: Vec<String>,
    /// Files that were added, by what is in them.
    files: HashMap<(u64, usize), String>,
}

/// A type of samples, chosen.
#[derive(Debug)]
pub struct Chosen {
    /// All profiles in one.
    pub sum: Profile,
    /// Its place among the types.
    pub of: usize,
    /// What is told of the profiles.
    pub profiles: Vec<SampledFacts>,
    /// What the reader should know.
    pub warnings: Vec<String>,
}

impl Selection {
    /// Adds a profile of a file: a copy of one that was added counts once, as in a store. It is known by its bytes, as a profile that does not
    /// say when it was taken is given the moment when it is read.
    pub fn add_file(&mut self, sampled: Sampled, from: &str) -> Result<(), Error> {
        let mut hasher = DefaultHasher::new();
        sampled.messages.hash(&mut hasher);
        match self.files.entry((hasher.finish(), sampled.messages.len())) {
            Entry::Occupied(first) => {
                self.warnings.push(format!("{from} is {} once more, and counts once", first.get()));
                Ok(())
            }
            Entry::Vacant(place) => {
                place.insert(from.to_owned());
                self.add(sampled.facts, &sampled.messages, from)
            }
        }
    }

    fn add(&mut self, facts: SampledFacts, messages: &[u8], from: &str) -> Result<(), Error> {
        let read = read(messages, MOST_BYTES).map_err(|source| Error::Profile { from: from.to_owned(), source })?;
        self.sum.add(&read)?;
        self.profiles.push(facts);
        Ok(())
    }

    /// One profile of a store.
    pub fn one(store: &dyn Engine, id: &str) -> Result<Self, Error> {
        let one = store.one_sampled(id)?.ok_or_else(|| Error::Missing { id: id.to_owned() })?;
        let mut selection = Self::default();
        selection.add(one.facts, &one.messages, id)?;
        Ok(selection)
    }

    /// Those of a store that are asked for, of this type if one is named.
    pub fn of(store: &dyn Engine, name: &str, query: &Query, of: Option<&str>) -> Result<Self, Error> {
        let mut asked = store.sampled(query, name)?;
        let shown = match of {
            Some(of) => {
                let known = names(&asked);
                asked.retain(|facts| facts.types.iter().any(|each| each.name == of));
                if asked.is_empty() {
                    return Err(Error::Type { name: of.to_owned(), known });
                }
                of.to_owned()
            }
            None => {
                let mut shown: Vec<&str> = asked.iter().filter_map(|facts| Some(&*facts.types.first()?.name)).collect();
                shown.sort_unstable();
                shown.dedup();
                match shown[..] {
                    [one] => one.to_owned(),
                    _ => return Err(Error::Types { known: names(&asked) }),
                }
            }
        };
        let (asked, warning) = summed(asked, &shown);
        let warnings = warning.into_iter().collect();
        let mut selection = Self { warnings, ..Self::default() };
        for facts in asked {
            // One that somebody has deleted since is not asked for any more.
            if let Some(one) = store.one_sampled(&facts.id)? {
                selection.add(one.facts, &one.messages, &facts.id)?;
            }
        }
        Ok(selection)
    }

    /// Chooses a type: the one named, or the one that its makers would show.
    pub fn choose(self, name: Option<&str>) -> Result<Chosen, Error> {
        let types = self.sum.types();
        let of = match name {
            None => Some(self.sum.default_type()),
            Some(name) => types.iter().position(|of| of.name == name),
        };
        let of = of
            .filter(|of| *of < types.len())
            .ok_or_else(|| Error::Type { name: name.unwrap_or_default().to_owned(), known: names(&self.profiles) })?;
        Ok(Chosen { sum: self.sum, of, profiles: self.profiles, warnings: self.warnings })
    }
}

/// All types of samples that profiles have.
pub(crate) fn names<'a>(profiles: impl IntoIterator<Item = &'a SampledFacts>) -> String {
    let types = profiles.into_iter().flat_map(|facts| &facts.types);
    let names: BTreeSet<&str> = types.map(|each| each.name.as_str()).collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}
