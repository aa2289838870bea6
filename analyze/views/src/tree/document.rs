//! Trees as data, in the shape of their JSON (`diytrace-tree/1`). Fields may be added, none changed.

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::branches::{Branch, Branches, What};
use super::select::{Shown, Thresholds};
use crate::builds::builds;
use crate::calltree::{CallTree, CallTrees, Function, SiteId};
use crate::subject::{Clock, Subject};
use diytrace_profile::functions::CallKind;
use diytrace_profile::functions::{self, FunctionId};
use diytrace_profile::time::Time;
use diytrace_profile::units::Address;

/// The name of the shape.
pub(super) const SCHEMA: &str = "diytrace-tree/1";

/// The trees of some profiles.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// The name of the shape: `diytrace-tree/1`.
    pub schema: &'static str,
    /// The recorder's clock.
    pub clock: Clock,
    /// What the reader should know.
    pub warnings: Vec<String>,
    /// How many runs are added up.
    pub runs: usize,
    /// Patterns of the functions that trees begin at; empty: there are none.
    pub roots: Vec<String>,
    /// Whether times are as measured.
    pub raw: bool,
    /// Which time is told: `wall`, all that passed; `cpu`, what of it was spent on a processor; or `wait`. The mean and the
    /// percentiles of calls are of all that passed.
    pub time: &'static str,
    /// Whether trees lead to callers: a node's numbers are then those of the top's calls that were made through it.
    pub callers: bool,
    /// Whether calls from several places stay apart.
    pub sites: bool,
    /// Whether shares are of self times.
    pub by_own: bool,
    /// Least share that a node has, in percent.
    pub min_percent: f64,
    /// One, or one for each process or thread.
    pub trees: Vec<Tree>,
}

/// A tree.
#[derive(Clone, Debug, Serialize)]
pub struct Tree {
    /// Whose calls these are.
    #[serde(flatten)]
    pub subject: Subject,
    /// Nodes, each directly before all below it.
    pub nodes: Vec<Node>,
    /// Tops that are left out.
    pub hidden: Option<Hidden>,
}

/// A branch: a function as it was called by the branch above it; in trees of callers, a caller of the one above.
#[derive(Clone, Debug, Serialize)]
pub struct Node {
    /// The node above, by its place in the list.
    pub parent: Option<usize>,
    /// Nodes above it.
    pub depth: u32,
    /// Name of the function.
    pub name: String,
    /// Path of its module.
    pub module: Option<String>,
    /// The beginning of that one's build ID, where another module here has a file of the same name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// ELF virtual address.
    pub address: Option<Address>,
    /// Where it is written.
    pub file: Option<String>,
    /// The line there.
    pub line: Option<u32>,
    /// Whether the function is recorded; callers need not be.
    pub is_recorded: bool,
    /// Whether these are recursive calls, whose time and callees are at a node of the same function above.
    pub is_recursion: bool,
    /// How most of the calls between this node and the one above were made.
    pub call: CallKind,
    /// Code without hooks between caller and callee, for most of the calls.
    pub via: Option<String>,
    /// Of inlined bodies: the function whose code they have become a part of.
    pub inlined_into: Option<String>,
    /// Where the calls were made.
    pub sites: Vec<Site>,
    /// Calls entered.
    pub calls: u64,
    /// Calls not yet returned.
    pub open: u64,
    /// Calls left without an exit.
    pub unwound: u64,
    /// Time with what was called.
    #[serde(serialize_with = "diytrace_profile::units::nanoseconds")]
    pub total_ns: f64,
    /// Time without it.
    #[serde(serialize_with = "diytrace_profile::units::nanoseconds")]
    pub self_ns: f64,
    /// How far off the total may be.
    #[serde(serialize_with = "diytrace_profile::units::nanoseconds")]
    pub total_error_ns: f64,
    /// How far off the self time may be.
    #[serde(serialize_with = "diytrace_profile::units::nanoseconds")]
    pub self_error_ns: f64,
    /// Time with what was called, as measured.
    #[serde(serialize_with = "diytrace_profile::units::nanoseconds")]
    pub total_raw_ns: f64,
    /// Time without it, as measured.
    #[serde(serialize_with = "diytrace_profile::units::nanoseconds")]
    pub self_raw_ns: f64,
    /// Mean time of calls that have ended.
    #[serde(serialize_with = "diytrace_profile::units::optional_nanoseconds")]
    pub mean_ns: Option<f64>,
    /// 99th percentile of these calls, where they are all that the function has: percentiles are kept by function.
    #[serde(serialize_with = "diytrace_profile::units::optional_nanoseconds")]
    pub p99_ns: Option<f64>,
    /// 99th percentile of all calls of the function.
    #[serde(serialize_with = "diytrace_profile::units::optional_nanoseconds")]
    pub function_p99_ns: Option<f64>,
    /// Part of the whole: of the tree's top if it is a root, else of all tops.
    pub share: Option<f64>,
    /// Nodes directly below that are left out.
    pub hidden: Option<Hidden>,
}

