//! Builds the document: functions with names, sorted and selected.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::columns::Column;
use super::document::{Bar, Callee, Document, Function, InlinedInto, Layout, Report, SCHEMA, Site};
use super::filter::Filter;
use super::order::{sort_callees, sort_functions};
use super::{Detail, Format, Options, Sort, Spent};
use diytrace_format::node::flag;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::builds::builds;
use crate::subject::{clock, subject};
use diytrace_profile::correct::correct;
use diytrace_profile::error::Error;
use diytrace_profile::functions::{
    self, Call, CallId, CallKind, Calls, Edge, FunctionId, Kinds, Names, Roots, functions,
};
use diytrace_profile::histogram::Histogram;
use diytrace_profile::memory::give_back;
use diytrace_profile::merge::{Group, Merged, PathId, Place, PlaceId, Tree};
use diytrace_profile::opened::Opened;
use diytrace_profile::symbolize::{Probe, Symbols};
use diytrace_profile::time::Time;
use diytrace_profile::units::Address;

/// Builds the document, all but its warnings.
pub fn build(options: &Options, opened: &Opened, symbols: &Symbols) -> Result<Document, Error> {
    let Opened { loaded, merged, .. } = opened;
    let roots = Roots::of(&options.roots, &loaded.profiles).in_full(symbols, &merged.function_places());
    let by_address = options.by_address || options.format == Format::Json;
    let names = Names::of(merged, symbols, &roots, by_address, options.spelling);
    roots.check(symbols, &names.places())?;
    let named = Roots::named(&options.filter.functions).in_full(symbols, &names.places());
    named.check(symbols, &names.places())?;
    let calls = Calls::new(merged, symbols);
    let is_narrowed = !options.columns.is_empty() || !options.filter.is_empty();
    let is_list = roots.patterns.is_empty() || is_narrowed && !roots.are_asked_for;
    let layout = match is_list {
        _ if options.timeline => Layout::Timelines,
        true => Layout::Functions(options.columns.clone()),
        false => Layout::Roots,
    };
    let builds = builds(&merged.modules);
    let builder = Builder { options, merged, builds, symbols, names, calls, roots: &roots, named, is_list };
    let reports: Vec<Report> = merged.groups.iter().map(|group| builder.report(group)).collect();
    Ok(Document {
        schema: SCHEMA,
        clock: clock(loaded),
        warnings: Vec::new(),
        runs: opened.runs,
        roots: roots.patterns,
        raw: options.raw,
        reports,
        // At no level below a root, all that it calls is one row.
        limit: if is_list || options.filter.depth != Some(0) { options.limit } else { Some(0) },
        layout,
        format: options.format,
    })
}

/// Where calls were made, and how many.
type Sites = Vec<(Rc<Call>, u64)>;

/// What a function called, from where.
type Edges = Vec<(FunctionId, Sites)>;

/// How a function's calls were made.
#[derive(Default)]
struct Ways {
    kinds: Kinds,
    into: BTreeMap<String, u64>,
}

impl Ways {
    /// The most calls first.
    fn into(self) -> Vec<InlinedInto> {
        let mut into: Vec<InlinedInto> =
            self.into.into_iter().map(|(name, calls)| InlinedInto { name, calls }).collect();
        into.sort_by_key(|into| std::cmp::Reverse(into.calls));
        into
    }
}

/// Whether anything happened in a function.
fn is_called(function: &functions::Function) -> bool {
    function.calls > 0 || function.open() > 0 || function.raw.total > Time::ZERO
}

/// What came between a call and the time of it that is told here, if the call itself is told elsewhere.
fn entered_before(function: &functions::Function, group: &Group) -> Option<&'static str> {
    let is_elsewhere = function.calls == 0 && function.raw.total > Time::ZERO;
    is_elsewhere.then_some(match () {
        () if function.open_before > 0 => "interval",
        () if group.was_reset => "reset",
        () => "fork",
    })
}

/// Of all calls that were made in one way by the same code, one's path and how many they are. Many paths end so, and what is the same
/// of them is asked for once.
fn alike(tree: &Tree, are_wanted: impl Fn(PathId) -> bool) -> Vec<(PathId, u64)> {
    let paths = &tree.paths;
    let hooks: Vec<PlaceId> = paths.ends().map(|end| end.hook).collect();
    let mut alike: FxHashMap<_, (PathId, u64)> = FxHashMap::default();
    for id in (0..paths.len() as PathId).filter(|id| !paths.is_untimed(*id) && !paths.is_others(*id) && are_wanted(*id))
    {
        let caller = paths.parent(id).map(|parent| hooks[paths.number_of(parent) as usize]);
        let (_, calls) = alike.entry((paths.number_of(id), caller, paths.target(id))).or_insert((id, 0));
        *calls = calls.saturating_add(paths.calls(id));
    }
    alike.into_values().collect()
}

