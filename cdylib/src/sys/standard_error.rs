//! Standard error, which is the program's: what is said there may not make it wait, nor raise a signal in it.

use super::{Errno, Fd, Result, answer, is_restricted};
use crate::arch::kernel;

/// Signals that writing raises in the thread: nobody reads, or the file may not grow.
const OF_WRITING: u64 = 1 << (libc::SIGPIPE - 1) | 1 << (libc::SIGXFSZ - 1);

/// Writes to standard error, if it takes that at once. Only while the library is loaded: later the descriptor is the program's own
/// affair. Asynchronous signals must be blocked.
pub fn complain(text: &[u8]) {
    let pending_before = pending();
    let _ = write(text);
    let raised = pending() & !pending_before;
    if raised != 0 {
        let at_once = [0u64; 2];
        let _ = call!(SYS_rt_sigtimedwait, &raw const raised, 0, at_once.as_ptr(), 8);
    }
}

fn pending() -> u64 {
    let mut pending = 0u64;
    let answer = call!(SYS_rt_sigpending, &raw mut pending, 8);
    if answer.is_ok() { pending & OF_WRITING } else { 0 }
}

fn write(text: &[u8]) -> Result<usize> {
    const STANDARD_ERROR: i32 = 2;
    let written = |fd: Fd| call!(SYS_write, fd.0, text.as_ptr(), text.len());
    let own = Fd(STANDARD_ERROR);
    if call!(SYS_fcntl, own.0, libc::F_GETFL)? as i32 & libc::O_ACCMODE == libc::O_RDONLY {
        return Err(Errno(libc::EBADF)); // opened anew it could be written to
    }
    match own.kind()? {
        libc::S_IFSOCK => {
            let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
            call!(SYS_sendto, own.0, text.as_ptr(), text.len(), flags, 0, 0)
        }
        // Opened anew it need not be waited for, and nothing changes for who has it open already.
        libc::S_IFIFO | libc::S_IFCHR if own.may_have_to_wait() => {
            match Fd::open(c"/proc/self/fd/2", libc::O_WRONLY | libc::O_NONBLOCK) {
                Ok(fd) => {
                    let result = written(fd);
                    fd.close();
                    result
                }
                Err(Errno(libc::ENXIO)) => Err(Errno(libc::EPIPE)), // nobody reads
                Err(_) if own.takes_more() => written(own),
                Err(errno) => Err(errno),
            }
        }
        _ => written(own),
    }
}

impl Fd {
    /// `S_IFMT` of what it is open on.
    fn kind(self) -> Result<u32> {
        // SAFETY: a plain structure of integers.
        let mut stat: libc::stat = unsafe { core::mem::zeroed() };
        call!(SYS_fstat, self.0, &raw mut stat)?;
        Ok(stat.st_mode & libc::S_IFMT)
    }

    /// Whether it is a pipe or a terminal, and no other device.
    fn may_have_to_wait(self) -> bool {
        // SAFETY: a plain structure of integers.
        let mut terminal: libc::termios = unsafe { core::mem::zeroed() };
        self.kind() == Ok(libc::S_IFIFO) || call!(SYS_ioctl, self.0, libc::TCGETS, &raw mut terminal).is_ok()
    }

    /// Whether something can be written to it now.
    fn takes_more(self) -> bool {
        let mut asked = libc::pollfd { fd: self.0, events: libc::POLLOUT, revents: 0 };
        let answer = call!(SYS_poll, &raw mut asked, 1, 0);
        answer == Ok(1) && asked.revents == libc::POLLOUT
    }
}
