//! The control words of a family: all in a profile that anyone but its recorder writes.

use std::fs::OpenOptions;
use std::io;
use std::mem::offset_of;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use diytrace_format::reader::File;
use diytrace_format::{FunctionCount, Header, UNIT};
use memmap2::{MmapOptions, MmapRaw};

use super::Error;
use super::target::Watched;
use diytrace_profile::human::counted;

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

/// Has a running family count from nothing, and tells what was done. Arenas that still say the old number are nobody's any
/// more: readers pass them over at once, and their owners clear them at their next call.
pub fn reset(watched: &Watched) -> Result<String, Error> {
    let path = &watched.family.path;
    if !watched.is_running() {
        return Err(Error::Finished { path: path.clone() });
    }
    let failed = |source| Error::Word { path: path.clone(), source };
    let words = Words::of(path).map_err(failed)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    words.long(offset_of!(Header, reset_unix_ns)).store(now, Ordering::SeqCst);
    words.long(offset_of!(Header, lost_calls)).store(0, Ordering::SeqCst);
    words.forget_counts(path).map_err(failed)?;
    words.short(offset_of!(Header, epoch)).fetch_add(1, Ordering::SeqCst);
    let who = counted(watched.running.len() as u64, "running process", "running processes");
    Ok(format!("{}: counts from nothing; the threads of {who} take it up at their next call", path.display()))
}

/// Writes the word, reads it back, and gives what it was. The file is a profile of this version.
fn exchange(path: &Path, value: u32) -> io::Result<u32> {
    let words = Words::of(path)?;
    let word = words.short(offset_of!(Header, paused));
    let before = word.swap(value, Ordering::SeqCst);
    match word.load(Ordering::SeqCst) {
        now if now == value => Ok(before),
        _ => Err(io::Error::other("somebody else has changed it at the same moment")),
    }
}

/// The words of a profile's header, in the file that its recorder writes, too.
struct Words(MmapRaw);

impl Words {
    fn of(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        if file.metadata()?.len() < size_of::<Header>() as u64 {
            return Err(io::Error::other("the file has been cut short"));
        }
        Ok(Self(MmapOptions::new().len(size_of::<Header>()).map_raw(&file)?))
    }

    /// Has the calls that are counted by function only begin anew.
    fn forget_counts(&self, path: &Path) -> io::Result<()> {
        let start = u64::from(self.short(offset_of!(Header, counts)).load(Ordering::SeqCst)) * UNIT as u64;
        if start == 0 {
            return Ok(());
        }
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        // SAFETY: every read from the mapping is checked, and blocks that were written stay as they are.
        let bytes = unsafe { MmapOptions::new().map(&file) }?;
        let profile = File::open(&bytes).map_err(|_| io::Error::other("the file is damaged"))?;
        let Some(block) = profile.blocks().find(|block| block.offset as u64 == start) else { return Ok(()) };
        let mapping = MmapOptions::new().offset(start).len(block.block.size as usize).map_raw(&file)?;
        for record in (UNIT..block.block.size as usize).step_by(size_of::<FunctionCount>()) {
            let calls = record + offset_of!(FunctionCount, calls);
            // SAFETY: the word lies in the mapping of the block, which stays in the file; its recorders add to it atomically.
            unsafe { AtomicU64::from_ptr(mapping.as_mut_ptr().wrapping_add(calls).cast()) }.store(0, Ordering::SeqCst);
        }
        Ok(())
    }

    fn short(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: the place lies in the mapping, which outlives the word, and is aligned as the header's is; all sides read
        // and write it as an atomic one. The file's first page is never taken away while its program runs.
        unsafe { AtomicU32::from_ptr(self.0.as_mut_ptr().wrapping_add(offset).cast()) }
    }

    fn long(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: offsets are those of words of the header, which is mapped.
        unsafe { AtomicU64::from_ptr(self.0.as_mut_ptr().wrapping_add(offset).cast()) }
    }
}
