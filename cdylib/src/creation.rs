//! How a family comes into being: its file, its mapping, its header.

use crate::clock;
use crate::cost::{self, Hooks};
use crate::family::{self, EARLY_CALLS, EMPTY_SIZE, Family, File, process_page};
use crate::filter::Filter;
use crate::initial_stack;
use crate::line;
use crate::memory;
use crate::modules;
use crate::settings::{Bad, Settings};
use crate::stack;
use crate::sys::{self, Fd, SignalsBlocked};
use core::ffi::CStr;
use core::fmt::{self, Write};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use profile::header::{Anchor, CheckedAnchor};
use profile::{GRANULE, MAGIC, VERSION, text};

const PATH_MAX: usize = 4096;

/// Bytes that a file may have at least, even if the program's address space is limited: a smaller file is better than none.
const LEAST: usize = 1 << 20;

/// Whether the program runs with more rights than its caller has: it is left alone.
pub fn is_secure_execution() -> bool {
    initial_stack::auxiliary(libc::AT_SECURE).is_some_and(|is_secure| is_secure != 0)
}

/// Whether the program's own code runs: the descriptor of standard error may be that of a file of its own by now.
static IS_LOADED: AtomicBool = AtomicBool::new(false);

/// Called when the library is loaded.
pub fn has_loaded() {
    IS_LOADED.store(true, Ordering::Relaxed);
}

/// Says what is wrong on standard error, while that is known to be what it is.
fn complain(line: &Line) {
    if !IS_LOADED.load(Ordering::Relaxed) {
        sys::complain(line.bytes());
    }
}

/// Makes a family. `None` if there is no place for its file, which is said once, on standard error.
fn create(hooks: &Hooks) -> Option<&'static Family> {
    let _blocked = SignalsBlocked::new();
    // SAFETY: this happens when the library is loaded, or at the first event before or after that; a program that has
    // overwritten its environment by then has recorded nothing before.
    let settings = unsafe { Settings::read(initial_stack::environment()) };
    let clock = match settings.clock {
        0 => clock::choose(),
        named => named,
    };
    let first = clock::anchor(clock);
    let started_unix_ns = clock::read(libc::CLOCK_REALTIME);
    for bad in settings.bad.iter().flatten() {
        let mut line = Line::new();
        let _ = writeln!(line, "diytrace: {}", Complaint(bad));
        complain(&line);
    }
    let filter = memory::keep_value(Filter::new(&settings).ok()?)?;
    let place = match Place::open(&settings, started_unix_ns) {
        Ok(place) => place,
        Err(problem) => {
            let mut line = Line::new();
            let _ = writeln!(line, "diytrace: nothing is recorded, as {} {}", Bytes(settings.out), problem.sentence());
            complain(&line);
            return None;
        }
    };
    let extent = place.extent;
    let family = memory::keep_value(Family {
        base: place.base,
        mapped: place.mapped,
        file: Some(place.file),
        settings,
        clock,
        process: process_page()?,
        forking: AtomicU64::new(0),
        children: AtomicPtr::new(line::reserve(place.mapped)),
        modules: AtomicPtr::new(ptr::null_mut()),
        filter: AtomicPtr::new(ptr::from_ref(filter).cast_mut()),
        filters: AtomicPtr::new(ptr::from_ref(filter).cast_mut()),
    })?;
    // SAFETY: the file's first pages are reserved, mapped and nobody else's yet.
    unsafe { fill_header(family, extent, first, started_unix_ns, hooks) };
    family.lose(EARLY_CALLS.swap(0, Ordering::Relaxed));
    family.set_counts_aside();
    describe(family);
    Some(family)
}

unsafe fn fill_header(family: &Family, extent: usize, first: Anchor, started_unix_ns: u64, hooks: &Hooks) {
    // SAFETY: the caller's promise; zeros are a valid header.
    let header = unsafe { &mut *family.header() };
    header.magic = MAGIC;
    header.version = VERSION;
    header.used = EMPTY_SIZE as u64;
    header.capacity = family.mapped as u64;
    header.extent = extent as u64;
    header.paused = family.settings.paused as u32;
    header.clock = family.clock;
    header.first_anchor = first;
    header.started_unix_ns = started_unix_ns;
    header.pid = sys::getpid();
    header.ppid = sys::getppid();
    header.keep = family.settings.keep;
    header.depth = family.settings.depth;
    header.run = family.settings.run;
    header.roots = profile::pattern::split(family.settings.root).count() as u32;
    header.timing = family.settings.timing;
    header.boot_id = boot_id();
    let costs = cost::measure(family.clock, family.settings.timing, first, hooks);
    (header.inner_cost, header.outer_cost) = (costs.inner, costs.outer);
    (header.cost_error, header.untimed_cost) = (costs.error, costs.untimed);
    let now = clock::anchor(family.clock);
    header.ticks_per_second = clock::rate(first, now);
    header.anchors[0] = CheckedAnchor::new(now);
    header.anchor_turns = 1;
    // SAFETY: the header is mapped, and no other process knows of the file yet.
    unsafe { core::sync::atomic::AtomicU32::from_ptr(&raw mut header.ready) }.store(1, Ordering::Release);
}

