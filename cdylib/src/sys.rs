//! The kernel, called directly: libc's wrappers set the program's `errno` and may be interposed.

use crate::arch::{self, kernel};
use core::ffi::CStr;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

/// A negative answer of the kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub i32);

/// The kernel's answer.
pub type Result<T> = core::result::Result<T, Errno>;

fn answer(value: isize) -> Result<usize> {
    if (-4095..0).contains(&value) { Err(Errno(-value as i32)) } else { Ok(value as usize) }
}

/// Set before the program restricts its system calls (seccomp): one that is not on its list could end it.
static RESTRICTED: AtomicBool = AtomicBool::new(false);

/// From now on nothing is asked of the kernel; every call fails.
pub fn restrict() {
    RESTRICTED.store(true, Ordering::Relaxed);
}

/// Whether the kernel must not be asked any more.
pub fn is_restricted() -> bool {
    RESTRICTED.load(Ordering::Relaxed)
}

macro_rules! call {
    ($number:ident $(, $arg:expr)*) => {{
        if is_restricted() {
            Err(Errno(libc::ENOSYS))
        } else {
        let given = [$($arg as usize),*];
        let mut args = [0; 6];
        args[..given.len()].copy_from_slice(&given);
        // SAFETY: each caller below passes what the call demands; pointers come from references or mappings.
        answer(unsafe { kernel(libc::$number, args) })
        }
    }};
}

mod standard_error;

pub use standard_error::complain;

/// Whether the process runs under a filter of system calls (seccomp), or that cannot be told.
pub fn is_filtered() -> bool {
    call!(SYS_prctl, libc::PR_GET_SECCOMP) != Ok(0)
}

/// The pages of an event of the calling thread's that counts nothing: see [`crate::switches`]. One, and `log` bytes where the
/// kernel notes each switch.
pub fn map_switches(log: usize) -> Result<*mut u8> {
    /// `struct perf_event_attr`, up to what is needed.
    #[repr(C)]
    #[derive(Default)]
    struct Attributes {
        kind: u32,
        size: u32,
        config: u64,
        period: u64,
        sampled: u64,
        read_format: u64,
        flags: u64,
        more: [u64; 5],
        stack_size: u32,
        clock: i32,
    }
    const SOFTWARE: u32 = 1;
    const DUMMY: u64 = 9;
    const TIME: u64 = 1 << 2;
    const EXCLUDE_KERNEL: u64 = 1 << 5; // else it takes privileges
    const TIME_OF_ALL: u64 = 1 << 18 | 1 << 25; // sample_id_all, use_clockid
    const SWITCHES: u64 = 1 << 26;
    const CLOSE_ON_EXEC: u64 = 1 << 3;
    let (flags, sampled) = match log {
        0 => (EXCLUDE_KERNEL, 0),
        _ => (EXCLUDE_KERNEL | TIME_OF_ALL | SWITCHES, TIME),
    };
    let size = size_of::<Attributes>() as u32;
    let clock = libc::CLOCK_MONOTONIC_RAW;
    let attributes = Attributes { kind: SOFTWARE, size, config: DUMMY, sampled, flags, clock, ..Attributes::default() };
    let attributes = if log == 0 { Attributes { clock: 0, ..attributes } } else { attributes };
    let fd = call!(SYS_perf_event_open, &raw const attributes, 0, -1isize, -1isize, CLOSE_ON_EXEC)?;
    let protection = if log == 0 { libc::PROT_READ } else { libc::PROT_READ | libc::PROT_WRITE };
    let page = call!(SYS_mmap, 0, profile::GRANULE + log, protection, libc::MAP_SHARED, fd, 0);
    Fd(fd as i32).close();
    count_mapped(page, profile::GRANULE + log)
}

