//! The variables of the environment, read once, when the library is loaded.

use crate::memory;
use core::ffi::{CStr, c_char};
use profile::header::{clock, timing};

/// What `DIYTRACE_*` say.
pub struct Settings {
    /// `DIYTRACE_OUT`: folder for profiles.
    pub out: &'static [u8],
    /// `DIYTRACE_ROOT`: patterns of functions to record, or empty.
    pub root: &'static str,
    /// `DIYTRACE_EXCLUDE`: patterns of functions not to record, or empty.
    pub exclude: &'static str,
    /// `DIYTRACE_DEPTH`; 0 = no limit.
    pub depth: u32,
    /// `DIYTRACE_MEMORY`: most bytes of the file.
    pub memory: usize,
    /// `DIYTRACE_KEEP`: processes kept apart.
    pub keep: u32,
    /// `DIYTRACE_PAUSED`.
    pub paused: bool,
    /// `DIYTRACE_CLOCK`: one of [`profile::header::clock`]; 0 = the better one that the machine allows.
    pub clock: u32,
    /// `DIYTRACE_TIMING`: one of [`profile::header::timing`].
    pub timing: u32,
    /// `DIYTRACE_WINDOWS`: calls of a thread before the first window of what timing costs; 0 = none.
    pub windows: u64,
    /// `DIYTRACE_RUN`: the number by which `diytrace record` knows its profiles; 0 = none.
    pub run: u64,
    /// `DIYTRACE_WAITS`: whether it is looked at when threads are off the processor.
    pub waits: bool,
    /// Variables that could not be used.
    pub bad: [Option<Bad>; 11],
}

/// A variable that could not be used.
#[derive(Clone, Copy)]
pub enum Bad {
    /// One whose value is none of its.
    Value {
        /// The variable.
        name: &'static str,
        /// What it was set to.
        value: &'static [u8],
        /// What it must be.
        expected: &'static str,
    },
    /// One that there is not, and whose name is like that of one that there is; both without `DIYTRACE_`.
    Name { name: &'static [u8], like: &'static str },
}

/// The variables' names, without `DIYTRACE_`.
const NAMES: [&str; 11] =
    ["OUT", "ROOT", "EXCLUDE", "DEPTH", "KEEP", "MEMORY", "CLOCK", "TIMING", "WINDOWS", "WAITS", "PAUSED"];

const MEMORY_MIN: usize = 1 << 20;
// `Ref` counts units of 64 bytes in 32 bits.
const MEMORY_MAX: usize = 1 << 37;

impl Settings {
    /// What holds where no variable says otherwise.
    pub const DEFAULT: Self = Self {
        out: b"diytrace.data",
        root: "",
        exclude: "",
        depth: 0,
        memory: 256 << 20,
        keep: 64,
        paused: false,
        clock: 0,
        timing: timing::ALL,
        windows: 1 << 17,
        run: 0,
        waits: true,
        bad: [None; 11],
    };

    /// Reads the block of variables that the kernel laid out for the program.
    ///
    /// # Safety
    /// The block must be as the kernel made it: `name=value` strings, ended by a null pointer.
    pub unsafe fn read(mut block: *const *const c_char) -> Self {
        let mut settings = Self::DEFAULT;
        // SAFETY: the caller's promise.
        while let Some(entry) = unsafe { (*block).as_ref() } {
            // SAFETY: the block names strings that outlive the program's start, and `main` may not have run yet.
            let entry = unsafe { CStr::from_ptr(entry) }.to_bytes();
            if !entry.starts_with(b"DIYTRACE_") {
                // SAFETY: the block goes on until its null pointer.
                block = unsafe { block.add(1) };
                continue;
            }
            // Servers overwrite this block to show their titles (PostgreSQL does), so the values are copied.
            let Some(entry) = memory::keep(entry) else { break };
            // SAFETY: the block goes on until its null pointer.
            block = unsafe { block.add(1) };
            let problem = settings.set(entry);
            if let Some(place) = settings.bad.iter_mut().find(|place| place.is_none()) {
                *place = problem;
            }
        }
        settings
    }

