//! Whether any process has a profile mapped to write to it, by asking the kernel instead of `/proc`.
//!
//! A read lease is given on a file that nobody has open for writing, which a mapping counts as long as it is there, in
//! whatever namespace its process is. So a profile that can be leased is nobody's any more.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::path::Path;

/// Who may still write to a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// No process.
    ByNobody,
    /// Some process, somewhere.
    BySomebody,
    /// The file is another user's, or the file system does not know.
    Unknown,
}

/// File systems that count mappings: not overlayfs, which counts those of the file below only; nor any that is shared with
/// other machines.
const COUNTING: [i64; 5] = [
    0xEF53,      // ext2, ext3, ext4
    0x0102_1994, // tmpfs
    0x5846_5342, // XFS
    0x9123_683E, // Btrfs
    0xF2F5_2010, // F2FS
];

/// `fcntl`: which signal tells that a lease is over. In no libc's headers that `libc` reads.
const F_SETSIG: libc::c_int = 10;

/// Asks the kernel.
pub fn ask(profile: &Path) -> Held {
    File::open(profile).map_or(Held::Unknown, |file| ask_of(&file))
}

/// The same of an open file.
pub fn ask_of(file: &File) -> Held {
    if !COUNTING.contains(&kind_of_system(file)) {
        return Held::Unknown;
    }
    let file = file.as_raw_fd();
    // SAFETY: all three take the descriptor, which is open, and a number.
    unsafe {
        // Whoever opens the file for writing in this very moment has us told; by default, that would be the end of us.
        libc::fcntl(file, F_SETSIG, libc::SIGURG);
        if libc::fcntl(file, libc::F_SETLEASE, libc::F_RDLCK) == 0 {
            libc::fcntl(file, libc::F_SETLEASE, libc::F_UNLCK);
            return Held::ByNobody;
        }
    }
    match io::Error::last_os_error().raw_os_error() {
        Some(libc::EAGAIN) => Held::BySomebody,
        _ => Held::Unknown,
    }
}

fn kind_of_system(file: &File) -> i64 {
    let mut facts = MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the structure is filled in if the call says so.
    unsafe {
        match libc::fstatfs(file.as_raw_fd(), facts.as_mut_ptr()) {
            0 => facts.assume_init().f_type,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use memmap2::MmapOptions;

    use super::*;

    #[test]
    fn a_mapping_counts_when_its_descriptor_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.diyt");
        let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        file.set_len(8192).unwrap();
        if ask_of(&File::open(&path).unwrap()) == Held::Unknown {
            eprintln!("ignored: this file system cannot tell");
            return;
        }
        assert_eq!(ask(&path), Held::BySomebody, "it is open");
        // SAFETY: nobody else changes the file.
        let mapped = unsafe { MmapOptions::new().len(8192).map_mut(&file).unwrap() };
        drop(file);
        assert_eq!(ask(&path), Held::BySomebody, "it is mapped");
        drop(mapped);
        assert_eq!(ask(&path), Held::ByNobody);
        assert_eq!(ask(&folder.path().join("none.diyt")), Held::Unknown);
    }
}
