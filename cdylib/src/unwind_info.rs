//! Where a frame begins at an address of code: from what unwinders go by (`.eh_frame`).
//!
//! Where a call's return address lies can be looked for on the stack, but what is found may be a copy that an earlier call has left. This is
//! exact.
//!
//! A library for such tables (gimli) has a rule for each register in each row that is remembered, on the stack where nothing can be allocated, and
//! that is the program's. Here two registers are followed.

use crate::arch;
use crate::code;
use crate::family::Family;
use core::ptr;

/// DWARF's numbers of what the table says.
mod op {
    pub const ADVANCE: u8 = 0x40;
    pub const OFFSET: u8 = 0x80;
    pub const RESTORE: u8 = 0xc0;
    pub const NOTHING: u8 = 0x00;
    pub const ADVANCE_1: u8 = 0x02;
    pub const ADVANCE_2: u8 = 0x03;
    pub const ADVANCE_4: u8 = 0x04;
    pub const OFFSET_EXTENDED: u8 = 0x05;
    pub const RESTORE_EXTENDED: u8 = 0x06;
    pub const UNDEFINED: u8 = 0x07;
    pub const SAME_VALUE: u8 = 0x08;
    pub const REGISTER: u8 = 0x09;
    pub const REMEMBER: u8 = 0x0a;
    pub const RESTORE_STATE: u8 = 0x0b;
    pub const CFA: u8 = 0x0c;
    pub const CFA_REGISTER: u8 = 0x0d;
    pub const CFA_OFFSET: u8 = 0x0e;
    pub const CFA_EXPRESSION: u8 = 0x0f;
    pub const EXPRESSION: u8 = 0x10;
    pub const OFFSET_SIGNED: u8 = 0x11;
    pub const VALUE_OFFSET: u8 = 0x14;
    pub const VALUE_OFFSET_SIGNED: u8 = 0x15;
    pub const VALUE_EXPRESSION: u8 = 0x16;
    pub const ARGUMENTS_SIZE: u8 = 0x2e;
}

/// The frame pointer's number.
const RBP: u64 = 6;
/// The stack pointer's.
const RSP: u64 = 7;

/// What is said of a place in the code.
#[derive(Clone, Copy, Default)]
struct Row {
    /// The register that the frame's beginning is told by …
    register: Option<u64>,
    /// … and how far above it that is.
    offset: u64,
    /// Where the caller's frame pointer is kept, from there; `None`: it is where it was.
    frame_pointer: Option<i64>,
}

/// Where the return address of a function lies that has called a hook.
#[derive(Clone, Copy)]
pub enum Place {
    /// So far above the hook's stack pointer, each time.
    Above(usize),
    /// At this address, this time.
    At(usize),
}

/// States that are remembered inside each other.
const REMEMBERED: usize = 4;

/// Where the return address of the function lies that has called a hook, which goes on at an address. `None` where nobody knows.
///
/// # Safety
/// The address must be in code that is running: its module, and so the table, cannot be unloaded now.
pub unsafe fn return_address_of(family: &Family, hook: usize) -> Option<Place> {
    // SAFETY: the caller's promise.
    unsafe {
        let Row { register, offset, .. } = row_at(family, hook)?;
        // The hook's own return address lies at its stack pointer, the function's right below its caller's frame.
        match register? {
            RSP => Some(Place::Above(offset as usize)),
            RBP => Some(Place::At((frame_pointer_at(family, hook)? + offset as usize) - size_of::<usize>())),
            _ => None,
        }
    }
}

/// The frame pointer as a hook was called that is running, by unwinding what it has called since. `None` if it is not running.
#[inline(never)]
unsafe fn frame_pointer_at(family: &Family, hook: usize) -> Option<usize> {
    /// Functions of the recorder that call each other, and how much each may take of the stack.
    const MOST: usize = 24;
    const LARGEST: usize = 16 << 10;
    let [mut address, mut stack_pointer, mut frame_pointer] = arch::registers();
    address += 1; // as if it had been called from there
    for _ in 0..MOST {
        // SAFETY: the code is running, and its frames are there.
        unsafe {
            let row = row_at(family, address)?;
            let frame = match row.register? {
                RSP => stack_pointer + row.offset as usize,
                RBP => frame_pointer + row.offset as usize,
                _ => return None,
            };
            // Whatever is said, only the stack is read that is in use.
            let is_there = |at: usize| at >= stack_pointer && at < frame && at.is_multiple_of(size_of::<usize>());
            if !(stack_pointer + 1..=stack_pointer + LARGEST).contains(&frame) {
                return None;
            }
            let word = |at: usize| is_there(at).then(|| *ptr::with_exposed_provenance::<usize>(at));
            if let Some(kept) = row.frame_pointer {
                frame_pointer = word(frame.wrapping_add_signed(kept as isize))?;
            }
            (address, stack_pointer) = (word(frame - size_of::<usize>())?, frame);
        }
        if address == hook {
            return Some(frame_pointer);
        }
    }
    None
}

