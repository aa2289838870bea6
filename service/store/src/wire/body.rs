//! A frame as it goes between programs. What both sides know already is not in it.

use std::fmt;

use diytrace_profile::load::Summary;
use diytrace_profile::load::costs::Evidence;
use diytrace_profile::merge::{Group, Key, Module, PartKey, PathId, PlaceId};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Labels;
use crate::dictionary::{Entries, ModuleNumber, Path};
use crate::id::Id;
use crate::kept::Totals;

/// What is told of a recording as a whole: seldom another from frame to frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fixed {
    pub labels: Labels,
    pub part: PartKey,
    pub summary: Summary,
    /// By the numbers that places have them by.
    pub modules: Vec<Module>,
    /// Without what is in frames.
    pub group: Option<Group>,
}

/// A frame.
#[derive(Serialize, Deserialize)]
pub struct Body {
    pub session: String,
    pub sequence: u64,
    pub holds_later: bool,
    pub start: i64,
    pub end: i64,
    /// What the other side is to know of the recording, by its checksum; 0: nothing, all is here.
    pub known: u64,
    /// What it is to know from now on.
    pub news: News,
    pub evidence: Option<Evidence>,
    pub totals: Totals,
    /// As [`crate::codec`] writes them.
    #[serde(serialize_with = "as_one", deserialize_with = "at_once")]
    pub rows: Vec<u8>,
    /// As [`crate::function_sums`] does.
    #[serde(serialize_with = "as_one", deserialize_with = "at_once")]
    pub functions: Vec<u8>,
}

/// The same bytes as one by one, at once.
fn as_one<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_bytes(bytes)
}

fn at_once<'a, D: Deserializer<'a>>(from: D) -> Result<Vec<u8>, D::Error> {
    struct Bytes;
    impl Visitor<'_> for Bytes {
        type Value = Vec<u8>;

        fn expecting(&self, to: &mut fmt::Formatter) -> fmt::Result {
            to.write_str("bytes")
        }

        fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.to_vec())
        }
    }
    from.deserialize_bytes(Bytes)
}

/// What the other side does not know yet.
#[derive(Default, Serialize, Deserialize)]
pub struct News {
    /// As it is now, if it was another: a record of its own, so that its bytes can be compared.
    pub fixed: Option<Vec<u8>>,
    places: Places,
    paths: Paths,
}

/// Columns: numbers that are like each other lie together, and get small when they are deflated.
#[derive(Default, Serialize, Deserialize)]
struct Places {
    /// Modules' numbers, and 1; 0 if there is none.
    modules: Vec<u32>,
    addresses: Vec<u64>,
}

#[derive(Default, Serialize, Deserialize)]
struct Paths {
    /// How far up in the list the path above is; 0 if there is none.
    parents: Vec<u32>,
    functions: Vec<PlaceId>,
    sites: Vec<PlaceId>,
    hooks: Vec<PlaceId>,
    flags: Vec<u32>,
    folded_into: Vec<Option<PathId>>,
    targets: Vec<Option<PlaceId>>,
}

impl News {
    /// The entries from these on.
    pub fn of(fixed: Option<Vec<u8>>, entries: &Entries, places: usize, paths: usize) -> Self {
        let first = paths as PathId;
        let (places, paths) = (&entries.places()[places..], &entries.paths()[paths..]);
        let column = |of: fn(&Path) -> u32| paths.iter().map(of).collect::<Vec<u32>>();
        let up = |(number, path): (u32, &Path)| path.key.parent.map_or(0, |parent| number - parent);
        Self {
            fixed,
            places: Places {
                modules: places.iter().map(|(module, _)| module.map_or(0, |module| module as u32 + 1)).collect(),
                addresses: places.iter().map(|(_, address)| *address).collect(),
            },
            paths: Paths {
                parents: (first..).zip(paths).map(up).collect(),
                functions: column(|path| path.key.function),
                sites: column(|path| path.key.site),
                hooks: column(|path| path.key.hook),
                flags: column(|path| path.key.flags),
                folded_into: paths.iter().map(|path| path.key.folded_into).collect(),
                targets: paths.iter().map(|path| path.target).collect(),
            },
        }
    }

    /// Whether there are any entries.
    pub fn has_entries(&self) -> bool {
        !self.places.addresses.is_empty() || !self.paths.parents.is_empty() || !self.places.modules.is_empty()
    }

    /// Adds them to those before. `None` if they cannot be the next.
    pub fn add_to(&self, entries: &mut Entries) -> Option<()> {
        let Places { modules, addresses } = &self.places;
        let Paths { parents, functions, sites, hooks, flags, folded_into, targets } = &self.paths;
        let others = [functions.len(), sites.len(), hooks.len(), flags.len(), folded_into.len(), targets.len()];
        if modules.len() != addresses.len() || others.iter().any(|other| *other != parents.len()) {
            return None;
        }
        for (module, address) in modules.iter().zip(addresses) {
            entries.push_place((module.checked_sub(1).map(ModuleNumber::from), *address));
        }
        for (at, up) in parents.iter().enumerate() {
            let next = entries.paths().len() as PathId;
            let parent = if *up == 0 { None } else { Some(next.checked_sub(*up)?) };
            let key = Key {
                parent,
                function: functions[at],
                site: sites[at],
                hook: hooks[at],
                flags: flags[at],
                folded_into: folded_into[at],
            };
            entries.push_path(Path { key, target: targets[at] }).then_some(())?;
        }
        Some(())
    }

    /// What both sides know when the other has them, too.
    pub fn checksum(&self, known: u64) -> u64 {
        let bytes = postcard::to_stdvec(self).unwrap_or_default(); // into memory: it cannot fail
        Id::of("known").number(known).bytes(&bytes).finish().max(1)
    }
}
