//! `/proc/self/maps`: what is where in this process. Unlike the loader's list it can be read at any time, without a
//! lock, and knows libraries however they were loaded.

use crate::clock;
use crate::sys::{self, Fd};
use core::sync::atomic::{AtomicU64, Ordering};

/// One mapping.
pub struct Mapping<'a> {
    /// First address.
    pub start: usize,
    /// End.
    pub end: usize,
    /// Whether its bytes may be run.
    pub executable: bool,
    /// Where in the file it begins.
    pub offset: usize,
    /// The file's inode.
    pub inode: u64,
    /// The file, or a name in square brackets, or nothing.
    pub path: &'a [u8],
}

const FIRST_SIZE: usize = 256 << 10;
const LARGEST_SIZE: usize = 64 << 20;

/// When the file is read again, in ticks, after it could not be (without a free descriptor, say); 0 = it could.
static UNREADABLE_UNTIL: AtomicU64 = AtomicU64::new(0);

/// As [`each`], for what would ask at every call: after a failure it asks the kernel again only after a pause, in ticks of
/// that clock.
pub fn each_now_and_then(clock: u32, pause: u64, visit: impl FnMut(&Mapping)) -> bool {
    let until = UNREADABLE_UNTIL.load(Ordering::Relaxed);
    if until != 0 && clock::now(clock) < until {
        return false;
    }
    let is_read = each(visit);
    if until != 0 || !is_read {
        UNREADABLE_UNTIL.store(if is_read { 0 } else { clock::now(clock) + pause }, Ordering::Relaxed);
    }
    is_read
}

/// Calls `each` for every mapping, lowest address first. False if the file could not be read.
pub fn each(mut each: impl FnMut(&Mapping)) -> bool {
    let mut size = FIRST_SIZE;
    loop {
        let Ok(buffer) = sys::map_memory(size) else { return false };
        // SAFETY: the mapping is new and this large.
        let text = unsafe { core::slice::from_raw_parts_mut(buffer, size) };
        let read = Fd::open(c"/proc/self/maps", libc::O_RDONLY).and_then(|fd| {
            let len = fd.read_all(text);
            fd.close();
            len
        });
        let complete = matches!(read, Ok(len) if len < size);
        if let (Ok(len), true) = (read, complete) {
            text[..len].split(|&c| c == b'\n').filter_map(parse).for_each(|mapping| each(&mapping));
        }
        // SAFETY: nothing refers to the buffer any more.
        unsafe { sys::unmap(buffer, size) };
        if complete || read.is_err() || size == LARGEST_SIZE {
            return complete;
        }
        size *= 4;
    }
}

fn parse(line: &[u8]) -> Option<Mapping<'_>> {
    let mut rest = line;
    let start = hexadecimal(&mut rest, b'-')?;
    let end = hexadecimal(&mut rest, b' ')?;
    let executable = *rest.get(2)? == b'x';
    rest = rest.get(5..)?;
    let offset = hexadecimal(&mut rest, b' ')?;
    let inode_at = rest.iter().position(|&c| c == b' ')? + 1;
    rest = &rest[inode_at..];
    let digits = rest.iter().position(|&c| c == b' ').unwrap_or(rest.len());
    let inode = core::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
    let path = rest[digits..].trim_ascii_start();
    Some(Mapping { start, end, executable, offset, inode, path })
}

/// The number up to a delimiter, both of which are taken away.
fn hexadecimal(rest: &mut &[u8], delimiter: u8) -> Option<usize> {
    let len = rest.iter().position(|&c| c == delimiter)?;
    let number = usize::from_str_radix(core::str::from_utf8(&rest[..len]).ok()?, 16).ok()?;
    *rest = &rest[len + 1..];
    Some(number)
}
