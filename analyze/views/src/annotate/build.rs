//! Builds annotated functions.

use std::collections::BTreeMap;

use super::Options;
use super::code::instructions;
use super::document::{Call, Document, Function, Line, Report, SCHEMA};
use super::edges::edges;
use super::source::Source;
use crate::calltree::{self, CallTree, CallTrees, Lines, SiteId, build};
use diytrace_profile::error::Error;
use diytrace_profile::functions::{self, FunctionId};
use diytrace_profile::merge::Place;
use diytrace_profile::opened::Opened;
use diytrace_profile::spent::Kind;
use diytrace_profile::symbolize::{Body, Symbols};
use diytrace_profile::time::Time;
use diytrace_profile::units::Address;
use diytrace_profile::warnings::sentences;

/// Instructions before each call that are shown.
const INSTRUCTIONS: usize = 4;

/// Annotates functions.
pub fn document(options: &Options, opened: &Opened, symbols: &Symbols) -> Result<Document, Error> {
    let trees = build(
        opened,
        symbols,
        &calltree::Options {
            roots: options.functions.clone(),
            inside: options.inside.clone(),
            functions: Vec::new(),
            by_address: false,
            spelling: options.spelling,
            lines: Lines::None,
            time: Kind::Wall,
        },
    )?;
    let mut builder = Builder { options, symbols, trees: &trees, warnings: sentences(&trees.warnings) };
    let reports = trees.trees.iter().map(|tree| builder.report(tree)).collect();
    let mut warnings = builder.warnings;
    warnings.dedup();
    let context = options.context;
    Ok(Document { schema: SCHEMA, clock: trees.clock, warnings, runs: trees.runs, raw: options.raw, context, reports })
}

struct Builder<'a, 'f> {
    options: &'a Options,
    symbols: &'a Symbols<'f>,
    trees: &'a CallTrees,
    warnings: Vec<String>,
}

impl Builder<'_, '_> {
    fn report(&mut self, tree: &CallTree) -> Report {
        let wanted = self.trees.functions.iter().filter(|(_, function)| function.is_root);
        let wanted: Vec<FunctionId> = wanted.map(|(&id, _)| id).filter(|id| tree.functions.contains_key(id)).collect();
        let mut functions: Vec<Function> = wanted.into_iter().map(|id| self.function(tree, id)).collect();
        functions.sort_by(|a, b| b.total_ns.total_cmp(&a.total_ns).then_with(|| a.name.cmp(&b.name)));
        Report { subject: tree.subject.clone(), functions }
    }

    fn function(&mut self, tree: &CallTree, id: FunctionId) -> Function {
        let function = &self.trees.functions[&id];
        let sums = &Sums::of(tree, id, self.options.raw);
        let are_only_counted = tree.functions.get(&id).is_some_and(functions::Function::are_only_counted);
        let is_timed = tree.subject.timing != "off" && !are_only_counted;
        let known = |ns: f64| if is_timed { ns } else { f64::NAN };
        let place = Place { module: function.module, address: function.address };
        let edges: Vec<((FunctionId, SiteId), super::edges::Edge)> =
            edges(tree, id, self.options.raw).into_iter().collect();
        // Code that calls through another module's (qsort) has its sites there.
        let here = |site: SiteId| Some(&self.trees.sites[site as usize]).filter(|site| site.module == place.module);
        let mut addresses: Vec<u64> = edges.iter().filter_map(|((_, site), _)| Some(here(*site)?.address)).collect();
        addresses.sort_unstable();
        addresses.dedup();
        let body = self.symbols.body(place, &addresses);
        let line_of = |address: u64| {
            let index = addresses.binary_search(&address).ok()?;
            body.as_ref()?.calls[index].clone()
        };
        let mut calls: Vec<Call> = Vec::new();
        for ((callee_id, site_id), edge) in edges {
            let callee = &self.trees.functions[&callee_id];
            let site = &self.trees.sites[site_id as usize];
            let line = here(site_id).and_then(|site| line_of(site.address));
            calls.push(Call {
                name: callee.name.clone(),
                module: self.module(callee.module),
                address: Address(callee.address),
                call: site.kind,
                via: site.via.clone(),
                site: Address(site.address),
                line: line.as_ref().map(|line| line.line),
                file: line.map(|line| line.file),
                calls: edge.calls,
                total_ns: known(edge.total.ns()),
                self_ns: known(edge.own.ns()),
                total_error_ns: known(edge.error.ns()),
                self_error_ns: known(edge.own_error.ns()),
                is_recursion: callee_id == id,
            });
        }
        let own = sums.own.ns();
        let mut annotated = Function {
            name: function.name.clone(),
            module: self.module(function.module),
            address: Address(function.address),
            file: body.as_ref().map(|body| body.file.clone()),
            line: body.as_ref().map(|body| body.first),
            source: None,
            calls: sums.calls,
            open: sums.open,
            // Where recursion is folded, this is more than could be told of the outermost calls alone.
            total_ns: known(own) + calls.iter().map(|call| call.total_ns).sum::<f64>(),
            self_ns: known(own),
            total_error_ns: known(sums.error.ns()),
            self_error_ns: known(sums.own_error.ns()),
            lines: Vec::new(),
            instructions: Vec::new(),
            elsewhere: Vec::new(),
            hidden: None,
        };
        let source = body.as_ref().filter(|_| !self.options.assembly).and_then(|body| self.source(place, body));
        match source.zip(body) {
            Some((source, body)) => with_lines(&mut annotated, &source, &body, calls),
            None => self.with_code(&mut annotated, place, calls),
        }
        annotated.hide_below(self.options.min_percent);
        annotated
    }