/// Nodes that are left out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Hidden {
    /// How many.
    pub nodes: u64,
    /// Their calls.
    pub calls: u64,
    /// Their time.
    #[serde(serialize_with = "diytrace_profile::units::nanoseconds")]
    pub total_ns: f64,
    /// Their own time.
    #[serde(serialize_with = "diytrace_profile::units::nanoseconds")]
    pub self_ns: f64,
    /// Their part of the whole.
    pub share: Option<f64>,
    /// Whether they are left out for their depth alone.
    pub is_deeper: bool,
}

/// A place from where calls were made.
#[derive(Clone, Debug, Serialize)]
pub struct Site {
    /// Return address of the call; of an inlined body, of its enter hook.
    pub address: Address,
    /// Where the call is written.
    pub file: Option<String>,
    /// The line there.
    pub line: Option<u32>,
    /// Calls entered.
    pub calls: u64,
    /// How they were made.
    pub call: CallKind,
    /// Code without hooks between caller and callee.
    pub via: Option<String>,
}

/// A tree as data; of callers, if it leads to these.
pub(super) fn tree(
    trees: &CallTrees,
    tree: &CallTree,
    branches: &Branches,
    thresholds: &Thresholds,
    callers: bool,
) -> Tree {
    let shown = thresholds.select(trees, tree, branches);
    let p99 = |(id, function): (&FunctionId, &functions::Function)| {
        function.histogram.percentiles([0.99]).map(|[p99]| (*id, p99.ns()))
    };
    let p99s = tree.functions.iter().filter_map(p99).collect();
    let builds = builds(&trees.modules);
    let builder = Builder { trees, tree, branches, thresholds, callers, shown: &shown, builds: &builds, p99s };
    let mut places = vec![None; branches.list.len()];
    let mut nodes = Vec::with_capacity(shown.branches.len());
    for &(id, depth) in &shown.branches {
        places[id] = Some(nodes.len());
        let parent = branches.list[id].above.and_then(|above| places[above]);
        nodes.push(Node { parent, ..builder.node(id, depth) });
    }
    Tree { subject: tree.subject.clone(), nodes, hidden: builder.hidden(&branches.tops, 0) }
}

struct Builder<'a> {
    trees: &'a CallTrees,
    tree: &'a CallTree,
    branches: &'a Branches,
    thresholds: &'a Thresholds,
    callers: bool,
    shown: &'a Shown,
    /// Of each module.
    builds: &'a [Option<String>],
    p99s: FxHashMap<FunctionId, f64>,
}

