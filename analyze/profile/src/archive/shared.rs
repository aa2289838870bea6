//! A file that many threads read, each at its own place.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// A place in a file. Clones move on their own.
#[derive(Clone, Debug)]
pub struct Shared {
    file: Arc<File>,
    at: u64,
    end: u64,
}

impl Shared {
    /// The start of a file.
    pub fn new(file: File) -> io::Result<Self> {
        let end = file.metadata()?.len();
        Ok(Self { file: Arc::new(file), at: 0, end })
    }

    /// Its bytes.
    pub fn len(&self) -> u64 {
        self.end
    }
}

impl Read for Shared {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Shared {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.end.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        // Beyond that the kernel takes no offset.
        let place = place.filter(|&at| i64::try_from(at).is_ok());
        self.at = place.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}
