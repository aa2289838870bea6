//! Checks patterns before the command is started: a mistyped root would record nothing, perhaps for hours.

use diytrace::pattern::{glob, mangled_hint, matches_demangled, without_parameters};

use super::program::Program;
use super::{Options, variables};
use crate::demangle::{demangle, is_mangled, shown};
use crate::elf::{Elf, symbols};
use crate::error::nearest_sentence;
use crate::nearest::nearest_names;

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
    let names: Vec<&str> =
        modules.iter().flat_map(|module| symbols::functions(module).unwrap_or_default()).map(|f| f.name).collect();
    let unmatched: Vec<String> = patterns.into_iter().filter(|pattern| !matches_any(pattern, &names)).collect();
    if unmatched.is_empty() {
        return Vec::new();
    }
    let (place, shown) = (place(&modules), shown_names(&names));
    unmatched.iter().map(|pattern| warning(pattern, &place, &shown)).collect()
}

fn matches_any(pattern: &str, names: &[&str]) -> bool {
    let hint = mangled_hint(pattern);
    names.iter().any(|name| {
        glob(pattern, name)
            || is_mangled(name)
                && name.contains(hint)
                && demangle(name).is_some_and(|demangled| matches_demangled(pattern, &demangled))
    })
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
