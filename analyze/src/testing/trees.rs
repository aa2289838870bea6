//! Call trees of made-up calls.

use super::{Call, arena, family, record};
use crate::calltree::{CallTrees, Options, build};
use crate::load::costs::{Costs, Evidence};
use crate::load::{Family, Loaded};
use crate::merge::{By, merge};
use crate::opened::Opened;

/// The call tree of calls that were recorded; their functions' names are their addresses.
pub fn trees(calls: &[Call], fold_at: usize) -> CallTrees {
    let costs = Costs { inner: 2.0, outer: 3.0, ..Costs::default() };
    let family = Family { evidence: Evidence::of_costs(costs), ..family(vec![arena(record(calls, costs, fold_at))]) };
    let loaded = Loaded::default();
    let opened = Opened::of(loaded, merge(&[family], By::All, None));
    let symbols = opened.symbols();
    build(&opened, &symbols, &Options::default()).unwrap()
}
