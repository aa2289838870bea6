//! Gathers all that views may ask of a profile's modules.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::{Decoder, DecoderOptions};
use rayon::prelude::*;

use super::Symbols;
use super::answers::{CallForm, Probe, Symbol};
use super::body::Bodies;
use super::portable::Portable;
use super::saved::{Codes, Kept};
use crate::merge::{Merged, ModuleId, Place};

/// What a profile asks of a module.
#[derive(Default)]
struct Asked {
    addresses: BTreeSet<u64>,
    functions: BTreeSet<u64>,
    /// Functions, and places that they call from.
    sites: BTreeSet<(u64, u64)>,
    /// Where calls return to.
    returns: BTreeSet<u64>,
}

/// What is known of each module that views of these profiles may ask about.
pub fn gather<'a>(merged: &'a Merged, symbols: &'a Symbols) -> impl Iterator<Item = (ModuleId, Portable)> + 'a {
    let asked = ask(merged);
    let is_asked = |id: usize, asked: &Asked| merged.modules[id].is_instrumented || !asked.addresses.is_empty();
    let asked = asked.into_iter().enumerate().filter(move |(id, asked)| is_asked(*id, asked));
    asked.map(|(id, asked)| (id as ModuleId, symbols.portable(id as ModuleId, &asked)))
}

/// What reports ask of each module whose file is here as it was recorded: of the functions that were met, and of no others.
pub fn gather_met<'a>(merged: &'a Merged, symbols: &'a Symbols) -> impl Iterator<Item = (ModuleId, Kept)> + 'a {
    // Where a call has left a body, debug information is asked whose the next ones are.
    let unusual = merged.groups.iter().flat_map(|group| group.tree.paths.all_unusual());
    let has_left = unusual.into_iter().any(|counts| counts.unwound > 0);
    let asked = (0..).zip(ask(merged)).filter(|(id, asked)| !asked.addresses.is_empty() && symbols.is_here(*id));
    asked.map(move |(id, asked)| (id, symbols.met(id, &asked, has_left)))
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
            for site in [place(path.key.site), place(path.key.hook)] {
                if let Some(module) = site.module {
                    all[module as usize].returns.insert(site.address);
                }
            }
            let Some(parent) = path.key.parent else { continue };
            let caller = place(group.tree.paths.key(parent).function);
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
    /// Whether the file of a module is here, as it was recorded.
    fn is_here(&self, module: ModuleId) -> bool {
        let files = self.files(module);
        files.portable.is_none() && files.code.is_some()
    }

    fn met(&self, module: ModuleId, asked: &Asked, has_left: bool) -> Kept {
        let at = |address: u64| Place { module: Some(module), address };
        let mut portable = Portable {
            has_code: true,
            debug: self.debug_file(module).map(|debug| (debug.path.to_owned(), debug.found_by)),
            is_stripped: self.is_stripped(module),
            ..Portable::default()
        };
        portable.calls = asked.addresses.iter().map(|&address| (address, self.call_before(at(address)))).collect();

        let targets = portable.calls.values().filter_map(|form| match form {
            CallForm::Direct(target) => Some(*target),
            _ => None,
        });
        let places: BTreeSet<u64> = asked.addresses.iter().copied().chain(targets).collect();
        // A call that does not return lies before what its return address may be another function's first instruction of.
        let around = places.iter().flat_map(|&address| [address, address.saturating_sub(1)]);
        let around = around.filter_map(|address| self.enclosing(at(address))).map(|symbol| symbol.address);
        let around: BTreeSet<u64> = around.collect();
        let starts: BTreeSet<u64> = places.iter().copied().chain(around.iter().copied()).collect();
        let code = |start: &u64| (*start, self.fingerprint(at(*start)));
        let codes: Codes = around.par_iter().map(code).collect::<Vec<_>>().into_iter().collect();
        for start in starts {
            let symbols = self.starting_at(at(start), <[Symbol]>::to_vec).unwrap_or_default();
            let symbol = |symbol: Symbol| (symbol.name.to_owned(), symbol.address, symbol.size);
            portable.symbols.extend(symbols.into_iter().map(symbol));
        }

        let is_function = |address: &u64| asked.functions.contains(address) || !asked.returns.contains(address);
        let functions = asked.addresses.iter().filter(|address| is_function(address));
        let calls = asked.returns.iter().flat_map(|&at| [(at, Probe::Call), (at, Probe::InlinedCall)]);
        let queries: Vec<_> = functions.map(|&at| (at, Probe::Function)).chain(calls).collect();
        self.find_lines(queries.iter().map(|(address, probe)| (at(*address), *probe)).collect());
        portable.lines = queries.iter().map(|&query| (query, self.line(at(query.0), query.1))).collect();

        let inlined = self.inlined(module);
        let returns = asked.returns.iter().filter(|_| has_left);
        Kept { portable, around: returns.map(|&site| (site, inlined.around(site))).collect(), codes }
    }

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
