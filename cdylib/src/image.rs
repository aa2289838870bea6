//! A module as the loader has laid it out in memory: load bias, build ID, whether it refers to the hooks.
//!
//! Another thread may unload the module at any moment, so its memory is read through the kernel.

use crate::sys;
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
const HOOK: &[u8] = b"__cyg_profile_func_enter\0";

fn read<T: Copy>(address: usize) -> Option<T> {
    let mut value = core::mem::MaybeUninit::<T>::uninit();
    // SAFETY: the bytes of the value; only plain integers are read this way, for which any bytes will do.
    unsafe {
        let bytes = core::slice::from_raw_parts_mut(value.as_mut_ptr().cast::<u8>(), size_of::<T>());
        bytes.fill(0);
        sys::read_memory(address, bytes).then(|| value.assume_init())
    }
}

impl Image {
    /// Reads the headers of the module whose file begins at an address.
    pub fn read(start: usize) -> Option<Self> {
        let magic: [u8; 5] = read(start)?;
        if magic != *b"\x7fELF\x02" {
            return None;
        }
        let headers = start + read::<usize>(start + 32)?;
        let (size, count) = (read::<u16>(start + 54)? as usize, read::<u16>(start + 56)? as usize);
        let header = |index: usize| headers + index * size;
        let count = count.min(HEADERS_MAX);
        let first = (0..count).map(header).find(|&at| read(at) == Some(PT_LOAD) && read(at + 8) == Some(0usize))?;
        let mut image = Self {
            bias: start.wrapping_sub(read::<usize>(first + 16)?),
            build_id: [0; BUILD_ID_MAX],
            build_id_len: 0,
            instrumented: false,
            unwind_table: 0,
        };
        for at in (0..count).map(header) {
            let address = image.bias.wrapping_add(read::<usize>(at + 16)?);
            let len = read::<usize>(at + 40)?;
            match read::<u32>(at)? {
                PT_NOTE if image.build_id_len == 0 => image.read_notes(address, len),
                PT_GNU_EH_FRAME => image.unwind_table = address,
                PT_DYNAMIC => image.instrumented = image.refers_to_hooks(address, len).unwrap_or(false),
                _ => {}
            }
        }
        Some(image)
    }

    fn read_notes(&mut self, mut at: usize, len: usize) {
        let end = at + len;
        while at + 16 <= end {
            let Some([name_len, len, kind]) = read::<[u32; 3]>(at) else { return };
            let name = read::<[u8; 4]>(at + 12);
            let content = at + 12 + (name_len as usize).next_multiple_of(4);
            let len = len as usize;
            if kind == 3 && name == Some(*b"GNU\0") && len <= BUILD_ID_MAX {
                if sys::read_memory(content, &mut self.build_id[..len]) {
                    self.build_id_len = len;
                }
                return;
            }
            at = content + len.next_multiple_of(4);
        }
    }

    /// Whether the hook is among the undefined symbols, which a GNU hash table leaves out: they come first.
    fn refers_to_hooks(&self, dynamic: usize, len: usize) -> Option<bool> {
        let (mut hash, mut gnu_hash, mut strings, mut strings_len, mut symbols) = (0, 0, 0, 0, 0);
        for at in (dynamic..dynamic + len).step_by(16) {
            let [tag, value] = read::<[usize; 2]>(at)?;
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
            (0, hash) => read::<[u32; 2]>(hash)?[1],
            (gnu_hash, _) => read::<[u32; 2]>(gnu_hash)?[1],
        };
        let mut names = [0u8; HOOK.len()];
        let mut batch = [[0u64; 3]; 32];
        for from in (0..count as usize).step_by(batch.len()) {
            let len = batch.len().min(count as usize - from);
            let size = len * 24;
            // SAFETY: plain integers.
            let bytes = unsafe { core::slice::from_raw_parts_mut(batch.as_mut_ptr().cast::<u8>(), size) };
            if !sys::read_memory(symbols + from * 24, bytes) {
                return None;
            }
            for [head, _, _] in &batch[..len] {
                let (name, section) = (*head as u32 as usize, head >> 48);
                let in_table = name + HOOK.len() <= strings_len;
                if section == 0 && in_table && sys::read_memory(strings + name, &mut names) && names == *HOOK {
                    return Some(true);
                }
            }
        }
        Some(false)
    }
}
