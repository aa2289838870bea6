//! A file that appears whole or not at all.
//!
//! Until then it has no name, so that nothing of it is left whatever ends us: Ctrl-C, a kill, a full disk.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
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
    /// A file for this path, for its owner's eyes only.
    pub fn beside(path: &Path) -> io::Result<(Self, File)> {
        Self::with_mode(path, 0o600)
    }

    /// The same for whomever the user's mask lets read it.
    pub fn for_all_beside(path: &Path) -> io::Result<(Self, File)> {
        Self::with_mode(path, 0o666)
    }

    fn with_mode(path: &Path, mode: u32) -> io::Result<(Self, File)> {
        // A pipe or a device would be replaced by the file.
        if fs::metadata(path).is_ok_and(|facts| !facts.is_file()) {
            return Err(io::Error::other("it is no file: name a new one, or one to replace"));
        }
        // An archive is replaced by one of more.
        if let Some(what) = irreplaceable(path).filter(|what| *what != ARCHIVE) {
            return Err(io::Error::other(format!("it is {what}, and would be replaced: name another file")));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let unnamed = OpenOptions::new().read(true).write(true).mode(mode).custom_flags(libc::O_TMPFILE).open(folder);
        match unnamed {
            Ok(file) => Ok((Self::Unnamed(folder.to_owned()), file)),
            Err(_) => {
                let (file, path) =
                    builder().permissions(Permissions::from_mode(mode)).tempfile_in(folder)?.into_parts();
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

const ARCHIVE: &str = "an archive";

/// What lies at a path, if it is what nobody can make again from something else: it is replaced by nothing.
pub fn irreplaceable(path: &Path) -> Option<&'static str> {
    let mut start = [0; 16];
    let is_file = fs::metadata(path).is_ok_and(|facts| facts.is_file()); // to open a pipe may take for ever
    let mut file = is_file.then(|| File::open(path).ok())??;
    file.read_exact(&mut start).ok()?;
    let kinds: [(&[u8], &str); 4] = [
        (&diytrace_format::MAGIC, "a recording"),
        (b"PK\x03\x04", ARCHIVE),
        (b"SQLite format 3\0", "a store"),
        (b"\x7fELF", "a program"),
    ];
    kinds.into_iter().find(|(magic, _)| start.starts_with(magic)).map(|(_, what)| what)
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
