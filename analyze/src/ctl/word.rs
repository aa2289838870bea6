//! The control word of a family: the one thing in a profile that anyone but its recorder writes.

use std::fs::OpenOptions;
use std::io;
use std::mem::offset_of;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use diytrace::Header;
use memmap2::MmapOptions;

use super::Error;
use super::target::Watched;
use crate::view::human::counted;

/// Has a running family pause or go on, and tells what was done.
pub fn set(watched: &Watched, pause: bool) -> Result<String, Error> {
    let path = &watched.family.path;
    if !watched.is_running() {
        return Err(Error::Finished { path: path.clone() });
    }
    let was_paused = exchange(path, u32::from(pause)).map_err(|source| Error::Word { path: path.clone(), source })?;
    let who = counted(watched.running.len() as u64, "running process", "running processes");
    Ok(match (pause, was_paused != 0) {
        (true, true) => format!("{}: was paused already ({who})", path.display()),
        (true, false) => format!("{}: paused; the threads of {who} take it up at their next call", path.display()),
        (false, true) => format!("{}: recording; the threads of {who} take it up at their next call", path.display()),
        (false, false) => format!("{}: was recording already ({who})", path.display()),
    })
}

/// Writes the word, reads it back, and gives what it was. The file is a profile of this version.
fn exchange(path: &Path, value: u32) -> io::Result<u32> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    if file.metadata()?.len() < size_of::<Header>() as u64 {
        return Err(io::Error::other("the file has been cut short"));
    }
    let map = MmapOptions::new().len(size_of::<Header>()).map_raw(&file)?;
    let place = map.as_mut_ptr().wrapping_add(offset_of!(Header, paused)).cast::<u32>();
    // SAFETY: the place lies in the mapping, which outlives the word, and is aligned as the header's is; all sides read and
    // write it as an atomic one. The file's first page is never taken away while its program runs.
    let word = unsafe { AtomicU32::from_ptr(place) };
    let before = word.swap(value, Ordering::SeqCst);
    match word.load(Ordering::SeqCst) {
        now if now == value => Ok(before),
        _ => Err(io::Error::other("somebody else has changed it at the same moment")),
    }
}