struct Builder<'a, 'f> {
    options: &'a Options,
    merged: &'a Merged,
    /// Of each module.
    builds: Vec<Option<String>>,
    symbols: &'a Symbols<'f>,
    names: Names,
    calls: Calls<'a, 'f>,
    roots: &'a Roots,
    /// Patterns of the functions to list.
    named: Roots,
    /// Whether functions are listed, and not roots with what they call.
    is_list: bool,
}

impl Builder<'_, '_> {
    fn report(&self, group: &Group) -> Report {
        let times = correct(group);
        let are_inlined = self.calls.inlined_ends(&group.tree);
        let is_inlined = |path: PathId| are_inlined[group.tree.paths.number_of(path) as usize];
        let (ids, of_paths) = (&self.names.ids, &times);
        let are_ways_wanted = self.is_whole_json() || self.options.columns.contains(&Column::Call);
        let alike = || alike(&group.tree, |path| are_ways_wanted || is_inlined(path));
        let (all, alike) = rayon::join(|| functions(group, of_paths, ids, is_inlined), alike);
        give_back(times);
        let levels =
            self.options.filter.depth.filter(|_| !self.roots.are_asked_for).map(|depth| self.down_to(group, depth));
        // A call that was entered before a reset or the first of two readings is counted no more, and what a forked child has inherited is its
        // parent's call; but its time is here.
        let is_there = |id: &FunctionId, function: &functions::Function| {
            let is_selected = !self.roots.are_asked_for || self.names.functions[id].is_root;
            let is_named =
                self.named.patterns.is_empty() || self.named.contain(self.symbols, self.names.functions[id].place);
            let is_near = levels.as_ref().is_none_or(|levels| levels.contains(id));
            is_selected
                && is_named
                && is_near
                && (is_called(function) || function.callees.iter().any(|(_, edge)| edge.calls > 0))
        };
        let mut there: Vec<_> = all.iter().filter(|(id, function)| is_there(id, function)).collect();
        let mut subject = subject(group);
        let sort = self.options.sort.unwrap_or(match self.is_list {
            _ if subject.timing == "off" => Sort::Calls,
            true => Sort::Self_,
            false => Sort::Total,
        });
        if subject.timing != "off" {
            self.leave_out(&mut there, sort);
        }
        let is_flat = self.options.format != Format::Table && !self.is_list && self.options.filter.depth == Some(0)
            || self.options.detail != Detail::Whole;
        let has_callees =
            |id: &FunctionId| !is_flat && (self.options.format == Format::Json || self.names.functions[id].is_root);
        let mut sites = self.sites(group, &there.iter().map(|(id, _)| **id).filter(has_callees).collect());
        let mut edges = |(id, function): &(&FunctionId, &functions::Function)| -> Edges {
            let callees = function.callees.iter().filter(|_| has_callees(id));
            callees.map(|(callee, _)| (*callee, sites.remove(&(**id, *callee)).unwrap_or_default())).collect()
        };
        let edges: Vec<Edges> = there.iter().map(&mut edges).collect();
        self.find_lines(there.iter().map(|(id, _)| **id), &edges);
        let mut ways = self.ways(group, alike);

        let rows = there.iter().zip(edges);
        let mut rows: Vec<Function> = rows
            .map(|((id, function), edges)| Function {
                entered_before: entered_before(function, group),
                ..self.function(**id, function, edges, ways.remove(*id).unwrap_or_default())
            })
            .collect();
        let own =
            |function: &functions::Function| if self.options.raw { function.raw.own } else { function.corrected.own };
        let all_self_ns = all.values().map(own).sum::<Time>().ns();
        subject.compare_with(all_self_ns);
        rows.retain(|function| self.options.filter.allows(function, all_self_ns));
        if subject.timing == "off" {
            rows.iter_mut().for_each(Function::forget_times);
        }
        sort_functions(&mut rows, sort);
        if self.options.format != Format::Table {
            rows.truncate(self.options.limit.unwrap_or(usize::MAX));
        }
        let listed = |value: fn(&Function) -> u64| rows.iter().map(value).fold(0, u64::saturating_add);
        let all_calls = all.values().map(|function| function.calls).fold(0, u64::saturating_add);
        let unlisted_calls = all_calls.saturating_sub(listed(|function| function.calls));
        let listed_self_ns = rows.iter().map(|function| function.self_ns).filter(|ns| ns.is_finite()).sum::<f64>();
        let unlisted_self_ns = (all_self_ns - listed_self_ns).max(0.0);
        let called = |calls: u64| calls > 0;
        let unlisted = all.values().filter(|function| called(function.calls)).count()
            - rows.iter().filter(|function| called(function.calls)).count();
        let is_root = |(id, function): &(&FunctionId, &functions::Function)| {
            self.names.functions[id].is_root && called(function.calls)
        };
        let roots = rows.iter().filter(|function| function.root && called(function.calls)).count();
        let unlisted_roots = all.iter().filter(is_root).count().saturating_sub(roots);
        let spent = all.values().map(|function| {
            Spent::of(
                [function.corrected.total, function.corrected.own],
                [function.off, function.own_off],
                function.error,
            )
        });
        let spent = spent.filter_map(|spent| Some([spent.self_cpu_ns?, spent.self_wait_ns?]));
        // Of calls that were only counted nothing is known but that.
        rows.iter_mut().filter(|row| row.are_only_counted).for_each(Function::forget_times);
        let all_self_spent_ns = spent.reduce(|[cpu, wait], [more_cpu, more_wait]| [cpu + more_cpu, wait + more_wait]);
        Report {
            subject,
            all_self_ns,
            all_self_spent_ns,
            unlisted: unlisted as u64,
            unlisted_calls,
            unlisted_self_ns,
            unlisted_roots,
            functions: rows,
        }
    }

