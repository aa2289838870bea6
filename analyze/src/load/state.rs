//! What became of the processes in a profile: this machine may still run them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use diytrace::arena::flag;

use super::family::{Family, State};
use super::reset;

/// Processes that were seen to have a profile mapped, and when: their maps are long, and of hundreds of processes too many
/// to read several times a second.
#[derive(Debug, Default)]
pub struct Seen(RefCell<HashMap<u32, Instant>>);

/// The kernel uses a number again much later than this; one that was killed may seem to run so much longer.
const STILL_THE_SAME: Duration = Duration::from_secs(1);

impl Seen {
    fn has_mapped(&self, pid: u32, profile: &Path) -> bool {
        let mut seen = self.0.borrow_mut();
        if seen.get(&pid).is_some_and(|at| at.elapsed() < STILL_THE_SAME) && is_alive(pid) {
            return true;
        }
        let has_mapped = has_mapped(pid, profile);
        match has_mapped {
            true => seen.insert(pid, Instant::now()),
            false => seen.remove(&pid),
        };
        has_mapped
    }
}

/// Whether there is such a process, even one that has ended and waits for its parent to see it.
fn is_alive(pid: u32) -> bool {
    // SAFETY: no signal is sent.
    let asked = unsafe { libc::kill(pid as libc::pid_t, 0) };
    asked == 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
}

/// Fills in the states of a profile's processes; its bytes were read from that moment of `CLOCK_MONOTONIC` on.
pub fn determine(family: &mut Family, read_monotonic_ns: u64, seen: &Seen) {
    let is_of_this_boot = is_of_this_boot(family);
    let path = fs::canonicalize(&family.path).unwrap_or_else(|_| family.path.clone());
    fill_in(family, |facts| is_of_this_boot && seen.has_mapped(facts.pid, &path));
    if family.arenas.iter().any(|arena| arena.state == State::Running) {
        family.read_ticks = family.clock.ticks_at(read_monotonic_ns);
    }
}

/// Fills in the states, given which of the processes that have not said goodbye are running.
pub fn fill_in(family: &mut Family, is_running: impl Fn(&diytrace::Arena) -> bool) {
    // A process has exited if any of its threads has seen it do so.
    let mut states: HashMap<u32, State> = HashMap::new();
    for arena in &family.arenas {
        let facts = &arena.facts;
        let has_ended = facts.flags & flag::EXITED != 0 || (arena.is_merged() && facts.flags & flag::ENDED != 0);
        if has_ended {
            states.insert(facts.process, State::Exited);
        }
    }
    for arena in &mut family.arenas {
        let facts = &arena.facts;
        arena.state = *states
            .entry(facts.process)
            .or_insert_with(|| if is_running(facts) { State::Running } else { State::Killed });
    }
    reset::settle(family);
}

/// Whether the machine has not been started anew since the profile was.
pub fn is_of_this_boot(family: &Family) -> bool {
    boot_id() == Some(family.boot_id)
}

/// Profiles that are mapped, with the processes that have them so, whether these have recorded anything or not; as far
/// as their maps are ours to read.
pub fn mapped() -> BTreeMap<PathBuf, BTreeSet<u32>> {
    let mut mapped: BTreeMap<PathBuf, BTreeSet<u32>> = BTreeMap::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    for pid in entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()) {
        let Ok(maps) = fs::read(format!("/proc/{pid}/maps")) else { continue };
        for line in maps.split(|&byte| byte == b'\n').filter(|line| line.ends_with(b".diyt")) {
            let Some(start) = line.iter().position(|&byte| byte == b'/') else { continue };
            mapped.entry(PathBuf::from(OsStr::from_bytes(&line[start..]))).or_default().insert(pid);
        }
    }
    mapped
}

/// Now, by the clock that anchors are on.
pub fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to the structure it is given, and to nothing else.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Whether a process has the profile mapped. If its maps are not ours to read: whether there is such a process.
fn has_mapped(pid: u32, profile: &Path) -> bool {
    let process = Path::new("/proc").join(pid.to_string());
    match fs::read(process.join("maps")) {
        Ok(maps) => names(&maps, profile),
        Err(error) => error.kind() == std::io::ErrorKind::PermissionDenied && process.exists(),
    }
}

/// Whether a process's maps name a file.
fn names(maps: &[u8], file: &Path) -> bool {
    maps.split(|&byte| byte == b'\n').any(|line| line.ends_with(file.as_os_str().as_encoded_bytes()))
}

fn boot_id() -> Option<[u8; 16]> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    u128::from_str_radix(&digits, 16).ok().map(u128::to_be_bytes)
}