impl Builder<'_> {
    fn node(&self, id: usize, depth: u32) -> Node {
        let branch = &self.branches.list[id];
        let raw = self.thresholds.raw;
        let function = branch.what.function().map(|id| &self.trees.functions[&id]);
        let of_function = branch.what.function().and_then(|id| self.tree.functions.get(&id));
        let p99 = branch.what.function().and_then(|id| self.p99s.get(&id).copied());
        // A caller's numbers are those of the calls that it makes, however many it has itself.
        let is_caller = self.callers && branch.above.is_some();
        let has_all = matches!(branch.what, What::Function(_))
            && !is_caller
            && of_function.is_some_and(|function| function.calls == branch.calls);
        let times = branch.times(raw);
        let most = self.most(branch);
        let is_timed = self.is_timed(branch);
        let ns = |time: Time| if is_timed { time.ns() } else { f64::NAN };
        Node {
            parent: None,
            depth,
            name: name(&branch.what, function),
            module: function.map(|function| self.module(function)),
            build: function.and_then(|function| self.builds[function.module? as usize].clone()),
            address: function.map(|function| Address(function.address)),
            file: function.and_then(|function| function.file.clone()),
            line: function.and_then(|function| function.line),
            is_recorded: function.is_some(),
            is_recursion: matches!(branch.what, What::Recursion(_)),
            call: most.map_or(CallKind::Unknown, |site| self.trees.sites[site as usize].kind),
            via: most.and_then(|site| self.trees.sites[site as usize].via.clone()),
            inlined_into: most.and_then(|site| self.trees.sites[site as usize].into.clone()),
            sites: if branch.above.is_some() { self.sites(branch) } else { Vec::new() },
            calls: branch.calls,
            open: branch.open,
            unwound: branch.unwound,
            total_ns: ns(times.total),
            self_ns: ns(times.own),
            total_error_ns: ns(branch.error),
            self_error_ns: ns(branch.own_error),
            total_raw_ns: ns(branch.raw.total),
            self_raw_ns: ns(branch.raw.own),
            mean_ns: self.mean(branch, of_function.filter(|_| has_all)).filter(|_| is_timed),
            p99_ns: p99.filter(|_| has_all),
            function_p99_ns: p99,
            share: share(self.thresholds.weight(branch), self.shown.wholes[id]).filter(|_| is_timed),
            hidden: self.hidden(&branch.below, depth + 1),
        }
    }

    /// Mean time of the calls that have ended: where they are all that the function has, the report's.
    fn mean(&self, branch: &Branch, all: Option<&functions::Function>) -> Option<f64> {
        let raw = self.thresholds.raw;
        match all {
            Some(function) if raw => function.mean_raw(),
            Some(function) => function.mean(),
            None => branch.mean(raw),
        }
        .map(Time::ns)
    }

    fn is_timed(&self, branch: &Branch) -> bool {
        self.tree.subject.timing != "off" && !branch.are_only_counted()
    }

    fn module(&self, function: &Function) -> String {
        let module = function.module.map(|module| self.trees.modules[module as usize].path());
        module.unwrap_or_default().to_owned()
    }

    /// The kind of site that most calls were made at.
    fn most(&self, branch: &Branch) -> Option<SiteId> {
        branch.above?;
        let mut kinds: Vec<(SiteId, u64)> = Vec::new();
        let same = |a: SiteId, b: SiteId| {
            let (a, b) = (&self.trees.sites[a as usize], &self.trees.sites[b as usize]);
            (a.kind, &a.via, &a.into) == (b.kind, &b.via, &b.into)
        };
        for (site, calls) in branch.sites.iter() {
            match kinds.iter_mut().find(|(known, _)| same(*known, site)) {
                Some((_, sum)) => *sum += calls,
                None => kinds.push((site, calls)),
            }
        }
        let key = |site: SiteId| {
            let site = &self.trees.sites[site as usize];
            (site.kind, site.via.clone(), site.into.clone())
        };
        let most = kinds.into_iter().max_by_key(|&(site, calls)| (calls, std::cmp::Reverse(key(site))));
        most.map(|(site, _)| site)
    }

    fn sites(&self, branch: &Branch) -> Vec<Site> {
        let mut sites: Vec<Site> = (branch.sites.iter())
            .map(|(site, calls)| {
                let site = &self.trees.sites[site as usize];
                let (file, line, via) = (site.file.clone(), site.line, site.via.clone());
                Site { address: Address(site.address), file, line, calls, call: site.kind, via }
            })
            .collect();
        sites.sort_by_key(|site| (std::cmp::Reverse(site.calls), site.address));
        sites
    }

    fn hidden(&self, below: &[usize], depth: u32) -> Option<Hidden> {
        let hidden: Vec<usize> = below.iter().copied().filter(|&id| !self.shown.is_shown[id]).collect();
        let first = *hidden.first()?;
        let branches = || hidden.iter().map(|&id| &self.branches.list[id]);
        let sum = |time: &dyn Fn(&Branch) -> Time| branches().map(time).sum::<Time>();
        let total = sum(&|branch| branch.times(self.thresholds.raw).total);
        let own = sum(&|branch| branch.times(self.thresholds.raw).own);
        let weight = sum(&|branch| self.thresholds.weight(branch));
        let is_timed = branches().any(|branch| self.is_timed(branch));
        let known = |time: Time| if is_timed { time.ns() } else { f64::NAN };
        Some(Hidden {
            nodes: hidden.len() as u64,
            calls: branches().fold(0, |calls, branch| calls.saturating_add(branch.calls)),
            total_ns: known(total),
            self_ns: known(own),
            share: share(weight, self.shown.wholes[first]),
            is_deeper: self.thresholds.depth.is_some_and(|most| depth > most),
        })
    }
}

fn name(what: &What, function: Option<&Function>) -> String {
    match (what, function) {
        (_, Some(function)) => function.name.clone(),
        (What::Unrecorded(Some(name)), None) => name.clone(),
        _ => "(unknown)".to_owned(),
    }
}

fn share(part: Time, whole: Time) -> Option<f64> {
    (whole > Time::ZERO).then(|| part.ns() / whole.ns())
}
