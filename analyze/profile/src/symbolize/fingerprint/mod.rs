//! What a function's machine code does, as a number that another build can be held against.
//!
//! Code lies elsewhere in each build, so addresses in it are replaced by what they are of: an instruction of the function
//! itself by its number, another function by its name, constants by what they say. What pads code is left out. Bodies
//! inlined into a function are in its code, and so are the parts that the compiler has put elsewhere. Where a function
//! refers to data that has no name and no end, nobody can tell whether that is the same.
//!
//! ```text
//! [parts]: instructions ──┐
//!                         ├──▶ [hash]
//! [image]: what is where ─┴─[data]: constants, texts, tables
//! ```

mod data;
mod hash;
mod image;
mod parts;
pub mod value;

use dashmap::DashMap;
use iced_x86::{Code, ConstantOffsets, Decoder, DecoderOptions, Instruction, OpKind, Register};
use rustc_hash::FxBuildHasher;

use super::files::ModuleFiles;
use super::table::Table;
use data::{Access, Unknown, kind};
use hash::Hash;
use image::{Image, without_numbers};
use parts::{Parts, target};
use value::Fingerprint;

/// What those of a module are made from.
pub struct Fingerprints<'a> {
    image: Image<'a>,
    /// Constant objects that were read.
    contents: DashMap<u64, Option<u128>, FxBuildHasher>,
}

/// The same, beside the module's functions.
struct Reader<'r, 'a> {
    image: &'r Image<'a>,
    contents: &'r DashMap<u64, Option<u128>, FxBuildHasher>,
    table: &'r Table<'a>,
}

impl<'a> Fingerprints<'a> {
    /// Of a module with these files, if its code is there.
    pub fn of(files: &'a ModuleFiles) -> Option<Self> {
        Some(Self { image: Image::read(files)?, contents: DashMap::default() })
    }

    /// The function that starts at an address, of these; `None` if nobody can tell.
    pub fn at(&self, address: u64, table: &Table<'a>) -> Option<Fingerprint> {
        Reader { image: &self.image, contents: &self.contents, table }.at(address)
    }
}

impl<'a> Reader<'_, 'a> {
    fn at(&self, address: u64) -> Option<Fingerprint> {
        let function = self.table.starting_at(address).next()?;
        let parts = Parts::of(function, self.image, &|address| self.table.enclosing(address))?;
        let instructions = || parts.iter().flat_map(|part| &part.instructions);
        let mentioned = instructions().filter_map(|(one, _)| self.displaced(one)).collect();
        let parts = parts.refer_to(mentioned);
        let mut hash = Hash::new();
        for part in parts.iter() {
            hash.feed(kind::PART, b"");
            for (instruction, bytes) in &part.instructions {
                self.instruction(&mut hash, instruction, bytes, &parts).ok()?;
            }
        }
        Some(Fingerprint::new(hash.value()))
    }

    fn instruction(&self, hash: &mut Hash, one: &Instruction, bytes: &[u8], own: &Parts) -> Result<(), Unknown> {
        if one.code() == Code::INVALID {
            hash.feed(kind::INSTRUCTION, bytes);
            return Ok(());
        }
        if let Some(target) = target(one) {
            // Near and short jumps are one: which it is depends on what pads the code between.
            hash.feed(kind::INSTRUCTION, format!("{:?}", one.mnemonic()).as_bytes());
            return self.feed(hash, target, Access::Address, own);
        }
        // Only the decoder that has just read an instruction knows where its numbers stand.
        let mut decoder = Decoder::with_ip(64, bytes, one.ip(), DecoderOptions::NONE);
        let again = decoder.decode();
        let offsets = decoder.get_constant_offsets(&again);
        let mut kept = bytes.to_vec();
        let mut meant = Vec::new();
        if let Some(address) = self.displaced(one) {
            blank(&mut kept, offsets.displacement_offset(), offsets.displacement_size());
            meant.push((address, self.access(one)));
        }
        if let Some(address) = self.immediate(one, &offsets) {
            blank(&mut kept, offsets.immediate_offset(), offsets.immediate_size());
            meant.push((address, Access::Address));
        }
        let of_thread = (one.segment_prefix() == Register::FS && one.memory_displ_size() >= 4)
            .then(|| self.image.of_thread(one.memory_displacement64()))
            .flatten();
        if of_thread.is_some() {
            blank(&mut kept, offsets.displacement_offset(), offsets.displacement_size());
        }
        hash.feed(kind::INSTRUCTION, &kept);
        if let Some((name, offset)) = of_thread {
            hash.feed(kind::THREAD, without_numbers(name).as_bytes());
            hash.number(kind::OFFSET, offset);
        }
        meant.into_iter().try_for_each(|(address, access)| self.feed(hash, address, access, own))
    }

    /// The address that an operand in memory has, where the instruction says it.
    fn displaced(&self, one: &Instruction) -> Option<u64> {
        let has_memory = (0..one.op_count()).any(|operand| one.op_kind(operand) == OpKind::Memory);
        if !has_memory || matches!(one.segment_prefix(), Register::FS | Register::GS) {
            return None;
        }
        let displacement = one.memory_displacement64();
        let is_relative = one.is_ip_rel_memory_operand();
        (is_relative || one.memory_displ_size() >= 4 && self.image.is_address(displacement)).then_some(displacement)
    }

    fn access(&self, one: &Instruction) -> Access {
        let is_element = one.memory_index() != Register::None || !one.is_ip_rel_memory_operand();
        match one.memory_size().size() {
            _ if one.is_jmp_near_indirect() && is_element => Access::JumpTable,
            0 => Access::Address,
            _ if is_element => Access::Address,
            size => Access::Of(size),
        }
    }

    /// The address that an operand is, in code that has addresses.
    fn immediate(&self, one: &Instruction, offsets: &ConstantOffsets) -> Option<u64> {
        let is_wide = |kind| matches!(kind, OpKind::Immediate32 | OpKind::Immediate64 | OpKind::Immediate32to64);
        let operand = (0..one.op_count()).find(|&operand| is_wide(one.op_kind(operand)))?;
        let number = one.immediate(operand);
        (offsets.has_immediate() && self.image.is_address(number)).then_some(number)
    }
}

fn blank(bytes: &mut [u8], offset: usize, size: usize) {
    if let Some(bytes) = bytes.get_mut(offset..offset + size) {
        bytes.fill(0);
    }
}

#[cfg(test)]
mod tests;
