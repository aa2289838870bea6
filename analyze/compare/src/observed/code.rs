//! Whether a function's machine code is the same in two builds.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use diytrace_profile::merge::{Group, Merged, Place, PlaceId};
use diytrace_profile::symbolize::{Fingerprint, Symbols};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

/// What two builds have of a function's code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CodeState {
    /// The same, with all that is inlined into it.
    Same,
    /// Another one.
    Another,
    /// Nobody can tell: a binary is gone or was rebuilt, or what the code refers to has no end that is known.
    #[default]
    Unknown,
}

impl CodeState {
    /// What it is called, in JSON and elsewhere.
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Another => "another",
            Self::Unknown => "unknown",
        }
    }
}

/// The code of a function that ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Its own, of each copy; nothing, where nobody can tell.
    pub own: BTreeSet<Option<Fingerprint>>,
    /// Of functions that it was inlined into, and ran there.
    pub around: BTreeSet<Option<Fingerprint>>,
    /// Where it lies, as its module's symbols say.
    pub addresses: BTreeSet<u64>,
}

impl Seen {
    /// Adds what another run, or a copy, has.
    pub fn add(&mut self, other: &Self) {
        self.own.extend(&other.own);
        self.around.extend(&other.around);
        self.addresses.extend(&other.addresses);
    }

    /// What this and another build have.
    pub fn against(&self, other: &Self) -> CodeState {
        let is_known = |side: &BTreeSet<Option<Fingerprint>>| !side.contains(&None);
        let sides = [self, other];
        if sides.iter().any(|side| side.own.is_empty() || !is_known(&side.own)) {
            return CodeState::Unknown;
        }
        match () {
            () if self.own != other.own => CodeState::Another,
            // The copy that is called is the same. What became of the inlined ones lies in code that may have changed for
            // another reason.
            () if self.around != other.around || !sides.iter().all(|side| is_known(&side.around)) => CodeState::Unknown,
            () => CodeState::Same,
        }
    }

    /// Whether all of it lies as it does in another build, as far as the processor's caches are concerned.
    pub fn lies_alike(&self, other: &Self) -> bool {
        const PAGE: u64 = 4096;
        let places = |side: &Self| side.addresses.iter().map(|address| address % PAGE).collect::<BTreeSet<_>>();
        places(self) == places(other)
    }
}

/// The code at each place of a profile where a function begins, and around each that is inlined.
#[derive(Default)]
pub struct Codes {
    own: FxHashMap<PlaceId, Option<Fingerprint>>,
    around: FxHashMap<(PlaceId, PlaceId), Option<Fingerprint>>,
}

/// What the code of builds was found to be, by build ID and address: each run of a build asks the same.
#[derive(Debug, Default)]
pub struct KnownCode(Mutex<FxHashMap<(Vec<u8>, u64), Fingerprint>>);

impl KnownCode {
    fn at(&self, merged: &Merged, symbols: &Symbols, place: Place) -> Option<Fingerprint> {
        let build = &merged.modules[place.module? as usize].build_id;
        if build.is_empty() {
            return symbols.fingerprint(place);
        }
        let key = (build.clone(), place.address);
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = known().get(&key).copied();
        kept.or_else(|| {
            let found = symbols.fingerprint(place)?;
            known().insert(key, found);
            Some(found)
        })
    }
}

impl Codes {
    /// Of the functions that ran.
    pub fn of(merged: &Merged, symbols: &Symbols, known: &KnownCode) -> Self {
        let paths = || merged.groups.iter().flat_map(|group| &group.tree.paths);
        let functions: FxHashSet<PlaceId> = paths().map(|path| path.key.function).collect();
        let hooks: FxHashSet<(PlaceId, PlaceId)> = paths().map(|path| (path.key.function, path.key.hook)).collect();
        let place = |id: PlaceId| merged.places[id as usize];
        let inlined: Vec<_> = hooks
            .into_iter()
            .filter_map(|(function, hook)| {
                let at = place(hook);
                let around = symbols.enclosing(at)?;
                let is_own = at.module == place(function).module && around.address == place(function).address;
                let start = Place { module: at.module, address: around.address };
                (!is_own).then_some(((function, hook), start))
            })
            .collect();
        let functions: Vec<_> = functions.into_iter().map(|function| (function, place(function))).collect();
        let mut wanted: Vec<_> = functions.iter().map(|(_, at)| *at).chain(inlined.iter().map(|(_, at)| *at)).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let found: FxHashMap<_, _> = wanted.into_par_iter().map(|at| (at, known.at(merged, symbols, at))).collect();
        Self {
            own: functions.into_iter().map(|(function, at)| (function, found[&at])).collect(),
            around: inlined.into_iter().map(|(key, at)| (key, found[&at])).collect(),
        }
    }

    /// What each function of a group ran.
    pub fn seen(&self, merged: &Merged, group: &Group) -> FxHashMap<PlaceId, Seen> {
        let mut all: FxHashMap<PlaceId, Seen> = FxHashMap::default();
        for path in &group.tree.paths {
            let (function, hook) = (path.key.function, path.key.hook);
            let seen = all.entry(function).or_default();
            seen.own.insert(self.own.get(&function).copied().flatten());
            seen.around.extend(self.around.get(&(function, hook)));
            seen.addresses.insert(merged.places[function as usize].address);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_knows_is_neither_same_nor_another() {
        let unknown = Seen { own: BTreeSet::from([None]), ..Seen::default() };
        assert_eq!(unknown.against(&unknown), CodeState::Unknown);
        assert_eq!(Seen::default().against(&Seen::default()), CodeState::Unknown);
    }

    #[test]
    fn functions_lie_alike_at_the_same_place_of_a_page() {
        let at = |address: u64| Seen { addresses: BTreeSet::from([address]), ..Seen::default() };
        assert!(at(0x1040).lies_alike(&at(0x5040)));
        assert!(!at(0x1040).lies_alike(&at(0x1050)));
    }
}
