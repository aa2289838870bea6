//! Where a module calls the hooks.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, OpKind, Register};
use rayon::prelude::*;

use super::bodies::Bodies;
use super::hooks::{Hook, Hooks, Route, Section};
use super::registers::Registers;

/// A call of a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Where it is.
    pub address: u64,
    /// What is called.
    pub hook: Hook,
    /// Which module's.
    pub route: Route,
    /// A jump, as the function's last act.
    pub is_jump: bool,
    /// The function that it is about, where that can be read.
    pub function: Option<u64>,
}

/// Finds all calls of hooks, in the order of their addresses.
pub fn find(code: &[Section], bodies: &Bodies, hooks: &Hooks) -> Vec<Site> {
    if hooks.is_empty() {
        return Vec::new();
    }
    let regions: Vec<Section> = code.iter().flat_map(|section| regions(section, bodies)).collect();
    let mut sites: Vec<Site> = regions.par_iter().flat_map_iter(|region| in_region(region, hooks)).collect();
    sites.sort_unstable_by_key(|site| site.address);
    sites
}

/// Cuts a section where functions start.
fn regions<'a>(section: &Section<'a>, bodies: &Bodies) -> Vec<Section<'a>> {
    let range = section.range();
    let starts = bodies.all().iter().map(|body| body.address);
    let starts = starts.filter(|start| range.contains(start) && *start > range.start);
    let mut edges: Vec<u64> = [range.start].into_iter().chain(starts).collect();
    edges.push(range.end);
    let region = |edge: &[u64]| {
        let offset = |address| (address - range.start) as usize;
        Section { address: edge[0], bytes: &section.bytes[offset(edge[0])..offset(edge[1])] }
    };
    edges.windows(2).map(region).collect()
}

fn in_region(region: &Section, hooks: &Hooks) -> Vec<Site> {
    let mut sites = Vec::new();
    let mut registers = Registers::default();
    let mut instruction = Instruction::default();
    let mut decoder = Decoder::with_ip(64, region.bytes, region.address, DecoderOptions::NONE);
    while decoder.can_decode() {
        decoder.decode_out(&mut instruction);
        if let Some((hook, route)) = called(&instruction, hooks) {
            let is_jump = !matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall);
            let function = registers.first_argument();
            sites.push(Site { address: instruction.ip(), hook, route, is_jump, function });
        }
        registers.follow(&instruction, hooks);
    }
    sites
}

fn called(instruction: &Instruction, hooks: &Hooks) -> Option<(Hook, Route)> {
    use FlowControl::{Call, ConditionalBranch, IndirectBranch, IndirectCall, UnconditionalBranch};
    match instruction.flow_control() {
        Call | UnconditionalBranch | ConditionalBranch if instruction.op0_kind() == OpKind::NearBranch64 => {
            hooks.at(instruction.near_branch_target())
        }
        IndirectCall | IndirectBranch if instruction.memory_base() == Register::RIP => {
            hooks.through(instruction.memory_displacement64())
        }
        _ => None,
    }
}
