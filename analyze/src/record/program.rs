//! What a command starts: found as a shell finds it, looked into as the loader does.

use std::ffi::{CString, OsStr};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::{env, ptr};

use object::elf::{EM_386, EM_X86_64};

use super::Error;
use diytrace_profile::elf::libraries::{self, Libraries};
use diytrace_profile::elf::{self, Elf, Parsed, symbols};

/// What a command starts.
#[derive(Debug)]
pub struct Program {
    /// Its path, if it is a script that another program runs.
    pub script: Option<PathBuf>,
    /// The program that runs, if it can be looked into.
    pub elf: Option<Elf>,
    /// The libraries it starts with.
    pub libraries: Libraries,
    /// It runs with rights that its user does not have, so the loader ignores what is preloaded.
    pub secure_execution: bool,
}

impl Program {
    /// Looks into a program's file.
    pub fn look_into(path: &Path) -> Self {
        let is_script = elf::has_magic(path).is_ok_and(|has| !has);
        let binary = if is_script { interpreter(path) } else { path.to_owned() };
        let elf = Elf::open(&binary).ok();
        let libraries = elf.as_ref().map(libraries::needed_by).unwrap_or_default();
        let script = is_script.then(|| path.to_owned());
        Self { script, elf, libraries, secure_execution: is_secure_execution(&binary) }
    }

    /// Why this machine cannot run it, if it is a program of another kind of machine.
    pub fn foreign(&self) -> Option<String> {
        let facts = &self.elf.as_ref()?.facts;
        let runs_here = [EM_X86_64, EM_386].contains(&facts.machine);
        (!runs_here).then(|| format!("it is a {} program, and this machine is a 64-bit x86 one", facts.kind()))
    }

    /// The instrumented modules among the program and its libraries, if they are for this recorder.
    pub fn instrumented(&self) -> Vec<&Elf> {
        let modules = self.modules().filter(|module| module.facts.is_for_recorder());
        modules.filter(|module| module.facts.refers_to_hooks).collect()
    }

    /// A module with a shared AddressSanitizer, which ends a program that preloads anything before it.
    pub fn sanitized(&self) -> Option<&Elf> {
        let is_sanitized = |elf: &Parsed| symbols::refers_to(elf, "__asan_init");
        self.modules().find(|module| module.file.parsed().is_some_and(|elf| is_sanitized(&elf)))
    }

    fn modules(&self) -> impl Iterator<Item = &Elf> {
        self.elf.iter().chain(&self.libraries.found)
    }
}

/// Finds a program: by its path, or in the folders of `PATH`.
pub fn resolve(name: &OsStr) -> Result<PathBuf, Error> {
    let not_executable = |reason: &str| Error::NotExecutable { name: shown(name), reason: reason.to_owned() };
    let not_found = |reason: &str| Error::NotFound { name: shown(name), reason: reason.to_owned() };
    if name.as_bytes().contains(&b'/') {
        let path = PathBuf::from(name);
        return match fs::metadata(&path) {
            Ok(file) if file.is_dir() => Err(not_executable("it is a folder")),
            Ok(_) if !is_executable(&path) => Err(not_executable("it is not executable (chmod +x)")),
            Ok(_) => Ok(path),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                Err(not_executable("permission denied on the way to it"))
            }
            Err(_) => Err(not_found("there is no such file")),
        };
    }
    let folders = env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    let files = env::split_paths(&folders).map(|folder| folder.join(name)).filter(|path| path.is_file());
    let mut unusable = None;
    for path in files {
        if is_executable(&path) {
            return Ok(path);
        }
        unusable.get_or_insert(path);
    }
    Err(match unusable {
        Some(path) => not_executable(&format!("{} is not executable (chmod +x)", path.display())),
        None if Path::new(name).is_file() => {
            not_found(&format!("it is in no folder of PATH; the one here is ./{}", shown(name)))
        }
        None => not_found("it is in no folder of PATH"),
    })
}

/// Why a program that looked well could not be started.
pub fn not_started(path: &Path, error: io::Error) -> Error {
    let name = path.display().to_string();
    match error.kind() {
        io::ErrorKind::NotFound => {
            Error::NotFound { name, reason: "the interpreter or loader that it asks for is not on this machine".into() }
        }
        _ => Error::NotExecutable { name, reason: error.to_string() },
    }
}

/// The program that runs a script: what its first line says, through `env` if need be, or a shell.
fn interpreter(script: &Path) -> PathBuf {
    let mut start = [0; 256];
    let length = File::open(script).and_then(|mut file| file.read(&mut start)).unwrap_or(0);
    let line = String::from_utf8_lossy(&start[..length]);
    let Some(line) = line.strip_prefix("#!").and_then(|rest| rest.lines().next()) else {
        return "/bin/sh".into(); // as execvp(3) has it
    };
    let mut words = line.split_whitespace();
    let first = PathBuf::from(words.next().unwrap_or("/bin/sh"));
    let is_env = first.file_name().is_some_and(|name| name == "env");
    match words.find(|word| !word.starts_with('-') && !word.contains('=')) {
        Some(name) if is_env => resolve(OsStr::new(name)).unwrap_or(first),
        _ => first,
    }
}

/// Whether the kernel tells the loader not to trust the environment (`AT_SECURE`).
fn is_secure_execution(path: &Path) -> bool {
    let Ok(file) = fs::metadata(path) else { return false };
    // SAFETY: they take nothing and cannot fail.
    let (user, group) = unsafe { (libc::getuid(), libc::getgid()) };
    let mode = file.permissions().mode();
    mode & libc::S_ISUID != 0 && file.uid() != user
        || mode & libc::S_ISGID != 0 && file.gid() != group
        || user != 0 && has_capabilities(path)
}

fn has_capabilities(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: both strings end with NUL, and with a size of zero nothing is written.
    unsafe { libc::getxattr(path.as_ptr(), c"security.capability".as_ptr(), ptr::null_mut(), 0) > 0 }
}

fn is_executable(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: the string ends with NUL.
    unsafe { libc::access(path.as_ptr(), libc::X_OK) == 0 }
}

fn shown(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}