/// Texts and modules.
fn describe(family: &Family) {
    let mut buffer = [0; PATH_MAX];
    if let Ok(exe) = sys::read_link(c"/proc/self/exe", &mut buffer) {
        family.text(text::kind::EXE, &[exe]);
    }
    if let Ok(command_line) = sys::read_file(c"/proc/self/cmdline", &mut buffer) {
        family.text(text::kind::CMDLINE, &[command_line]);
    }
    for (kind, value) in [(text::kind::ROOT, family.settings.root), (text::kind::EXCLUDE, family.settings.exclude)] {
        if !value.is_empty() {
            family.text(kind, &[value.as_bytes()]);
        }
    }
    for bad in family.settings.bad.iter().flatten() {
        let mut line = Line::new();
        let _ = write!(line, "{}", Complaint(bad));
        family.warn(&[line.bytes()]);
    }
    let program = initial_stack::auxiliary(libc::AT_PHDR).unwrap_or(0);
    modules::scan(family, program, Some(program));
}

fn boot_id() -> [u8; 16] {
    let mut text = [0; 40];
    let mut id = [0; 16];
    if let Ok(text) = sys::read_file(c"/proc/sys/kernel/random/boot_id", &mut text) {
        let digits = text.iter().filter_map(|&c| (c as char).to_digit(16)).take(32);
        for (index, digit) in digits.enumerate() {
            id[index / 2] = id[index / 2] << 4 | digit as u8;
        }
    }
    id
}

/// The file, open and mapped.
struct Place {
    base: *mut u8,
    mapped: usize,
    extent: usize,
    file: File,
}

/// What a file could not be had for.
enum Problem {
    Folder,
    File,
    Space,
    FileSize,
    AddressSpace,
}

impl Problem {
    fn sentence(&self) -> &'static str {
        match self {
            Self::Folder => "cannot be made: set DIYTRACE_OUT to a folder that the program may make or write to.",
            Self::File => "cannot be written to: set DIYTRACE_OUT to a folder that the program may write to.",
            Self::Space => "has no space left: free some, or set DIYTRACE_OUT to a folder on another disk.",
            Self::FileSize => "may hold no file of this size: raise the program's limit of file sizes (ulimit -f).",
            Self::AddressSpace => "cannot be mapped: raise the program's address space limit (ulimit -v).",
        }
    }
}

impl Place {
    fn open(settings: &Settings, started_unix_ns: u64) -> Result<Self, Problem> {
        let mut path = Line::new();
        if settings.out.first() != Some(&b'/') {
            let mut here = [0; PATH_MAX];
            let len = sys::current_folder(&mut here).map_err(|_| Problem::Folder)?;
            path.push(&here[..len]);
            path.push(b"/");
        }
        path.push(settings.out);
        make_folders(&path)?;
        let mut exe = [0; PATH_MAX];
        let exe = sys::read_link(c"/proc/self/exe", &mut exe).unwrap_or(b"program");
        let name = exe.rsplit(|&c| c == b'/').next().unwrap_or(exe);
        path.push(b"/");
        path.push(name);
        let _ = write!(path, "-{}-{started_unix_ns}.diyt\0", sys::getpid());
        let path = memory::keep(path.bytes()).ok_or(Problem::AddressSpace)?;
        let path = CStr::from_bytes_with_nul(path).map_err(|_| Problem::File)?;
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW;
        let fd = Fd::open(path, flags).map_err(|_| Problem::File)?;
        let result = Self::map(fd, path, settings.memory);
        if result.is_err() {
            sys::remove(path);
        }
        result
    }

