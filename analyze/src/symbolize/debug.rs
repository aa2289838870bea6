//! Separate debug files, where distributions and `objcopy --only-keep-debug` put them.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection};

use super::files::Mapped;

/// Where debug files of installed programs are.
const FOLDER: &str = "/usr/lib/debug";

/// The debug file of a module, if it has one and needs it.
pub fn find(code: Option<&Mapped>, build_id: &[u8]) -> Option<Mapped> {
    let elf = code.and_then(Mapped::elf);
    let is_whole = |name| elf.as_ref().is_some_and(|elf| elf.section_by_name(name).is_some());
    if is_whole(".debug_info") {
        return None;
    }
    by_build_id(build_id).or_else(|| by_link(code?))
}

fn by_build_id(build_id: &[u8]) -> Option<Mapped> {
    let path = build_id_path(build_id)?;
    let mapped = Mapped::open(&path).ok()?;
    let same = mapped.elf()?.build_id().ok().flatten() == Some(build_id);
    same.then_some(mapped)
}

fn build_id_path(build_id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = build_id.split_first().filter(|(_, rest)| !rest.is_empty())?;
    let mut name = String::new();
    for byte in rest {
        write!(name, "{byte:02x}").ok()?;
    }
    Some(Path::new(FOLDER).join(format!(".build-id/{first:02x}/{name}.debug")))
}

/// `.gnu_debuglink` names a file beside the program, in `.debug` there, or in the same place under the global folder.
fn by_link(code: &Mapped) -> Option<Mapped> {
    let elf = code.elf()?;
    let (name, checksum) = elf.gnu_debuglink().ok().flatten()?;
    let name = Path::new(std::ffi::OsStr::from_bytes(name));
    let path = code.path.canonicalize().ok()?;
    let folder = path.parent()?;
    let global = Path::new(FOLDER).join(folder.strip_prefix("/").ok()?);
    [folder.join(name), folder.join(".debug").join(name), global.join(name)].into_iter().find_map(|candidate| {
        if candidate == path {
            return None;
        }
        let mapped = Mapped::open(&candidate).ok()?;
        (crc32fast::hash(mapped.bytes()) == checksum).then_some(mapped)
    })
}

/// The file that a debug file's `.gnu_debugaltlink` names.
pub fn supplement(debug: &Mapped) -> Option<Mapped> {
    let elf = debug.elf()?;
    elf.section_by_name(".gnu_debugaltlink")?.data().ok().filter(|data| !data.is_empty())?;
    let (name, build_id) = elf.gnu_debugaltlink().ok().flatten()?;
    let path = debug.path.canonicalize().ok()?.parent()?.join(std::ffi::OsStr::from_bytes(name));
    let mapped = Mapped::open(&path).ok().or_else(|| Mapped::open(&build_id_path(build_id)?).ok())?;
    let same = mapped.elf()?.build_id().ok().flatten() == Some(build_id);
    same.then_some(mapped)
}