/// What is said of the place that an address follows.
unsafe fn row_at(family: &Family, address: usize) -> Option<Row> {
    // SAFETY: the caller's promise; a frame's description leads to its common one.
    unsafe {
        let (start, description) = code::description_of(family, address)?;
        let mut frame = Bytes::of_entry(description)?;
        let back = frame.fixed::<u32>()? as usize;
        let mut common = Bytes::of_entry((frame.at - size_of::<u32>()).checked_sub(back)?)?;
        let common = Common::read(&mut common)?;
        frame.skip(common.address_size)?; // where the code begins
        let size = match common.address_size {
            4 => frame.fixed::<u32>()? as usize,
            _ => frame.fixed::<usize>()?,
        };
        // The call is what was made, not what follows.
        let offset = (address - 1).checked_sub(start).filter(|&offset| offset < size)?;
        if common.has_augmentation {
            let bytes = frame.unsigned()? as usize;
            frame.skip(bytes)?;
        }
        let initial = run(common.instructions, &common, usize::MAX, Row::default())?;
        run(frame, &common, offset, initial)
    }
}

/// What frames have in common.
struct Common {
    code_factor: u64,
    data_factor: i64,
    has_augmentation: bool,
    address_size: usize,
    instructions: Bytes,
}

impl Common {
    unsafe fn read(bytes: &mut Bytes) -> Option<Self> {
        // SAFETY: the bytes are there.
        unsafe {
            let (id, version) = (bytes.fixed::<u32>()?, bytes.fixed::<u8>()?);
            if id != 0 || ![1, 3].contains(&version) {
                return None;
            }
            let mut letters = *bytes;
            while bytes.fixed::<u8>()? != 0 {}
            let code_factor = bytes.unsigned()?;
            let data_factor = bytes.signed()?;
            match version {
                1 => bytes.skip(1)?,
                _ => _ = bytes.unsigned()?,
            }
            let mut common =
                Self { code_factor, data_factor, has_augmentation: false, address_size: 8, instructions: *bytes };
            let mut augmentation = Bytes { at: 0, end: 0 };
            loop {
                match letters.fixed::<u8>()? {
                    0 => break,
                    b'z' => {
                        let size = bytes.unsigned()? as usize;
                        augmentation = Bytes { at: bytes.at, end: bytes.at + size };
                        bytes.skip(size)?;
                        (common.has_augmentation, common.instructions) = (true, *bytes);
                    }
                    b'R' => common.address_size = address_size(augmentation.fixed::<u8>()?)?,
                    b'P' => {
                        let size = address_size(augmentation.fixed::<u8>()?)?;
                        augmentation.skip(size)?;
                    }
                    b'L' => augmentation.skip(1)?,
                    b'S' | b'B' => {}
                    _ => return None,
                }
            }
            Some(common)
        }
    }
}

/// Bytes of an address that is written in an encoding (`DW_EH_PE_…`).
fn address_size(encoding: u8) -> Option<usize> {
    match encoding & 0x0f {
        0x00 | 0x04 | 0x0c => Some(8),
        0x03 | 0x0b => Some(4),
        _ => None,
    }
}

