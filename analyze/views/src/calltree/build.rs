//! Builds call trees from merged profiles.

use std::collections::BTreeMap;
use std::rc::Rc;

use diytrace_format::node::flag;

use super::open::tell_open;
use super::{Aside, CallTree, CallTrees, Fold, Function, Node, NodeId, NodeTimes, Site, SiteId};
use crate::subject::{clock, subject};
use diytrace_profile::correct::{PathTimes, correct};
use diytrace_profile::error::Error;
use diytrace_profile::functions::Names;
use diytrace_profile::functions::Roots;
use diytrace_profile::functions::{Call, Calls, Spelling};
use diytrace_profile::functions::{FunctionId, functions};
use diytrace_profile::memory::give_back;
use diytrace_profile::merge::{Group, PathId};
use diytrace_profile::opened::Opened;
use diytrace_profile::spent::Kind;
use diytrace_profile::symbolize::{Probe, Symbols};
use diytrace_profile::time::Time;
use diytrace_profile::warnings;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

/// What goes into call trees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Patterns of functions of interest. Empty: those it was recorded with, or none.
    pub roots: Vec<String>,
    /// Patterns of functions: only calls inside these are in the trees. Empty: all.
    pub inside: Vec<String>,
    /// Patterns of functions to mark as named.
    pub functions: Vec<String>,
    /// Whether functions of one name but several addresses stay apart.
    pub by_address: bool,
    /// How names are written.
    pub spelling: Spelling,
    /// Which lines are looked up.
    pub lines: Lines,
    /// Which time is told.
    pub time: Kind,
}

/// Which lines are looked up: for a large program that takes seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lines {
    /// None.
    None,
    /// Those that functions begin at.
    Functions,
    /// Those and the ones that calls are written at.
    #[default]
    All,
}

/// Builds the call trees of profiles.
pub fn build(opened: &Opened, symbols: &Symbols, options: &Options) -> Result<CallTrees, Error> {
    let roots = Roots::of(&options.roots, &opened.loaded.profiles).in_full(symbols, &opened.merged.function_places());
    let names = Names::of(&opened.merged, symbols, &roots, options.by_address, options.spelling);
    roots.check(symbols, &names.places())?;
    let in_full = |patterns: &Vec<String>| Roots::named(patterns).in_full(symbols, &names.places());
    let [inside, named] = [&options.inside, &options.functions].map(in_full);
    inside.check(symbols, &names.places())?;
    named.check(symbols, &names.places())?;
    let of = |roots: &Roots| -> FxHashSet<FunctionId> {
        let functions = names.functions.iter().filter(|(_, name)| roots.contain(symbols, name.place));
        functions.map(|(&id, _)| id).collect()
    };
    let (is_narrowed, inside, named) = (!options.inside.is_empty(), of(&inside), of(&named));
    let calls = Calls::new(&opened.merged, symbols);
    let builder = Builder { symbols, calls, names, inside: is_narrowed.then_some(inside), named, time: options.time };
    let trees = opened.merged.groups.iter().map(|group| builder.tree(group)).collect::<Result<_, _>>()?;
    let sites = builder.calls.all();
    builder.find_lines(options.lines, &sites);
    Ok(CallTrees {
        clock: clock(&opened.loaded),
        runs: opened.runs,
        warnings: warnings::all(&opened.loaded, &opened.merged, symbols),
        roots: roots.patterns,
        time: options.time,
        modules: opened.merged.modules.clone(),
        functions: builder.functions(),
        sites: sites.iter().map(|call| builder.site(call)).collect(),
        trees,
    })
}

struct Builder<'a, 'f> {
    symbols: &'a Symbols<'f>,
    calls: Calls<'a, 'f>,
    names: Names,
    /// If only what is inside some functions is wanted: those.
    inside: Option<FxHashSet<FunctionId>>,
    /// Functions that somebody has named.
    named: FxHashSet<FunctionId>,
    time: Kind,
}

