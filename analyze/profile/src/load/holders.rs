//! Processes that have profiles mapped, as far as `/proc` shows them.
//!
//! A container's processes have other numbers and paths here than there: they are known by the numbers that they have in
//! their own namespace, and profiles by device and inode.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A file, wherever it is seen from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl Identity {
    /// Of the file at a path.
    pub fn of(path: &Path) -> Self {
        let facts = fs::metadata(path).map_or((0, 0), |facts| (facts.dev(), facts.ino()));
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        Self { path, device: facts.0, inode: facts.1 }
    }

    fn is_at(&self, path: &Path) -> bool {
        self.inode != 0 && fs::metadata(path).is_ok_and(|facts| (facts.dev(), facts.ino()) == (self.device, self.inode))
    }
}

/// A process that has a profile mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its number here.
    here: u32,
    /// Its number as it sees itself.
    pub pid: u32,
    /// Its PID namespace; 0 if that cannot be seen.
    pub namespace: u64,
    profile: Mapped,
}

/// A line of a process's maps.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mapped {
    path: PathBuf,
    device: u64,
    inode: u64,
}

/// What `/proc` shows at one moment.
#[derive(Clone, Debug, Default)]
pub struct Holders {
    list: Vec<Holder>,
    /// PID namespaces that processes here are in.
    pub namespaces: BTreeSet<u64>,
}

/// Profiles are many, and looking through all processes takes long.
const LATELY: Duration = Duration::from_millis(500);

impl Holders {
    /// Looks through all processes.
    pub fn look() -> Self {
        let mut holders = Self::default();
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        for here in entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()) {
            let namespace = namespace_of(here);
            holders.namespaces.extend((namespace != 0).then_some(namespace));
            let Ok(maps) = fs::read(format!("/proc/{here}/maps")) else { continue };
            let mut profiles: Vec<Mapped> = lines(&maps).filter_map(parse).collect();
            profiles.dedup();
            let pid = if profiles.is_empty() { here } else { own_number(here) };
            holders.list.extend(profiles.into_iter().map(|profile| Holder { here, pid, namespace, profile }));
        }
        holders
    }

    /// What there was to see a moment ago.
    pub fn lately() -> Arc<Self> {
        static LATEST: Mutex<Option<(Instant, Arc<Holders>)>> = Mutex::new(None);
        let mut latest = LATEST.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match &*latest {
            Some((at, holders)) if at.elapsed() < LATELY => Arc::clone(holders),
            _ => {
                let holders = Arc::new(Self::look());
                *latest = Some((Instant::now(), Arc::clone(&holders)));
                holders
            }
        }
    }

    /// Those of a profile.
    pub fn of(&self, file: &Identity) -> impl Iterator<Item = &Holder> {
        self.list.iter().filter(move |holder| is_of(&holder.profile, holder.here, file))
    }
}

/// The PID namespace that we are in.
pub fn own_namespace() -> u64 {
    fs::metadata("/proc/self/ns/pid").map_or(0, |facts| facts.ino())
}

/// Whether processes of all namespaces, and of all users, can be seen: the first namespace has that number in all kernels.
pub fn see_all() -> bool {
    const FIRST: u64 = 0xEFFF_FFFC;
    // SAFETY: it takes nothing and cannot fail.
    own_namespace() == FIRST && unsafe { libc::geteuid() } == 0
}

/// Whether a process with that number here has the profile mapped, and has that number in its own namespace, too. If its maps
/// are not ours to read: whether there is such a process.
pub fn has_mapped(pid: u32, profile: &Identity) -> bool {
    match fs::read(format!("/proc/{pid}/maps")) {
        Ok(maps) => lines(&maps).filter_map(parse).any(|mapped| is_of(&mapped, pid, profile)) && own_number(pid) == pid,
        Err(error) => {
            error.kind() == std::io::ErrorKind::PermissionDenied && Path::new(&format!("/proc/{pid}")).exists()
        }
    }
}