/// Follows what is said of a function's code up to an offset in it.
unsafe fn run(mut bytes: Bytes, common: &Common, until: usize, initial: Row) -> Option<Row> {
    let mut remembered = [Row::default(); REMEMBERED];
    let (mut row, mut at, mut depth) = (initial, 0, 0);
    // SAFETY: the bytes are there.
    unsafe {
        while bytes.at < bytes.end {
            let op = bytes.fixed::<u8>()?;
            let advance = match (op & 0xc0, op) {
                (op::ADVANCE, _) => Some(u64::from(op & 0x3f)),
                (_, op::ADVANCE_1) => Some(bytes.fixed::<u8>()?.into()),
                (_, op::ADVANCE_2) => Some(bytes.fixed::<u16>()?.into()),
                (_, op::ADVANCE_4) => Some(bytes.fixed::<u32>()?.into()),
                _ => None,
            };
            if let Some(advance) = advance {
                at += (advance * common.code_factor) as usize;
                if at > until {
                    break;
                }
                continue;
            }
            match (op & 0xc0, op) {
                (op::OFFSET, _) => {
                    let offset = bytes.unsigned()? as i64 * common.data_factor;
                    if u64::from(op & 0x3f) == RBP {
                        row.frame_pointer = Some(offset);
                    }
                }
                (op::RESTORE, _) => {
                    if u64::from(op & 0x3f) == RBP {
                        row.frame_pointer = initial.frame_pointer;
                    }
                }
                (_, op::NOTHING) => {}
                (_, op::RESTORE_EXTENDED | op::UNDEFINED | op::SAME_VALUE) => {
                    (bytes.unsigned()? != RBP).then_some(())?;
                }
                (_, op::ARGUMENTS_SIZE) => _ = bytes.unsigned()?,
                (
                    _,
                    op::OFFSET_EXTENDED | op::REGISTER | op::OFFSET_SIGNED | op::VALUE_OFFSET | op::VALUE_OFFSET_SIGNED,
                ) => {
                    (bytes.unsigned()? != RBP).then_some(())?;
                    bytes.unsigned()?; // or signed: as long
                }
                (_, op::EXPRESSION | op::VALUE_EXPRESSION) => {
                    (bytes.unsigned()? != RBP).then_some(())?;
                    let size = bytes.unsigned()? as usize;
                    bytes.skip(size)?;
                }
                (_, op::REMEMBER) => {
                    *remembered.get_mut(depth)? = row;
                    depth += 1;
                }
                (_, op::RESTORE_STATE) => {
                    depth = depth.checked_sub(1)?;
                    row = *remembered.get(depth)?;
                }
                (_, op::CFA) => (row.register, row.offset) = (Some(bytes.unsigned()?), bytes.unsigned()?),
                (_, op::CFA_REGISTER) => row.register = Some(bytes.unsigned()?),
                (_, op::CFA_OFFSET) => row.offset = bytes.unsigned()?,
                (_, op::CFA_EXPRESSION) => {
                    let size = bytes.unsigned()? as usize;
                    bytes.skip(size)?;
                    row.register = None;
                }
                _ => return None,
            }
        }
    }
    Some(row)
}

/// Bytes of a table that the loader has mapped.
#[derive(Clone, Copy)]
struct Bytes {
    at: usize,
    end: usize,
}

impl Bytes {
    /// Those of an entry, behind its length.
    unsafe fn of_entry(at: usize) -> Option<Self> {
        let mut length = Self { at, end: at + size_of::<u32>() };
        // SAFETY: the caller's entry.
        let size = unsafe { length.fixed::<u32>() }? as usize;
        // The last one of all is empty; one of 64 bits is nowhere to be seen.
        (size != 0 && size != u32::MAX as usize).then_some(Self { at: length.end, end: length.end + size })
    }

    unsafe fn fixed<T: Copy>(&mut self) -> Option<T> {
        let at = self.at;
        self.skip(size_of::<T>())?;
        // SAFETY: the bytes are there.
        Some(unsafe { ptr::with_exposed_provenance::<T>(at).read_unaligned() })
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        let next = self.at.checked_add(bytes).filter(|&next| next <= self.end)?;
        self.at = next;
        Some(())
    }

    /// A number of seven bits a byte (LEB128).
    unsafe fn unsigned(&mut self) -> Option<u64> {
        // SAFETY: the bytes are there.
        unsafe { self.number() }.map(|(value, _)| value)
    }

    /// The same with a sign.
    unsafe fn signed(&mut self) -> Option<i64> {
        // SAFETY: the bytes are there.
        let (value, bits) = unsafe { self.number() }?;
        let unused = u64::BITS.saturating_sub(bits);
        Some((value << unused).cast_signed() >> unused)
    }

    unsafe fn number(&mut self) -> Option<(u64, u32)> {
        let (mut value, mut bits) = (0, 0);
        loop {
            // SAFETY: the bytes are there.
            let byte = unsafe { self.fixed::<u8>() }?;
            if bits < u64::BITS {
                value |= u64::from(byte & 0x7f) << bits;
            }
            bits += 7;
            if byte & 0x80 == 0 {
                return Some((value, bits));
            }
        }
    }
}
