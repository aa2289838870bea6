//! All that a report warns of.

use std::collections::BTreeSet;

use crate::error::nearest_sentence;
use crate::load::{Family, Loaded};
use crate::merge::{Merged, ModuleId};
use crate::nearest::nearest_names;
use crate::symbolize::Symbols;

/// Everything, once.
pub fn all(loaded: &Loaded, merged: &Merged, symbols: &Symbols) -> Vec<String> {
    let mut said = loaded.warnings.clone();
    for family in &loaded.families {
        let of_family = family.warnings.iter().cloned().chain(nothing_called(family));
        said.extend(of_family.map(|warning| format!("{}: {warning}", family.path.display())));
    }
    said.extend(symbols.problems().filter(|(module, _)| has_unnamed(merged, symbols, *module)).map(|(_, what)| what));
    said.extend(unknown_roots(loaded, merged, symbols));
    said.extend(uncounted(merged));
    let mut known = BTreeSet::new();
    said.retain(|warning| known.insert(warning.clone()));
    said
}

fn nothing_called(family: &Family) -> Option<String> {
    if family.arenas.iter().any(|arena| !arena.nodes.is_empty()) {
        return None;
    }
    let is_instrumented = family.modules.iter().any(|module| module.is_instrumented);
    Some(match (is_instrumented, family.roots.is_empty()) {
        (false, _) => {
            "nothing was recorded: neither the program nor its libraries refer to the hooks; compile them with \
             -finstrument-functions"
                .to_owned()
        }
        (true, true) => "no instrumented function was called".to_owned(),
        (true, false) => "none of the functions in DIYTRACE_ROOT was called".to_owned(),
    })
}

/// What is wrong with a module only matters if functions in it were called, and some have no name or no code.
fn has_unnamed(merged: &Merged, symbols: &Symbols, module: ModuleId) -> bool {
    let functions = merged.groups.iter().flat_map(|group| group.functions.keys()).map(|&id| merged.places[id as usize]);
    let mut here = functions.filter(|place| place.module == Some(module));
    here.any(|place| symbols.function(place).is_none() || !symbols.has_code(module))
}

fn unknown_roots(loaded: &Loaded, merged: &Merged, symbols: &Symbols) -> Vec<String> {
    let roots = loaded.families.iter().flat_map(|family| &family.roots);
    let unknown: BTreeSet<&str> =
        roots.filter(|root| root.matches == Some(0)).map(|root| root.pattern.as_str()).collect();
    if unknown.is_empty() {
        return Vec::new();
    }
    let instrumented = merged.modules.iter().enumerate().filter(|(_, module)| module.is_instrumented);
    let names: Vec<_> = instrumented.flat_map(|(id, _)| symbols.names(id as ModuleId)).collect();
    let warn = |pattern: &str| {
        let nearest = nearest_names(pattern, names.iter().map(|name| &**name));
        let nearest: Vec<String> = nearest.into_iter().map(str::to_owned).collect();
        format!("DIYTRACE_ROOT: nothing is called `{pattern}`{}", nearest_sentence(&nearest, ""))
    };
    unknown.into_iter().map(warn).collect()
}

fn uncounted(merged: &Merged) -> Vec<String> {
    let sum = |count: fn(&crate::merge::Group) -> u64| merged.groups.iter().map(count).fold(0, u64::saturating_add);
    let (lost, folded) = (sum(|group| group.lost_calls), sum(|group| group.folded_calls));
    let mut said = Vec::new();
    if lost > 0 {
        said.push(format!("{lost} calls were lost, as the profile was full: record with a larger DIYTRACE_MEMORY"));
    }
    if folded > 0 {
        said.push(format!(
            "{folded} calls are counted by function only, as the profile had no room for their paths: record with a \
             larger DIYTRACE_MEMORY"
        ));
    }
    said
}