    fn map(fd: Fd, path: &'static CStr, memory: usize) -> Result<Self, Problem> {
        let file = File::new(fd, path).map_err(|_| Problem::File);
        // Of a limited address space most is left to the program.
        let fair = (sys::spare_address_space() / 16).next_multiple_of(GRANULE);
        let mut mapped = if fair < memory { fair.max(LEAST) } else { memory };
        let base = loop {
            match fd.map(mapped, true) {
                Ok(base) => break Ok(base),
                Err(_) if mapped > LEAST => mapped = (mapped / 2).next_multiple_of(GRANULE),
                Err(_) => break Err(Problem::AddressSpace),
            }
        };
        let extent = file.as_ref().ok().map(|file| file.extend_open(fd, 0, EMPTY_SIZE, mapped));
        fd.close();
        let (mut file, base) = (file?, base?);
        let extent = match extent {
            Some(Ok(extent)) => extent,
            Some(Err(sys::Errno(libc::EFBIG))) => return Err(Problem::FileSize),
            _ => return Err(Problem::Space),
        };
        // SAFETY: our mapping, whose first pages are the file's first.
        match unsafe {
            sys::read_nothing_ahead(base, mapped);
            sys::populate(base, EMPTY_SIZE)
        } {
            Ok(()) => {}
            Err(sys::Errno(libc::EINVAL)) => file.fill_no_holes(), // an older kernel
            Err(_) => return Err(Problem::Space),
        }
        Ok(Self { base, mapped, extent, file })
    }
}

fn make_folders(path: &Line) -> Result<(), Problem> {
    let mut buffer = [0u8; PATH_MAX];
    let bytes = path.bytes();
    for end in 1..=bytes.len() {
        if end == bytes.len() || bytes[end] == b'/' {
            buffer[..end].copy_from_slice(&bytes[..end]);
            buffer[end] = 0;
            let folder = CStr::from_bytes_until_nul(&buffer).map_err(|_| Problem::Folder)?;
            match sys::make_folder(folder) {
                Ok(()) | Err(sys::Errno(libc::EEXIST)) => {}
                Err(_) if end < bytes.len() => {} // not ours to make, perhaps ours to pass through
                Err(_) => return Err(Problem::Folder),
            }
        }
    }
    Ok(())
}

/// Text under construction; what does not fit is cut off.
pub struct Line {
    bytes: [u8; PATH_MAX],
    len: usize,
}

impl Line {
    /// An empty one.
    pub fn new() -> Self {
        Self { bytes: [0; PATH_MAX], len: 0 }
    }

    /// What was written.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Adds bytes that need not be text.
    pub fn push(&mut self, bytes: &[u8]) {
        let len = bytes.len().min(PATH_MAX - 1 - self.len);
        self.bytes[self.len..self.len + len].copy_from_slice(&bytes[..len]);
        self.len += len;
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text.as_bytes());
        Ok(())
    }
}

/// Bytes that are most likely text.
struct Bytes<'a>(&'a [u8]);

impl fmt::Display for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.utf8_chunks().try_for_each(|chunk| {
            f.write_str(chunk.valid())?;
            f.write_str(if chunk.invalid().is_empty() { "" } else { "?" })
        })
    }
}

struct Complaint<'a>(&'a Bad);

impl fmt::Display for Complaint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.0 {
            Bad::Value { name, value, expected } => {
                write!(f, "{name} is \"{}\", but must be {expected}; the default is used.", Bytes(value))
            }
            Bad::Name { name, like } => {
                write!(f, "there is no variable DIYTRACE_{}, which is set: did you mean DIYTRACE_{like}?", Bytes(name))
            }
        }
    }
}

impl Family {
    /// Leaves a warning, once, that the kernel gave this process no private memory.
    pub fn warn_of_little_memory(&self) {
        static IS_SAID: AtomicBool = AtomicBool::new(false);
        if !sys::is_restricted() && !IS_SAID.swap(true, Ordering::Relaxed) {
            self.warn(&[
                b"a process had no memory to spare for the recorder: see whether its address space is limited",
            ]);
        }
    }
}

/// The family of this program; made if there is none. `None` if there can be none.
pub fn family(hooks: &Hooks) -> Option<&'static Family> {
    family::get().or_else(|| if may_make() { make(hooks) } else { None })
}

/// Whether there can be one, and a stack to make it on. Where only a library has hooks that is opened later, its first call may be on one that is
/// too small: then there is none yet.
#[cold]
#[inline(never)]
fn may_make() -> bool {
    !family::is_off() && (!IS_LOADED.load(Ordering::Relaxed) || stack::has_room(ROOM))
}

/// What that takes of a stack, and some more.
const ROOM: usize = 32 << 10;

/// Apart, as it takes 13 KB of stack: a thread that finds the family may have no more than that.
#[cold]
#[inline(never)]
fn make(hooks: &Hooks) -> Option<&'static Family> {
    // Several threads may come here at once; each makes a family, one of them is taken.
    let Some(new) = create(hooks) else {
        family::turn_off();
        return None;
    };
    if !family::publish(new)
        && let Some(file) = &new.file
    {
        file.remove();
    }
    family::get()
}
