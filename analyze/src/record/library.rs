//! Finds the recorder, and gives it a path that `LD_PRELOAD` can hold.

use std::fs::{self, DirBuilder};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::{env, iter};

use super::Error;

const NAME: &str = "libdiytrace.so";

/// The recorder, by a path that can stand in `LD_PRELOAD`.
pub fn find() -> Result<PathBuf, Error> {
    preloadable(&locate()?)
}

/// The recorder: where `DIYTRACE_LIB` says (the file or its folder), or beside this program, or in `../lib/`.
pub fn locate() -> Result<PathBuf, Error> {
    let candidates: Vec<PathBuf> = match env::var_os("DIYTRACE_LIB").filter(|value| !value.is_empty()) {
        Some(value) => {
            let path = std::path::absolute(&value).unwrap_or(value.into());
            if path.is_dir() { vec![path.join(NAME)] } else { vec![path] }
        }
        None => {
            let here = env::current_exe().unwrap_or_default();
            let here = here.parent().unwrap_or(Path::new("/"));
            let up = here.parent().map(|up| up.join("lib").join(NAME));
            iter::once(here.join(NAME)).chain(up).collect()
        }
    };
    match candidates.iter().find(|path| path.is_file()) {
        Some(found) => Ok(found.clone()),
        None => Err(Error::NoLibrary { looked: candidates }),
    }
}

/// The loader splits `LD_PRELOAD` at spaces and colons and knows no way to quote them: such a path gets a link.
fn preloadable(library: &Path) -> Result<PathBuf, Error> {
    if fits(library) {
        return Ok(library.to_owned());
    }
    // SAFETY: it takes nothing and cannot fail.
    let user = unsafe { libc::geteuid() };
    let links = env::temp_dir().join(format!("diytrace-{user}"));
    link(library, &links, user).map_err(|source| Error::Unpreloadable {
        library: library.to_owned(),
        links: links.clone(),
        source,
    })
}

/// Makes a link that stays: what the command leaves behind may start programs long after we are gone.
fn link(library: &Path, links: &Path, user: u32) -> io::Result<PathBuf> {
    match DirBuilder::new().mode(0o755).create(links) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let folder = fs::symlink_metadata(links)?;
    if !folder.is_dir() || folder.uid() != user || folder.mode() & 0o022 != 0 {
        return Err(io::Error::other("others can write there")); // and would choose what we preload
    }
    let mut hash = DefaultHasher::new();
    library.hash(&mut hash);
    let path = links.join(format!("libdiytrace-{:016x}.so", hash.finish()));
    if !fits(&path) {
        return Err(io::Error::other("it has a space or colon, too"));
    }
    match symlink(library, &path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(path),
    }
}

fn fits(path: &Path) -> bool {
    !path.as_os_str().as_encoded_bytes().iter().any(|byte| b" :\t\n".contains(byte))
}
