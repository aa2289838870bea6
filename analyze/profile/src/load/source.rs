//! Where a profile's bytes are: in a file of their own, or in an archive.

use std::path::PathBuf;

use super::find::{Found, find_below};
use super::interval::Interval;
use super::{Error, Family, bytes};
use crate::archive::Archive;

/// Where a profile's bytes are.
#[derive(Clone, Debug)]
pub enum Source {
    /// In a file.
    File(Found),
    /// In an archive, and its number there.
    Archived(Archive, usize),
}

/// All that there is at some paths.
#[derive(Debug, Default)]
pub struct Sources {
    /// The profiles.
    pub list: Vec<Source>,
    /// The archives that some are in.
    pub archives: Vec<Archive>,
    /// Why archives could not be opened beside others that could.
    pub left_out: Vec<Error>,
}

impl Sources {
    /// The profiles at these paths, or in `diytrace.data` if there are none.
    pub fn find(paths: &[PathBuf]) -> Result<Self, Error> {
        if let Some(path) = paths.iter().find(|path| Interval::names(path).is_some()) {
            return Err(Error::IntervalInArchive { path: path.clone() });
        }
        let mut sources = Self::default();
        for found in find_below(paths)? {
            if !Archive::is_at(&found.path) {
                sources.list.push(Source::File(found));
                continue;
            }
            match Archive::open(&found.path) {
                Ok(archive) => {
                    sources.list.extend((0..archive.len()).map(|number| Source::Archived(archive.clone(), number)));
                    sources.archives.push(archive);
                }
                Err(error) if found.is_named => return Err(error.into()),
                Err(error) => sources.left_out.push(error.into()),
            }
        }
        Ok(sources)
    }
}

impl Source {
    /// Whether somebody asked for this very file, or for the archive that it is in.
    pub fn is_named(&self) -> bool {
        match self {
            Self::File(found) => found.is_named,
            Self::Archived(..) => true,
        }
    }

    /// Reads the profile, and the bytes that it was read from.
    pub fn read(&self) -> Result<(Family, Vec<u8>), Error> {
        match self {
            Self::File(found) => {
                let path = &found.path;
                let bytes = bytes::read(path).map_err(|source| Error::Unreadable { path: path.clone(), source })?;
                let family = bytes::family_of(&bytes, path)?;
                Ok((family, bytes.whole()))
            }
            Self::Archived(archive, number) => {
                let (bytes, kept) = archive.profile(*number)?;
                let mut family = bytes::parse_some(&bytes, archive.path())?;
                kept.restore(&mut family);
                Ok((family, bytes))
            }
        }
    }
}
