//! What is asked about addresses of a module, and what is answered.

use serde::{Deserialize, Serialize};

/// A function's symbol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Its name as the linker knows it, without a version; empty if only its extent is known.
    pub name: &'a str,
    /// Its ELF virtual address.
    pub address: u64,
    /// Its size in bytes; 0 if nobody knows.
    pub size: u64,
}

/// Which line is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Probe {
    /// Where the function that starts at the address is written.
    Function,
    /// Where the call is written that returns to the address.
    Call,
    /// The address is the return address of an inlined function's enter hook: where the call of that function is
    /// written, which was to return nowhere.
    InlinedCall,
}

/// Where something is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Location {
    /// The source file.
    pub file: String,
    /// The line in it.
    pub line: u32,
}

/// How code calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallForm {
    /// By the target's own address.
    Direct(u64),
    /// Through the procedure linkage table, or its entry in the global offset table.
    Plt,
    /// Through a pointer.
    Indirect,
    /// There is no code to be read, or no call in it.
    Unknown,
}

/// Where a function is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The source file.
    pub file: String,
    /// Where its code begins: the line of its name, or the next.
    pub first: u32,
    /// Its last line that has code of its own.
    pub last: u32,
    /// For each call site, the line of the function that the call is on; of one that is in no code of it, the line
    /// where it is.
    pub calls: Vec<Option<Location>>,
}
