//! Machine code around calls, as text.

use std::collections::BTreeMap;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Formatter, IntelFormatter};

use super::document::{Call, Instruction};
use diytrace_profile::demangle::shown;
use diytrace_profile::merge::Place;
use diytrace_profile::symbolize::{CallForm, Symbols};
use diytrace_profile::units::Address;

/// Instructions around the call sites of a function, each with the calls that return there. `context` says how many to
/// show before each call; those whose code cannot be read stay in `sites`.
pub fn instructions(
    symbols: &Symbols,
    module: Place,
    sites: &mut BTreeMap<u64, Vec<Call>>,
    context: usize,
) -> Vec<Instruction> {
    let at = |address: u64| Place { address, ..module };
    // Code is decoded from where a function begins: a site may lie in another that the function is inlined in.
    let mut bodies: BTreeMap<u64, u64> = BTreeMap::new();
    for &site in sites.keys() {
        if let Some(symbol) = symbols.enclosing(at(site.saturating_sub(1))) {
            bodies.insert(symbol.address, symbol.size);
        }
    }
    let mut found = Vec::new();
    for (start, size) in bodies {
        let Some(bytes) = symbols.bytes(at(start), size) else { continue };
        let all = decode(symbols, at(start), bytes);
        let calls: Vec<usize> = (0..all.len()).filter(|&index| sites.contains_key(&all[index].2)).collect();
        let mut last = None;
        for (index, (address, text, next)) in all.iter().enumerate() {
            let is_near = calls.iter().any(|&call| (index..=index + context).contains(&call) || index == call + 1);
            if !is_near {
                continue;
            }
            let follows_gap = last.is_some_and(|last| last + 1 != index) || last.is_none() && !found.is_empty();
            last = Some(index);
            let calls = sites.remove(next).unwrap_or_default();
            found.push(Instruction { address: Address(*address), text: text.clone(), follows_gap, calls });
        }
    }
    found
}

/// Address, text and end of each instruction.
fn decode(symbols: &Symbols, start: Place, bytes: &[u8]) -> Vec<(u64, String, u64)> {
    let mut formatter = IntelFormatter::new();
    let options = formatter.options_mut();
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_small_hex_numbers_in_decimal(true);
    options.set_space_after_operand_separator(true);
    options.set_branch_leading_zeros(false);
    options.set_rip_relative_addresses(false);
    let decoder = Decoder::with_ip(64, bytes, start.address, DecoderOptions::NONE);
    let mut all = Vec::new();
    for instruction in decoder {
        let mut text = String::new();
        formatter.format(&instruction, &mut text);
        let is_branch = matches!(
            instruction.flow_control(),
            FlowControl::Call | FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch
        );
        if is_branch && instruction.is_call_near() || instruction.is_jmp_near() {
            let target = Place { address: instruction.near_branch_target(), ..start };
            let is_through_table = instruction.is_call_near()
                && symbols.call_before(Place { address: instruction.next_ip(), ..start }) == CallForm::Plt;
            text = if is_through_table { text + " <PLT>" } else { with_name(symbols, start, target, text) };
        }
        all.push((instruction.ip(), text, instruction.next_ip()));
    }
    all
}

/// A branch to another function, with its name.
fn with_name(symbols: &Symbols, start: Place, target: Place, text: String) -> String {
    let symbol = symbols.enclosing(target).filter(|symbol| !symbol.name.is_empty() && symbol.address != start.address);
    match symbol {
        Some(symbol) if target.address == symbol.address => format!("{text} <{}>", shown(symbol.name)),
        Some(symbol) => format!("{text} <{}+{:#x}>", shown(symbol.name), target.address - symbol.address),
        None => text,
    }
}
