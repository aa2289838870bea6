//! Writes archives: whole or not at all, and for their owner's eyes only.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
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
    zip: ZipWriter<Output>,
    file: NewFile,
    index: Index,
}

impl Writer {
    /// Begins an archive that will be at a path.
    pub fn beside(path: &Path) -> io::Result<Self> {
        let (new, file) = NewFile::beside(path)?;
        let mut writer = Self { zip: ZipWriter::new(Output::to(file)), file: new, index: Index::default() };
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

    /// Adds an entry that archives need not have.
    pub fn extra(&mut self, name: &str, content: &impl Serialize) -> io::Result<()> {
        let bytes = postcard::to_stdvec(content).map_err(io::Error::other)?;
        self.entry(name, CompressionMethod::Deflated, &bytes)
    }

    fn entry(&mut self, name: &str, method: CompressionMethod, bytes: &[u8]) -> io::Result<()> {
        let is_large = bytes.len() as u64 >= u64::from(u32::MAX);
        let options = SimpleFileOptions::default().compression_method(method).large_file(is_large);
        self.zip.start_file(name, options.unix_permissions(0o600))?;
        self.zip.write_all(bytes)
    }

    /// Has it appear at its path, and on the disk: there may soon be no other copy.
    pub fn finish(self, path: &Path) -> io::Result<()> {
        let (file, new) = self.whole()?;
        file.sync_all()?;
        new.appear(&file, path)
    }

    /// The same of what can be made again.
    pub fn finish_soon(self, path: &Path) -> io::Result<()> {
        let (file, new) = self.whole()?;
        new.appear(&file, path)
    }

    fn whole(mut self) -> io::Result<(File, NewFile)> {
        let index = postcard::to_stdvec(&self.index).map_err(io::Error::other)?;
        self.entry(INDEX, CompressionMethod::Deflated, &index)?;
        let file = self.zip.finish()?.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok((file, self.file))
    }
}

/// A file that is written until that fails. Then it takes all that comes, as the archive's writer would complain on standard error when it is
/// dropped, and whoever writes has been told already.
struct Output {
    file: BufWriter<File>,
    has_failed: bool,
    /// Where the next byte goes, and where the last one went.
    position: u64,
    end: u64,
}

impl Output {
    fn to(file: File) -> Self {
        Self { file: BufWriter::new(file), has_failed: false, position: 0, end: 0 }
    }

    fn unless_failed(&mut self, act: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
        match self.has_failed {
            true => Ok(()),
            false => act(&mut self.file).inspect_err(|_| self.has_failed = true),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_failed(|file| file.write_all(bytes))?;
        self.position += bytes.len() as u64;
        self.end = self.end.max(self.position);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_failed(BufWriter::flush)
    }
}

impl Seek for Output {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::Current(far) => self.position.checked_add_signed(far),
            SeekFrom::End(far) => self.end.checked_add_signed(far),
        };
        let place = place.ok_or(io::ErrorKind::InvalidInput)?;
        self.unless_failed(|file| file.seek(SeekFrom::Start(place)).map(drop))?;
        self.position = place;
        Ok(place)
    }
}
