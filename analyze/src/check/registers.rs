//! Which register holds the address of which function, as far as reading code from top to bottom tells.
//!
//! Compilers load a hook's first argument right before the call, or once for all hooks of a function into a register
//! that calls preserve.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use super::hooks::Hooks;

/// General-purpose registers.
const COUNT: usize = 16;

/// Those that a call may change: rax, rcx, rdx, rsi, rdi and r8 to r11, by their numbers.
const CHANGED_BY_CALLS: [usize; 9] = [0, 1, 2, 6, 7, 8, 9, 10, 11];

/// What the registers hold.
#[derive(Debug, Default)]
pub struct Registers([Option<u64>; COUNT]);

impl Registers {
    /// The first argument of a call.
    pub fn first_argument(&self) -> Option<u64> {
        self.0[number(Register::RDI)?]
    }

    /// Goes on by one instruction.
    pub fn follow(&mut self, instruction: &Instruction, hooks: &Hooks) {
        if instruction.mnemonic() == Mnemonic::Call {
            for register in CHANGED_BY_CALLS {
                self.0[register] = None;
            }
            return;
        }
        let is_read_only = matches!(instruction.mnemonic(), Mnemonic::Cmp | Mnemonic::Test | Mnemonic::Push);
        if is_read_only || instruction.op_count() == 0 || instruction.op0_kind() != OpKind::Register {
            return;
        }
        if let Some(register) = number(instruction.op0_register().full_register()) {
            self.0[register] = self.value(instruction, hooks);
        }
    }

    /// What an instruction writes, if that is the address of a function.
    fn value(&self, instruction: &Instruction, hooks: &Hooks) -> Option<u64> {
        let from_memory = |kind| kind == OpKind::Memory && instruction.memory_base() == Register::RIP;
        match (instruction.mnemonic(), instruction.op1_kind()) {
            (Mnemonic::Lea, kind) if from_memory(kind) => Some(instruction.memory_displacement64()),
            (Mnemonic::Mov, kind) if from_memory(kind) => hooks.function_in(instruction.memory_displacement64()),
            (Mnemonic::Mov, OpKind::Register) => self.0[number(instruction.op1_register())?],
            (Mnemonic::Mov, OpKind::Immediate32) => Some(u64::from(instruction.immediate32())),
            (Mnemonic::Mov, OpKind::Immediate32to64 | OpKind::Immediate64) => Some(instruction.immediate(1)),
            _ => None,
        }
    }
}

fn number(register: Register) -> Option<usize> {
    register.is_gpr64().then(|| register.number())
}

#[cfg(test)]
mod tests {
    use iced_x86::{Decoder, DecoderOptions};

    use super::*;

    /// The first argument after this code, which lies at 0x1000.
    fn argument(code: &[u8]) -> Option<u64> {
        let mut registers = Registers::default();
        for instruction in &mut Decoder::with_ip(64, code, 0x1000, DecoderOptions::NONE) {
            registers.follow(&instruction, &Hooks::default());
        }
        registers.first_argument()
    }

    #[test]
    fn what_compilers_write_before_a_hook() {
        for (code, expected) in [
            (&[0x48, 0x8d, 0x3d, 0xf9, 0x00, 0, 0][..], Some(0x1100)), // lea rdi, [rip+…]
            (&[0xbf, 0x00, 0x20, 0x40, 0x00], Some(0x40_2000)),        // mov edi, 0x402000
            (&[0x48, 0x8d, 0x1d, 0xf9, 0x00, 0, 0, 0xe8, 0, 0, 0, 0, 0x48, 0x89, 0xdf], Some(0x1100)), // lea rbx; call; mov rdi, rbx
            (&[0x48, 0x8d, 0x05, 0xf9, 0x00, 0, 0, 0xe8, 0, 0, 0, 0, 0x48, 0x89, 0xc7], None), // lea rax; call; mov rdi, rax
            (&[0x48, 0x8d, 0x3d, 0xf9, 0x00, 0, 0, 0x31, 0xff], None),                         // lea rdi; xor edi, edi
            (&[0x48, 0x8d, 0x3d, 0xf9, 0x00, 0, 0, 0x48, 0x85, 0xff], Some(0x1100)),           // lea rdi; test rdi, rdi
        ] {
            assert_eq!(argument(code), expected, "{code:x?}");
        }
    }
}
