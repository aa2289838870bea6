//! Writes archives: whole or not at all, and for their owner's eyes only.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde::Serialize;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::read::{profile_name, symbols_name};
use super::{INDEX, Index, Kept, MARK, VERSION};
use crate::module::ModuleKey;
use crate::new_file::NewFile;

/// An archive that grows beside the place where it will be.
pub struct Writer {
    zip: ZipWriter<BufWriter<File>>,
    file: NewFile,
    index: Index,
}

impl Writer {
    /// Begins an archive that will be at a path.
    pub fn beside(path: &Path) -> io::Result<Self> {
        let (new, file) = NewFile::beside(path)?;
        let mut writer = Self { zip: ZipWriter::new(BufWriter::new(file)), file: new, index: Index::default() };
        writer.entry(MARK, CompressionMethod::Stored, format!("version {VERSION}\n").as_bytes())?;
        Ok(writer)
    }

    /// Adds a profile.
    pub fn profile(&mut self, kept: Kept, bytes: &[u8]) -> io::Result<()> {
        self.entry(&profile_name(self.index.profiles.len(), &kept), CompressionMethod::Deflated, bytes)?;
        self.index.profiles.push(kept);
        Ok(())
    }

    /// Adds what is known of a module.
    pub fn symbols(&mut self, key: ModuleKey, portable: &impl Serialize) -> io::Result<()> {
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

    /// Has it appear at its path.
    pub fn finish(mut self, path: &Path) -> io::Result<()> {
        let index = postcard::to_stdvec(&self.index).map_err(io::Error::other)?;
        self.entry(INDEX, CompressionMethod::Deflated, &index)?;
        let file = self.zip.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        self.file.appear(&file, path)
    }
}
