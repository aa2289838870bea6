//! By which numbers the other side knows the functions and paths of a recording that is followed.

use diytrace_profile::load::Family;
use diytrace_profile::merge::{Followed, Key, Known, Module, PathId, Place, PlaceId};
use rustc_hash::FxHashSet;

use crate::dictionary::{Dictionary, ModuleNumber};

/// Of paths that the other side does not know.
const UNKNOWN: PathId = PathId::MAX;

/// Numbers of functions and paths, by their places in a family.
pub struct Numbering {
    functions: Vec<Option<PlaceId>>,
    arenas: Vec<Vec<PathId>>,
}

impl Numbering {
    /// Of all that a dictionary has. `None`: several functions are one there, so that what they have is not told apart.
    pub fn of(
        dictionary: &Dictionary,
        family: &Family,
        followed: &Followed,
        module: impl Fn(&Module) -> Option<ModuleNumber>,
    ) -> Option<Self> {
        let Known { modules, functions, paths } = followed.known(family);
        let modules: Vec<Option<ModuleNumber>> = modules.iter().map(module).collect();
        let number = |place: &Place| {
            let module = match place.module {
                Some(module) => Some(modules[module as usize]?),
                None => None,
            };
            dictionary.place((module, place.address))
        };
        let functions: Vec<Option<PlaceId>> = functions.iter().map(number).collect();
        let mut met = FxHashSet::default();
        if !functions.iter().flatten().all(|place| met.insert(*place)) {
            return None;
        }
        let mut arenas = Vec::with_capacity(paths.len());
        for (arena, places) in family.arenas.iter().zip(&paths) {
            let mut numbers: Vec<PathId> = Vec::with_capacity(places.len());
            for (node, [function, site, hook]) in arena.nodes.iter().zip(places) {
                // Outside of both, nothing; below what is not known, nothing is.
                let above = |at: Option<u32>| match at {
                    None => Some(None),
                    Some(at) => Some(numbers[at as usize]).filter(|number| *number != UNKNOWN).map(Some),
                };
                let key = || {
                    Some(Key {
                        parent: above(node.parent)?,
                        function: number(function)?,
                        site: number(site)?,
                        hook: number(hook)?,
                        flags: node.flags,
                        folded_into: above(node.folded_into)?,
                    })
                };
                let known = key().and_then(|key| dictionary.path(&key));
                numbers.push(known.unwrap_or(UNKNOWN));
            }
            arenas.push(numbers);
        }
        Some(Self { functions, arenas })
    }

    /// The number of a function, if it has one.
    pub fn function(&self, function: u32) -> Option<PlaceId> {
        *self.functions.get(function as usize)?
    }

    /// That of a path of an arena.
    pub fn path(&self, arena: usize, path: u32) -> Option<PathId> {
        self.arenas.get(arena)?.get(path as usize).copied().filter(|number| *number != UNKNOWN)
    }
}
