//! What was split off a module for debuggers, where distributions and `objcopy --only-keep-debug` put it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection};

use super::Elf;

/// Where debug files of installed programs are.
const FOLDER: &str = "/usr/lib/debug";

/// A separate debug file.
#[derive(Debug)]
pub struct DebugFile {
    /// The file.
    pub elf: Elf,
    /// How it was found.
    pub found_by: FoundBy,
}

/// How a debug file was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// By the module's build ID.
    BuildId,
    /// By the name in the module's `.gnu_debuglink`.
    Link,
}

/// Whether a file has DWARF of its own.
pub fn has_dwarf(elf: &Elf) -> bool {
    elf.parsed().is_some_and(|file| file.section_by_name(".debug_info").is_some_and(|section| section.size() > 0))
}

/// The debug file of a module, if it has one and needs it.
pub fn find(module: &Elf) -> Option<DebugFile> {
    if has_dwarf(module) {
        return None;
    }
    let by_build_id = by_build_id(module).map(|elf| DebugFile { elf, found_by: FoundBy::BuildId });
    by_build_id.or_else(|| by_link(module).map(|elf| DebugFile { elf, found_by: FoundBy::Link }))
}

fn by_build_id(module: &Elf) -> Option<Elf> {
    let file = module.parsed()?;
    let build_id = file.build_id().ok()??;
    let (first, rest) = build_id.split_first()?;
    let debug = Elf::open(&Path::new(FOLDER).join(format!(".build-id/{first:02x}/{}.debug", hex(rest)))).ok()?;
    let is_its = debug.parsed()?.build_id().ok().flatten() == Some(build_id);
    is_its.then_some(debug)
}

/// The link names a file beside the module, in `.debug` there, or in the same place under the global folder.
fn by_link(module: &Elf) -> Option<Elf> {
    let file = module.parsed()?;
    let (name, checksum) = file.gnu_debuglink().ok()??;
    let name = Path::new(OsStr::from_bytes(name));
    let path = module.path.canonicalize().ok()?;
    let folder = path.parent()?;
    let global = Path::new(FOLDER).join(folder.strip_prefix("/").ok()?);
    let candidates: [PathBuf; 3] = [folder.join(name), folder.join(".debug").join(name), global.join(name)];
    candidates.iter().filter(|candidate| **candidate != path).find_map(|candidate| {
        let debug = Elf::open(candidate).ok()?;
        (crc32fast::hash(debug.bytes()) == checksum).then_some(debug)
    })
}

/// Bytes as they are written in file names and reports.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
