//! What functions are called, and which are shown as one.

use std::collections::BTreeMap;

use diytrace_format::node::OTHERS;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::function::FunctionId;
use super::roots::Roots;
use crate::demangle::shown;
use crate::merge::{Merged, ModuleId, Place, PlaceId};
use crate::symbolize::Symbols;
use crate::units::Address;

/// What calls are shown as whose paths gave way to others.
pub const OTHER_CALLS: &str = "[other calls]";

/// The names of all functions.
pub struct Names {
    /// The function of each place.
    pub ids: FxHashMap<PlaceId, FunctionId>,
    /// The functions' names.
    pub functions: BTreeMap<FunctionId, Name>,
}

/// How names are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spelling {
    /// As people write them.
    #[default]
    Demangled,
    /// As the linker knows them.
    Mangled,
}

impl Spelling {
    fn of(self, symbol: &str) -> String {
        match self {
            Self::Demangled => shown(symbol).into_owned(),
            Self::Mangled => symbol.to_owned(),
        }
    }
}

/// What a function is called.
pub struct Name {
    /// Where it starts; of several places the first.
    pub place: Place,
    /// As people write it; the address if it has no name.
    pub name: String,
    /// As the linker knows it.
    pub symbol: Option<String>,
    /// Places that are shown as this one.
    pub addresses: usize,
    /// Whether it is a root.
    pub is_root: bool,
}

impl Names {
    /// Names for all functions of the profiles; those of one name in a module are one, unless `by_address`.
    pub fn of(merged: &Merged, symbols: &Symbols, roots: &Roots, by_address: bool, spelling: Spelling) -> Self {
        let places: Vec<PlaceId> = merged.functions().collect();
        symbols.find_functions(&merged.function_places());
        let outermost = roots.outermost(merged);
        let mut names = Self { ids: FxHashMap::default(), functions: BTreeMap::new() };
        let mut first: FxHashMap<(Option<ModuleId>, &str), FunctionId> = FxHashMap::default();
        for id in places {
            let place = merged.places[id as usize];
            let symbol = symbols.function(place).map(|symbol| symbol.name);
            let shared = match symbol {
                Some(symbol) if !by_address => *first.entry((place.module, symbol)).or_insert(id),
                _ => id,
            };
            names.ids.insert(id, shared);
            let is_root = roots.contain(symbols, place) || outermost.contains(&id);
            let known = names.functions.entry(shared).or_insert_with(|| Name {
                place,
                name: String::new(),
                symbol: symbol.map(str::to_owned),
                addresses: 0,
                is_root: false,
            });
            known.addresses += 1;
            known.is_root |= is_root;
        }
        // What C++ calls a function is worked out: of thousands that takes longer than all else here.
        names.functions.par_iter_mut().for_each(|(_, name)| {
            let address = || match name.place {
                Place { module: None, address: OTHERS } => OTHER_CALLS.to_owned(),
                place => Address(place.address).to_string(),
            };
            name.name = name.symbol.as_ref().map_or_else(address, |symbol| spelling.of(symbol));
        });
        names
    }

    /// Where the functions start.
    pub fn places(&self) -> Vec<Place> {
        self.functions.values().map(|name| name.place).collect()
    }
}
