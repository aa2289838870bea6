//! All that a report warns of.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

use crate::load::timed::Timing;
use crate::load::{Doubt, LeftOut, Loaded, Summary};
use crate::merge::{Group, Merged, ModuleId};
use crate::nearest::{nearest_names, nearest_sentence};
use crate::symbolize::{Problem, Symbols};

/// What a reader of a report should know.
#[derive(Clone, Debug)]
pub enum Warning {
    /// A profile is not in it.
    LeftOut(LeftOut),
    /// Something of a profile, and perhaps of others.
    OfProfile {
        /// The first one's file.
        path: PathBuf,
        /// What.
        what: OfProfile,
        /// Of how many more.
        others: usize,
    },
    /// Functions of a module have no names.
    Nameless(Problem),
    /// A root that nothing is called as.
    UnknownRoot {
        /// The pattern.
        pattern: String,
        /// Functions whose names come near.
        nearest: Vec<String>,
    },
    /// A library is instrumented, but nothing was seen of it.
    Unseen {
        /// Its file.
        module: String,
    },
    /// Calls that were counted nowhere.
    Lost {
        /// How many.
        calls: u64,
    },
    /// Calls that were counted without their paths.
    Folded {
        /// How many.
        calls: u64,
        /// Why.
        why: Folding,
    },
    /// Calls were not timed, as was asked for.
    Untimed {
        /// Whether others were.
        some: bool,
    },
}

/// Why calls were counted without their paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folding {
    /// There was no room for them.
    NoRoom,
    /// A process has restricted its system calls.
    Sealed,
    /// A thread could not be recorded any more, which its profile tells.
    GivenUp,
}

/// What there is to know of a profile.
#[derive(Clone, Debug, PartialEq)]
pub enum OfProfile {
    /// What is doubtful of it.
    Doubt(Doubt),
    /// Nothing in it could be recorded.
    NotInstrumented,
    /// Nothing instrumented was called.
    NothingCalled,
    /// None of the roots was called.
    NoRootCalled,
}

/// Everything, once.
pub fn all(loaded: &Loaded, merged: &Merged, symbols: &Symbols) -> Vec<Warning> {
    let mut said: Vec<Warning> = loaded.left_out.iter().cloned().map(Warning::LeftOut).collect();
    said.extend(of_profiles(loaded));
    let problems = symbols.problems().filter(|(module, _)| has_unnamed(merged, symbols, *module));
    said.extend(problems.map(|(_, problem)| Warning::Nameless(problem)));
    said.extend(unknown_roots(loaded, merged, symbols));
    said.extend(unseen(loaded, merged));
    said.extend(uncounted(loaded, merged));
    said.extend(untimed(loaded));
    let mut known = BTreeSet::new();
    said.retain(|warning| known.insert(warning.to_string()));
    said
}

/// The sentences to show.
pub fn sentences<W: Display>(warnings: &[W]) -> Vec<String> {
    warnings.iter().map(ToString::to_string).collect()
}

/// What there is to know of profiles, once for all of which it is the same: a server may leave one for each connection.
fn of_profiles(loaded: &Loaded) -> Vec<Warning> {
    let mut said: Vec<Warning> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for profile in &loaded.profiles {
        let doubts = profile.warnings.iter().cloned().map(OfProfile::Doubt);
        let mut here = BTreeSet::new();
        for what in doubts.chain(nothing_called(profile)) {
            let at = *known.entry(what.to_string()).or_insert(said.len());
            let is_new_here = here.insert(at);
            match said.get_mut(at) {
                None => said.push(Warning::OfProfile { path: profile.path.clone(), what, others: 0 }),
                Some(Warning::OfProfile { others, .. }) => *others += usize::from(is_new_here),
                Some(_) => {}
            }
        }
    }
    said
}

fn nothing_called(profile: &Summary) -> Option<OfProfile> {
    if profile.has_calls {
        return None;
    }
    Some(match (profile.is_instrumented, profile.roots.is_empty()) {
        (false, _) => OfProfile::NotInstrumented,
        (true, true) => OfProfile::NothingCalled,
        (true, false) => OfProfile::NoRootCalled,
    })
}