impl Builder<'_, '_> {
    fn tree(&self, group: &Group) -> Result<CallTree, Error> {
        let mut times = correct(group);
        let mut subject = subject(group);
        let is_path = |path: &PathId| !group.tree.paths.is_edge(*path);
        let all_self = (0..group.tree.paths.len() as PathId).filter(is_path);
        subject.compare_with(all_self.map(|path| times.corrected.get(path as usize).own).sum::<Time>().ns());
        if !self.time.keep(&mut times, &group.tree) {
            return Err(Error::UnknownKindOfTime);
        }
        let are_inlined = self.calls.inlined_ends(&group.tree);
        let is_inlined = |path: PathId| are_inlined[group.tree.paths.number_of(path) as usize];
        let functions = functions(group, &times, &self.names.ids, is_inlined);
        let paths = &group.tree.paths;
        let ends: Vec<(FunctionId, u32)> = paths.ends().map(|end| (self.names.ids[&end.function], end.flags)).collect();
        let end = |path: PathId| ends[paths.number_of(path) as usize];
        // What is not timed is counted only for what it cost others.
        let mut ids: Vec<Option<NodeId>> = Vec::with_capacity(paths.len());
        let mut places: Vec<Placed> = Vec::with_capacity(paths.len());
        for path in 0..paths.len() as PathId {
            let parent = paths.parent(path).and_then(|parent| ids[parent as usize]);
            let is_inside = || self.inside.as_ref().is_none_or(|inside| inside.contains(&end(path).0));
            let is_of_edge = paths.is_edge(path) || paths.parent(path).is_some_and(|parent| paths.is_edge(parent));
            if paths.is_untimed(path) || is_of_edge || parent.is_none() && !is_inside() {
                ids.push(None);
                continue;
            }
            let depth = parent.map_or(0, |parent| places[parent as usize].depth + 1);
            ids.push(Some(places.len() as NodeId));
            places.push(Placed { path, parent, depth, site: self.calls.id(&group.tree, path) });
        }
        let edges = (0..paths.len() as PathId).filter(|path| paths.is_edge(*path));
        let edges: Vec<Placed> =
            edges.map(|path| Placed { path, parent: None, depth: 0, site: self.calls.id(&group.tree, path) }).collect();
        let node = |(id, &Placed { path, parent, depth, site }): (usize, &Placed)| {
            let (function, flags) = end(path);
            let (corrected, raw) = (times.corrected.get(path as usize), times.raw.get(path as usize));
            let calls = paths.calls(path);
            let (open, ended, unwound, without_times) = paths.unusual(path).map_or((0, calls, 0, 0), |counts| {
                let open = counts.open.saturating_add(counts.open_since_reset);
                (open, counts.closed, counts.unwound, counts.without_times)
            });
            Node {
                parent,
                end: id as NodeId + 1,
                depth,
                function,
                site,
                fold: match paths.folded_into(path).and_then(|head| ids[head as usize]) {
                    Some(head) => Fold::Recursion(head),
                    None if flags & flag::OTHERS != 0 => Fold::Others,
                    None if flags & flag::FOLDED != 0 => Fold::Paths,
                    None => Fold::No,
                },
                calls,
                open,
                ended,
                unwound,
                without_times,
                corrected: node_times(&corrected),
                raw: node_times(&raw),
                error: corrected.error,
                own_error: corrected.own_error,
                wait: paths.off(path).split(corrected.own).map(|split| split.wait),
            }
        };
        // Most of this is to wait for new memory.
        let mut nodes: Vec<Node> = places.par_iter().enumerate().map(node).collect();
        sum_up(&mut nodes);
        if self.inside.is_none() {
            tell_open(&mut nodes, &functions);
        }
        let aside = edges.iter().filter(|_| self.inside.is_none()).map(|edge| {
            let mut node = node((0, edge));
            for (sums, times) in [(&mut node.corrected, &times.corrected), (&mut node.raw, &times.raw)] {
                sums.total = times.inclusive(edge.path as usize);
            }
            Aside {
                node,
                caller: self.names.ids.get(&paths.site(edge.path)).copied(),
                is_outermost: paths.flags(edge.path) & flag::NESTED == 0,
            }
        });
        let aside = aside.collect();
        give_back(times);
        Ok(CallTree { subject, is_narrowed: self.inside.is_some(), nodes, aside, functions })
    }