    /// Whether everything is told, and not just numbers.
    fn is_whole_json(&self) -> bool {
        self.options.format == Format::Json && self.options.detail != Detail::Numbers
    }

    /// Leaves out functions that are behind the last that is wanted, before anything is looked up for them: of many functions that is
    /// nearly all of the time. Those that are left are in no order; what stands beside the last one is left, too.
    fn leave_out(&self, there: &mut Vec<(&FunctionId, &functions::Function)>, sort: Sort) {
        let options = self.options;
        let is_by_name_alone =
            options.filter == Filter { functions: options.filter.functions.clone(), ..Filter::default() };
        let Some(limit) = options.limit.filter(|_| options.format != Format::Table && is_by_name_alone) else { return };
        let sums = |function: &functions::Function| if options.raw { function.raw } else { function.corrected };
        let value = |function: &functions::Function| match sort {
            Sort::Self_ => Some(sums(function).own.ns()),
            Sort::Total => Some(sums(function).total.ns()),
            Sort::Calls => Some(function.calls as f64),
            _ => None,
        };
        let mut values: Vec<f64> = there.iter().filter_map(|(_, function)| value(function)).collect();
        if values.len() <= limit || limit == 0 {
            return;
        }
        let (_, least, _) = values.select_nth_unstable_by(limit - 1, |a, b| b.total_cmp(a));
        let least = *least;
        there.retain(|(_, function)| value(function).is_none_or(|value| value.total_cmp(&least).is_ge()));
    }

    /// The functions that are called at most so many levels below where call paths begin.
    fn down_to(&self, group: &Group, depth: u32) -> FxHashSet<FunctionId> {
        let mut levels: Vec<Option<u32>> = Vec::with_capacity(group.tree.paths.len());
        let mut near = FxHashSet::default();
        for path in &group.tree.paths {
            let above = path.key.parent.and_then(|parent| levels[parent as usize]);
            // What is not timed is no level in other views, either.
            let is_level = !path.is_untimed() && path.key.flags & (flag::OTHERS | flag::EDGE) == 0;
            let level = is_level.then(|| above.map_or(0, |above| above + 1));
            levels.push(level);
            if level.is_some_and(|level| level <= depth) {
                near.insert(self.names.ids[&path.key.function]);
            }
        }
        near
    }

    /// From where calls by some functions were made, by caller and callee, the most calls first.
    fn sites(&self, group: &Group, callers: &FxHashSet<FunctionId>) -> FxHashMap<(FunctionId, FunctionId), Sites> {
        let paths = &group.tree.paths;
        let function = |path: PathId| self.names.ids[&paths.function(path)];
        let mut all: FxHashMap<(FunctionId, FunctionId, CallId), u64> = FxHashMap::default();
        let ids = 0..if callers.is_empty() { 0 } else { paths.len() as PathId };
        for id in ids.filter(|id| !paths.is_untimed(*id) && !paths.is_others(*id)) {
            let caller = match paths.is_edge(id) {
                true => self.names.ids.get(&paths.site(id)).copied(),
                false => paths.parent(id).map(function),
            };
            let Some(caller) = caller.filter(|caller| callers.contains(caller)) else { continue };
            let call = self.calls.id(&group.tree, id);
            let calls = all.entry((caller, function(id), call)).or_default();
            *calls = calls.saturating_add(paths.calls(id));
        }
        let mut sites: FxHashMap<(FunctionId, FunctionId), Sites> = FxHashMap::default();
        for ((caller, callee, call), calls) in all {
            sites.entry((caller, callee)).or_default().push((self.calls.call(call), calls));
        }
        for sites in sites.values_mut() {
            sites.sort_unstable_by(|(a, of_a), (b, of_b)| of_b.cmp(of_a).then_with(|| a.cmp(b)));
        }
        sites
    }