/// Maps zeros where nothing is mapped.
pub fn map_in_hole(address: *mut u8, size: usize) -> Result<()> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    match call!(SYS_mmap, address, size, libc::PROT_READ, flags, -1isize, 0) {
        Ok(found) if found == address.addr() => Ok(()),
        Ok(elsewhere) => {
            // A kernel that does not know the flag.
            let _ = call!(SYS_munmap, elsewhere, size);
            Err(Errno(libc::EEXIST))
        }
        Err(errno) => Err(errno),
    }
}

/// How often the calling thread has given the processor up, and how often it was taken from it. 0 if that cannot be asked.
pub fn context_switches() -> [u64; 2] {
    let mut usage = [0u64; 18];
    let answer = call!(SYS_getrusage, libc::RUSAGE_THREAD, usage.as_mut_ptr());
    answer.map_or([0; 2], |_| [usage[16], usage[17]]) // ru_nvcsw, ru_nivcsw
}

/// Process, as it sees itself.
pub fn getpid() -> u32 {
    call!(SYS_getpid, 0).unwrap_or(0) as u32
}

/// Its parent.
pub fn getppid() -> u32 {
    call!(SYS_getppid, 0).unwrap_or(0) as u32
}

/// Thread.
pub fn gettid() -> u32 {
    call!(SYS_gettid, 0).unwrap_or(0) as u32
}

/// Whether there is certainly no thread of this number in this PID namespace. One that may not be signalled exists.
pub fn is_no_task(tid: u32) -> bool {
    call!(SYS_tkill, tid, 0) == Err(Errno(libc::ESRCH))
}

/// The inode number of the PID namespace that the process is in; 0 if it cannot be told.
pub fn pid_namespace() -> u64 {
    let mut text = [0; 64];
    let text = read_link(c"/proc/self/ns/pid", &mut text).unwrap_or_default(); // as `pid:[4026531836]`
    let digits = text.iter().skip_while(|byte| !byte.is_ascii_digit()).take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |number: u64, digit| number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')))
}

/// The calling thread's name, zero-padded.
pub fn thread_name() -> [u8; 16] {
    let mut name = [0u8; 16];
    let _ = call!(SYS_prctl, libc::PR_GET_NAME, name.as_mut_ptr());
    name
}

/// Signals of what a thread itself does, which are never blocked: see [`SignalsBlocked`].
const SYNCHRONOUS: [i32; 6] = [libc::SIGILL, libc::SIGTRAP, libc::SIGBUS, libc::SIGFPE, libc::SIGSEGV, libc::SIGSYS];

/// Whether the program has a handler for any signal but those, or that cannot be told.
pub fn has_asynchronous_handler() -> bool {
    const LAST: i32 = 64;
    (1..=LAST).filter(|signal| !SYNCHRONOUS.contains(signal)).any(|signal| {
        let mut action = [0usize; 4]; // the kernel's: handler, flags, restorer, mask
        let answer = call!(SYS_rt_sigaction, signal, 0, action.as_mut_ptr(), 8);
        answer.is_err() || !matches!(action[0], libc::SIG_DFL | libc::SIG_IGN)
    })
}

/// Blocks asynchronous signals until it is dropped: what runs under it is not interrupted by the program's handlers, but
/// for those of what it does itself (a stack that has no more room, a debugger's steps). The kernel ends a process that has
/// such a signal blocked.
pub struct SignalsBlocked {
    /// The mask as it was; none if the kernel was not asked.
    before: Option<u64>,
}

impl SignalsBlocked {
    /// Blocks.
    #[inline]
    pub fn new() -> Self {
        /// What a new path takes of the stack while they are blocked, and somewhat more. A stack that ends then has them stay blocked if the
        /// program goes on by `longjmp`, which keeps no mask.
        const STACK: i32 = 1024;
        arch::need_stack::<STACK>();
        let asynchronous = asynchronous();
        let mut before = 0u64;
        let answer = call!(SYS_rt_sigprocmask, libc::SIG_BLOCK, &raw const asynchronous, &raw mut before, 8);
        Self { before: answer.is_ok().then_some(before) }
    }

    /// The mask as it was; [`NO_MASK`] if the kernel was not asked.
    pub fn before(&self) -> u64 {
        self.before.unwrap_or(NO_MASK)
    }
}

