//! Programs of others that read what we export.

use std::path::Path;
use std::process::Command;

use super::run_to_end;

/// A program that reads exports, if it is here. Where it is not, the test says so and is over; with
/// `DIYTRACE_READERS=all` it fails, so that a gate cannot pass by not looking.
pub fn reader(program: &str, package: &str) -> Option<Command> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&folders).any(|folder| folder.join(program).is_file()) {
        return Some(Command::new(program));
    }
    let missing = format!("{program} is not here (on Debian: apt-get install {package})");
    assert!(std::env::var_os("DIYTRACE_READERS").is_none_or(|readers| readers != "all"), "{missing}");
    super::warn(&format!("skipped: {missing}"));
    None
}

/// What a reader says of an export; it must have no complaint.
#[track_caller]
pub fn read(mut reader: Command, arguments: &[&str], export: &Path) -> String {
    let output = run_to_end(reader.args(arguments).arg(export));
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && complaints.is_empty(), "{reader:?}: {}\n{complaints}", output.status);
    String::from_utf8(output.stdout).unwrap()
}