/// Whether a line of the maps of a process is a file's. Some file systems show another device there than they tell of files, and
/// a path is the same file in one mount namespace only.
fn is_of(mapped: &Mapped, here: u32, file: &Identity) -> bool {
    if (mapped.device, mapped.inode) == (file.device, file.inode) {
        return true;
    }
    let there = || PathBuf::from(format!("/proc/{here}/root{}", mapped.path.display()));
    mapped.path.file_name() == file.path.file_name() && (mapped.path == file.path || file.is_at(&there()))
}

fn lines(maps: &[u8]) -> impl Iterator<Item = &[u8]> {
    maps.split(|&byte| byte == b'\n').filter(|line| line.ends_with(b".diyt"))
}

/// `7f00-7f01 rw-s 00000000 fd:00 1234   /path`: a recorder's is shared; who only looks at a file has its own.
fn parse(line: &[u8]) -> Option<Mapped> {
    let start = line.iter().position(|&byte| byte == b'/')?;
    let facts = std::str::from_utf8(&line[..start]).ok()?;
    let mut facts = facts.split_whitespace().skip(1);
    facts.next().filter(|protection| protection.ends_with('s'))?;
    let mut facts = facts.skip(1);
    let (major, minor) = facts.next()?.split_once(':')?;
    let number = |digits| u32::from_str_radix(digits, 16).ok();
    let device = libc::makedev(number(major)?, number(minor)?);
    let path = PathBuf::from(OsStr::from_bytes(&line[start..]));
    Some(Mapped { path, device, inode: facts.next()?.parse().ok()? })
}

fn namespace_of(here: u32) -> u64 {
    fs::metadata(format!("/proc/{here}/ns/pid")).map_or(0, |facts| facts.ino())
}

/// The number of a process in the innermost of its namespaces.
fn own_number(here: u32) -> u32 {
    let status = fs::read_to_string(format!("/proc/{here}/status")).unwrap_or_default();
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    numbers.and_then(|numbers| numbers.split_whitespace().last()?.parse().ok()).unwrap_or(here)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_maps() {
        let line = b"7f71036fa000-7f71036fb000 rw-s 00000000 fd:0a 46842                      /a b/c.diyt";
        let mapped = parse(line).unwrap();
        assert_eq!((mapped.path.as_path(), mapped.inode), (Path::new("/a b/c.diyt"), 46842));
        assert_eq!(mapped.device, libc::makedev(0xfd, 0x0a));
        assert_eq!(parse(b"7ffc40000000-7ffc40020000 rw-p 00000000 00:00 0 [stack]"), None);
        assert_eq!(parse(b"7f71036fa000-7f71036fb000 r--p 00000000 fd:0a 46842 /a.diyt"), None);
    }

    #[test]
    fn a_file_is_known_by_its_inode_wherever_it_lies() {
        let here = tempfile::tempdir().unwrap();
        let [file, link, other] = ["a.diyt", "b.diyt", "c.diyt"].map(|name| here.path().join(name));
        fs::write(&file, "").unwrap();
        fs::hard_link(&file, &link).unwrap();
        fs::write(&other, "").unwrap();
        let facts = fs::metadata(&file).unwrap();
        let mapped = Mapped { path: "/elsewhere/a.diyt".into(), device: facts.dev(), inode: facts.ino() };
        let me = std::process::id();
        assert!(is_of(&mapped, me, &Identity::of(&link)) && !is_of(&mapped, me, &Identity::of(&other)));
        // A device that maps tell differently: the file that the path leads to.
        let odd = Mapped { path: file.clone(), device: 1, inode: 1 };
        assert!(is_of(&odd, me, &Identity::of(&file)) && !is_of(&odd, me, &Identity::of(&other)));
    }

    #[test]
    fn own_numbers() {
        let me = std::process::id();
        assert_eq!((own_number(me), namespace_of(me)), (me, own_namespace()));
    }
}