/// No mask of signals.
pub const NO_MASK: u64 = u64::MAX;

/// Lets signals in again that a [`SignalsBlocked`] has blocked which was left before it was dropped, by the mask as it was before; unless the
/// program has done so.
pub fn let_signals_in(before: u64) {
    let (asynchronous, mut now) = (asynchronous(), 0u64);
    let answer = call!(SYS_rt_sigprocmask, libc::SIG_BLOCK, 0, &raw mut now, 8);
    if answer.is_ok() && now & asynchronous == asynchronous {
        drop(SignalsBlocked { before: Some(now & !asynchronous | before & asynchronous) });
    }
}

/// The set of asynchronous signals, as far as they can be blocked.
fn asynchronous() -> u64 {
    let never = SYNCHRONOUS.iter().chain(&[libc::SIGKILL, libc::SIGSTOP]);
    never.fold(u64::MAX, |set, signal| set & !(1 << (signal - 1)))
}

impl Drop for SignalsBlocked {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let args = [libc::SIG_SETMASK as usize, ptr::from_ref(before).addr(), 0, 8, 0, 0];
            // SAFETY: the mask is ours. Asked even if another thread has sealed meanwhile: signals must not stay blocked.
            let _ = answer(unsafe { kernel(libc::SYS_rt_sigprocmask, args) });
        }
    }
}

/// An open file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fd(pub i32);

/// What identifies an open file: device and inode; and its size and modification time.
#[derive(Clone, Copy)]
pub struct Stat {
    /// Device.
    pub device: u64,
    /// Inode.
    pub inode: u64,
    /// Bytes.
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified_unix_ns: u64,
}

impl Fd {
    /// Opens a file, close-on-exec.
    pub fn open(path: &CStr, flags: i32) -> Result<Self> {
        let flags = flags | libc::O_CLOEXEC | libc::O_NOCTTY;
        call!(SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags, 0o600).map(|fd| Self(fd as i32))
    }

    /// Closes it.
    pub fn close(self) {
        let _ = call!(SYS_close, self.0);
    }

    /// What it is open on.
    pub fn stat(self) -> Result<Stat> {
        // SAFETY: a plain structure of integers.
        let mut stat: libc::stat = unsafe { core::mem::zeroed() };
        call!(SYS_fstat, self.0, &raw mut stat)?;
        Ok(Stat {
            device: stat.st_dev,
            inode: stat.st_ino,
            size: stat.st_size as u64,
            modified_unix_ns: stat.st_mtime as u64 * 1_000_000_000 + stat.st_mtime_nsec as u64,
        })
    }

    /// Reads until the buffer is full or the file ends.
    pub fn read_all(self, buffer: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match call!(SYS_read, self.0, buffer[filled..].as_mut_ptr(), buffer.len() - filled) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(Errno(libc::EINTR)) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(filled)
    }

    /// Makes the disk keep these bytes of the file for it, so that writing to their mapping cannot fail.
    pub fn reserve(self, offset: usize, size: usize) -> Result<()> {
        let mut limit = [0u64; 2];
        call!(SYS_prlimit64, 0, libc::RLIMIT_FSIZE, 0, limit.as_mut_ptr())?;
        if (offset + size) as u64 > limit[0] {
            return Err(Errno(libc::EFBIG)); // asking would raise SIGXFSZ in the program
        }
        match call!(SYS_fallocate, self.0, 0, offset, size) {
            Err(Errno(libc::EOPNOTSUPP)) => self.fill(offset, size),
            Err(errno) => Err(errno),
            Ok(_) => Ok(()),
        }
    }

