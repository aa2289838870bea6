//! What is known of a module, apart from its files: it explains a profile where these are not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use iced_x86::{Decoder, DecoderOptions};
use serde::{Deserialize, Serialize};

use super::body::Bodies;
use super::{CallForm, Location, Probe, Symbol, Symbols};
use crate::archive::{self, Archive};
use crate::elf::debug::FoundBy;
use crate::merge::{Merged, ModuleId, Place};
use crate::module::ModuleKey;

/// All that views may ask of a module.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Portable {
    /// Whether its file was there, as it was recorded.
    pub has_code: bool,
    /// Why not.
    pub problem: Option<String>,
    /// The debug file that was found, and how.
    pub debug: Option<(PathBuf, FoundBy)>,
    /// Whether only what it exports has names.
    pub is_stripped: bool,
    /// Its functions: name, address, size. In the order of their addresses, the one to show first.
    symbols: Vec<(String, u64, u64)>,
    /// The calls that return to addresses.
    pub calls: BTreeMap<u64, CallForm>,
    /// The lines of addresses.
    pub lines: BTreeMap<(u64, Probe), Option<Location>>,
    /// The file, first and last line of functions.
    pub bodies: BTreeMap<u64, (String, u32, u32)>,
    /// The lines of call sites in the functions of these names.
    pub within: BTreeMap<String, BTreeMap<u64, Option<Location>>>,
    /// The code of functions that call.
    code: BTreeMap<u64, Vec<u8>>,
}

impl Portable {
    /// Its functions, in the order of their addresses.
    pub fn symbols(&self) -> impl Iterator<Item = Symbol<'_>> {
        self.symbols.iter().map(|(name, address, size)| Symbol { name, address: *address, size: *size })
    }

    /// Code at an address, if that much of it is there.
    pub fn bytes(&self, address: u64, length: u64) -> Option<&[u8]> {
        let (start, code) = self.code.range(..=address).next_back()?;
        let offset = usize::try_from(address - start).ok()?;
        code.get(offset..offset.checked_add(usize::try_from(length).ok()?)?)
    }

    /// What all archives together know of a module.
    pub fn of_archives(archives: &[Archive], module: Option<&ModuleKey>) -> Result<Option<Self>, archive::Error> {
        let mut found: Option<Self> = None;
        for (archive, module) in archives.iter().zip(std::iter::repeat(module)) {
            let Some(other) = module.map_or(Ok(None), |module| archive.symbols::<Self>(module))? else { continue };
            found = Some(match found {
                Some(known) => known.and(other),
                None => other,
            });
        }
        Ok(found)
    }

    /// What either of two knows of the same module: of one that was stripped in the one place, what the other has.
    pub fn and(self, other: Self) -> Self {
        let worth = |known: &Self| (known.has_code, !known.is_stripped, known.symbols.len());
        let (mut best, rest) = if worth(&other) > worth(&self) { (other, self) } else { (self, other) };
        for (address, form) in rest.calls {
            let known = best.calls.entry(address).or_insert(form);
            if *known == CallForm::Unknown {
                *known = form;
            }
        }
        for (query, line) in rest.lines {
            let known = best.lines.entry(query).or_default();
            *known = known.take().or(line);
        }
        for (name, lines) in rest.within {
            let all = best.within.entry(name).or_default();
            for (site, line) in lines {
                let known = all.entry(site).or_default();
                *known = known.take().or(line);
            }
        }
        for (function, body) in rest.bodies {
            best.bodies.entry(function).or_insert(body);
        }
        for (start, code) in rest.code {
            best.code.entry(start).or_insert(code);
        }
        best
    }
}

/// What a profile asks of a module.
#[derive(Default)]
struct Asked {
    addresses: BTreeSet<u64>,
    functions: BTreeSet<u64>,
    /// Functions, and places that they call from.
    sites: BTreeSet<(u64, u64)>,
}

/// What is known of each module that views of these profiles may ask about.
pub fn gather<'a>(merged: &'a Merged, symbols: &'a Symbols) -> impl Iterator<Item = (ModuleId, Portable)> + 'a {
    let asked = ask(merged);
    let is_asked = |id: usize, asked: &Asked| merged.modules[id].is_instrumented || !asked.addresses.is_empty();
    let asked = asked.into_iter().enumerate().filter(move |(id, asked)| is_asked(*id, asked));
    asked.map(|(id, asked)| (id as ModuleId, symbols.portable(id as ModuleId, &asked)))
}

fn ask(merged: &Merged) -> Vec<Asked> {
    let mut all: Vec<Asked> = merged.modules.iter().map(|_| Asked::default()).collect();
    let places = merged.places.iter().filter_map(|place| Some((place.module?, place.address)));
    for (module, address) in places {
        all[module as usize].addresses.insert(address);
    }
    for group in &merged.groups {
        for path in &group.tree.paths {
            let place = |id: u32| merged.places[id as usize];
            let function = place(path.key.function);
            let Some(module) = function.module else { continue };
            all[module as usize].functions.insert(function.address);
            let Some(parent) = path.key.parent else { continue };
            let caller = place(group.tree.paths[parent as usize].key.function);
            let sites = [place(path.key.site), place(path.key.hook)];
            for site in sites.iter().filter(|site| site.module == caller.module) {
                if let Some(module) = caller.module {
                    all[module as usize].sites.insert((caller.address, site.address));
                }
            }
        }
    }
    all
}

impl Symbols<'_> {
    fn portable(&self, module: ModuleId, asked: &Asked) -> Portable {
        let at = |address: u64| Place { module: Some(module), address };
        let files = self.files(module);
        let mut portable = Portable {
            has_code: self.has_code(module),
            problem: self.problem(module).map(str::to_owned),
            debug: self.debug_file(module).map(|debug| (debug.path.to_owned(), debug.found_by)),
            is_stripped: self.is_stripped(module),
            symbols: self.all(module).map(|symbol| (symbol.name.to_owned(), symbol.address, symbol.size)).collect(),
            ..Portable::default()
        };

        let probes = [Probe::Function, Probe::Call, Probe::InlinedCall];
        let queries = || asked.addresses.iter().flat_map(|&address| probes.map(|probe| (address, probe)));
        self.find_lines(queries().map(|(address, probe)| (at(address), probe)).collect());
        portable.lines = queries().map(|query| (query, self.line(at(query.0), query.1))).collect();
        portable.calls = asked.addresses.iter().map(|&address| (address, self.call_before(at(address)))).collect();

        let bodies = Bodies::of(files);
        for &function in &asked.functions {
            if let Some((file, first, last)) = self.extent(&bodies, at(function)) {
                portable.bodies.insert(function, (file, first, last));
            }
        }
        for &(function, site) in &asked.sites {
            let Some(symbol) = self.function(at(function)) else { continue };
            let line = self.line_within(&bodies, module, site, symbol.name);
            portable.within.entry(symbol.name.to_owned()).or_default().insert(site, line);
        }

        // Views decode code from where a function begins, and ask after each call in it.
        let inside = asked.addresses.iter().filter_map(|&address| self.enclosing(at(address.saturating_sub(1))));
        let functions: BTreeMap<u64, u64> = inside.map(|symbol| (symbol.address, symbol.size)).collect();
        for (start, size) in functions {
            let Some(bytes) = self.bytes(at(start), size) else { continue };
            for instruction in Decoder::with_ip(64, bytes, start, DecoderOptions::NONE) {
                if instruction.is_call_near() {
                    let site = instruction.next_ip();
                    portable.calls.insert(site, self.call_before(at(site)));
                }
            }
            portable.code.insert(start, bytes.to_vec());
        }
        portable
    }
}
