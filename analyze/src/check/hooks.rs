//! Where a module's code goes when it calls a hook: to the linkage table, and so to whatever module comes first with
//! such a function, or to a hook of its own.

use std::ops::Range;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Mnemonic, OpKind, Register};
use object::elf::{R_X86_64_64, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, R_X86_64_RELATIVE, SHF_EXECINSTR};
use object::read::elf::SectionHeader;
use object::{Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget};
use rustc_hash::FxHashMap;

use diytrace_profile::elf::{HOOK, Parsed};

const EXIT_HOOK: &str = "__cyg_profile_func_exit";

/// Which hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    /// The one that is called when a function is entered.
    Enter,
    /// The one that is called when it is left.
    Exit,
}

/// Which module's hook is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// The first one that the loader finds.
    Linkage,
    /// The module's own: no other can take its place.
    Own,
}

/// A module's ways to the hooks.
#[derive(Debug, Default)]
pub struct Hooks {
    /// Entries of the global offset table.
    slots: FxHashMap<u64, Hook>,
    /// Entries of the procedure linkage table, and hooks in the module itself.
    targets: FxHashMap<u64, (Hook, Route)>,
    /// Functions whose addresses the global offset table holds.
    functions: FxHashMap<u64, u64>,
    /// Enter and exit are one empty function, as libc has them: in a static program nothing tells them apart.
    pub are_one: bool,
}

/// A section of code.
#[derive(Clone, Copy, Debug)]
pub struct Section<'a> {
    /// Its ELF virtual address.
    pub address: u64,
    /// Its bytes.
    pub bytes: &'a [u8],
}

impl Section<'_> {
    /// Its addresses.
    pub fn range(&self) -> Range<u64> {
        self.address..self.address.saturating_add(self.bytes.len() as u64)
    }
}

/// A module's sections of code: functions, and the procedure linkage table.
pub fn sections<'a>(elf: &Parsed<'a>) -> [Vec<Section<'a>>; 2] {
    let mut sections = [Vec::new(), Vec::new()];
    for section in elf.sections() {
        let flags = section.elf_section_header().sh_flags(elf.endian());
        let name = section.name().unwrap_or_default();
        let is_code = flags.contains(SHF_EXECINSTR) && ![".init", ".fini"].contains(&name);
        let Some(bytes) = section.data().ok().filter(|bytes| is_code && !bytes.is_empty()) else { continue };
        sections[usize::from(name.starts_with(".plt"))].push(Section { address: section.address(), bytes });
    }
    sections
}

impl Hooks {
    /// Reads a module's relocations, symbols and linkage tables.
    pub fn read(elf: &Parsed, linkage: &[Section<'_>]) -> Self {
        let mut hooks = Self::default();
        hooks.read_relocations(elf);
        for symbol in elf.symbols().chain(elf.dynamic_symbols()).filter(|symbol| symbol.is_definition()) {
            if let Some(hook) = symbol.name().ok().and_then(hook) {
                let before = hooks.targets.insert(symbol.address(), (hook, Route::Own));
                hooks.are_one |= before.is_some_and(|(other, _)| other != hook);
            }
        }
        for section in linkage {
            hooks.read_stubs(section);
        }
        hooks
    }

    fn read_relocations(&mut self, elf: &Parsed) {
        let offsets: Vec<_> = [".got", ".got.plt"].iter().filter_map(|name| elf.section_by_name(name)).collect();
        let offsets: Vec<_> =
            offsets.iter().map(|table| table.address()..table.address().saturating_add(table.size())).collect();
        let Some(symbols) = elf.dynamic_symbol_table() else { return };
        for (slot, relocation) in elf.dynamic_relocations().into_iter().flatten() {
            if !offsets.iter().any(|table| table.contains(&slot)) {
                continue;
            }
            let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
            match relocation.target() {
                RelocationTarget::Symbol(index)
                    if [R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, R_X86_64_64].contains(&r_type) =>
                {
                    let Ok(symbol) = object::ObjectSymbolTable::symbol_by_index(&symbols, index) else { continue };
                    match symbol.name().ok().and_then(hook) {
                        Some(hook) => _ = self.slots.insert(slot, hook),
                        None if symbol.is_definition() => _ = self.functions.insert(slot, symbol.address()),
                        None => {}
                    }
                }
                _ if r_type == R_X86_64_RELATIVE => _ = self.functions.insert(slot, relocation.addend() as u64),
                _ => {}
            }
        }
    }

    /// A stub is a jump through the global offset table. Depending on linker and options, marks or moves come before.
    fn read_stubs(&mut self, section: &Section<'_>) {
        let mut stub = Vec::new();
        for instruction in &mut Decoder::with_ip(64, section.bytes, section.address, DecoderOptions::NONE) {
            stub.push(instruction.ip());
            let through_table = instruction.mnemonic() == Mnemonic::Jmp
                && instruction.op0_kind() == OpKind::Memory
                && instruction.memory_base() == Register::RIP;
            let hook = self.slots.get(&instruction.memory_displacement64()).filter(|_| through_table);
            if let Some(&hook) = hook {
                self.targets.extend(stub.iter().map(|&start| (start, (hook, Route::Linkage))));
            }
            if instruction.flow_control() != FlowControl::Next {
                stub.clear();
            }
        }
    }

    /// What is reached by a call or jump to an address.
    pub fn at(&self, target: u64) -> Option<(Hook, Route)> {
        self.targets.get(&target).copied()
    }

    /// What is reached by a call or jump through an entry of the global offset table.
    pub fn through(&self, slot: u64) -> Option<(Hook, Route)> {
        self.slots.get(&slot).map(|&hook| (hook, Route::Linkage))
    }

    /// The function whose address is in an entry of the global offset table.
    pub fn function_in(&self, slot: u64) -> Option<u64> {
        self.functions.get(&slot).copied()
    }

    /// Whether the module can call no hook at all.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty() && self.targets.is_empty()
    }
}

fn hook(symbol: &str) -> Option<Hook> {
    match symbol.split('@').next() {
        Some(HOOK) => Some(Hook::Enter),
        Some(EXIT_HOOK) => Some(Hook::Exit),
        _ => None,
    }
}