/// Libraries that are instrumented, but nothing was seen of them. Where roots were asked for, that is as it should be.
fn unseen(loaded: &Loaded, merged: &Merged) -> Vec<Warning> {
    let is_partial = |profile: &Summary| !profile.has_calls || !profile.roots.is_empty();
    if loaded.profiles.iter().any(is_partial) {
        return Vec::new();
    }
    let called = merged.groups.iter().flat_map(|group| group.functions.keys());
    let called: BTreeSet<_> = called.filter_map(|&id| merged.places[id as usize].module).collect();
    let modules = (0..).zip(&merged.modules);
    let unseen = modules.filter(|(id, module)| module.is_instrumented && !module.is_program && !called.contains(id));
    unseen.map(|(_, module)| Warning::Unseen { module: module.path().to_owned() }).collect()
}

/// What is wrong with a module only matters if functions in it were called, and some have no name or no code.
fn has_unnamed(merged: &Merged, symbols: &Symbols, module: ModuleId) -> bool {
    let functions = merged.groups.iter().flat_map(|group| group.functions.keys()).map(|&id| merged.places[id as usize]);
    let mut here = functions.filter(|place| place.module == Some(module));
    here.any(|place| symbols.function(place).is_none() || !symbols.has_code(module))
}

/// Roots that no program has: the programs of a server, which share a folder, seldom have all of them each.
fn unknown_roots(loaded: &Loaded, merged: &Merged, symbols: &Symbols) -> Vec<Warning> {
    let roots = || loaded.profiles.iter().flat_map(|profile| &profile.roots);
    let those = |of: fn(u32) -> bool| -> BTreeSet<&str> {
        roots().filter(|root| root.matches.is_some_and(of)).map(|root| root.pattern.as_str()).collect()
    };
    let unknown = &those(|matches| matches == 0) - &those(|matches| matches > 0);
    if unknown.is_empty() {
        return Vec::new();
    }
    let instrumented = merged.modules.iter().enumerate().filter(|(_, module)| module.is_instrumented);
    let instrumented: Vec<ModuleId> = instrumented.map(|(id, _)| id as ModuleId).collect();
    let names: Vec<_> = instrumented.iter().flat_map(|&module| symbols.names(module)).collect();
    let warn = |pattern: &str| {
        let nearest = nearest_names(pattern, names.iter().map(|name| &**name));
        Warning::UnknownRoot { pattern: pattern.to_owned(), nearest: nearest.into_iter().map(str::to_owned).collect() }
    };
    unknown.into_iter().map(warn).collect()
}

/// Calls that were counted without being timed, as was asked for.
fn untimed(loaded: &Loaded) -> Option<Warning> {
    let timings: BTreeSet<Timing> = loaded.profiles.iter().map(|profile| profile.timing).collect();
    timings.contains(&Timing::Off).then_some(Warning::Untimed { some: timings.len() > 1 })
}

fn uncounted(loaded: &Loaded, merged: &Merged) -> Vec<Warning> {
    let sum = |count: fn(&Group) -> u64| merged.groups.iter().map(count).fold(0, u64::saturating_add);
    let (lost, folded) = (sum(|group| group.lost_calls), sum(|group| group.folded_calls));
    let lost = (lost > 0).then_some(Warning::Lost { calls: lost });
    let is_there = |doubt: &Doubt| loaded.profiles.iter().any(|profile| profile.warnings.contains(doubt));
    let why = match () {
        () if is_there(&Doubt::NoClock) || is_there(&Doubt::SharedStorage) => Folding::GivenUp,
        () if is_there(&Doubt::Sealed) => Folding::Sealed,
        () => Folding::NoRoom,
    };
    lost.into_iter().chain((folded > 0).then_some(Warning::Folded { calls: folded, why })).collect()
}

