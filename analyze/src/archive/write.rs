//! Writes archives.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::read::{profile_name, symbols_name};
use super::{INDEX, Index, Kept, MARK, ModuleKey, Options, VERSION};
use crate::error::Error;
use crate::load::{Loaded, Sources, Summary, read_all};
use crate::merge::{By, Merging};
use crate::new_file::NewFile;
use crate::opened::Opened;
use crate::symbolize::{Portable, gather};

/// Writes an archive: whole or not at all, and for its owner's eyes only. Warnings go to stderr.
pub fn run(options: &Options) -> Result<(), Error> {
    let path = &options.output;
    let mut writer = Writer::beside(path).map_err(|source| cannot(path, source))?;
    let mut merging = options.symbols.then(|| Merging::new(By::All, None));
    let loaded = read_all(Sources::find(&options.profiles)?, |family, bytes| {
        writer.profile(Kept::of(&family), &bytes).map_err(|source| cannot(path, source))?;
        if let Some(merging) = &mut merging {
            merging.add(&family);
        }
        Ok::<Summary, Error>(family.into())
    })?;
    for warning in &loaded.warnings {
        eprintln!("warning: left out: {warning}");
    }
    match merging {
        Some(merging) => {
            let opened = Opened::of(loaded, merging.finish());
            let symbols = opened.symbols();
            for (module, portable) in gather(&opened.merged, &symbols) {
                let module = &opened.merged.modules[module as usize];
                if let Some(key) = ModuleKey::of(module) {
                    writer.symbols(key, &portable).map_err(|source| cannot(path, source))?;
                }
                if let Some(problem) = &portable.problem {
                    eprintln!("warning: {problem}: the archive explains it no better");
                }
            }
        }
        None => copy_symbols(&loaded, &mut writer, path)?,
    }
    writer.finish(path).map_err(|source| cannot(path, source))
}

/// Copies what archives know of modules, one at a time.
fn copy_symbols(loaded: &Loaded, writer: &mut Writer, path: &Path) -> Result<(), Error> {
    let keys: BTreeSet<&ModuleKey> = loaded.archives.iter().flat_map(|archive| archive.modules()).collect();
    for key in keys {
        if let Some(portable) = super::read::all_symbols(&loaded.archives, key).map_err(crate::load::Error::from)? {
            writer.symbols(key.clone(), &portable).map_err(|source| cannot(path, source))?;
        }
    }
    Ok(())
}

fn cannot(path: &Path, source: io::Error) -> Error {
    Error::WriteTo { path: path.to_owned(), source }
}

/// An archive that grows beside the place where it will be.
struct Writer {
    zip: ZipWriter<BufWriter<File>>,
    file: NewFile,
    index: Index,
}

impl Writer {
    fn beside(path: &Path) -> io::Result<Self> {
        let (new, file) = NewFile::beside(path)?;
        let mut writer = Self { zip: ZipWriter::new(BufWriter::new(file)), file: new, index: Index::default() };
        writer.entry(MARK, CompressionMethod::Stored, format!("version {VERSION}\n").as_bytes())?;
        Ok(writer)
    }

    fn profile(&mut self, kept: Kept, bytes: &[u8]) -> io::Result<()> {
        self.entry(&profile_name(self.index.profiles.len(), &kept), CompressionMethod::Deflated, bytes)?;
        self.index.profiles.push(kept);
        Ok(())
    }

    fn symbols(&mut self, key: ModuleKey, portable: &Portable) -> io::Result<()> {
        let bytes = postcard::to_stdvec(portable).map_err(io::Error::other)?;
        self.entry(&symbols_name(self.index.modules.len()), CompressionMethod::Deflated, &bytes)?;
        self.index.modules.push(key);
        Ok(())
    }

    fn entry(&mut self, name: &str, method: CompressionMethod, bytes: &[u8]) -> io::Result<()> {
        let is_large = bytes.len() as u64 >= u64::from(u32::MAX);
        let options = SimpleFileOptions::default().compression_method(method).large_file(is_large);
        self.zip.start_file(name, options.unix_permissions(0o600))?;
        self.zip.write_all(bytes)
    }

    fn finish(mut self, path: &Path) -> io::Result<()> {
        let index = postcard::to_stdvec(&self.index).map_err(io::Error::other)?;
        self.entry(INDEX, CompressionMethod::Deflated, &index)?;
        let file = self.zip.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        self.file.appear(&file, path)
    }
}
