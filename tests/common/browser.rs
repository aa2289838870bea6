//! Chromium, driven by the scripts of `tests/browser/` with packages of npm.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::run_to_end;
use super::service::Service;

/// Where scripts find their packages: those of the versions that `package.json` tells, got once.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser");
        fs::create_dir_all(&folder).unwrap();
        for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser")).unwrap().flatten() {
            fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
        }
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--prefer-offline", "--no-audit", "--no-fund", "--no-package-lock"]);
        let output = run_to_end(npm.arg("--ignore-scripts").current_dir(&folder));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "npm has not got what {}/package.json names: {said}", folder.display());
        folder
    })
}

/// A story that a script tells about a service's page.
#[track_caller]
pub fn tell(script: &str, service: &Service, arguments: &[&str]) {
    run(script, Command::new("node").env("SERVICE", service.url()), arguments.iter().map(Path::new));
}

/// One about files, and what the script says.
#[track_caller]
pub fn look(script: &str, files: &[&Path]) -> String {
    run(script, &mut Command::new("node"), files.iter().copied())
}

#[track_caller]
fn run<'a>(script: &str, node: &mut Command, arguments: impl Iterator<Item = &'a Path>) -> String {
    let output = run_to_end(node.arg(folder().join(script)).args(arguments).env("CHROMIUM", chromium()));
    let (said, complaints) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{script}: {said}{complaints}");
    said.into_owned()
}

fn chromium() -> PathBuf {
    let folders = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&folders).map(|folder| folder.join("chromium")).find(|path| path.is_file()).unwrap()
}
