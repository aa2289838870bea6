//! Checks patterns before the command is started: a mistyped root would record nothing, perhaps for hours.

use diytrace_format::pattern::without_parameters;

use super::program::Program;
use super::{Options, variables};
use diytrace_profile::demangle::{is_named, shown};
use diytrace_profile::elf::symbols::{Table, functions};
use diytrace_profile::elf::{Elf, Mapped};
use diytrace_profile::nearest::nearest_names;
use diytrace_profile::nearest::nearest_sentence;

/// A sentence for each root or exclusion that matches no function of the instrumented modules.
///
/// A command with no instrumented module at all gets none: it is likely to start others.
pub fn warnings(options: &Options, program: &Program) -> Vec<String> {
    let mut patterns = variables::patterns(&options.roots, "DIYTRACE_ROOT");
    patterns.extend(variables::patterns(&options.excludes, "DIYTRACE_EXCLUDE"));
    let modules = program.instrumented();
    if patterns.is_empty() || modules.is_empty() {
        return Vec::new();
    }
    let debug_files: Vec<_> = modules.iter().filter_map(|module| module.debug_file()).collect();
    let files = modules.iter().map(|module| &module.file).chain(debug_files.iter().map(|debug| &debug.file));
    let names: Vec<&str> = files.flat_map(names_in).collect();
    let is_unmatched = |pattern: &String| !names.iter().any(|name| is_named(pattern, name));
    let unmatched: Vec<String> = patterns.into_iter().filter(is_unmatched).collect();
    if unmatched.is_empty() {
        return Vec::new();
    }
    let (place, shown) = (place(&modules), shown_names(&names));
    unmatched.iter().map(|pattern| warning(pattern, &place, &shown)).collect()
}

/// Names of all functions that a file tells.
fn names_in(file: &Mapped) -> impl Iterator<Item = &str> {
    let tables = file.parsed().map(|elf| [Table::All, Table::Exported].map(|table| functions(&elf, table)));
    tables.into_iter().flatten().flatten().map(|function| function.name)
}

/// All names as people write them, without the compiler's parts and copies of functions (`f.cold`, `f.constprop.0`).
/// This takes a while for a large C++ program, so only the unlucky wait for it.
fn shown_names(names: &[&str]) -> Vec<String> {
    let of_people = names.iter().filter(|name| !name.contains('.'));
    of_people.map(|name| without_parameters(&shown(name)).to_owned()).collect()
}

fn warning(pattern: &str, place: &str, names: &[String]) -> String {
    let nearest: Vec<String> =
        nearest_names(pattern, names.iter().map(String::as_str)).into_iter().map(str::to_owned).collect();
    let hint = nearest_sentence(&nearest, "");
    format!("no function `{pattern}` in {place}{hint} (libraries loaded later are searched when they appear)")
}

fn place(modules: &[&Elf]) -> String {
    const SHOWN: usize = 3;
    let names: Vec<_> = modules.iter().map(|module| module.name()).collect();
    match names.as_slice() {
        [one] => one.to_string(),
        [first @ .., last] if names.len() <= SHOWN => format!("{} or {last}", first.join(", ")),
        [first, ..] => format!("{first} and {} other instrumented modules", names.len() - 1),
        [] => String::new(),
    }
}