impl Display for Warning {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        match self {
            Self::LeftOut(profile) => profile.fmt(out),
            Self::OfProfile { path, what, others: 0 } => write!(out, "{}: {what}", path.display()),
            Self::OfProfile { path, what, others } => {
                write!(
                    out,
                    "{} and {others} other profile{}: {what}",
                    path.display(),
                    if *others == 1 { "" } else { "s" }
                )
            }
            Self::Nameless(problem) => problem.fmt(out),
            Self::UnknownRoot { pattern, nearest } => {
                write!(out, "DIYTRACE_ROOT: nothing is called `{pattern}`{}", nearest_sentence(nearest, ""))
            }
            Self::Unseen { module } => write!(
                out,
                "{module}: none of its functions was called, though it is instrumented; if it was loaded with \
                 RTLD_DEEPBIND or by dlmopen, its hooks are libc's, which do nothing"
            ),
            Self::Lost { calls } => {
                write!(out, "{calls} calls were lost, as there was no room for them: a larger DIYTRACE_MEMORY may help")
            }
            Self::Folded { calls, why: Folding::GivenUp } => write!(
                out,
                "{calls} calls are counted by function only, as a thread could not be recorded any more (see above), or as the \
                 profile had no room for their paths"
            ),
            Self::Folded { calls, why: Folding::Sealed } => write!(
                out,
                "{calls} calls are counted by function only, as the profile had no room for their paths: of a process that has \
                 restricted its system calls (seccomp) only those have paths for which room was set aside; a larger \
                 DIYTRACE_MEMORY sets aside more"
            ),
            // Which limit the profile has met, it does not tell.
            Self::Folded { calls, why: Folding::NoRoom } => write!(
                out,
                "{calls} calls are counted by function only, as the profile had no room for their paths: record with a \
                 larger DIYTRACE_MEMORY, or a smaller DIYTRACE_KEEP if many threads or processes come and go; elsewhere if its \
                 folder's disk was full, or where the program may have longer files and open one more (ulimit -f, -n)"
            ),
            Self::Untimed { some: false } => out.write_str("DIYTRACE_TIMING=off: calls were counted, not timed"),
            Self::Untimed { some: true } => {
                out.write_str("DIYTRACE_TIMING=off in some of the profiles: their calls count, but have no time")
            }
        }
    }
}

impl Display for OfProfile {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        match self {
            Self::Doubt(doubt) => doubt.fmt(out),
            Self::NotInstrumented => out.write_str(
                "nothing was recorded: neither the program nor its libraries refer to the hooks; compile them with \
                 -finstrument-functions",
            ),
            Self::NothingCalled => out.write_str("no instrumented function was called"),
            Self::NoRootCalled => out.write_str("none of the functions in DIYTRACE_ROOT was called"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Summary;
    use crate::testing::{arena, family, node, slot};

    #[test]
    fn what_is_true_of_many_profiles_is_said_once() {
        let profile = |name: &str, warnings: &[Doubt]| {
            let family = family(vec![arena(vec![node(0x1000, None, slot(1, 1, 0))])]);
            Summary { path: name.into(), warnings: warnings.to_vec(), ..Summary::of(&family) }
        };
        let profiles = vec![
            profile("a", &[Doubt::Sealed, Doubt::Reset { after_s: 1.0 }]),
            profile("b", &[Doubt::Sealed, Doubt::Sealed, Doubt::Reset { after_s: 1.0 }]),
            profile("c", &[Doubt::Truncated { bytes: 7 }]),
            profile("d", &[Doubt::Sealed]),
        ];
        let said = sentences(&of_profiles(&Loaded { profiles, left_out: Vec::new(), archives: Vec::new() }));
        let begins =
            ["a and 2 other profiles: a process restricted", "a and 1 other profile: the counters", "c: the file"];
        assert_eq!(said.len(), begins.len(), "{said:?}");
        assert!(said.iter().zip(begins).all(|(said, begin)| said.starts_with(begin)), "{said:?}");
    }
}
