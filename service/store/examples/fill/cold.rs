//! Has what a store's files hold forgotten: by the kernel, so that they are read from the disk again and other programs notice
//! nothing, and by ClickHouse.

use std::error::Error;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use std::process::Command;

use diytrace_store::Address;

/// What ClickHouse keeps in memory of its tables.
const CACHES: [&str; 4] = ["MARK CACHE", "UNCOMPRESSED CACHE", "INDEX MARK CACHE", "QUERY CACHE"];

/// A store, and the file or folder that it is in.
pub struct Cold<'a> {
    address: &'a Address,
    files: PathBuf,
}

impl<'a> Cold<'a> {
    pub fn new(address: &'a Address, files: &Path) -> Self {
        Self { address, files: files.to_owned() }
    }

    /// Has all of it forgotten.
    pub fn forget(&self) -> Result<(), Box<dyn Error>> {
        if let Address::ClickHouse(place) = self.address {
            let url = place.to_string();
            let server = url.trim_start_matches("clickhouse://").split('/').next().unwrap_or_default();
            for cache in CACHES {
                let query = format!("SYSTEM DROP {cache}");
                let mut curl = Command::new("curl");
                curl.args([
                    "--silent",
                    "--show-error",
                    "--fail",
                    "--data-binary",
                    &query,
                    &format!("http://{server}/"),
                ]);
                if !curl.status()?.success() {
                    return Err(format!("ClickHouse has not done it: {query}").into());
                }
            }
        }
        let mut folders = vec![self.files.clone()];
        while let Some(path) = folders.pop() {
            match fs::metadata(&path) {
                Ok(facts) if facts.is_dir() => {
                    for entry in fs::read_dir(&path)? {
                        folders.push(entry?.path());
                    }
                }
                Ok(facts) if facts.is_file() => {
                    let Ok(file) = File::open(&path) else { continue }; // ClickHouse has merged it away
                    // SAFETY: the descriptor is open; nothing of this program's memory is meant.
                    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
                }
                _ => {}
            }
        }
        Ok(())
    }
}
