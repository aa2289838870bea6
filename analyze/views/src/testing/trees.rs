//! Call trees of made-up calls.

use crate::calltree::{CallTrees, Options, build};
use diytrace_profile::load::costs::{Costs, Evidence};
use diytrace_profile::load::{Family, Loaded};
use diytrace_profile::merge::{By, merge};
use diytrace_profile::opened::Opened;
use diytrace_profile::testing::{Call, arena, family, record};

/// The call tree of calls that were recorded; their functions' names are their addresses.
pub fn trees(calls: &[Call], fold_at: usize) -> CallTrees {
    let costs = Costs { inner: 2.0, outer: 3.0, ..Costs::default() };
    let family = Family { evidence: Evidence::of_costs(costs), ..family(vec![arena(record(calls, costs, fold_at))]) };
    let loaded = Loaded::default();
    let opened = Opened::of(loaded, merge(&[family], By::All, None));
    let symbols = opened.symbols();
    build(&opened, &symbols, &Options::default()).unwrap()
}
