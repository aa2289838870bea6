//! Modules of all profiles in one table, and places in them: what an address means, wherever it was loaded.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::load;
use crate::module::{ModuleFile, ModuleKey};

/// A module's number in `Merged::modules`.
pub type ModuleId = u32;

/// A place's number in `Merged::places`.
pub type PlaceId = u32;

/// An ELF virtual address in a module; or an address that lies in none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The module.
    pub module: Option<ModuleId>,
    /// Virtual address in the module, as `nm` prints it.
    pub address: u64,
}

/// A program or library that was in use at one time or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    /// Build ID; empty if it has none.
    pub build_id: Vec<u8>,
    /// Its files, as they were.
    pub files: BTreeSet<ModuleFile>,
    /// Whether it refers to the hooks.
    pub is_instrumented: bool,
    /// Whether it is a program.
    pub is_program: bool,
}

impl Module {
    /// Where it was: of several files the first by name.
    pub fn path(&self) -> &str {
        self.files.first().map_or("", |file| &file.path)
    }

    /// What it is known by.
    pub fn key(&self) -> Option<ModuleKey> {
        match self.build_id.is_empty() {
            true => self.files.first().cloned().map(ModuleKey::File),
            false => Some(ModuleKey::BuildId(self.build_id.clone())),
        }
    }

    /// The last part of its path.
    pub fn short_name(&self) -> &str {
        self.path().rsplit('/').next().unwrap_or_default()
    }
}

/// All modules.
#[derive(Default)]
pub(super) struct ModuleTable {
    pub list: Vec<Module>,
    by_identity: FxHashMap<ModuleKey, ModuleId>,
}

impl ModuleTable {
    fn find_or_add(&mut self, module: &load::Module) -> ModuleId {
        let file =
            ModuleFile { path: module.path.clone(), size: module.file_size, modified_unix_ns: module.modified_unix_ns };
        self.add(Module {
            build_id: module.build_id.clone(),
            files: BTreeSet::from([file]),
            is_instrumented: module.is_instrumented,
            is_program: module.is_program,
        })
    }

    /// Adds what is told of a module to what is known of it.
    pub fn add(&mut self, module: Module) -> ModuleId {
        let next = self.list.len() as ModuleId;
        let id = module.key().map_or(next, |key| *self.by_identity.entry(key).or_insert(next));
        match self.list.get_mut(id as usize) {
            Some(known) => {
                known.files.extend(module.files);
                known.is_instrumented |= module.is_instrumented;
                known.is_program |= module.is_program;
            }
            None => self.list.push(module),
        }
        id
    }
}

/// All places.
#[derive(Default)]
pub(super) struct PlaceTable {
    pub list: Vec<Place>,
    ids: FxHashMap<Place, PlaceId>,
}

impl PlaceTable {
    pub fn find_or_add(&mut self, place: Place) -> PlaceId {
        *self.ids.entry(place).or_insert_with(|| {
            self.list.push(place);
            self.list.len() as PlaceId - 1
        })
    }
}

/// From one family's addresses to places.
pub(super) struct Resolver<'a> {
    places: &'a mut PlaceTable,
    /// Sorted by start.
    spans: Vec<Span>,
    known: FxHashMap<(u64, u32), PlaceId>,
}

struct Span {
    start: u64,
    end: u64,
    /// The largest end of this span and all before it.
    reach: u64,
    number: u32,
    bias: u64,
    module: ModuleId,
}

impl<'a> Resolver<'a> {
    pub fn new(family: &load::Family, modules: &mut ModuleTable, places: &'a mut PlaceTable) -> Self {
        let to_span = |module: &load::Module| Span {
            start: module.start,
            end: module.end,
            reach: 0,
            number: module.number,
            bias: module.bias,
            module: modules.find_or_add(module),
        };
        let mut spans: Vec<_> = family.modules.iter().map(to_span).collect();
        spans.sort_by_key(|span| (span.start, span.number));
        let mut reach = 0;
        for span in &mut spans {
            reach = span.end.max(reach);
            span.reach = reach;
        }
        Self { places, spans, known: FxHashMap::default() }
    }

    /// The place of an address in the module of that number; 0 = it is not known.
    pub fn place(&mut self, address: u64, number: u32) -> PlaceId {
        if let Some(&place) = self.known.get(&(address, number)) {
            return place;
        }
        let place = self.place_of(address, number);
        let id = self.places.find_or_add(place);
        self.known.insert((address, number), id);
        id
    }

    /// The module of an address in the module of that number, and the address there.
    pub fn place_of(&self, address: u64, number: u32) -> Place {
        match self.span(address, number) {
            Some(span) => Place { module: Some(span.module), address: address.wrapping_sub(span.bias) },
            None => Place { module: None, address },
        }
    }

    /// Of the modules that were ever at the address, the one that is named, else the latest.
    fn span(&self, address: u64, number: u32) -> Option<&Span> {
        let after = self.spans.partition_point(|span| span.start <= address);
        let reaching = self.spans[..after].iter().rev().take_while(|span| span.reach > address);
        let there = reaching.filter(|span| address < span.end);
        there.max_by_key(|span| (span.number == number, span.number))
    }
}
