//! Trees: as tables, as tables of callers and as CSV.

mod callers;
mod csv;
mod guides;
mod table;

use crate::subject;
use crate::tree::{Document, Node, Tree};

pub use callers::write as callers;
pub use csv::write as csv;
pub use table::write as table;

/// What the correction of a single call of a branch may be off by: nothing where nothing was corrected.
fn error_of_call(document: &Document, tree: &Tree, node: &Node) -> f64 {
    match document.raw {
        true => 0.0,
        false => subject::error_of_call(tree.subject.overhead.error_ns, node.total_error_ns, node.calls),
    }
}
