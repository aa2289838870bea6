//! What was split off a module for debuggers, where distributions and `objcopy --only-keep-debug` put it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection};
use serde::{Deserialize, Serialize};

use super::{Mapped, dwarf};

/// Where debug files of installed programs are.
const FOLDER: &str = "/usr/lib/debug";

/// A separate debug file.
#[derive(Debug)]
pub struct DebugFile {
    /// The file.
    pub file: Mapped,
    /// How it was found.
    pub found_by: FoundBy,
}

/// How a debug file was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FoundBy {
    /// By the module's build ID.
    BuildId,
    /// By the name in the module's `.gnu_debuglink`.
    Link,
}

/// The debug file of a module, if it has one and needs it. The module's own file may be gone.
pub fn find(module: Option<&Mapped>, build_id: &[u8]) -> Option<DebugFile> {
    let elf = module.and_then(Mapped::parsed);
    if elf.is_some_and(|elf| dwarf::is_in(&elf)) {
        return None;
    }
    let by_build_id = by_build_id(build_id).map(|file| DebugFile { file, found_by: FoundBy::BuildId });
    by_build_id.or_else(|| by_link(module?).map(|file| DebugFile { file, found_by: FoundBy::Link }))
}

fn by_build_id(build_id: &[u8]) -> Option<Mapped> {
    open_of(build_id, &path(build_id)?)
}

/// Where the debug file of a build ID is installed.
pub fn path(build_id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = build_id.split_first().filter(|(_, rest)| !rest.is_empty())?;
    Some(Path::new(FOLDER).join(format!(".build-id/{first:02x}/{}.debug", hex(rest))))
}

/// The file at a path, if it has this build ID.
fn open_of(build_id: &[u8], path: &Path) -> Option<Mapped> {
    let file = Mapped::open(path).ok()?;
    let is_its = file.parsed()?.build_id().ok().flatten() == Some(build_id);
    is_its.then_some(file)
}

/// The link names a file beside the module, in `.debug` there, or in the same place under the global folder.
fn by_link(module: &Mapped) -> Option<Mapped> {
    let elf = module.parsed()?;
    let (name, checksum) = elf.gnu_debuglink().ok().flatten()?;
    let name = Path::new(OsStr::from_bytes(name));
    let path = module.path.canonicalize().ok()?;
    let folder = path.parent()?;
    let global = Path::new(FOLDER).join(folder.strip_prefix("/").ok()?);
    let candidates = [folder.join(name), folder.join(".debug").join(name), global.join(name)];
    candidates.iter().filter(|candidate| **candidate != path).find_map(|candidate| {
        let debug = Mapped::open(candidate).ok()?;
        (crc32fast::hash(debug.bytes()) == checksum).then_some(debug)
    })
}

/// What several debug files share (`dwz`): the file that `.gnu_debugaltlink` names.
pub fn supplement(debug: &Mapped) -> Option<Mapped> {
    let elf = debug.parsed()?;
    elf.section_by_name(".gnu_debugaltlink")?.data().ok().filter(|data| !data.is_empty())?;
    let (name, build_id) = elf.gnu_debugaltlink().ok().flatten()?;
    let named = debug.path.canonicalize().ok()?.parent()?.join(OsStr::from_bytes(name));
    open_of(build_id, &named).or_else(|| by_build_id(build_id))
}

/// Bytes as they are written in file names and reports.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