    /// How each function's calls were made, by those that were made alike.
    fn ways(&self, group: &Group, alike: Vec<(PathId, u64)>) -> FxHashMap<FunctionId, Ways> {
        let paths = &group.tree.paths;
        let mut all: FxHashMap<(FunctionId, CallId), u64> = FxHashMap::default();
        for (id, more) in alike.into_iter().filter(|(_, calls)| *calls > 0) {
            let way = (self.names.ids[&paths.function(id)], self.calls.id(&group.tree, id));
            let calls = all.entry(way).or_default();
            *calls = calls.saturating_add(more);
        }
        let mut ways: FxHashMap<FunctionId, Ways> = FxHashMap::default();
        for ((function, call), calls) in all {
            let (call, ways) = (self.calls.call(call), ways.entry(function).or_default());
            ways.kinds.add(call.kind, calls);
            if let Some(into) = &call.into {
                *ways.into.entry(into.clone()).or_default() += calls;
            }
        }
        ways
    }

    fn find_lines(&self, functions: impl Iterator<Item = FunctionId>, edges: &[Edges]) {
        let mut wanted: Vec<(Place, Probe)> = Vec::new();
        let options = self.options;
        let are_wanted =
            self.is_whole_json() || !options.filter.files.is_empty() || options.columns.contains(&Column::Source);
        let is_wanted = |id: &FunctionId| are_wanted || self.names.functions[id].is_root;
        wanted.extend(functions.filter(is_wanted).map(|id| (self.names.functions[&id].place, Probe::Function)));
        if self.options.format == Format::Json {
            let sites = edges.iter().flatten().flat_map(|(_, sites)| sites);
            wanted.extend(sites.map(|(call, _)| (call.site, call.probe)));
        }
        self.symbols.find_lines(wanted);
    }

    fn function(&self, id: FunctionId, function: &functions::Function, edges: Edges, ways: Ways) -> Function {
        let name = &self.names.functions[&id];
        let is_line_wanted = self.options.detail != Detail::Numbers || !self.options.filter.files.is_empty();
        let line = is_line_wanted.then(|| self.symbols.line(name.place, Probe::Function)).flatten();
        let sums = if self.options.raw { &function.raw } else { &function.corrected };
        // How long each call took is known with what is corrected, or not at all.
        let histogram = (!self.options.raw).then_some(&function.histogram);
        let percentiles = histogram.and_then(|histogram| histogram.percentiles([0.5, 0.75, 0.9, 0.95, 0.99, 0.999]));
        let percentile = |index: usize| percentiles.map(|all| all[index].ns());
        // Either of all callees, or of none.
        let callees = edges.into_iter().zip(&function.callees);
        let mut callees: Vec<Callee> =
            callees.map(|((callee, sites), (_, edge))| self.callee(callee, edge, sites)).collect();
        sort_callees(&mut callees, self.options.sort.unwrap_or(Sort::Total));
        Function {
            name: name.name.clone(),
            symbol: name.symbol.clone(),
            module: self.module(name.place),
            build: name.place.module.and_then(|module| self.builds[module as usize].clone()),
            address: Address(name.place.address),
            file: line.as_ref().map(|line| line.file.clone()),
            line: line.as_ref().map(|line| line.line),
            root: name.is_root,
            calls: function.calls,
            are_only_counted: function.are_only_counted(),
            open: function.open(),
            open_ns: function.so_far.min(sums.total).ns(),
            open_bound: function.bound.filter(|_| function.open() > 0),
            entered_before: None,
            unwound: function.unwound,
            inlined_calls: function.inlined_calls,
            total_ns: sums.total.ns(),
            self_ns: sums.own.ns(),
            total_error_ns: function.error.ns(),
            self_error_ns: function.own_error.ns(),
            spent: Spent::of([sums.total, sums.own], [function.off, function.own_off], function.error),
            total_raw_ns: function.raw.total.ns(),
            self_raw_ns: function.raw.own.ns(),
            mean_ns: (if self.options.raw { function.mean_raw() } else { function.mean() }).map(Time::ns),
            min_ns: histogram.and_then(Histogram::min).map(Time::ns),
            p50_ns: percentile(0),
            p75_ns: percentile(1),
            p90_ns: percentile(2),
            p95_ns: percentile(3),
            p99_ns: percentile(4),
            p999_ns: percentile(5),
            max_ns: histogram.and_then(Histogram::max).map(Time::ns),
            processes: function.processes,
            addresses: name.addresses,
            kinds: ways.kinds,
            inlined_into: ways.into(),
            timeline: function.timelines.finish_as(function.raw.total, sums.total),
            histogram: histogram
                .filter(|_| self.options.histogram)
                .map(|histogram| histogram.bars().map(Bar::from).collect()),
            callees,
        }
    }

