//! Trees: as tables, as tables of callers and as CSV.

mod callers;
mod csv;
mod guides;
mod table;

use crate::tree::{Document, Node, Tree};

pub use callers::write as callers;
pub use csv::write as csv;
pub use table::write as table;

/// What the correction of a single call of a branch may be off by: for its own hooks, or for those of the calls inside it. Nothing where
/// nothing was corrected.
fn error_of_call(document: &Document, tree: &Tree, node: &Node) -> f64 {
    if document.raw {
        return 0.0;
    }
    tree.subject.overhead.error_ns.max(node.total_error_ns / node.calls.max(1) as f64)
}