    /// The same for file systems that cannot reserve: writes zeros.
    fn fill(self, offset: usize, size: usize) -> Result<()> {
        static ZEROS: [u8; 4096] = [0; 4096];
        let mut at = offset;
        while at < offset + size {
            let count = (offset + size - at).min(ZEROS.len());
            match call!(SYS_pwrite64, self.0, ZEROS.as_ptr(), count, at) {
                Ok(written) => at += written,
                Err(Errno(libc::EINTR)) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    /// Maps the file from its start, for reading, or shared for writing too.
    pub fn map(self, size: usize, writable: bool) -> Result<*mut u8> {
        let (protection, flags) = if writable {
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_NORESERVE)
        } else {
            (libc::PROT_READ, libc::MAP_PRIVATE)
        };
        count_mapped(call!(SYS_mmap, 0, size, protection, flags, self.0, 0), size)
    }
}

/// Whether the process has rights that it may give up later: it is root's, or has capabilities.
pub fn is_privileged() -> bool {
    call!(SYS_geteuid, 0) == Ok(0) || capabilities().is_ok_and(|sets| sets.iter().any(|set| set[0] | set[1] != 0))
}

/// Whether the kernel is sure to refuse the calling thread a filter of system calls.
pub fn may_not_restrict() -> bool {
    const CAP_SYS_ADMIN: u32 = 21;
    let may_gain_privileges = call!(SYS_prctl, libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == Ok(0);
    may_gain_privileges && capabilities().is_ok_and(|sets| sets[0][0] & 1 << CAP_SYS_ADMIN == 0)
}

/// The calling thread's, low half and high: effective, permitted, inheritable.
fn capabilities() -> Result<[[u32; 3]; 2]> {
    const VERSION_3: u32 = 0x2008_0522;
    let header = [VERSION_3, 0];
    let mut sets = [[0; 3]; 2];
    call!(SYS_capget, header.as_ptr(), sets.as_mut_ptr()).map(|_| sets)
}

/// Makes a folder, for its owner alone.
pub fn make_folder(path: &CStr) -> Result<()> {
    call!(SYS_mkdirat, libc::AT_FDCWD, path.as_ptr(), 0o700).map(drop)
}

/// Size and modification time of a file by its path.
pub fn stat(path: &CStr) -> Result<Stat> {
    let fd = Fd::open(path, libc::O_PATH)?;
    let stat = fd.stat();
    fd.close();
    stat
}

/// Bytes that the file system with this file has left for programs without privileges.
pub fn free_space(path: &CStr) -> Result<u64> {
    // SAFETY: a plain structure of integers.
    let mut found: libc::statfs = unsafe { core::mem::zeroed() };
    call!(SYS_statfs, path.as_ptr(), &raw mut found)?;
    Ok(found.f_bavail.saturating_mul(found.f_bsize as u64))
}

/// Removes a file.
pub fn remove(path: &CStr) {
    let _ = call!(SYS_unlinkat, libc::AT_FDCWD, path.as_ptr(), 0);
}

/// The current folder, ended by a NUL byte, in `buffer`; its length without that byte.
pub fn current_folder(buffer: &mut [u8]) -> Result<usize> {
    call!(SYS_getcwd, buffer.as_mut_ptr(), buffer.len()).map(|len| len - 1)
}

/// Where a symbolic link leads.
pub fn read_link<'a>(path: &CStr, buffer: &'a mut [u8]) -> Result<&'a [u8]> {
    let len = call!(SYS_readlinkat, libc::AT_FDCWD, path.as_ptr(), buffer.as_mut_ptr(), buffer.len())?;
    Ok(&buffer[..len])
}

/// Reads a file of the kernel's into `buffer`; what there is of it.
pub fn read_file<'a>(path: &CStr, buffer: &'a mut [u8]) -> Result<&'a mut [u8]> {
    let fd = Fd::open(path, libc::O_RDONLY)?;
    let len = fd.read_all(buffer);
    fd.close();
    Ok(&mut buffer[..len?])
}

/// Bytes of address space that the recorder has in this process, with its own library's.
static MAPPED: AtomicUsize = AtomicUsize::new(0);

/// That of the library, or some more.
const OF_LIBRARY: usize = 2 << 20;

