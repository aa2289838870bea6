//! The functions whose code an address is part of: inlined bodies, and the physical function around them.

use std::sync::Arc;

use addr2line::Context;

use super::files::ModuleFiles;
use super::saved::Around;
use crate::elf::dwarf::Reader;

/// Finds them in one module, if its files tell, or what was saved of them.
pub struct Inlined<'a> {
    dwarf: Option<Context<Reader<'a>>>,
    saved: Option<&'a Around>,
}

impl<'a> Inlined<'a> {
    /// Those of a module with these files.
    pub fn of(files: &'a ModuleFiles) -> Self {
        let dwarf = files.dwarf().and_then(|dwarf| Context::from_arc_dwarf(Arc::new(dwarf)).ok());
        Self { dwarf, saved: files.saved.as_ref().map(|saved| &saved.around) }
    }

    /// The linker's names of the functions that the code before a return address is of, the innermost body first and the
    /// physical function last. `None` if any of them is not known.
    pub fn around(&self, site: u64) -> Option<Vec<String>> {
        if let Some(known) = self.saved.and_then(|saved| saved.get(&site)) {
            return known.clone();
        }
        let mut frames = self.dwarf.as_ref()?.find_frames(site.checked_sub(1)?).skip_all_loads().ok()?;
        let mut names = Vec::new();
        while let Some(frame) = frames.next().ok()? {
            names.push(frame.function?.raw_name().ok()?.into_owned());
        }
        (!names.is_empty()).then_some(names)
    }
}
