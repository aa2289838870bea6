//! What the recorder says on standard error harms no program: it does not wait until somebody reads, and no signal comes of it.

mod common;

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write, pipe};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Build, fixture, tool, wait_until};

/// Two things that are said: which value is not one, and that there is no folder to record in.
fn recorded(here: &Path, before: &str) -> Command {
    let program = fixture("roots.c", Build::GCC_O2);
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{before} exec env LD_PRELOAD=\"$LIBRARY\" \"$0\"")])
        .arg(&program.path)
        .current_dir(here);
    command.env("LIBRARY", tool("libdiytrace.so")).env("DIYTRACE_MEMORY", "zzz").env("DIYTRACE_OUT", "/proc/nowhere");
    command.stdout(Stdio::null());
    command
}

fn assert_ends_well(mut command: Command, stderr: impl Into<Stdio>, what: &str) {
    let child = RefCell::new(command.stderr(stderr).spawn().unwrap());
    drop(command); // it holds the descriptor, too
    wait_until(what, || child.borrow_mut().try_wait().unwrap().is_some());
    let status = child.into_inner().wait().unwrap();
    assert!(status.success(), "{what}: {status}");
}

#[test]
fn a_pipe_or_socket_that_nobody_reads_any_more_ends_no_program() {
    let here = tempfile::tempdir().unwrap();
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    assert_ends_well(recorded(here.path(), ""), writer, "a pipe without a reader");
    let (reader, writer) = UnixStream::pair().unwrap();
    drop(reader);
    assert_ends_well(recorded(here.path(), ""), std::os::fd::OwnedFd::from(writer), "a socket without a reader");
}

#[test]
fn a_pipe_or_socket_that_is_full_is_not_waited_for() {
    let here = tempfile::tempdir().unwrap();
    let full = [b'x'; 1 << 12];
    let (mut reader, writer) = pipe().unwrap();
    let path = format!("/proc/self/fd/{}", writer.as_raw_fd());
    let mut filler = OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(path).unwrap();
    let mut room = 0;
    while let Ok(written) = filler.write(&full) {
        room += written;
    }
    drop(filler);
    assert_ends_well(recorded(here.path(), ""), writer, "a full pipe");
    let mut all = Vec::new();
    reader.read_to_end(&mut all).unwrap();
    assert!(room > 0 && all.len() == room, "nothing came behind it");

    let (_reader, mut writer) = UnixStream::pair().unwrap();
    writer.set_nonblocking(true).unwrap();
    let error = std::iter::repeat_with(|| writer.write_all(&full)).find_map(Result::err).unwrap();
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    writer.set_nonblocking(false).unwrap();
    assert_ends_well(recorded(here.path(), ""), std::os::fd::OwnedFd::from(writer), "a full socket");
}

/// Opened anew by its name it could be written to, and the program would read that.
#[test]
fn what_is_open_for_reading_is_not_written_to() {
    let here = tempfile::tempdir().unwrap();
    let (reader, writer) = pipe().unwrap();
    let mut own = reader.try_clone().unwrap();
    assert_ends_well(recorded(here.path(), ""), reader, "the end of a pipe that is read");
    drop(writer);
    let mut all = Vec::new();
    own.read_to_end(&mut all).unwrap();
    assert_eq!(String::from_utf8_lossy(&all), "");
}

#[test]
fn a_file_that_may_not_grow_ends_no_program() {
    let here = tempfile::tempdir().unwrap();
    let path = here.path().join("log");
    assert_ends_well(recorded(here.path(), "ulimit -f 0;"), File::create(&path).unwrap(), "a file that may not grow");
    assert_eq!(std::fs::read(&path).unwrap(), b"");
}

#[test]
fn whoever_reads_is_told() {
    let here = tempfile::tempdir().unwrap();
    let told = |text: &str| {
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("diytrace: ")).collect();
        let [value, folder] = lines[..] else { panic!("{text}") };
        assert!(
            value.contains("DIYTRACE_MEMORY is \"zzz\"") && folder.contains("nothing is recorded, as /proc/nowhere"),
            "{text}"
        );
    };
    let mut text = String::new();
    let (mut reader, writer) = pipe().unwrap();
    assert_ends_well(recorded(here.path(), ""), writer, "a pipe");
    reader.read_to_string(&mut text).unwrap();
    told(&text);
    let (mut reader, writer) = UnixStream::pair().unwrap();
    assert_ends_well(recorded(here.path(), ""), std::os::fd::OwnedFd::from(writer), "a socket");
    text.clear();
    reader.read_to_string(&mut text).unwrap();
    told(&text);
    let path = here.path().join("log");
    assert_ends_well(recorded(here.path(), ""), File::create(&path).unwrap(), "a file");
    told(&std::fs::read_to_string(&path).unwrap());
}
