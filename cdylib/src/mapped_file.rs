//! A file mapped for reading.

use crate::sys::{self, Fd};
use core::ffi::CStr;

const PATH_MAX: usize = 4096;

/// A file mapped for reading. Whoever writes over a program's file in place breaks the program with or without this.
pub struct MappedFile {
    address: *mut u8,
    size: usize,
}

impl MappedFile {
    /// The file of this path, up to its first NUL byte.
    pub fn open(path: &[u8]) -> Option<Self> {
        let path = path.split(|&c| c == 0).next()?;
        let mut buffer = [0; PATH_MAX];
        buffer.get_mut(..path.len())?.copy_from_slice(path);
        let fd = Fd::open(CStr::from_bytes_until_nul(&buffer).ok()?, libc::O_RDONLY).ok()?;
        let mapped = fd.stat().and_then(|stat| Ok((fd.map(stat.size as usize, false)?, stat.size as usize)));
        fd.close();
        mapped.ok().map(|(address, size)| Self { address, size })
    }

    /// What is in it.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is this large and is given back with `self`.
        unsafe { core::slice::from_raw_parts(self.address, self.size) }
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // SAFETY: nothing refers to the bytes any more.
        unsafe { sys::unmap(self.address, self.size) };
    }
}
