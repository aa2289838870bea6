//! From call trees to what is exported: whole nanoseconds, one number for what is one function, roots on top.

use std::collections::{BTreeSet, HashMap};

use super::limit::limit;
use super::profile::{Frame, Function, Line, Module, Part, Profile, Site, whole};
use super::prune::{LeftOut, Wanted, without_unused};
use super::sums;
use crate::calltree::{self, CallTree, CallTrees, Node};
use crate::subject::Subject;
use diytrace_profile::functions::CallKind;
use diytrace_profile::functions::FunctionId;
use diytrace_profile::human::counted;
use diytrace_profile::merge::ModuleId;
use diytrace_profile::spent::Kind;
use diytrace_profile::time::Time;
use diytrace_profile::warnings::sentences;

/// Which times, and of what.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Choice {
    /// Times as measured.
    pub is_raw: bool,
    /// Only what happened inside the trees' roots.
    pub only_roots: bool,
    /// What of call paths.
    pub wanted: Wanted,
    /// How many of those at most.
    pub most: Option<usize>,
}

/// What is exported of call trees.
pub fn prepare(trees: &CallTrees, choice: Choice) -> Profile {
    let (modules, module_ids) = modules(trees);
    let (mut functions, function_ids) = functions(trees, &module_ids);
    let mut sites: Vec<Site> = trees.sites.iter().map(|of| site(of, &module_ids)).collect();
    let is_all = choice.wanted.is_all();
    let paths: usize = trees.trees.iter().map(|tree| tree.nodes.len()).sum();
    let most = choice.most.filter(|most| paths > *most);
    let left_out = (!is_all || most.is_some()).then(|| {
        functions.push(Function { name: LEFT_OUT.to_owned(), ..Function::default() });
        sites.push(Site::default());
        LeftOut { function: functions.len() - 1, site: sites.len() - 1 }
    });
    let count = functions.len();
    let profile = Profile {
        title: title(trees, choice),
        is_raw: choice.is_raw,
        is_part: choice.only_roots || !is_all,
        has_waits: trees.time == Kind::Wall
            && trees.trees.iter().flat_map(|tree| &tree.nodes).all(|node| node.wait.is_some()),
        warnings: warnings(trees),
        functions: labelled(functions, &modules),
        modules,
        sites,
        parts: Vec::new(),
    };
    let with = With { trees, choice, functions: &function_ids, count, left_out };
    let mut parts: Vec<Part> = trees.trees.iter().map(|tree| part(tree, &with)).collect();
    parts.retain(|part| !part.frames.is_empty());
    let mut profile = Profile { parts, ..profile };
    let is_limited = most.zip(left_out).is_some_and(|(most, left_out)| limit(&mut profile, most, left_out));
    if left_out.is_none() || is_all && is_limited { profile } else { without_unused(profile) }
}

/// What all trees have in common.
struct With<'a> {
    trees: &'a CallTrees,
    choice: Choice,
    functions: &'a HashMap<FunctionId, usize>,
    /// How many functions there are, with what stands for what is left out.
    count: usize,
    left_out: Option<LeftOut>,
}

/// The function that stands for all that is left out.
const LEFT_OUT: &str = "(left out)";

