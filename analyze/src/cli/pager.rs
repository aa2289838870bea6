//! Standard output, and whether anybody reads it; at a terminal, what is longer than the screen goes through a pager.
//!
//! `$PAGER`, or `less` as git uses it: colours, and nothing stays in its way if it fits the screen after all.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::{Command, ExitStatus, Stdio};

/// Standard output, by the page if somebody reads it.
pub struct Output {
    /// What was written since the last flush; `None` if it goes on as it comes.
    held: Option<Vec<u8>>,
    /// Whether its reader has left.
    is_closed: bool,
}

/// Whether there is a pager.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Paging {
    /// Write to the terminal what is longer than it, without $PAGER
    #[arg(long)]
    no_pager: bool,
}

impl Paging {
    /// The output as it was asked for.
    pub fn of(self, out: &mut Output) -> &mut Output {
        if self.no_pager { out.unpaged() } else { out }
    }
}

impl Output {
    /// Standard output, through a pager where there is one.
    pub fn new() -> Self {
        let is_paged = io::stdout().is_terminal() && io::stdin().is_terminal() && command().is_some();
        Self { held: is_paged.then(Vec::new), is_closed: false }
    }

    /// The same without a pager.
    pub fn unpaged(&mut self) -> &mut Self {
        self.held = None;
        self
    }

    /// Whether its reader has had enough (`diytrace report | head`). Writers of formats wrap errors in their own: nobody
    /// could tell by the error that comes of it.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    fn noting(&mut self, done: io::Result<usize>) -> io::Result<usize> {
        self.is_closed |= done.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
        done
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.held {
            Some(held) => held.write(bytes),
            None => {
                let done = io::stdout().write(bytes);
                self.noting(done)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(held) = &mut self.held {
            let text = std::mem::take(held);
            let fits = rows().is_none_or(|rows| text.iter().filter(|&&byte| byte == b'\n').count() < rows);
            if fits || !page(&text) {
                let done = io::stdout().write_all(&text);
                self.noting(done.map(|()| text.len()))?;
            }
        }
        let done = io::stdout().flush();
        self.noting(done.map(|()| 0)).map(drop)
    }
}

fn rows() -> Option<usize> {
    terminal_size::terminal_size().map(|(_, height)| height.0.into())
}

/// The pager, unless there shall be none.
fn command() -> Option<Command> {
    let asked = env::var_os("PAGER").map(|pager| (pager.clone(), pager.to_string_lossy().trim().to_owned()));
    match asked {
        Some((_, name)) if name.is_empty() || name == "cat" => None,
        Some((pager, _)) => Some(shell(pager)),
        None => Some(Command::new("less")),
    }
}

fn shell(pager: OsString) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(pager);
    command
}

/// Shows text in the pager, until its reader has had enough. `false` if there is no such pager.
fn page(text: &[u8]) -> bool {
    let Some(mut command) = command() else { return false };
    command.stdin(Stdio::piped());
    if env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else { return false };
    // Ctrl-C is the pager's from here on: it stops searching, say, and its reader stays where they are.
    // SAFETY: ignoring a signal runs no code of ours.
    let before = unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) };
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(text); // they may leave before the end
    }
    let status = child.wait();
    // SAFETY: it was the action of this signal before.
    unsafe { libc::signal(libc::SIGINT, before) };
    status.is_ok_and(was_there)
}

/// Whether the shell found the pager.
fn was_there(status: ExitStatus) -> bool {
    !matches!(status.code(), Some(126 | 127))
}
