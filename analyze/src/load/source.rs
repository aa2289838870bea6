//! Where a profile's bytes are: in a file of their own, or in an archive.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::find::{Found, find};
use super::{Error, Family, parse, state};
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
    /// Archives that could not be opened beside others that could.
    pub warnings: Vec<String>,
    /// Why, of the first.
    pub first_error: Option<Error>,
}

impl Sources {
    /// The profiles at these paths, or in `diytrace.data` if there are none.
    pub fn find(paths: &[PathBuf]) -> Result<Self, Error> {
        let mut sources = Self::default();
        for found in find(paths)? {
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
                Err(error) => {
                    sources.warnings.push(error.to_string());
                    sources.first_error.get_or_insert(error.into());
                }
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
                let bytes = read(path).map_err(|source| Error::Unreadable { path: path.clone(), source })?;
                let mut family = family(path, &bytes)?;
                path.clone_into(&mut family.path);
                state::determine(&mut family);
                Ok((family, bytes))
            }
            Self::Archived(archive, number) => {
                let (bytes, kept) = archive.profile(*number)?;
                let mut family = family(archive.path(), &bytes)?;
                kept.restore(&mut family);
                Ok((family, bytes))
            }
        }
    }
}

fn family(path: &Path, bytes: &[u8]) -> Result<Family, Error> {
    let family = parse(bytes).map_err(|why| Error::not_readable(path, why))?;
    if family.missing_bytes > 0 && family.arenas.iter().all(|arena| arena.nodes.is_empty()) {
        return Err(Error::Truncated { path: path.to_owned() });
    }
    Ok(family)
}

/// The bytes of a profile that have been handed out: what follows may be a hole that the recorder left to grow into.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    file.by_ref().take(diytrace::BLOCKS_START as u64).read_to_end(&mut bytes)?;
    // Twice: what was read may name what a running program has been handed out meanwhile.
    for _ in 0..2 {
        let mut start = vec![0; bytes.len().min(diytrace::BLOCKS_START)];
        file.seek(SeekFrom::Start(0))?;
        file.read_exact(&mut start)?;
        if let Ok(start) = diytrace::reader::File::open(&start) {
            let rest = start.header().used.saturating_sub(bytes.len() as u64);
            file.seek(SeekFrom::Start(bytes.len() as u64))?;
            file.by_ref().take(rest).read_to_end(&mut bytes)?;
        }
    }
    Ok(bytes)
}
