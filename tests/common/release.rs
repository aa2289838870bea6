//! The release build, as users have it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A file of the release build, which is made once.
pub fn tool(name: &str) -> PathBuf {
    static RELEASE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let folder = RELEASE.get_or_init(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--release", "--quiet", "--target-dir"]).arg(target);
        build.args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")]);
        // What cargo tells a test of its package is another reason to build others' code anew: minutes, where the release is there.
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_told_by_cargo(&name.to_string_lossy())) {
            build.env_remove(name);
        }
        build.status().unwrap().success().then(|| target.join("release"))
    });
    folder.as_ref().expect("the release build failed, see above").join(name)
}

fn is_told_by_cargo(name: &str) -> bool {
    name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
}