fn title(trees: &CallTrees, choice: Choice) -> String {
    let programs = trees.trees.iter().flat_map(|tree| &tree.subject.programs);
    let programs: BTreeSet<&str> = programs.map(|program| file_name(program)).collect();
    let programs = programs.into_iter().collect::<Vec<_>>().join(", ");
    let programs = if trees.runs > 1 { format!("{programs}, {} runs", trees.runs) } else { programs };
    let programs = match trees.time {
        Kind::Wall => programs,
        Kind::Cpu => format!("{programs}, time on the processor"),
        Kind::Wait => format!("{programs}, time spent waiting"),
    };
    if choice.only_roots { format!("{programs}, inside {}", trees.roots.join(", ")) } else { programs }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn warnings(trees: &CallTrees) -> Vec<String> {
    let mut said = sentences(&trees.warnings);
    let nodes = trees.trees.iter().flat_map(|tree| &tree.nodes);
    let open = nodes.map(|node| node.open).fold(0, u64::saturating_add);
    if open > 0 {
        said.push(format!(
            "{} had not returned, as a process still ran, ended while a thread was in them, or left them (on a coroutine's \
             stack, say): what is known of their time is in here",
            counted(open, "call", "calls")
        ));
    }
    said
}

/// The modules that anything lies in, programs first; and the new number of each.
fn modules(trees: &CallTrees) -> (Vec<Module>, HashMap<ModuleId, usize>) {
    let of_functions = trees.functions.values().filter_map(|function| function.module);
    let used: BTreeSet<ModuleId> = of_functions.chain(trees.sites.iter().filter_map(|site| site.module)).collect();
    let mut order: Vec<ModuleId> = used.into_iter().collect();
    order.sort_by_key(|&id| (!trees.modules[id as usize].is_program, id));
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let module = |&id: &ModuleId| {
        let module = &trees.modules[id as usize];
        Module { path: module.path().to_owned(), build_id: hex(&module.build_id) }
    };
    (order.iter().map(module).collect(), order.iter().enumerate().map(|(new, &id)| (id, new)).collect())
}

/// Functions. Copies of one that several units have (inline functions in headers) are one.
fn functions(trees: &CallTrees, modules: &HashMap<ModuleId, usize>) -> (Vec<Function>, HashMap<FunctionId, usize>) {
    let mut all: Vec<Function> = Vec::new();
    let mut ids = HashMap::new();
    let mut known: HashMap<_, usize> = HashMap::new();
    for (&id, function) in &trees.functions {
        let module = function.module.and_then(|module| modules.get(&module).copied());
        let next = all.len();
        let new = match &function.symbol {
            Some(symbol) => *known.entry((module, symbol, function.file.as_deref(), function.line)).or_insert(next),
            None => next,
        };
        ids.insert(id, new);
        if new == next {
            all.push(Function {
                name: function.name.clone(),
                label: String::new(),
                symbol: function.symbol.clone(),
                module,
                address: function.address,
                line: line(function.file.as_ref(), function.line),
            });
        }
    }
    (all, ids)
}

fn line(file: Option<&String>, number: Option<u32>) -> Option<Line> {
    Some(Line { file: file?.clone(), number: number? })
}

/// Gives functions labels that tell those of different modules apart.
fn labelled(mut functions: Vec<Function>, modules: &[Module]) -> Vec<Function> {
    let mut homes: HashMap<String, BTreeSet<Option<usize>>> = HashMap::new();
    for function in &functions {
        homes.entry(function.name.clone()).or_default().insert(function.module);
    }
    for function in &mut functions {
        let is_clear = function.symbol.is_some() && homes[&function.name].len() == 1;
        function.label = match function.module.filter(|_| !is_clear) {
            Some(module) => format!("{} [{}]", function.name, file_name(&modules[module].path)),
            None => function.name.clone(),
        };
    }
    functions
}

fn site(site: &calltree::Site, modules: &HashMap<ModuleId, usize>) -> Site {
    Site {
        module: site.module.and_then(|module| modules.get(&module).copied()),
        address: site.address,
        line: line(site.file.as_ref(), site.line),
        is_inlined: site.kind == CallKind::Inlined,
        via: site.via.clone(),
    }
}

fn part(tree: &CallTree, with: &With) -> Part {
    let (frames, error) = frames(tree, with);
    let mut sums = sums::of_frames(&frames, with.count);
    if !with.choice.is_raw {
        sums::add_spreads(&mut sums, tree, with.functions); // there is no other way to have them than corrected
    }
    sums::add_timelines(&mut sums, tree, with.functions, with.choice.is_raw);
    if !with.choice.only_roots && with.choice.wanted.is_all() {
        sums::set_totals(&mut sums, tree, with.functions, with.choice.is_raw);
    }
    let Subject { process, thread, processes, timing, .. } = &tree.subject;
    Part {
        name: name(&tree.subject),
        pid: process.as_ref().map(|process| process.pid),
        thread: thread.as_ref().map(|thread| (thread.tid, thread.name.clone())),
        started_unix_ns: process.as_ref().map(|process| process.started_unix_ns),
        processes: *processes,
        calls: frames.iter().map(|frame| frame.calls).fold(0, u64::saturating_add),
        error_ns: whole(error),
        call_error_ns: if with.choice.is_raw { 0.0 } else { tree.subject.overhead.error_ns },
        is_all_timed: *timing == "all",
        frames,
        sums,
    }
}

fn name(subject: &Subject) -> String {
    let programs: Vec<&str> = subject.programs.iter().map(|program| file_name(program)).collect();
    let program = subject.process.as_ref().map_or_else(|| programs.join(", "), |of| file_name(&of.exe).to_owned());
    match (&subject.process, &subject.thread) {
        _ if subject.label.is_some() => format!("{program} {}", subject.label.as_deref().unwrap_or_default()),
        (Some(process), Some(thread)) if thread.tid == process.pid => format!("{program} {}", process.pid),
        (Some(process), Some(thread)) => format!("{program} {} thread {} {}", process.pid, thread.tid, thread.name),
        (Some(process), None) => format!("{program} {}", process.pid),
        (None, _) => format!("{program} ({})", counted(subject.processes, "process", "processes")),
    }
}

/// The frames that are wanted, and how far off their sum may be.
///
/// Times become whole nanoseconds by rounding the running sum: any subtree is then within a nanosecond of what it was,
/// however many frames it has, and so is the whole.
fn frames(tree: &CallTree, with: &With) -> (Vec<Frame>, Time) {
    let mut frames: Vec<Frame> = Vec::with_capacity(tree.nodes.len());
    let mut new_ids: Vec<Option<usize>> = vec![None; tree.nodes.len()];
    let (mut sum, mut error, mut wanted_to) = (Time::ZERO, Time::ZERO, 0);
    let mut is_named = Vec::new();
    // Every node asks for one of them.
    let mut functions: Vec<(usize, bool, bool)> = Vec::new();
    for (id, function) in &with.trees.functions {
        functions.resize(functions.len().max(*id as usize + 1), Default::default());
        functions[*id as usize] = (with.functions[id], function.is_root, function.is_named);
    }
    for (id, node) in tree.nodes.iter().enumerate() {
        let (function, is_root, is_function_named) = functions[node.function as usize];
        if id >= wanted_to {
            if with.choice.only_roots && !is_root {
                continue;
            }
            let is_top = with.choice.only_roots || node.parent.is_none();
            (wanted_to, error) = if is_top { (node.end as usize, error + node.error) } else { (wanted_to, error) };
        }
        let before = whole(sum);
        sum += own(node, with.choice.is_raw);
        new_ids[id] = Some(frames.len());
        is_named.push(is_function_named);
        frames.push(Frame {
            parent: node.parent.and_then(|parent| new_ids[parent as usize]),
            end: frames.len() + (node.end as usize - id),
            function,
            site: node.site as usize,
            calls: node.calls,
            self_ns: whole(sum) - before,
            total_ns: 0,
            error_ns: if with.choice.is_raw { 0 } else { whole(node.error) },
            self_error_ns: if with.choice.is_raw { 0 } else { whole(node.own_error) },
            self_wait_ns: node.wait.map_or(0, whole),
        });
    }
    for id in (0..frames.len()).rev() {
        let below: u64 = frames[id].total_ns + frames[id].self_ns;
        frames[id].total_ns = below;
        if let Some(parent) = frames[id].parent {
            frames[parent].total_ns += below;
        }
    }
    if let Some(left_out) = with.left_out.filter(|_| !with.choice.wanted.is_all()) {
        frames = with.choice.wanted.of(&frames, &is_named, left_out);
    }
    (frames, if with.choice.is_raw { Time::ZERO } else { error })
}

fn own(node: &Node, is_raw: bool) -> Time {
    if is_raw { node.raw.own } else { node.corrected.own }
}