    fn set(&mut self, entry: &'static [u8]) -> Option<Bad> {
        let entry = entry.strip_prefix(b"DIYTRACE_")?;
        let equals = entry.iter().position(|&c| c == b'=')?;
        let (name, value) = (&entry[..equals], &entry[equals + 1..]);
        let bad = |name, expected| Some(Bad::Value { name, value, expected });
        if value.is_empty() {
            return None; // as if it were not set
        }
        match name {
            b"OUT" => self.out = value,
            b"ROOT" => match core::str::from_utf8(value) {
                Ok(text) => self.root = text,
                Err(_) => return bad("DIYTRACE_ROOT", "function names separated by commas"),
            },
            b"EXCLUDE" => match core::str::from_utf8(value) {
                Ok(text) => self.exclude = text,
                Err(_) => return bad("DIYTRACE_EXCLUDE", "function names separated by commas"),
            },
            b"DEPTH" => match number(value) {
                Some(depth @ 1..=0xffff_ffff) => self.depth = depth as u32,
                _ => return bad("DIYTRACE_DEPTH", "a number from 1 up"),
            },
            b"KEEP" => match number(value) {
                Some(keep @ 0..=0xffff_ffff) => self.keep = keep as u32,
                _ => return bad("DIYTRACE_KEEP", "a number"),
            },
            b"MEMORY" => match size(value) {
                Some(bytes) if (MEMORY_MIN..=MEMORY_MAX).contains(&bytes) => self.memory = bytes,
                _ => return bad("DIYTRACE_MEMORY", "a size from 1M to 128G, such as 64M or 1G"),
            },
            b"CLOCK" => match value {
                b"auto" => self.clock = 0,
                b"tsc" => self.clock = clock::TSC,
                b"clock_gettime" => self.clock = clock::CLOCK_GETTIME,
                _ => return bad("DIYTRACE_CLOCK", "auto, tsc or clock_gettime"),
            },
            b"TIMING" => match value {
                b"all" => self.timing = timing::ALL,
                b"off" => self.timing = timing::OFF,
                _ => return bad("DIYTRACE_TIMING", "all or off"),
            },
            b"WINDOWS" => match number(value) {
                Some(windows @ 0..=0xffff_ffff) => self.windows = windows,
                _ => return bad("DIYTRACE_WINDOWS", "a number"),
            },
            b"RUN" => match number(value) {
                Some(run) => self.run = run,
                None => return bad("DIYTRACE_RUN", "a number: `diytrace record` sets it"),
            },
            b"WAITS" => match value {
                b"0" => self.waits = false,
                b"1" => self.waits = true,
                _ => return bad("DIYTRACE_WAITS", "0 or 1"),
            },
            b"PAUSED" => match value {
                b"0" => self.paused = false,
                b"1" => self.paused = true,
                _ => return bad("DIYTRACE_PAUSED", "0 or 1"),
            },
            // The tools have others.
            _ => return NAMES.iter().find(|like| is_like(name, like.as_bytes())).map(|like| Bad::Name { name, like }),
        }
        None
    }
}

/// Whether a name may have been meant for a known one: it is in lower case, one begins with the other, or a letter is missing, is too
/// many or another, or has changed its place.
fn is_like(name: &[u8], known: &[u8]) -> bool {
    let (short, long) = if name.len() < known.len() { (name, known) } else { (known, name) };
    let same = short.iter().zip(long).take_while(|(one, other)| one == other).count();
    let (short, long) = (&short[same..], &long[same..]);
    let is_part = short.is_empty() && same >= 3;
    let is_longer_by_one = long.len() == short.len() + 1 && long[1..] == *short;
    let has_one_changed = long.len() == short.len() && long.get(1..) == short.get(1..);
    let is_turned = match (short, long) {
        ([one, two, rest @ ..], [three, four, others @ ..]) => one == four && two == three && rest == others,
        _ => false,
    };
    name.eq_ignore_ascii_case(known) || is_part || is_longer_by_one || has_one_changed || is_turned
}

fn number(text: &[u8]) -> Option<u64> {
    core::str::from_utf8(text).ok()?.parse().ok()
}

fn size(text: &[u8]) -> Option<usize> {
    let (digits, shift) = match text.last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 10),
        b'm' | b'M' => (&text[..text.len() - 1], 20),
        b'g' | b'G' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    number(digits)?.checked_mul(1 << shift).map(|bytes| bytes as usize)
}
