//! All that a report warns of.

use std::collections::BTreeSet;

use crate::load::timed::Timing;
use crate::load::{Loaded, Summary};
use crate::merge::{Merged, Module, ModuleId};
use crate::nearest::{nearest_names, nearest_sentence};
use crate::symbolize::Symbols;

/// What to do where a profile could not grow. Which limit it has met, it does not tell.
const MORE_ROOM: &str = "record with a larger DIYTRACE_MEMORY, or, if its folder's disk was full or files may not grow further \
                         (ulimit -f), elsewhere";

/// Everything, once.
pub fn all(loaded: &Loaded, merged: &Merged, symbols: &Symbols) -> Vec<String> {
    let mut said = loaded.warnings.clone();
    for profile in &loaded.profiles {
        let of_profile = profile.warnings.iter().cloned().chain(nothing_called(profile));
        said.extend(of_profile.map(|warning| format!("{}: {warning}", profile.path.display())));
    }
    said.extend(symbols.problems().filter(|(module, _)| has_unnamed(merged, symbols, *module)).map(|(_, what)| what));
    said.extend(unknown_roots(loaded, merged, symbols));
    said.extend(unseen(loaded, merged));
    said.extend(uncounted(merged));
    said.extend(untimed(loaded));
    let mut known = BTreeSet::new();
    said.retain(|warning| known.insert(warning.clone()));
    said
}

fn nothing_called(profile: &Summary) -> Option<String> {
    if profile.has_calls {
        return None;
    }
    Some(match (profile.is_instrumented, profile.roots.is_empty()) {
        (false, _) => {
            "nothing was recorded: neither the program nor its libraries refer to the hooks; compile them with \
             -finstrument-functions"
                .to_owned()
        }
        (true, true) => "no instrumented function was called".to_owned(),
        (true, false) => "none of the functions in DIYTRACE_ROOT was called".to_owned(),
    })
}

/// Libraries that are instrumented, but nothing was seen of them. Where roots were asked for, that is as it should be.
fn unseen(loaded: &Loaded, merged: &Merged) -> Vec<String> {
    let is_partial = |profile: &Summary| !profile.has_calls || !profile.roots.is_empty();
    if loaded.profiles.iter().any(is_partial) {
        return Vec::new();
    }
    let called = merged.groups.iter().flat_map(|group| group.functions.keys());
    let called: BTreeSet<_> = called.filter_map(|&id| merged.places[id as usize].module).collect();
    let modules = (0..).zip(&merged.modules);
    let unseen = modules.filter(|(id, module)| module.is_instrumented && !module.is_program && !called.contains(id));
    let warn = |module: &Module| {
        format!(
            "{}: none of its functions was called, though it is instrumented; if it was loaded with RTLD_DEEPBIND or by \
             dlmopen, its hooks are libc's, which do nothing",
            module.path()
        )
    };
    unseen.map(|(_, module)| warn(module)).collect()
}

/// What is wrong with a module only matters if functions in it were called, and some have no name or no code.
fn has_unnamed(merged: &Merged, symbols: &Symbols, module: ModuleId) -> bool {
    let functions = merged.groups.iter().flat_map(|group| group.functions.keys()).map(|&id| merged.places[id as usize]);
    let mut here = functions.filter(|place| place.module == Some(module));
    here.any(|place| symbols.function(place).is_none() || !symbols.has_code(module))
}

fn unknown_roots(loaded: &Loaded, merged: &Merged, symbols: &Symbols) -> Vec<String> {
    let roots = loaded.profiles.iter().flat_map(|profile| &profile.roots);
    let unknown: BTreeSet<&str> =
        roots.filter(|root| root.matches == Some(0)).map(|root| root.pattern.as_str()).collect();
    if unknown.is_empty() {
        return Vec::new();
    }
    let instrumented = merged.modules.iter().enumerate().filter(|(_, module)| module.is_instrumented);
    let instrumented: Vec<ModuleId> = instrumented.map(|(id, _)| id as ModuleId).collect();
    let names: Vec<_> = instrumented.iter().flat_map(|&module| symbols.names(module)).collect();
    let warn = |pattern: &str| {
        let nearest = nearest_names(pattern, names.iter().map(|name| &**name));
        let nearest: Vec<String> = nearest.into_iter().map(str::to_owned).collect();
        format!("DIYTRACE_ROOT: nothing is called `{pattern}`{}", nearest_sentence(&nearest, ""))
    };
    unknown.into_iter().map(warn).collect()
}

/// Calls that were counted without being timed, as was asked for.
fn untimed(loaded: &Loaded) -> Vec<String> {
    let timings: BTreeSet<Timing> = loaded.profiles.iter().map(|profile| profile.timing).collect();
    let warn = |timing: &Timing| match timing {
        Timing::All => None,
        Timing::Off if timings.len() == 1 => Some("DIYTRACE_TIMING=off: calls were counted, not timed".to_owned()),
        Timing::Off => {
            Some("DIYTRACE_TIMING=off in some of the profiles: their calls count, but have no time".to_owned())
        }
    };
    timings.iter().filter_map(warn).collect()
}

fn uncounted(merged: &Merged) -> Vec<String> {
    let sum = |count: fn(&crate::merge::Group) -> u64| merged.groups.iter().map(count).fold(0, u64::saturating_add);
    let (lost, folded) = (sum(|group| group.lost_calls), sum(|group| group.folded_calls));
    let mut said = Vec::new();
    if lost > 0 {
        said.push(format!("{lost} calls were lost, as there was no room for them: a larger DIYTRACE_MEMORY may help"));
    }
    if folded > 0 {
        said.push(format!(
            "{folded} calls are counted by function only, as the profile had no room for their paths: {MORE_ROOM}"
        ));
    }
    said
}
