//! The modules seen so far, in this process and in the file.

use crate::family::Family;
use crate::image::Image;
use crate::known::{Known, Range};
use crate::maps::{self, Mapping};
use crate::reading::Reading;
use crate::roots;
use crate::sys;
use core::ffi::CStr;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};
use profile::module::flag;
use profile::protocol::modules as numbering;
use profile::{GRANULE, Module, Ref, UNIT, kind};

const PATH_MAX: usize = 4096;

/// How many records of modules are looked at.
const MOST_RECORDED: usize = 2048;

/// What a walk over the mappings has found.
struct Found {
    range: Range,
    executable: bool,
    path_len: usize,
    path: [u8; PATH_MAX],
    /// Here, as the stack may be a signal's.
    memory: Reading,
}

/// The number of the module at an address; 0 if it has none.
pub fn number(family: &Family, address: usize) -> u32 {
    family.known().map_or(0, |known| known.number(address))
}

/// Makes sure that the module at an address is known. False if it could not be looked for just now.
pub fn register(family: &Family, address: usize) -> bool {
    if family.file.is_none() {
        return true; // a rehearsal; nothing in it is real
    }
    family.known().is_some_and(|known| known.holds(address) || known.is_full()) || scan(family, address, None)
}

/// How often a module has been added to what is known.
pub fn additions(family: &Family) -> u64 {
    family.known().map_or(0, Known::additions)
}

/// Forgets modules that are no longer mapped. True if there are any.
pub fn forget_what_is_gone(family: &Family) -> bool {
    let Some(known) = family.known() else { return false };
    let any = known.forget_what_is_gone(|visit| maps::each(|mapping| visit(mapping.start, mapping.inode)));
    if any {
        roots::forget(family, |address| known.holds(address));
    }
    any
}

/// Where the `.eh_frame_hdr` of the module at an address lies, if that is known and has one.
pub fn unwind_table(family: &Family, address: usize) -> Option<usize> {
    family.known()?.find(address).map(|range| range.unwind_table).filter(|&table| table != 0)
}

/// Whether any module loaded now refers to the hooks.
pub fn any_instrumented() -> bool {
    let mut any = false;
    let mut memory = Reading::new();
    maps::each(|mapping| {
        if mapping.offset == 0 && mapping.path.starts_with(b"/") && !any {
            any = Image::read(mapping.start, &mut memory).is_some_and(|image| image.instrumented);
        }
    });
    any
}

/// Records all modules that are loaded and not known yet. An address that lies in none of them will not be asked
/// about again. False if nothing could be read just now.
pub fn scan(family: &Family, address: usize, program: Option<usize>) -> bool {
    let Some(known) = family.known_or_new() else { return false };
    let Ok(memory) = sys::map_memory(size_of::<Found>()) else { return false };
    // SAFETY: the mapping is new, zeroed and large enough; zeros are valid.
    let found = unsafe { &mut *memory.cast::<Found>() };
    let mut around = Range::of_none(address & !(GRANULE - 1), (address | (GRANULE - 1)) + 1);
    let is_read = maps::each_now_and_then(family.clock, family.pause(), |mapping| {
        if (mapping.start..mapping.end).contains(&address) {
            around = Range::of_none(mapping.start, mapping.end);
        }
        if found.goes_on(mapping) {
            found.range.end = mapping.end;
            found.executable |= mapping.executable;
        } else if mapping.path.starts_with(b"/") {
            take(known, family, found, program);
            found.start(mapping);
        }
    });
    take(known, family, found, program);
    if is_read && !known.holds(address) {
        known.add(&around);
    }
    // SAFETY: nothing refers to it any more.
    unsafe { sys::unmap(memory, size_of::<Found>()) };
    is_read
}

/// Takes up what a walk has found, if it is a module that is not known yet.
fn take(known: &Known, family: &Family, found: &mut Found, program: Option<usize>) {
    if !found.executable || known.has(&found.range) {
        return;
    }
    let Some(image) = Image::read(found.range.start, &mut found.memory) else { return };
    let path = &found.path[..found.path_len];
    let number = record(family, found, &image, program);
    if image.instrumented {
        roots::resolve(family, path, &image);
    }
    // Another thread may have found it, too: what is written twice is one module to the reader.
    if !known.has(&found.range) {
        known.add(&Range { number, unwind_table: image.unwind_table, ..found.range });
    }
}

