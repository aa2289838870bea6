//! The source files that a module was compiled from, by its debug information.

use std::path::{Path, PathBuf};

use gimli::{AttributeValue, Unit as DwarfUnit, UnitHeader};
use rayon::prelude::*;

use super::producer::Producer;
use diytrace_profile::elf::dwarf::{Dwarf, Reader};
use diytrace_profile::elf::{Mapped, debug};

/// Entries of debug information that are read in search of an inlined function.
const PATIENCE: usize = 4_000_000;

/// A source file, as one run of the compiler saw it.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The folder that the file is in, or an empty path.
    pub folder: PathBuf,
    /// Who compiled it, and how.
    pub producer: Producer,
    /// Whether there are hooks in its code.
    pub is_instrumented: bool,
}

/// The debug information of a module.
#[derive(Default)]
pub struct Units {
    /// Its source files; assembly is left out.
    pub units: Vec<Unit>,
    /// Whether code was inlined into a function that has hooks; looked for only if it was asked for.
    pub has_inlined_code: Option<bool>,
}

impl Units {
    /// Reads them. `sites` are the addresses of calls of hooks, in their order.
    pub fn read(file: &Mapped, sites: &[u64], looks_for_inlined_code: impl Fn(&[Unit]) -> bool) -> Self {
        let mut dwarf = file.dwarf();
        let supplement = debug::supplement(file);
        if let Some(supplement) = &supplement {
            dwarf.set_sup(supplement.dwarf());
        }
        let mut headers = Vec::new();
        let mut iterator = dwarf.units();
        while let Ok(Some(header)) = iterator.next() {
            headers.push(header);
        }
        let units: Vec<Unit> = headers.par_iter().filter_map(|header| read(&dwarf, *header, sites)).collect();
        let has_inlined_code = looks_for_inlined_code(&units)
            .then(|| headers.iter().any(|header| has_inlined_code(&dwarf, *header, sites)));
        Self { units, has_inlined_code }
    }
}

fn read(dwarf: &Dwarf, header: UnitHeader<Reader>, sites: &[u64]) -> Option<Unit> {
    let unit = dwarf.unit(header).ok()?;
    let mut entries = unit.entries();
    let root = entries.next_dfs().ok()??;
    let string = |name| {
        let value: AttributeValue<Reader> = root.attr_value(name)?;
        Some(dwarf.attr_string(&unit, value).ok()?.to_string_lossy().into_owned())
    };
    let producer = match string(gimli::DW_AT_producer) {
        Some(text) => Producer::of_unit(&text)?,
        None => Producer::default(),
    };
    let name = string(gimli::DW_AT_name).unwrap_or_default();
    let path = Path::new(&string(gimli::DW_AT_comp_dir).unwrap_or_default()).join(&name);
    // What the linker optimised as a whole has no file.
    let folder = if name.starts_with('<') { None } else { path.parent() };
    Some(Unit {
        folder: folder.map(plain).unwrap_or_default(),
        producer,
        is_instrumented: has_site(dwarf, &unit, sites),
    })
}

fn has_site(dwarf: &Dwarf, unit: &DwarfUnit<Reader>, sites: &[u64]) -> bool {
    let Ok(mut ranges) = dwarf.unit_ranges(unit) else { return false };
    while let Ok(Some(range)) = ranges.next() {
        if lies_in(sites, range.begin, range.end) {
            return true;
        }
    }
    false
}

fn lies_in(sites: &[u64], begin: u64, end: u64) -> bool {
    sites.get(sites.partition_point(|&site| site < begin)).is_some_and(|&site| site < end)
}

/// Whether anything was inlined into a function of the unit that has hooks.
fn has_inlined_code(dwarf: &Dwarf, header: UnitHeader<Reader>, sites: &[u64]) -> bool {
    let Ok(unit) = dwarf.unit(header) else { return false };
    if !has_site(dwarf, &unit, sites) {
        return false;
    }
    let mut is_inside_instrumented = false;
    let mut entries = unit.entries();
    for _ in 0..PATIENCE {
        let Ok(Some(entry)) = entries.next_dfs() else { return false };
        match entry.tag() {
            gimli::DW_TAG_subprogram => {
                let mut ranges = dwarf.die_ranges(&unit, entry).ok();
                let first = ranges.as_mut().and_then(|ranges| ranges.next().ok().flatten());
                is_inside_instrumented = first.is_some_and(|range| lies_in(sites, range.begin, range.end));
            }
            gimli::DW_TAG_inlined_subroutine if is_inside_instrumented => return true,
            _ => {}
        }
    }
    false
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => _ = plain.pop(),
            part => plain.push(part),
        }
    }
    plain
}