    /// The source of a function. Warns if it is another than was compiled, as far as that can be told.
    fn source(&mut self, place: Place, body: &Body) -> Option<Source> {
        let found = Source::find(&body.file, &self.options.sources);
        let Some(source) = found.filter(|source| source.lines.len() >= body.first as usize) else {
            self.warnings.push(format!(
                "{} is not here: machine code is shown instead; --source DIR says where the sources are",
                body.file
            ));
            return None;
        };
        let module = &self.trees.modules[place.module? as usize];
        let made = module.files.iter().map(|file| file.modified_unix_ns).max().unwrap_or(0);
        if source.is_newer_than(made) {
            self.warnings.push(format!(
                "{} was changed after {} was made: lines may be off",
                source.path.display(),
                module.short_name()
            ));
        }
        Some(source)
    }

    fn with_code(&self, function: &mut Function, place: Place, calls: Vec<Call>) {
        let mut sites: BTreeMap<u64, Vec<Call>> = BTreeMap::new();
        for call in calls {
            match call.via {
                // Its site lies in the code between.
                Some(_) => function.elsewhere.push(call),
                None => sites.entry(call.site.0).or_default().push(call),
            }
        }
        let context = self.options.context.unwrap_or(INSTRUCTIONS);
        function.instructions = instructions(self.symbols, place, &mut sites, context);
        function.elsewhere.extend(sites.into_values().flatten());
        sort(&mut function.elsewhere);
    }

    fn module(&self, module: Option<diytrace_profile::merge::ModuleId>) -> String {
        module.map(|module| self.trees.modules[module as usize].path()).unwrap_or_default().to_owned()
    }
}

/// What is told of a function as a whole.
struct Sums {
    calls: u64,
    open: u64,
    own: Time,
    error: Time,
    own_error: Time,
}

impl Sums {
    /// As the report has it; where only some of its calls are wanted, what these add up to.
    fn of(tree: &CallTree, id: FunctionId, raw: bool) -> Self {
        if !tree.is_narrowed {
            let function = &tree.functions[&id];
            let own = if raw { function.raw.own } else { function.corrected.own };
            return Self {
                calls: function.calls,
                open: function.open(),
                own,
                error: function.error,
                own_error: function.own_error,
            };
        }
        let mut sums = Self { calls: 0, open: 0, own: Time::ZERO, error: Time::ZERO, own_error: Time::ZERO };
        for node in tree.nodes.iter().filter(|node| node.function == id) {
            sums.calls = sums.calls.saturating_add(node.calls);
            sums.open = sums.open.saturating_add(node.open);
            sums.own += if raw { node.raw.own } else { node.corrected.own };
            sums.error += node.error;
            sums.own_error += node.own_error;
        }
        sums
    }
}

/// Sorts calls to the lines of a function.
fn with_lines(function: &mut Function, source: &Source, body: &Body, calls: Vec<Call>) {
    let first = source.declaration(body.first);
    let last = body.last.min(source.lines.len() as u32);
    let mut by_line: BTreeMap<u32, Vec<Call>> = BTreeMap::new();
    for call in calls {
        let line = call.line.filter(|line| call.file.as_ref() == Some(&body.file) && (first..=last).contains(line));
        match line {
            Some(line) => add(by_line.entry(line).or_default(), call),
            None => add(&mut function.elsewhere, call),
        }
    }
    function.source = Some(source.path.display().to_string());
    function.lines = (first..=last)
        .map(|number| {
            let mut calls = by_line.remove(&number).unwrap_or_default();
            sort(&mut calls);
            Line::new(number, source.lines[number as usize - 1].clone(), calls)
        })
        .collect();
    sort(&mut function.elsewhere);
}

/// Adds a call to others of a line: one line may have several sites of the same call.
fn add(calls: &mut Vec<Call>, call: Call) {
    let what =
        |call: &Call| (call.name.clone(), call.address, call.call, call.via.clone(), call.file.clone(), call.line);
    match calls.iter_mut().find(|known| what(known) == what(&call)) {
        Some(known) => {
            known.calls = known.calls.saturating_add(call.calls);
            known.total_ns += call.total_ns;
            known.self_ns += call.self_ns;
            known.total_error_ns += call.total_error_ns;
            known.self_error_ns += call.self_error_ns;
        }
        None => calls.push(call),
    }
}

fn sort(calls: &mut [Call]) {
    calls.sort_by(|a, b| {
        let order = b.total_ns.total_cmp(&a.total_ns).then(b.calls.cmp(&a.calls));
        order.then_with(|| (&a.name, a.address, a.site).cmp(&(&b.name, b.address, b.site)))
    });
}
