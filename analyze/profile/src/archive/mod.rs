//! Archives: many profiles in one file, and what explains them where the programs are not.
//!
//! An archive is a ZIP file (`.diya`), so that other tools can look into it; each entry is deflated and has a checksum.
//!
//! | entry | what |
//! |---|---|
//! | `diytrace-archive` | first, and not compressed: the version of all this, as text |
//! | `profiles/NUMBER/NAME` | a profile, byte by byte as the recorder left it |
//! | `symbols/NUMBER` | what is known of a module, a [`Portable`](crate::symbolize::Portable) as postcard writes it |
//! | `index` | last: an [`Index`], as postcard writes it; it says what the numbers stand for |
//!
//! ```text
//! profiles ──[write]──▶ archive ──[read]──▶ the same profiles, and modules' symbols
//! ```

mod error;
mod index;
mod read;
mod shared;
mod write;

pub use error::Error;
pub use index::{Index, Kept};
pub use read::Archive;
pub use write::Writer;

/// The version of archives that is written; a change of any entry's form raises it.
pub const VERSION: u32 = 1;

/// How files that may be archives begin: as ZIP files do.
pub const MAGIC: &[u8] = b"PK\x03\x04";

const MARK: &str = "diytrace-archive";
const INDEX: &str = "index";
