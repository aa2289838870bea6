//! Calls that are counted by function only: of all processes of a profile, in one place.

use diytrace_format::protocol::by_function::of_key;
use diytrace_format::reader::{File, Located};
use diytrace_format::{Ref, Slot, UNIT, arena, node};

use super::family::Arena;
use super::node::{Node, Off};
use super::nodes::Nodes;
use super::timed::Timed;
use crate::process::State;

/// What a block of such counts has, as if it were an arena: a path for each function, whose calls have no times and
/// belong to no single process. `None` if nothing was counted.
pub fn read_counts(file: &File, block: &Located) -> Option<Arena> {
    let flags = arena::flag::MERGED | arena::flag::ENDED;
    let facts = diytrace_format::Arena { epoch: file.header().epoch, flags, ..diytrace_format::Arena::default() };
    let name = (block.offset / UNIT) as Ref;
    let (names, nodes): (Vec<Ref>, Nodes) = file
        .counts(block)
        .map(|(place, count)| {
            let (function, module) = of_key(count.key);
            let slots = [Slot { calls: count.calls, ..Slot::default() }, Slot::default()];
            let path = Node {
                function,
                site: 0,
                hook: 0,
                target: 0,
                module,
                site_module: 0,
                flags: node::flag::FOLDED,
                parent: None,
                folded_into: None,
                is_root: false,
                is_open_since_reset: false,
                has_histogram: false,
                unwound: 0,
                timed: Timed::None,
                slots,
                off: Off::default(),
            };
            (place, path)
        })
        .unzip();
    (!nodes.is_empty()).then_some(Arena {
        facts,
        name,
        state: State::Exited,
        is_before_reset: false,
        recycling: None,
        by_name: Vec::new(),
        names,
        nodes,
        functions: Vec::new(),
    })
}
