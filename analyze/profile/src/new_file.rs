//! A file that appears whole or not at all, readable by its owner.
//!
//! Until then it has no name, so that nothing of it is left whatever ends us: Ctrl-C, a kill, a full disk.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempPath;

/// A file on its way.
pub enum NewFile {
    /// It has no name; its folder.
    Unnamed(PathBuf),
    /// It has one that is removed if it never gets another: not all file systems have files without.
    Named(TempPath),
}

impl NewFile {
    /// A file for this path.
    pub fn beside(path: &Path) -> io::Result<(Self, File)> {
        // A pipe or a device would be replaced by the file.
        if fs::metadata(path).is_ok_and(|facts| !facts.is_file()) {
            return Err(io::Error::other("it is no file: name a new one, or one to replace"));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let unnamed = OpenOptions::new().write(true).mode(0o600).custom_flags(libc::O_TMPFILE).open(folder);
        match unnamed {
            Ok(file) => Ok((Self::Unnamed(folder.to_owned()), file)),
            Err(_) => {
                let (file, path) = builder().tempfile_in(folder)?.into_parts(); // owner-only
                Ok((Self::Named(path), file))
            }
        }
    }

    /// Gives it its name; what had that name is gone.
    pub fn appear(self, file: &File, path: &Path) -> io::Result<()> {
        let named = match self {
            Self::Named(named) => named,
            // A name can be given to a file only if no other has it: a new one first.
            Self::Unnamed(folder) => builder().make_in(folder, |name| link(file, name))?.into_temp_path(),
        };
        Ok(named.persist(path)?)
    }
}

fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".diytrace-");
    builder
}

fn link(file: &File, name: &Path) -> io::Result<()> {
    let text = |bytes: &[u8]| std::ffi::CString::new(bytes).map_err(io::Error::other);
    let from = text(format!("/proc/self/fd/{}", file.as_raw_fd()).as_bytes())?;
    let to = text(name.as_os_str().as_bytes())?;
    // SAFETY: both are strings that end in a zero and live on.
    let linked =
        unsafe { libc::linkat(libc::AT_FDCWD, from.as_ptr(), libc::AT_FDCWD, to.as_ptr(), libc::AT_SYMLINK_FOLLOW) };
    if linked == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
