//! What is to be known: a rule each, the worst first.

use std::collections::BTreeSet;

use super::checkup::{Finding, Hooks, Instrumenting, Module, Severity, Symbols};
use super::memory::Memory;
use super::subject::Subject;
use crate::advise::flags;
use diytrace_profile::elf::{HOOK, Linkage};
use diytrace_profile::human::{bytes, count, counted};

/// Instrumented bodies in other functions, as a part of all, from which on they are worth a word.
const MANY_INLINED: f64 = 0.25;

/// Go's compiler, as it calls itself.
const GO: &str = "Go cmd/compile";

/// What to do with a program that it has made.
const GO_ADVICE: &str = "Go's compiler has no option for these hooks: what can be recorded is C in a program that uses cgo, built with \
                         CGO_CFLAGS='-O2 -g -finstrument-functions' CGO_CFLAGS_ALLOW='-finstrument-functions.*'";

/// Functions that are named as inlined most often.
const NAMED: usize = 3;

/// All findings.
pub fn all(subject: &Subject, memory: &Memory) -> Vec<Finding> {
    let mut findings = fatal(subject);
    if findings.is_empty() {
        findings.extend(nothing_to_record(subject));
    }
    if !findings.iter().any(|finding| finding.severity == Severity::Fatal) {
        findings.extend(subject.modules.iter().flat_map(warnings));
    }
    if subject.recorded().next().is_some() {
        findings.extend(memory_is_short(subject, memory));
        findings.extend(notes(subject));
    }
    findings.sort_by_key(|finding| finding.severity);
    findings
}

fn finding(severity: Severity, code: &'static str, text: impl Into<String>, advice: impl Into<String>) -> Finding {
    let advice = Some(advice.into()).filter(|advice: &String| !advice.is_empty());
    Finding { severity, code, text: text.into(), advice }
}

/// Why nothing can be preloaded into it.
fn fatal(subject: &Subject) -> Vec<Finding> {
    let fatal = |code, text: String, advice: &str| finding(Severity::Fatal, code, text, advice);
    let mut findings = Vec::new();
    let Some(elf) = &subject.program.elf else {
        let text = "it is no program that can be looked into".to_owned();
        return vec![fatal("no-program", text, "give a program, a script or a library")];
    };
    let facts = &elf.facts;
    if !facts.is_for_recorder() {
        let text = format!("it is for {}, and the recorder is a 64-bit x86 library", facts.kind());
        return vec![fatal("foreign", text, "compile it for this machine (gcc -m64)")];
    }
    match &facts.linkage {
        Linkage::Static => findings.push(fatal(
            "static",
            "it is statically linked, and nothing can be preloaded into it".to_owned(),
            if is_by(subject, GO) { GO_ADVICE } else { "link it without -static" },
        )),
        Linkage::Dynamic { loader } if loader.to_string_lossy().contains("musl") => findings.push(fatal(
            "musl",
            "it is linked with musl, and the recorder needs glibc".to_owned(),
            "build it on a system with glibc (Debian, Fedora and most others)",
        )),
        _ => {}
    }
    if subject.program.secure_execution {
        findings.push(fatal(
            "privileged",
            "it runs with more rights than you have (setuid, setgid or file capabilities), and the loader preloads \
             nothing then"
                .to_owned(),
            "record a copy, which loses these rights, or record it as the user that it becomes",
        ));
    }
    if let [first, rest @ ..] = subject.program.libraries.missing.as_slice()
        && !subject.is_library()
    {
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        let text = format!("it cannot start: its library {first}{more} is not there");
        findings.push(fatal("missing-library", text, "install it, or set LD_LIBRARY_PATH as the program's users do"));
    }
    if let Some(reason) = &subject.no_recorder {
        findings.push(fatal("no-recorder", reason.clone(), "build it (cargo build --release), or set DIYTRACE_LIB"));
    }
    findings
}

/// Why there would be nothing in a profile.
fn nothing_to_record(subject: &Subject) -> Option<Finding> {
    if subject.recorded().next().is_some() {
        return None;
    }
    if subject.modules.iter().any(|module| module.hooks != Hooks::None) {
        let text = format!("it has functions {HOOK} of its own, and they are called in place of the recorder's");
        return Some(finding(Severity::Fatal, "own-hooks", text, "leave them out of the program"));
    }
    let others: Vec<&str> = subject.modules.iter().flat_map(|module| module.other_tools.iter().copied()).collect();
    let libraries = match subject.modules.len() {
        0 | 1 => String::new(),
        2 => ", nor is the library it needs".to_owned(),
        count => format!(", nor is one of the {} libraries it needs", count - 1),
    };
    let folder = "compile with -finstrument-functions -g, at least the folder that you want to see";
    let (text, advice) = match (&subject.program.script, others.iter().find(|other| **other != "-fsanitize=address")) {
        (Some(_), _) => (
            format!("it is a script, and what runs it, {}, is not instrumented", subject.name()),
            "the programs that it starts are recorded if they are: check these".to_owned(),
        ),
        (None, Some(other)) => (
            format!("it is compiled with {other}, which is another tool's, and not instrumented"),
            format!("compile with -finstrument-functions instead of {other}"),
        ),
        (None, None) if is_by(subject, "rustc") => (
            format!("it is written in Rust and not instrumented{libraries}"),
            "rustc has no option for these hooks (its -Z instrument-mcount and -Z instrument-xray are for other tools): what can \
             be recorded is C and C++ that is linked in, compiled with -finstrument-functions -g (crate cc: CFLAGS, CXXFLAGS)"
                .to_owned(),
        ),
        (None, None) if is_by(subject, GO) => {
            (format!("it is written in Go and not instrumented{libraries}"), GO_ADVICE.to_owned())
        }
        (None, None) => (format!("it is not instrumented{libraries}"), folder.to_owned()),
    };
    Some(finding(Severity::Fatal, "not-instrumented", text, advice))
}

