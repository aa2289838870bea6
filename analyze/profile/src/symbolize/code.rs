//! The machine code of a module: what kind of call ends at an address.

use std::ops::Range;

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use object::elf::{PT_LOAD, ProgramHeader64};
use object::read::elf::ProgramHeader;
use object::{Endianness, Object, ObjectSection};

use super::answers::CallForm;
use super::files::ModuleFiles;

/// Longest form of an indirect call: prefix, opcode, operand, index and 32-bit displacement.
const LONGEST_CALL: u64 = 9;

/// The code of a module and its tables of other modules' functions.
#[derive(Default)]
pub struct Code<'a> {
    segments: Vec<(u64, &'a [u8])>,
    linkage: Vec<Range<u64>>,
    offsets: Vec<Range<u64>>,
}

impl<'a> Code<'a> {
    /// The code of a module, if its file is there.
    pub fn read(files: &'a ModuleFiles) -> Self {
        let Some((file, elf)) = files.code.as_ref().and_then(|file| Some((file, file.parsed()?))) else {
            return Self::default();
        };
        let endian = elf.endian();
        let segment = |header: &ProgramHeader64<Endianness>| {
            let (offset, size) = header.file_range(endian);
            let end = offset.checked_add(size)?;
            let bytes = file.bytes().get(usize::try_from(offset).ok()?..usize::try_from(end).ok()?)?;
            (header.p_type(endian) == PT_LOAD).then_some((header.p_vaddr(endian), bytes))
        };
        let named = |names: &[&str]| -> Vec<Range<u64>> {
            let sections = names.iter().filter_map(|name| elf.section_by_name(name));
            sections.map(|section| section.address()..section.address().saturating_add(section.size())).collect()
        };
        Self {
            segments: elf.elf_program_headers().iter().filter_map(segment).collect(),
            linkage: named(&[".plt", ".plt.sec", ".plt.got"]),
            offsets: named(&[".got", ".got.plt"]),
        }
    }

    /// The call that returns to an address.
    pub fn call_before(&self, site: u64) -> CallForm {
        let mut best = CallForm::Unknown;
        // Code cannot be decoded backwards. The longest reading is the likeliest: what is before a short one could be
        // anything, and a longer one must then have made a call of it by accident.
        for length in 2..=LONGEST_CALL {
            let Some(bytes) = site.checked_sub(length).and_then(|start| self.bytes(start, length)) else { continue };
            let mut decoder = Decoder::with_ip(64, bytes, site - length, DecoderOptions::NONE);
            let instruction = decoder.decode();
            if instruction.is_invalid() || instruction.len() as u64 != length {
                continue;
            }
            match self.form(&instruction) {
                // A relative target that is code of the module is no accident.
                form @ (CallForm::Direct(_) | CallForm::Plt) => return form,
                CallForm::Indirect => best = CallForm::Indirect,
                CallForm::Unknown => {}
            }
        }
        best
    }

    fn form(&self, call: &Instruction) -> CallForm {
        let within = |ranges: &[Range<u64>], address| ranges.iter().any(|range| range.contains(&address));
        match call.op0_kind() {
            _ if call.mnemonic() != Mnemonic::Call => CallForm::Unknown,
            OpKind::NearBranch64 => {
                let target = call.near_branch_target();
                match () {
                    () if within(&self.linkage, target) => CallForm::Plt,
                    () if self.bytes(target, 1).is_some() => CallForm::Direct(target),
                    () => CallForm::Unknown,
                }
            }
            OpKind::Memory => {
                let through_table =
                    call.memory_base() == Register::RIP && within(&self.offsets, call.memory_displacement64());
                if through_table { CallForm::Plt } else { CallForm::Indirect }
            }
            OpKind::Register => CallForm::Indirect,
            _ => CallForm::Unknown,
        }
    }

    /// Bytes at an address.
    pub fn bytes(&self, address: u64, length: u64) -> Option<&'a [u8]> {
        self.segments.iter().find_map(|(start, bytes)| {
            let offset = usize::try_from(address.checked_sub(*start)?).ok()?;
            bytes.get(offset..offset.checked_add(length as usize)?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The form of a call at the end of these bytes, which lie at 0x1000; tables at 0x1800 and 0x1900.
    fn form(bytes: &[u8]) -> CallForm {
        let mut segment = bytes.to_vec();
        segment.resize(0x1000, 0x90);
        let code = Code {
            segments: vec![(0x1000, Box::leak(segment.into_boxed_slice()))],
            linkage: std::iter::once(0x1800..0x1900).collect(),
            offsets: std::iter::once(0x1900..0x1a00).collect(),
        };
        code.call_before(0x1000 + bytes.len() as u64)
    }

    #[test]
    fn every_form_that_compilers_write() {
        use CallForm::{Direct, Indirect, Plt, Unknown};
        for (bytes, expected) in [
            (&[0xe8, 0x0b, 0x01, 0, 0][..], Direct(0x1110)),
            (&[0x67, 0xe8, 0x0a, 0x01, 0, 0], Direct(0x1110)), // relaxed by the linker from `ff 15`
            (&[0xe8, 0x0b, 0x08, 0, 0], Plt),
            (&[0xff, 0x15, 0x0a, 0x09, 0, 0], Plt),                  // -fno-plt
            (&[0xff, 0x15, 0x0a, 0x02, 0, 0], Indirect),             // a pointer in static memory
            (&[0x90, 0x90, 0x90, 0xff, 0xd0], Indirect),             // call rax
            (&[0x90, 0x90, 0xff, 0x50, 0x08], Indirect),             // call [rax+8]
            (&[0x90, 0x41, 0xff, 0x54, 0x24, 0x08], Indirect),       // call [r12+8]
            (&[0xff, 0x90, 0x98, 0, 0, 0], Indirect),                // call [rax+0x98]
            (&[0x3e, 0xff, 0xd0], Indirect),                         // notrack call rax
            (&[0x90, 0x3e, 0x41, 0xff, 0xd3], Indirect),             // notrack call r11
            (&[0x90, 0x48, 0xff, 0xd0], Indirect),                   // rex.W call rax
            (&[0x90, 0xff, 0x13], Indirect),                         // call [rbx]
            (&[0x90, 0xff, 0x14, 0xc3], Indirect),                   // call [rbx+rax*8]
            (&[0x90, 0xff, 0x54, 0xc3, 0x10], Indirect),             // call [rbx+rax*8+0x10]
            (&[0xff, 0x14, 0xc5, 0, 0x19, 0, 0], Indirect),          // call [rax*8+0x1900]: a table of pointers
            (&[0xff, 0x14, 0x25, 0, 0x19, 0, 0], Indirect),          // call [0x1900]
            (&[0x41, 0xff, 0x94, 0xc4, 0, 1, 0, 0], Indirect),       // call [r12+rax*8+0x100]
            (&[0x3e, 0x41, 0xff, 0x94, 0xc4, 0, 1, 0, 0], Indirect), // the same, notrack: the longest there is
            (&[0xf2, 0xe8, 0x0a, 0x01, 0, 0], Direct(0x1110)),       // bnd call
            (&[0xf2, 0xff, 0xd0], Indirect),                         // bnd call rax
            (&[0x67, 0xff, 0x15, 0x09, 0x09, 0, 0], Plt),            // addr32 call [rip+…], as -z call-nop leaves it
            (&[0x90, 0x90, 0x90, 0x90, 0x90], Unknown),
        ] {
            assert_eq!(form(bytes), expected, "{bytes:x?}");
        }
    }
}