/// A mapping of so many bytes is the recorder's from now on.
fn count_mapped(mapped: Result<usize>, size: usize) -> Result<*mut u8> {
    let address = mapped?;
    MAPPED.fetch_add(size.next_multiple_of(profile::GRANULE), Ordering::Relaxed);
    Ok(address as *mut u8)
}

/// How much of the process's address space is the recorder's; 0 as long as it has done nothing here.
pub fn mapped_bytes() -> usize {
    match MAPPED.load(Ordering::Relaxed) {
        0 => 0,
        mapped => mapped + OF_LIBRARY,
    }
}

/// The soft and the hard limit of the process's address space, as they are or were before they are set.
pub fn address_limits(new: Option<&[u64; 2]>) -> Result<[u64; 2]> {
    let mut old = [u64::MAX; 2];
    let new = new.map_or(ptr::null(), |new| new.as_ptr());
    call!(SYS_prlimit64, 0, libc::RLIMIT_AS, new, old.as_mut_ptr())?;
    Ok(old)
}

/// Bytes of address space that the process may still map: without end, as a rule.
pub fn spare_address_space() -> usize {
    let mut sizes = [0; 100];
    let limit = address_limits(None).unwrap_or([u64::MAX; 2]);
    if limit[0] == u64::MAX {
        return usize::MAX;
    }
    // Its first number is that of all pages.
    let sizes = read_file(c"/proc/self/statm", &mut sizes).unwrap_or_default();
    let digits = sizes.iter().take_while(|digit| digit.is_ascii_digit());
    let pages = digits.fold(0, |pages, digit| pages * 10 + usize::from(digit - b'0'));
    (limit[0] as usize).saturating_sub(pages * profile::GRANULE)
}

/// A clock's time in nanoseconds, by the slow way.
pub fn read_clock(clock: libc::clockid_t) -> Result<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    call!(SYS_clock_gettime, clock, ptr::from_mut(&mut time))?;
    Ok(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Private memory, zeroed.
pub fn map_memory(size: usize) -> Result<*mut u8> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    count_mapped(call!(SYS_mmap, 0, size, libc::PROT_READ | libc::PROT_WRITE, flags, -1isize, 0), size)
}

/// Address space, with no memory behind it yet.
pub fn reserve_memory(size: usize) -> Result<*mut u8> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    count_mapped(call!(SYS_mmap, 0, size, libc::PROT_NONE, flags, -1isize, 0), size)
}

/// Puts zeroed memory behind a part of reserved address space.
///
/// # Safety
/// The range must be reserved, and nobody's yet.
pub unsafe fn commit_memory(address: *mut u8, size: usize) -> Result<()> {
    call!(SYS_mprotect, address, size, libc::PROT_READ | libc::PROT_WRITE).map(drop)
}

/// Gives the memory of private pages back; they read as zeros from now on. False if the kernel refuses (they are locked), or must
/// not be asked.
///
/// # Safety
/// The range must be private memory of the recorder's whose contents nobody needs.
pub unsafe fn forget_pages(address: *mut u8, size: usize) -> bool {
    call!(SYS_madvise, address, size, libc::MADV_DONTNEED).is_ok()
}

/// Gives a mapping back.
///
/// # Safety
/// Nothing may use it any longer.
pub unsafe fn unmap(address: *mut u8, size: usize) {
    if call!(SYS_munmap, address, size).is_ok() {
        MAPPED.fetch_sub(size.next_multiple_of(profile::GRANULE), Ordering::Relaxed);
    }
}

/// Makes a page read as zeros in the child of every fork.
///
/// # Safety
/// The page must be private memory of the recorder's.
pub unsafe fn wipe_on_fork(page: *mut u8, size: usize) -> Result<()> {
    call!(SYS_madvise, page, size, libc::MADV_WIPEONFORK).map(drop)
}

/// Lets the pages of a file's mapping come one by one: around each hole the kernel would read zeros far ahead.
///
/// # Safety
/// The range must be a mapping of the recorder's.
pub unsafe fn read_nothing_ahead(address: *mut u8, size: usize) {
    let _ = call!(SYS_madvise, address, size, libc::MADV_RANDOM);
}

