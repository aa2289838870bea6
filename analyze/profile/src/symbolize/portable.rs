//! What is known of a module, apart from its files: it explains a profile where these are not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::answers::{CallForm, Location, Probe, Symbol};
use crate::archive::{self, Archive};
use crate::elf::debug::FoundBy;
use crate::module::ModuleKey;

/// All that views may ask of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    pub(super) symbols: Vec<(String, u64, u64)>,
    /// The calls that return to addresses.
    pub calls: BTreeMap<u64, CallForm>,
    /// The lines of addresses.
    pub lines: BTreeMap<(u64, Probe), Option<Location>>,
    /// The file, first and last line of functions.
    pub bodies: BTreeMap<u64, (String, u32, u32)>,
    /// The lines of call sites in the functions of these names.
    pub within: BTreeMap<String, BTreeMap<u64, Option<Location>>>,
    /// The code of functions that call.
    pub(super) code: BTreeMap<u64, Vec<u8>>,
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

    /// What two profiles of the same build met of it, each its part.
    pub fn beside(mut self, other: Self) -> Self {
        // Of several names at one address the one to show is first, and whoever has the address has them all.
        let known: BTreeSet<u64> = self.symbols.iter().map(|(_, address, _)| *address).collect();
        let symbols = other.symbols.iter().filter(|(_, address, _)| !known.contains(address)).cloned();
        self.symbols.extend(symbols);
        self.symbols.sort_by_key(|(_, address, _)| *address);
        let symbols = std::mem::take(&mut self.symbols);
        Self { symbols, ..self.and(Self { symbols: Vec::new(), ..other }) }
    }

    /// Whether it has the line of anything.
    pub fn has_lines(&self) -> bool {
        self.lines.values().any(Option::is_some)
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