/// Whether that compiler has made any of the program.
fn is_by(subject: &Subject, compiler: &str) -> bool {
    let program = subject.modules.first();
    program.is_some_and(|program| program.compilers.iter().any(|one| one.name.contains(compiler)))
}

/// Whether the usual limit of a profile may be too small.
fn memory_is_short(subject: &Subject, memory: &Memory) -> Option<Finding> {
    let limit = memory.wanted()?;
    let recorded = || subject.recorded();
    let functions: usize = recorded().map(|module| module.functions.instrumented).sum();
    let inlined: usize = recorded().map(|module| module.enters.inlined).sum();
    let text = format!(
        "{} with hooks and {} may make more call paths than there is room for: about {}",
        counted(functions as u64, "function", "functions"),
        counted(inlined as u64, "inlined body", "inlined bodies"),
        bytes(memory.estimated_bytes)
    );
    let advice = format!(
        "diytrace record --memory {limit} (or DIYTRACE_MEMORY={limit}): only what is used of it is taken; where there is no room, \
         cold paths give way to new ones"
    );
    Some(finding(Severity::Warning, "memory", text, advice))
}

/// What of a module will be missed.
fn warnings(module: &Module) -> Vec<Finding> {
    let warning = |code, text: String, advice: &str| finding(Severity::Warning, code, text, advice);
    let name = module.name();
    let mut findings = Vec::new();
    if matches!(module.hooks, Hooks::Own | Hooks::Program) {
        let whose = if module.hooks == Hooks::Own { "its own" } else { "the program's" };
        let text = format!("{name} calls {whose} {HOOK}, not the recorder's: its functions will be missed");
        findings.push(warning("module-own-hooks", text, "leave these hooks out of it"));
    }
    if module.other_tools.contains(&"-fsanitize=address") {
        let text = format!("{name} has a shared AddressSanitizer, which ends programs that preload anything before it");
        findings.push(warning("asan", text, "set ASAN_OPTIONS=verify_asan_link_order=0"));
    }
    if !module.is_recorded() {
        return findings;
    }
    if module.exits.sites == 0 {
        let text = format!("{name} never says that a function is left: times of its functions will be missing");
        findings.push(warning("no-exits", text, "compile with -finstrument-functions"));
    }
    for other in module.other_tools.iter().filter(|other| ["-pg", "-mfentry", "-fxray-instrument"].contains(other)) {
        let text = format!("{name} was compiled with {other}, too: what that costs will be in the times");
        findings.push(warning("other-tool", text, "leave that option out"));
    }
    let by_address = "will be shown by address, and --root and --exclude cannot name them";
    match module.symbols {
        Symbols::None | Symbols::Exported => {
            let which = if module.symbols == Symbols::None { "" } else { " that it does not export" };
            let text = format!("{name} is stripped: functions{which} {by_address}");
            findings.push(warning("stripped", text, "do not strip it, or install its debug file"));
        }
        _ => {}
    }
    if !module.lines {
        let text = format!("{name} has no debug information: reports will not name source files and lines");
        findings.push(warning("no-lines", text, "compile with -g (it costs no time)"));
    }
    findings
}

/// What is good to know.
fn notes(subject: &Subject) -> Vec<Finding> {
    let note = |code, text: String, advice: &str| finding(Severity::Note, code, text, advice);
    let mut findings = Vec::new();
    for module in subject.recorded() {
        let (name, inlined) = (module.name(), module.enters.inlined);
        if inlined as f64 >= module.enters.sites as f64 * MANY_INLINED && module.enters.sites > 100 {
            let most = &module.most_inlined[..module.most_inlined.len().min(NAMED)];
            let names: Vec<String> = most.iter().map(|most| format!("{} ({} places)", most.name, most.sites)).collect();
            let named = if names.is_empty() { String::new() } else { format!(", most often {}", names.join(", ")) };
            let text = format!(
                "{name} calls hooks in {} bodies that are inlined into other functions{named}",
                count(inlined as u64)
            );
            let functions: BTreeSet<String> = most.iter().filter_map(|most| flags::name(&most.name)).collect();
            let functions: Vec<String> = functions.into_iter().collect();
            findings.push(note("inlined", text, &inlined_advice(module, &functions)));
        }
    }
    let loading: Vec<&str> = subject.recorded().filter(|module| module.loads_libraries).map(Module::name).collect();
    if let [first, ..] = loading.as_slice() {
        let text = format!(
            "{first} loads libraries as it runs, and these are not in this checkup; those that it loads \
                            with RTLD_DEEPBIND will be missed, as their hooks are then libc's empty ones"
        );
        findings.push(note("dlopen", text, "check each of them by its path"));
    }
    findings
}

/// How to have small functions not cost two hooks wherever they are inlined.
fn inlined_advice(module: &Module, functions: &[String]) -> String {
    const PURPOSE: &str = "if you do not need them and they are called often";
    let is_clang = module.compilers.iter().any(|compiler| compiler.name.starts_with("clang"));
    match module.option {
        Instrumenting::Functions if is_clang => {
            format!("{PURPOSE}: -finstrument-functions-after-inlining")
        }
        _ if functions.is_empty() => format!("{PURPOSE}: __attribute__((no_instrument_function))"),
        _ => format!("{PURPOSE}: -finstrument-functions-exclude-function-list={}", functions.join(",")),
    }
}
