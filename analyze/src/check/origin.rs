//! What debug information, and what compilers leave without it, tell of how a module was made.

use std::collections::BTreeMap;

use object::{Object, ObjectSection};

use super::checkup::{Compiler, Folder, Hooks, Instrumenting, Module};
use super::producer::Producer;
use super::units::{Unit, Units};
use diytrace_profile::elf::Parsed;

/// Whether all that is instrumented is clang's work, and clang does not say by which option.
pub fn is_clangs_choice(units: &[Unit]) -> bool {
    let mut instrumented = units.iter().filter(|unit| unit.is_instrumented).peekable();
    instrumented.peek().is_some()
        && instrumented.all(|unit| unit.producer.compiler == "clang" && unit.producer.options.is_none())
}

/// The option that hooks come from.
pub fn option(module: &Module, dwarf: &Units) -> Instrumenting {
    const LATE: &str = "-finstrument-functions-after-inlining";
    if module.hooks == Hooks::None {
        return Instrumenting::None;
    }
    let mut instrumented = dwarf.units.iter().filter(|unit| unit.is_instrumented);
    let is_gccs = match dwarf.units.is_empty() {
        true => {
            module.compilers.iter().all(|compiler| compiler.name.starts_with("gcc")) && !module.compilers.is_empty()
        }
        false => instrumented.clone().any(|unit| unit.producer.compiler == "gcc"),
    };
    match dwarf.has_inlined_code {
        _ if module.enters.inlined > 0 || is_gccs => Instrumenting::Functions, // gcc has no other
        _ if instrumented.any(|unit| unit.producer.has(LATE) == Some(true)) => Instrumenting::AfterInlining,
        Some(true) => Instrumenting::AfterInlining,
        Some(false) => Instrumenting::Either,
        None if dwarf.units.is_empty()
            && module.compilers.iter().any(|compiler| compiler.name.starts_with("clang")) =>
        {
            Instrumenting::Either
        }
        None => Instrumenting::Unknown,
    }
}

/// Compilers, by debug information; without that, by the comments that compilers leave.
pub fn compilers(units: &[Unit], elf: &Parsed) -> Vec<Compiler> {
    let mut by_name: BTreeMap<String, Vec<&Unit>> = BTreeMap::new();
    for unit in units.iter().filter(|unit| !unit.producer.compiler.is_empty()) {
        by_name.entry(unit.producer.name()).or_default().push(unit);
    }
    if by_name.is_empty() {
        return commented(elf);
    }
    let mut compilers: Vec<Compiler> = by_name.into_iter().map(|(name, units)| compiler(name, &units)).collect();
    compilers.sort_by_key(|compiler| std::cmp::Reverse(compiler.files));
    compilers
}

fn compiler(name: String, units: &[&Unit]) -> Compiler {
    let instrumented = || units.iter().filter(|unit| unit.is_instrumented);
    let options = instrumented().flat_map(|unit| unit.producer.options.iter().flatten());
    let mut exclusions: Vec<String> = options.filter(|option| option.contains("-exclude-")).cloned().collect();
    exclusions.sort();
    exclusions.dedup();
    Compiler { name, files: Some(units.len()), instrumented_files: Some(instrumented().count()), exclusions }
}

fn commented(elf: &Parsed) -> Vec<Compiler> {
    let comment = elf.section_by_name(".comment").and_then(|section| section.data().ok()).unwrap_or_default();
    let texts = comment.split(|&byte| byte == 0).map(String::from_utf8_lossy);
    let mut producers: Vec<Producer> = texts.map(|text| Producer::of_comment(&text)).collect();
    producers.retain(|producer| ["gcc", "clang"].contains(&&*producer.compiler));
    producers.sort();
    producers.dedup();
    // The C runtime in every program is gcc's work.
    if producers.iter().any(|producer| producer.compiler == "clang") {
        producers.retain(|producer| producer.compiler != "gcc");
    }
    let compiler = |producer: &Producer| Compiler {
        name: producer.name(),
        files: None,
        instrumented_files: None,
        exclusions: Vec::new(),
    };
    producers.iter().map(compiler).collect()
}

/// Folders of source files.
pub fn folders(units: &[Unit]) -> Vec<Folder> {
    let mut folders: BTreeMap<String, Folder> = BTreeMap::new();
    for unit in units.iter().filter(|unit| !unit.folder.as_os_str().is_empty()) {
        let path = unit.folder.display().to_string();
        let folder = folders.entry(path.clone()).or_insert(Folder { path, files: 0, instrumented_files: 0 });
        folder.files += 1;
        folder.instrumented_files += usize::from(unit.is_instrumented);
    }
    folders.into_values().collect()
}
