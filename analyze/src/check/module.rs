//! One module: from its file to what a checkup tells of it.

use object::{Object, ObjectSection};
use rustc_hash::{FxHashMap, FxHashSet};

use super::bodies::Bodies;
use super::checkup::{DebugFile, Enters, Exits, Functions, Hooks, Inlined, Instrumenting, Module, Role, Symbols};
use super::hooks::{self, Hook, Route};
use super::origin;
use super::sites::{self, Site};
use super::units::{Unit, Units};
use diytrace_profile::demangle;
use diytrace_profile::elf::debug::{self, FoundBy};
use diytrace_profile::elf::symbols::{Table, base_name, functions, refers_to};
use diytrace_profile::elf::{Elf, Parsed};

/// Functions that are named as inlined most often.
const MOST_INLINED: usize = 5;

/// Marks of other tools: a symbol that the module refers to, or a section, and the option that brings it.
const OTHER_TOOLS: [(&str, &str); 6] = [
    ("mcount", "-pg"),
    ("_mcount", "-pg"),
    ("__fentry__", "-mfentry"),
    ("xray_instr_map", "-fxray-instrument"),
    ("__patchable_function_entries", "-fpatchable-function-entry"),
    ("__asan_init", "-fsanitize=address"),
];

/// Looks into a module.
pub fn look_into(file: &Elf, role: Role) -> Module {
    let mut module = empty(file, role);
    let Some(elf) = file.file.parsed() else { return module };
    let debug = file.debug_file();
    let debug_elf = debug.as_ref().and_then(|debug| debug.file.parsed());
    let [code, linkage] = hooks::sections(&elf);
    let bodies = Bodies::read(&elf, debug_elf.as_ref(), &code);
    let hooks = hooks::Hooks::read(&elf, &linkage);
    let sites = sites::find(&code, &bodies, &hooks);

    module.build_id = elf.build_id().ok().flatten().map(debug::hex);
    let entered = entered(&sites, &bodies);
    module.functions = Functions { all: bodies.count().max(entered.functions), instrumented: entered.functions };
    if !hooks.are_one {
        module.enters = Enters { sites: of(&sites, Hook::Enter).count(), inlined: entered.inlined };
        module.exits = Exits {
            sites: of(&sites, Hook::Exit).count(),
            tail_jumps: of(&sites, Hook::Exit).filter(|site| site.is_jump).count(),
        };
    }
    module.hooks = match sites.first() {
        None => Hooks::None,
        Some(site) if site.route == Route::Own => Hooks::Own,
        Some(_) => Hooks::Recorder, // unless the program has some, which only it can tell
    };
    module.most_inlined = entered.most_inlined;
    module.symbols = symbols(&elf, debug_elf.as_ref());
    module.other_tools = other_tools(&elf);
    module.loads_libraries = refers_to(&elf, "dlopen") || refers_to(&elf, "dlmopen");
    if role == Role::Library && module.hooks == Hooks::None {
        return module; // who compiled it does not matter
    }

    let with_dwarf = debug.as_ref().map_or(&file.file, |debug| &debug.file);
    let addresses: Vec<u64> = of(&sites, Hook::Enter).map(|site| site.address).collect();
    // Where nothing is inlined, the two options make the same code.
    let is_unclear =
        |units: &[Unit]| module.hooks != Hooks::None && module.enters.inlined == 0 && origin::is_clangs_choice(units);
    let dwarf = Units::read(with_dwarf, &addresses, is_unclear);
    let lines = debug_elf.as_ref().unwrap_or(&elf).section_by_name(".debug_line");
    module.lines = lines.is_some_and(|section| section.size() > 0);
    module.compilers = origin::compilers(&dwarf.units, &elf);
    module.option = origin::option(&module, &dwarf);
    module.folders = origin::folders(&dwarf.units);
    module.debug_file = debug.as_ref().map(|debug| DebugFile {
        path: debug.file.path.display().to_string(),
        found_by: match debug.found_by {
            FoundBy::BuildId => "build-id",
            FoundBy::Link => "debuglink",
        },
    });
    module
}

fn empty(file: &Elf, role: Role) -> Module {
    Module {
        path: file.path().display().to_string(),
        role,
        kind: file.facts.kind(),
        build_id: None,
        functions: Functions::default(),
        enters: Enters::default(),
        exits: Exits::default(),
        hooks: Hooks::default(),
        symbols: Symbols::default(),
        lines: false,
        debug_file: None,
        option: Instrumenting::default(),
        compilers: Vec::new(),
        folders: Vec::new(),
        most_inlined: Vec::new(),
        other_tools: Vec::new(),
        loads_libraries: false,
    }
}

fn of(sites: &[Site], hook: Hook) -> impl Iterator<Item = &Site> {
    sites.iter().filter(move |site| site.hook == hook)
}

/// What the calls of the hook for entering say.
struct Entered {
    functions: usize,
    inlined: usize,
    most_inlined: Vec<Inlined>,
}

fn entered(sites: &[Site], bodies: &Bodies) -> Entered {
    let mut functions = FxHashSet::default();
    let mut inlined: FxHashMap<&str, usize> = FxHashMap::default();
    let mut inlined_sites = 0;
    for site in of(sites, Hook::Enter) {
        let Some(body) = bodies.around(site.address).map(|index| &bodies.all()[index]) else { continue };
        let about = site.function.and_then(|address| bodies.at(address));
        let is_its_own = match about {
            Some(function) if function.address == body.address => true,
            // A copy or a part of a function calls the hook in the name of the whole.
            Some(function) => !body.name.is_empty() && base_name(function.name) == base_name(body.name),
            // Its first act is to say that it is entered.
            None => !functions.contains(&body.address),
        };
        let function = about.unwrap_or(body);
        if is_its_own {
            functions.insert(function.address);
        } else {
            inlined_sites += 1;
            let is_known = about.is_some() && !function.name.is_empty();
            if is_known {
                *inlined.entry(function.name).or_default() += 1;
            }
        }
    }
    let mut most: Vec<(&str, usize)> = inlined.into_iter().filter(|(_, sites)| *sites > 1).collect();
    most.sort_unstable_by_key(|&(name, sites)| (usize::MAX - sites, name));
    most.truncate(MOST_INLINED);
    let named = |(name, sites): (&str, usize)| Inlined { name: demangle::shown(name).into_owned(), sites };
    Entered { functions: functions.len(), inlined: inlined_sites, most_inlined: most.into_iter().map(named).collect() }
}

fn symbols(elf: &Parsed, debug: Option<&Parsed>) -> Symbols {
    let has_functions = |elf: &Parsed| functions(elf, Table::All).next().is_some();
    match () {
        () if has_functions(elf) => Symbols::All,
        () if debug.is_some_and(has_functions) => Symbols::DebugFile,
        () if functions(elf, Table::Exported).next().is_some() => Symbols::Exported,
        () => Symbols::None,
    }
}

fn other_tools(elf: &Parsed) -> Vec<&'static str> {
    let is_there = |mark: &str| refers_to(elf, mark) || elf.section_by_name(mark).is_some();
    let mut found: Vec<_> = OTHER_TOOLS.iter().filter(|(mark, _)| is_there(mark)).map(|(_, option)| *option).collect();
    found.dedup();
    found
}
