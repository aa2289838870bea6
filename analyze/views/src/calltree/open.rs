//! How many calls of a path are open: one mark says that some are. Of several (coroutines that are suspended, a recursion that is folded)
//! a profile tells how many only by function, as calls that have returned are counted there.

use std::collections::BTreeMap;

use super::Node;
use diytrace_profile::functions::{Function, FunctionId};

/// Gives open calls of functions that have them on one path only to that path.
pub fn tell_open(nodes: &mut [Node], functions: &BTreeMap<FunctionId, Function>) {
    let mut marked: BTreeMap<FunctionId, Vec<usize>> = BTreeMap::new();
    for (id, node) in nodes.iter().enumerate().filter(|(_, node)| node.open > 0) {
        marked.entry(node.function).or_default().push(id);
    }
    for (function, ids) in marked {
        let Some(sums) = functions.get(&function).filter(|sums| sums.open_before == 0) else { continue };
        if let &[id] = &*ids {
            let node = &mut nodes[id];
            let more = sums.open().saturating_sub(node.open).min(node.ended);
            (node.open, node.ended) = (node.open + more, node.ended - more);
        }
    }
}