    fn find_lines(&self, lines: Lines, sites: &[Rc<Call>]) {
        let functions = self.names.functions.values().map(|name| (name.place, Probe::Function));
        let calls = sites.iter().map(|call| (call.site, call.probe));
        self.symbols.find_lines(match lines {
            Lines::None => Vec::new(),
            Lines::Functions => functions.collect(),
            Lines::All => functions.chain(calls).collect(),
        });
    }

    fn functions(&self) -> BTreeMap<FunctionId, Function> {
        let function = |(&id, name): (&FunctionId, &diytrace_profile::functions::Name)| {
            let line = self.symbols.line(name.place, Probe::Function);
            let function = Function {
                name: name.name.clone(),
                symbol: name.symbol.clone(),
                module: name.place.module,
                address: name.place.address,
                addresses: name.addresses,
                line: line.as_ref().map(|line| line.line),
                file: line.map(|line| line.file),
                is_root: name.is_root,
                is_named: self.named.contains(&id),
            };
            (id, function)
        };
        self.names.functions.iter().map(function).collect()
    }

    fn site(&self, call: &Call) -> Site {
        let line = self.symbols.line(call.site, call.probe);
        Site {
            module: call.site.module,
            address: call.site.address,
            line: line.as_ref().map(|line| line.line),
            file: line.map(|line| line.file),
            kind: call.kind,
            via: call.via.clone(),
            into: call.into.clone(),
            unrecorded: call.unrecorded.clone(),
        }
    }
}

/// Where a path has come.
struct Placed {
    path: PathId,
    parent: Option<NodeId>,
    depth: u32,
    site: SiteId,
}

fn node_times(times: &PathTimes) -> NodeTimes {
    let PathTimes { own, closed, .. } = *times;
    NodeTimes { own, total: own, closed: closed.at_least_zero() }
}

/// Makes totals and ends of nodes whose totals are their own times.
fn sum_up(nodes: &mut [Node]) {
    // Every node comes after the one above it: in reverse, all below a node are done before it.
    for id in (0..nodes.len()).rev() {
        let Some(parent) = nodes[id].parent.map(|parent| parent as usize) else { continue };
        let Node { corrected, raw, end, .. } = nodes[id];
        let above = &mut nodes[parent];
        above.corrected.total += corrected.total;
        above.raw.total += raw.total;
        above.end = above.end.max(end);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::trees;
    use diytrace_profile::testing::{Call, Truth, calls};
    use diytrace_profile::time::Time;

    #[test]
    fn a_folded_recursion_has_its_calls_apart_and_its_time_at_the_head() {
        let call = |own, callees| Call { function: 0x1000, own, callees };
        let trees = trees(&[call(1, vec![call(2, vec![call(4, Vec::new())])])], 1);
        let nodes: Vec<_> = (trees.trees[0].nodes.iter())
            .map(|node| (node.depth, node.fold, node.calls, node.corrected.own.ns(), node.corrected.total.ns()))
            .collect();
        assert_eq!(nodes, [(0, Fold::No, 1, 7.0, 7.0), (1, Fold::Recursion(0), 2, 0.0, 0.0)]);
    }

    proptest! {
        #[test]
        fn totals_are_sums_of_own_times(calls in calls(), fold_at in 1usize..5) {
            let truth = Truth::of(&calls);
            let trees = trees(&calls, fold_at);
            let tree = &trees.trees[0];
            for (id, node) in tree.nodes.iter().enumerate() {
                let below = &tree.nodes[id..node.end as usize];
                prop_assert_eq!(below.iter().map(|node| node.corrected.own).sum::<Time>(), node.corrected.total);
                prop_assert_eq!(below.iter().map(|node| node.raw.own).sum::<Time>(), node.raw.total);
                prop_assert!(node.parent.is_none_or(|parent| tree.nodes[parent as usize].depth + 1 == node.depth));
            }
            let tops = tree.nodes.iter().filter(|node| node.parent.is_none());
            prop_assert_eq!(tops.map(|node| node.corrected.total.ns()).sum::<f64>(), truth.all as f64);
            prop_assert_eq!(tree.nodes.iter().map(|node| node.calls).sum::<u64>(), truth.calls.values().sum::<u64>());
        }
    }
}
