//! The commands `merge` and `symbolize`: profiles in one archive, with what explains them elsewhere.
//!
//! `symbolize` writes profiles with all that any report of them asks of their modules, and `merge` with what they had.

#[cfg(test)]
mod damage;
#[cfg(test)]
mod intervals;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::archive::{Kept, Writer};
use crate::error::Error;
use crate::load::{Loaded, Sources, Summary, read_all};
use crate::merge::{By, Merging};
use crate::module::ModuleKey;
use crate::once::Once;
use crate::opened::Opened;
use crate::symbolize::{Portable, gather};

/// What to put into an archive.
#[derive(Clone, Debug)]
pub struct Options {
    /// Profiles, archives, and folders of them. Empty: `diytrace.data` here.
    pub profiles: Vec<PathBuf>,
    /// The archive to write.
    pub output: PathBuf,
    /// Whether to add what the modules' files here tell.
    pub symbols: bool,
}

/// Writes an archive: whole or not at all, and for its owner's eyes only. Gives what its reader should know.
pub fn run(options: &Options) -> Result<Vec<String>, Error> {
    let path = &options.output;
    let mut writer = Writer::beside(path).map_err(|source| cannot(path, source))?;
    let mut merging = options.symbols.then(|| Merging::new(By::All, None));
    let mut once = Once::default();
    let loaded = read_all(Sources::find(&options.profiles)?, |family, bytes| {
        if !once.is_first(&family)? {
            return Ok(None);
        }
        writer.profile(Kept::of(&family), &bytes).map_err(|source| cannot(path, source))?;
        if let Some(merging) = &mut merging {
            merging.add(&family);
        }
        Ok::<_, Error>(Some(Summary::from(family)))
    })?;
    let left_out = loaded.left_out.iter().chain(&once.left_out);
    let mut said: Vec<String> = left_out.map(|profile| format!("left out: {profile}")).collect();
    match merging {
        Some(merging) => {
            let opened = Opened::of(loaded, merging.finish());
            let symbols = opened.symbols();
            for (module, portable) in gather(&opened.merged, &symbols) {
                let module = &opened.merged.modules[module as usize];
                if let Some(key) = module.key() {
                    writer.symbols(key, &portable).map_err(|source| cannot(path, source))?;
                }
                if let Some(problem) = &portable.problem {
                    said.push(format!("{problem}: the archive explains it no better"));
                }
            }
        }
        None => copy_symbols(&loaded, &mut writer, path)?,
    }
    writer.finish(path).map_err(|source| cannot(path, source))?;
    Ok(said)
}

/// Copies what archives know of modules, one at a time.
fn copy_symbols(loaded: &Loaded, writer: &mut Writer, path: &Path) -> Result<(), Error> {
    let keys: BTreeSet<&ModuleKey> = loaded.archives.iter().flat_map(|archive| archive.modules()).collect();
    for key in keys {
        if let Some(portable) = Portable::of_archives(&loaded.archives, Some(key)).map_err(crate::load::Error::from)? {
            writer.symbols(key.clone(), &portable).map_err(|source| cannot(path, source))?;
        }
    }
    Ok(())
}

fn cannot(path: &Path, source: io::Error) -> Error {
    Error::WriteTo { path: path.to_owned(), source }
}