/// Makes the pages of a mapping present and writable now. Fails where touching them would raise SIGBUS.
///
/// # Safety
/// The range must lie in a mapping of the recorder's.
pub unsafe fn populate(address: *mut u8, size: usize) -> Result<()> {
    const MADV_POPULATE_WRITE: i32 = 23; // since Linux 5.14
    call!(SYS_madvise, address, size, MADV_POPULATE_WRITE).map(drop)
}

/// Copies memory of this process that may not be there.
pub fn read_memory(process: u32, address: usize, buffer: &mut [u8]) -> bool {
    let local = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let remote = libc::iovec { iov_base: ptr::without_provenance_mut(address), iov_len: buffer.len() };
    call!(SYS_process_vm_readv, process, &raw const local, 1, &raw const remote, 1, 0) == Ok(buffer.len())
}

/// How far below an address the memory of this process can be read without a gap, by whole pages: the lowest such address, or
/// the one that is asked for at most.
pub fn readable_from(address: usize, least: usize) -> usize {
    const AT_ONCE: usize = 32;
    let process = getpid();
    let mut start = address;
    while start > least {
        let mut bytes = [0u8; AT_ONCE];
        let count = AT_ONCE.min((start - least) / profile::GRANULE);
        let remote: [libc::iovec; AT_ONCE] = core::array::from_fn(|page| libc::iovec {
            iov_base: ptr::without_provenance_mut(start.wrapping_sub((page + 1) * profile::GRANULE)),
            iov_len: 1,
        });
        let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: count };
        // It reads as many as it can, in this order.
        let read = call!(SYS_process_vm_readv, process, &raw const local, 1, remote.as_ptr(), count, 0).unwrap_or(0);
        start -= read * profile::GRANULE;
        if read < count || count == 0 {
            break;
        }
    }
    start
}

/// Whether eight bytes at an address can be read. False where nobody may tell.
pub fn is_readable(address: usize) -> bool {
    /// Whether a filter of system calls was there when this was first asked; 0 = not asked yet.
    static IS_FILTERED: AtomicU8 = AtomicU8::new(0);
    if IS_FILTERED.load(Ordering::Relaxed) == 0 {
        IS_FILTERED.store(1 + u8::from(is_filtered()), Ordering::Relaxed);
    }
    match IS_FILTERED.load(Ordering::Relaxed) {
        1 => read_memory(getpid(), address, &mut [0; 8]),
        _ => is_readable_by_mask(address),
    }
}

/// The same in a way that every filter allows which lets signals be blocked: the kernel is asked to change the signal mask in a way that
/// there is none of, to what lies there. It reads that first. (What stands in for a kernel may look at the way first, and so say that
/// all can be read.)
fn is_readable_by_mask(address: usize) -> bool {
    const NO_WAY: usize = 0xff;
    const UNREADABLE: usize = 8;
    let is_read = |address: usize| call!(SYS_rt_sigprocmask, NO_WAY, address, 0, 8) == Err(Errno(libc::EINVAL));
    is_read(address) && !is_read(UNREADABLE)
}

/// The stack that the calling thread's signal handlers may run on: first address and end. Empty if it has none.
pub fn alternate_stack() -> (usize, usize) {
    // SAFETY: a plain structure of integers.
    let mut stack: libc::stack_t = unsafe { core::mem::zeroed() };
    let _ = call!(SYS_sigaltstack, 0, &raw mut stack);
    let start = stack.ss_sp.addr();
    (start, start + stack.ss_size)
}

/// Lets another thread run.
pub fn yield_now() {
    let _ = call!(SYS_sched_yield, 0);
}

/// The address of the next function of a name, which is kept.
pub fn next(place: &AtomicUsize, name: &CStr) -> usize {
    let known = place.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    // SAFETY: as the manual says.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) }.expose_provenance();
    place.store(found, Ordering::Relaxed);
    found
}
