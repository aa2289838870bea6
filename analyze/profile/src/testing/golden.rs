//! Outputs that are kept beside the code that makes them.

use std::path::Path;

/// Holds an output against the one that is kept, or keeps it if `DIYTRACE_REGENERATE` is set. Files are the outputs themselves,
/// without the head that insta's snapshots have: other programs open them, and people look at them.
pub fn golden_at(path: &Path, output: &str) {
    if std::env::var_os("DIYTRACE_REGENERATE").is_some() {
        std::fs::write(path, output).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        kept == output,
        "{} is no longer what comes out; to keep what does: DIYTRACE_REGENERATE=1 cargo test --workspace\n{output}",
        path.display()
    );
}
