//! A function's instructions, with those of the parts that the compiler has put elsewhere (`f.cold`, `f.part.0`).

use std::ops::Range;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind};

use super::super::answers::Symbol;
use super::image::Image;
use crate::elf::symbols::base_name;

/// Most parts that are looked for.
const MOST: usize = 32;

/// Longest function that is read; what is larger is data, or damaged.
const LONGEST: u64 = 16 << 20;

/// A function, whole, and the addresses of data that it refers to.
pub struct Parts<'a>(Vec<Part<'a>>, Vec<u64>);

/// Code without a gap. What pads it is no part of it.
pub struct Part<'a> {
    pub instructions: Vec<(Instruction, &'a [u8])>,
    start: u64,
    end: u64,
}

impl<'a> Parts<'a> {
    /// Those of a function; `None` if not all of its code is there.
    pub fn of(function: Symbol<'a>, image: &Image<'a>, enclosing: &impl Fn(u64) -> Option<Symbol<'a>>) -> Option<Self> {
        let mut parts = Self(vec![Part::of(function, image)?], Vec::new());
        let mut next = 0;
        while next < parts.0.len() && parts.0.len() < MOST {
            let targets: Vec<u64> = parts.0[next].instructions.iter().filter_map(|(one, _)| target(one)).collect();
            for target in targets {
                let is_known = parts.0.iter().any(|part| part.holds(target));
                let is_part = |symbol: &Symbol| {
                    let base = base_name(symbol.name);
                    !symbol.name.is_empty() && base != symbol.name && base == base_name(function.name)
                };
                if let (false, Some(symbol)) = (is_known, enclosing(target).filter(is_part)) {
                    parts.0.push(Part::of(symbol, image)?);
                }
            }
            next += 1;
        }
        Some(parts)
    }

    /// Notes which addresses of data it refers to.
    pub fn refer_to(self, addresses: Vec<u64>) -> Self {
        Self(self.0, addresses)
    }

    /// Whether it refers to anything else in a range.
    pub fn refers_into(&self, range: &Range<u64>, beside: u64) -> bool {
        self.1.iter().any(|address| *address != beside && range.contains(address))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Part<'a>> {
        self.0.iter()
    }

    /// Which instruction of the function is at an address, or follows what pads it there.
    pub fn place(&self, address: u64) -> Option<u64> {
        let (number, part) = self.0.iter().enumerate().find(|(_, part)| part.holds(address))?;
        let at = part.instructions.partition_point(|(one, _)| one.ip() < address);
        // In the middle of one, which is jumped into: `lock` may be skipped so.
        let inside = match at.checked_sub(1).map(|before| &part.instructions[before].0) {
            Some(before) if before.next_ip() > address => address - before.ip(),
            _ => 0,
        };
        Some((number as u64) << 40 | (at as u64) << 4 | inside)
    }

    /// Whether an instruction begins at an address.
    pub fn has_instruction_at(&self, address: u64) -> bool {
        let begins = |part: &Part| part.instructions.binary_search_by_key(&address, |(one, _)| one.ip()).is_ok();
        self.0.iter().any(begins)
    }

    /// Whether it jumps where a register says, as by a table.
    pub fn jumps_by_table(&self) -> bool {
        let jumps = |(one, _): &(Instruction, &[u8])| one.is_jmp_near_indirect();
        self.0.iter().any(|part| part.instructions.iter().any(jumps))
    }
}

impl<'a> Part<'a> {
    fn of(symbol: Symbol<'a>, image: &Image<'a>) -> Option<Self> {
        let end = symbol.address.checked_add(symbol.size).filter(|_| (1..=LONGEST).contains(&symbol.size))?;
        let bytes = image.bytes(&(symbol.address..end)).filter(|_| image.is_code(symbol.address))?;
        let mut decoder = Decoder::with_ip(64, bytes, symbol.address, DecoderOptions::NONE);
        let mut instructions = Vec::new();
        while decoder.can_decode() {
            let from = decoder.position();
            let instruction = decoder.decode();
            if !matches!(instruction.mnemonic(), Mnemonic::Nop | Mnemonic::Int3) {
                instructions.push((instruction, &bytes[from..decoder.position()]));
            }
        }
        Some(Self { instructions, start: symbol.address, end })
    }

    fn holds(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }
}

/// Where an instruction goes to, if it says so itself.
pub fn target(instruction: &Instruction) -> Option<u64> {
    let goes = instruction.flow_control() != FlowControl::Next;
    (goes && instruction.op_count() > 0 && instruction.op0_kind() == OpKind::NearBranch64)
        .then(|| instruction.near_branch_target())
}
