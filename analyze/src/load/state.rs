//! What became of the processes in a profile: this machine may still run them.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use diytrace::arena::flag;

use super::family::{Family, State};

/// Fills in the states of a profile's processes.
pub fn determine(family: &mut Family) {
    let is_of_this_boot = boot_id() == Some(family.boot_id);
    let path = fs::canonicalize(&family.path).unwrap_or_else(|_| family.path.clone());
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
        arena.state = *states.entry(facts.process).or_insert_with(|| {
            if is_of_this_boot && has_mapped(facts.pid, &path) { State::Running } else { State::Killed }
        });
    }
    if family.arenas.iter().any(|arena| arena.state == State::Running) {
        family.read_ticks = family.clock.ticks_at(monotonic_ns());
    }
}

fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to the structure it is given, and to nothing else.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Whether a process has the profile mapped. If its maps are not ours to read: whether there is such a process.
fn has_mapped(pid: u32, profile: &Path) -> bool {
    let process = Path::new("/proc").join(pid.to_string());
    match fs::read(process.join("maps")) {
        Ok(maps) => {
            maps.split(|&byte| byte == b'\n').any(|line| line.ends_with(profile.as_os_str().as_encoded_bytes()))
        }
        Err(error) => error.kind() == std::io::ErrorKind::PermissionDenied && process.exists(),
    }
}

fn boot_id() -> Option<[u8; 16]> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    u128::from_str_radix(&digits, 16).ok().map(u128::to_be_bytes)
}
