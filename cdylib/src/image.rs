//! A module as the loader has laid it out in memory: load bias, build ID, whether it refers to the hooks.
//!
//! Another thread may unload the module at any moment, so its memory is read through the kernel.

use crate::reading::Reading;
use profile::module::BUILD_ID_MAX;

/// What its ELF headers say.
pub struct Image {
    /// Address in memory minus ELF virtual address.
    pub bias: usize,
    /// Build ID, zero-padded.
    pub build_id: [u8; BUILD_ID_MAX],
    /// Its length; 0 for none.
    pub build_id_len: usize,
    /// Whether it refers to the enter hook, defined elsewhere.
    pub instrumented: bool,
    /// Where its `.eh_frame_hdr` lies; 0 for none.
    pub unwind_table: usize,
}

const HEADERS_MAX: usize = 64;
const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_NOTE: u32 = 4;
const PT_GNU_EH_FRAME: u32 = 0x6474_e550;
const DT_NULL: usize = 0;
const DT_HASH: usize = 4;
const DT_STRTAB: usize = 5;
const DT_SYMTAB: usize = 6;
const DT_STRSZ: usize = 10;
const DT_GNU_HASH: usize = 0x6fff_fef5;
const SYMBOL_SIZE: usize = 24;
const HOOK: &[u8; 25] = b"__cyg_profile_func_enter\0";

/// A module's program headers.
struct Headers {
    first: usize,
    size: usize,
    count: usize,
    bias: usize,
}

impl Headers {
    /// Those of the module whose file begins at an address.
    fn read(start: usize, memory: &mut Reading) -> Option<Self> {
        memory.start_anew();
        let magic: [u8; 5] = memory.value(start)?;
        if magic != *b"\x7fELF\x02" {
            return None;
        }
        let first = start + memory.value::<usize>(start + 32)?;
        let (size, count) = (memory.value::<u16>(start + 54)? as usize, memory.value::<u16>(start + 56)? as usize);
        let mut headers = Self { first, size, count: count.min(HEADERS_MAX), bias: 0 };
        let lowest =
            headers.all().find(|&at| memory.value(at) == Some(PT_LOAD) && memory.value(at + 8) == Some(0usize))?;
        headers.bias = start.wrapping_sub(memory.value::<usize>(lowest + 16)?);
        Some(headers)
    }

    /// Where each of them is.
    fn all(&self) -> impl Iterator<Item = usize> + use<> {
        let (first, size) = (self.first, self.size);
        (0..self.count).map(move |index| first + index * size)
    }
}

impl Image {
    /// Where the memory of the module ends whose file begins at an address.
    pub fn end(start: usize, memory: &mut Reading) -> Option<usize> {
        let headers = Headers::read(start, memory)?;
        let mut end = None;
        for at in headers.all() {
            if memory.value::<u32>(at)? != PT_LOAD {
                continue;
            }
            let [address, size] = [memory.value::<usize>(at + 16)?, memory.value::<usize>(at + 40)?];
            end = end.max(Some(headers.bias.wrapping_add(address).wrapping_add(size)));
        }
        end
    }

    /// Reads the headers of the module whose file begins at an address.
    pub fn read(start: usize, memory: &mut Reading) -> Option<Self> {
        let headers = Headers::read(start, memory)?;
        let mut image = Self {
            bias: headers.bias,
            build_id: [0; BUILD_ID_MAX],
            build_id_len: 0,
            instrumented: false,
            unwind_table: 0,
        };
        for at in headers.all() {
            let address = image.bias.wrapping_add(memory.value::<usize>(at + 16)?);
            let len = memory.value::<usize>(at + 40)?;
            match memory.value::<u32>(at)? {
                PT_NOTE if image.build_id_len == 0 => image.read_notes(memory, address, len),
                PT_GNU_EH_FRAME => image.unwind_table = address,
                PT_DYNAMIC => image.instrumented = image.refers_to_hooks(memory, address, len).unwrap_or(false),
                _ => {}
            }
        }
        Some(image)
    }

    fn read_notes(&mut self, memory: &mut Reading, mut at: usize, len: usize) {
        let end = at + len;
        while at + 16 <= end {
            let Some([name_len, len, kind]) = memory.value::<[u32; 3]>(at) else { return };
            let name = memory.value::<[u8; 4]>(at + 12);
            let content = at + 12 + (name_len as usize).next_multiple_of(4);
            let len = len as usize;
            if kind == 3 && name == Some(*b"GNU\0") && len <= BUILD_ID_MAX {
                if memory.bytes(content, &mut self.build_id[..len]) {
                    self.build_id_len = len;
                }
                return;
            }
            at = content + len.next_multiple_of(4);
        }
    }

    /// Whether the hook is among the undefined symbols, which a GNU hash table leaves out: they come first.
    fn refers_to_hooks(&self, memory: &mut Reading, dynamic: usize, len: usize) -> Option<bool> {
        let (mut hash, mut gnu_hash, mut strings, mut strings_len, mut symbols) = (0, 0, 0, 0, 0);
        for at in (dynamic..dynamic + len).step_by(16) {
            let [tag, value] = memory.value::<[usize; 2]>(at)?;
            // The loader has relocated the addresses in place, unless the section is read-only.
            let address = if value < self.bias { value + self.bias } else { value };
            match tag {
                DT_NULL => break,
                DT_HASH => hash = address,
                DT_GNU_HASH => gnu_hash = address,
                DT_STRTAB => strings = address,
                DT_STRSZ => strings_len = value,
                DT_SYMTAB => symbols = address,
                _ => {}
            }
        }
        let count = match (gnu_hash, hash) {
            (0, 0) => return None,
            (0, hash) => memory.value::<[u32; 2]>(hash)?[1],
            (gnu_hash, _) => memory.value::<[u32; 2]>(gnu_hash)?[1],
        };
        for at in (0..count as usize).map(|index| symbols + index * SYMBOL_SIZE) {
            let [head, _, _] = memory.value::<[u64; 3]>(at)?;
            let (name, section) = (head as u32 as usize, head >> 48);
            let in_table = name + HOOK.len() <= strings_len;
            if section == 0 && in_table && memory.value(strings + name) == Some(*HOOK) {
                return Some(true);
            }
        }
        Some(false)
    }
}
