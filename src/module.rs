//! Modules: the program and the libraries whose code was there to be called.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Bits of [`Module::flags`].
pub mod flag {
    /// The module refers to the hooks: it has instrumented code.
    pub const INSTRUMENTED: u32 = 1;
    /// The program itself.
    pub const PROGRAM: u32 = 2;
}

/// Longest build ID that is kept.
pub const BUILD_ID_MAX: usize = 32;

/// One module, followed by its path. The record and the path take a multiple of [`crate::UNIT`] bytes together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Module {
    /// Address in memory minus ELF virtual address.
    pub bias: u64,
    /// First address of the module's mappings.
    pub start: u64,
    /// End of its mappings.
    pub end: u64,
    /// Bits of [`flag`].
    pub flags: u32,
    /// Its number in the file, from 1.
    pub number: u32,
    /// Bytes of the path that follow.
    pub path_len: u32,
    /// Bytes of the build ID; 0 if the module has none.
    pub build_id_len: u32,
    /// Build ID, zero-padded.
    pub build_id: [u8; BUILD_ID_MAX],
    /// Modification time of the file, in nanoseconds since 1970; 0 if unknown.
    pub modified_unix_ns: u64,
    /// Size of the file in bytes; 0 if unknown.
    pub file_size: u64,
    /// The module that was recorded before it, by whichever process; 0 for none.
    pub previous: crate::Ref,
    /// Not used; zero.
    pub reserved_word: u32,
    /// Inode of the file, as the mapping has it.
    pub inode: u64,
    /// Not used; zero.
    pub reserved: u64,
}

const _: () = assert!(size_of::<Module>() == 112);

impl Module {
    /// Bytes that the record takes together with its path.
    pub const fn total_size(path_len: usize) -> usize {
        (size_of::<Module>() + path_len).next_multiple_of(crate::UNIT)
    }
}
