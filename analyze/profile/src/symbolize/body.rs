//! The source lines of one function, and which of them call.

use std::sync::Arc;

use addr2line::Context;

use super::answers::{Location, Symbol};
use super::files::ModuleFiles;
use crate::elf::dwarf::Reader;
use crate::elf::symbols::base_name;

/// Finds functions' lines in a module, if it has any.
pub struct Bodies<'a>(Option<Context<Reader<'a>>>);

impl<'a> Bodies<'a> {
    /// Those of a module with these files.
    pub fn of(files: &'a ModuleFiles) -> Self {
        Self(files.dwarf().and_then(|dwarf| Context::from_arc_dwarf(Arc::new(dwarf)).ok()))
    }

    /// The file, first and last line of a function.
    pub fn extent(&self, function: Symbol) -> Option<(String, u32, u32)> {
        let context = self.0.as_ref()?;
        let start = context.find_location(function.address).ok()??;
        let (file, first) = (start.file?, start.line?);
        let mut last = first;
        let end = function.address.saturating_add(function.size);
        for (address, _, location) in context.find_location_range(function.address, end).ok()? {
            let is_further = location.file == Some(file) && location.line.is_some_and(|line| line > last);
            if is_further && is_own(context, address) {
                last = location.line.unwrap_or(last);
            }
        }
        Some((file.to_owned(), first, last))
    }

    /// The line of the named function that the code before a return address belongs to; else its own line.
    pub fn line_within(&self, site: u64, name: &str) -> Option<Location> {
        line_in(self.0.as_ref()?, site, name)
    }
}

/// Whether code at an address comes from no inlined function.
fn is_own(context: &Context<Reader>, address: u64) -> bool {
    let Ok(mut frames) = context.find_frames(address).skip_all_loads() else { return false };
    let mut count = 0;
    while let Ok(Some(_)) = frames.next() {
        count += 1;
    }
    count <= 1
}

/// The line of the named function that the code before a return address belongs to; else its own line.
fn line_in(context: &Context<Reader>, site: u64, name: &str) -> Option<Location> {
    let address = site.checked_sub(1)?;
    let mut frames = context.find_frames(address).skip_all_loads().ok()?;
    let mut innermost = None;
    while let Ok(Some(frame)) = frames.next() {
        let location = frame
            .location
            .and_then(|location| Some(Location { file: location.file?.to_owned(), line: location.line? }));
        let is_it = frame.function.and_then(|function| Some(function.raw_name().ok()? == base_name(name)));
        if is_it == Some(true) && location.is_some() {
            return location;
        }
        innermost = innermost.or(location);
    }
    innermost
}
