//! Programs of others that read what we export.

use std::path::Path;
use std::process::Command;

use super::run_to_end;

/// What a reader says of an export; it must have no complaint.
#[track_caller]
pub fn read(mut reader: Command, arguments: &[&str], export: &Path) -> String {
    let output = run_to_end(reader.args(arguments).arg(export));
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && complaints.is_empty(), "{reader:?}: {}\n{complaints}", output.status);
    String::from_utf8(output.stdout).unwrap()
}