impl Found {
    /// Whether a mapping is one more of the module. The first page of a small file may be mapped for its code and data as well: that
    /// is another module only behind the end of this one, as the same library may be loaded twice.
    fn goes_on(&mut self, mapping: &Mapping) -> bool {
        let is_of_file = mapping.inode == self.range.inode && mapping.path == &self.path[..self.path_len];
        let lies_in = |end: usize| mapping.start < end;
        is_of_file && (mapping.offset != 0 || Image::end(self.range.start, &mut self.memory).is_some_and(lies_in))
    }

    fn start(&mut self, mapping: &Mapping) {
        self.range = Range { inode: mapping.inode, ..Range::of_none(mapping.start, mapping.end) };
        self.executable = mapping.executable;
        self.path_len = mapping.path.len().min(PATH_MAX - 1);
        self.path[..self.path_len].copy_from_slice(&mapping.path[..self.path_len]);
        self.path[self.path_len] = 0;
    }
}

/// Records a module, unless this very one was by another thread or process, and gives its number; 0 if there is no room.
fn record(family: &Family, found: &Found, image: &Image, program: Option<usize>) -> u32 {
    let path = &found.path[..found.path_len];
    let stat = CStr::from_bytes_until_nul(&found.path).ok().and_then(|path| sys::stat(path).ok());
    let is_program = program.is_some_and(|at| (found.range.start..found.range.end).contains(&at));
    let mut flags = if image.instrumented { flag::INSTRUMENTED } else { 0 };
    flags |= if is_program { flag::PROGRAM } else { 0 };
    let mut module = Module {
        bias: image.bias as u64,
        start: found.range.start as u64,
        end: found.range.end as u64,
        flags,
        number: 0,
        path_len: path.len() as u32,
        build_id_len: image.build_id_len as u32,
        build_id: image.build_id,
        modified_unix_ns: stat.map_or(0, |stat| stat.modified_unix_ns),
        file_size: stat.map_or(0, |stat| stat.size),
        previous: 0,
        reserved_word: 0,
        inode: found.range.inode,
        reserved: 0,
    };
    // SAFETY: the header is mapped, and these words are only changed by atomic operations.
    let (last, numbers) = unsafe {
        let header = family.header();
        (AtomicU32::from_ptr(&raw mut (*header).last_module), AtomicU32::from_ptr(&raw mut (*header).modules))
    };
    if let Some(same) = recorded(family, last.load(Ordering::Acquire), &module, path) {
        return same;
    }
    let size = (UNIT + Module::total_size(path.len())).next_multiple_of(GRANULE);
    // Of what is kept for what has no other place: without it no function of the module has a name.
    let Some((reference, block)) = family.block(size, true) else { return 0 };
    module.number = numbering::number(numbers);
    // SAFETY: the block is new and large enough for the record and the path.
    unsafe {
        (*block).kind = kind::MODULES;
        (*block).size = size as u32;
        (*block).nodes = Module::total_size(path.len()) as u32;
        let place = block.cast::<u8>().add(UNIT).cast::<Module>();
        place.write(module);
        ptr::copy_nonoverlapping(path.as_ptr(), place.add(1).cast(), path.len());
        family.publish(block);
        numbering::link(last, AtomicU32::from_ptr(&raw mut (*place).previous), reference + 1);
    }
    module.number
}

/// The number of a module that has been recorded before: the same file at the same place.
fn recorded(family: &Family, mut reference: Ref, wanted: &Module, path: &[u8]) -> Option<u32> {
    for _ in 0..MOST_RECORDED {
        if reference == 0 {
            return None;
        }
        let place: *const Module = family.at(reference);
        // SAFETY: the list leads to complete records, each followed by its path; only its link may be being changed.
        unsafe {
            let module = place.read_volatile();
            let is_same = Module { number: module.number, previous: module.previous, ..*wanted } == module;
            if is_same && core::slice::from_raw_parts(place.add(1).cast::<u8>(), path.len()) == path {
                return Some(module.number);
            }
            reference = module.previous;
        }
    }
    None
}