    fn callee(&self, id: FunctionId, edge: &Edge, sites: Sites) -> Callee {
        let name = &self.names.functions[&id];
        let sums = if self.options.raw { &edge.raw } else { &edge.corrected };
        let mut by_kind: BTreeMap<_, u64> = BTreeMap::new();
        for (call, calls) in &sites {
            *by_kind.entry((call.kind, &call.via)).or_default() += calls;
        }
        let most = by_kind.iter().max_by_key(|(kind, calls)| (**calls, std::cmp::Reverse(**kind)));
        let (call, via) = most.map_or((CallKind::Unknown, None), |((kind, via), _)| (*kind, (*via).clone()));
        let site = |(call, calls): (Rc<Call>, u64)| {
            let line = self.symbols.line(call.site, call.probe);
            Site {
                address: Address(call.site.address),
                file: line.as_ref().map(|line| line.file.clone()),
                line: line.as_ref().map(|line| line.line),
                calls,
                call: call.kind,
                via: call.via.clone(),
            }
        };
        Callee {
            name: name.name.clone(),
            module: self.module(name.place),
            build: name.place.module.and_then(|module| self.builds[module as usize].clone()),
            address: Address(name.place.address),
            call,
            via,
            sites: sites.into_iter().filter(|&(_, calls)| calls > 0).map(site).collect(),
            calls: edge.calls,
            total_ns: sums.total.ns(),
            self_ns: sums.own.ns(),
            spent: Spent::of([sums.total, sums.own], [edge.off, edge.own_off], edge.error),
            total_raw_ns: edge.raw.total.ns(),
            total_error_ns: edge.error.ns(),
            self_error_ns: edge.own_error.ns(),
            nested_ns: sums.nested.ns(),
        }
    }

    fn module(&self, place: Place) -> String {
        let module = place.module.map(|module| self.merged.modules[module as usize].path());
        module.unwrap_or_default().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use diytrace_profile::load::costs::{Costs, Evidence};
    use diytrace_profile::load::{Family, Loaded, Off};
    use diytrace_profile::merge::{By, merge};
    use diytrace_profile::testing::{arena, family, node, slot};

    use super::*;

    /// Where hooks' cost was more than there was, all of the time was said to be others', beside self times of twice that.
    #[test]
    fn what_others_had_is_a_share_of_the_self_times_that_are_shown() {
        let mut nodes = vec![
            node(0x1000, None, slot(1, 1306, 101)),
            node(0x1100, Some(0), slot(100, 700, 0)),
            node(0x1200, Some(0), slot(1, 402, 0)),
        ];
        (nodes[0].off, nodes[1].off) = (Off { wait_ns: 200, preempted_ns: 0 }, Off { wait_ns: 0, preempted_ns: 600 });
        let costs = Costs { inner: 2.0, outer: 3.0, ..Costs::default() };
        let mut arena = arena(nodes);
        arena.facts.away_ns = 1;
        let family = Family { evidence: Evidence::of_costs(costs), ..family(vec![arena]) };
        let opened = Opened::of(Loaded::default(), merge(&[family], By::All, None));
        let symbols = opened.symbols();
        let report = build(&Options::default(), &opened, &symbols).unwrap().reports.remove(0);
        assert_eq!(report.subject.preempted_ns, Some(600.0));
        assert_eq!(report.subject.preempted_share, 600.0 / report.all_self_ns, "{}", report.all_self_ns);
        let trees = crate::calltree::build(&opened, &symbols, &crate::calltree::Options::default()).unwrap();
        assert_eq!(trees.trees[0].subject.preempted_share, report.subject.preempted_share);
    }
}
