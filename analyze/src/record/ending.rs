//! A command that was killed: when that was, for whoever reads its profile.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use super::child::Ended;
use super::folder::{Folder, header};
use diytrace_profile::load::ending::Ending;

/// Bytes of a process's name that the kernel keeps.
const LONGEST_NAME: usize = 15;

/// Notes beside the command's profile when its process was seen to end, if that could not say so itself.
pub fn note(folder: &Folder, ended: &Ended) {
    if ended.status.signal().is_none() {
        return;
    }
    let new = folder.new_profiles().into_iter().map(|name| folder.path.join(name));
    let of_process =
        new.filter_map(|path| Some((path.clone(), header(&path).filter(|header| header.pid == ended.pid)?)));
    // A process that executes another program makes a profile for each; the last was its own in the end.
    let Some((path, header)) = of_process.max_by_key(|(_, header)| header.started_unix_ns) else { return };
    if has_name(&path, &ended.name) {
        let (pid, started_unix_ns) = (header.pid, header.started_unix_ns);
        // Without it, what was open is known to have lasted until the last sign of life.
        let _ = Ending { pid, started_unix_ns, monotonic_ns: ended.monotonic_ns }.write(&path);
    }
}

/// Whether a process with this name is likely to run the program that a profile is named after, and no other which it has
/// executed since.
fn has_name(profile: &Path, name: &[u8]) -> bool {
    let name = name.strip_suffix(b"\n").unwrap_or(name);
    let file = profile.file_name().unwrap_or_default().as_encoded_bytes();
    let is_whole = name.len() == LONGEST_NAME || file.get(name.len()) == Some(&b'-');
    !name.is_empty() && file.starts_with(name) && is_whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_told_from_that_of_a_program_executed_before() {
        let has = |profile: &str, name: &str| has_name(Path::new(profile), name.as_bytes());
        assert!(has("out/server-12-1700.diyt", "server\n"));
        assert!(has("out/a-very-long-program-name-12-1700.diyt", "a-very-long-pro\n"));
        assert!(!has("out/server-12-1700.diyt", "sleep\n"));
        assert!(!has("out/server-12-1700.diyt", "serve\n"));
        assert!(!has("out/server-12-1700.diyt", ""));
    }
}
