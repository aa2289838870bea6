//! What one run did: its functions, with names that another build has too, and how far off their times may be.

mod apart;
pub mod code;
pub mod identity;
pub mod split;
pub mod uncertainty;

pub use apart::{Apart, Part};

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use diytrace_profile::correct::{Measured as PathMeasured, Times, correct};
use diytrace_profile::demangle::shown;
use diytrace_profile::elf::symbols::base_name;
use diytrace_profile::error::Error;
use diytrace_profile::functions::Names;
use diytrace_profile::functions::Ran;
use diytrace_profile::functions::Roots;
use diytrace_profile::functions::{FunctionId, Spelling, functions};
use diytrace_profile::histogram::Histogram;
use diytrace_profile::load::timed::Timing;
use diytrace_profile::merge::{Group, Merged, Place, PlaceId};
use diytrace_profile::opened::Opened;
use diytrace_profile::symbolize::{Probe, Symbols};
use diytrace_profile::warnings::{self, Warning};

use code::{Codes, KnownCode, Seen};
use identity::{Home, Identity};
use uncertainty::Uncertainty;

/// What one run did.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// Its functions.
    pub functions: Vec<(Identity, Measured)>,
    /// Calls of one function by another, by their places in `functions`.
    pub edges: BTreeMap<(usize, usize), Called>,
    /// Call paths: the one above, the function, and its own time in nanoseconds. Each comes after the one above.
    pub paths: Vec<(Option<usize>, usize, f64)>,
    /// Whether calls were timed.
    pub is_timed: bool,
    /// Whether the recording knows of all functions when others had the processor.
    pub knows_preempted: bool,
    /// The roots that it was recorded with, as they were written; none if all was, or nobody knows.
    pub roots: BTreeSet<String>,
    /// What the reader should know.
    pub warnings: Vec<Warning>,
}

/// A function in a run. Times are in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Calls entered.
    pub calls: u64,
    /// Time without callees.
    pub own: f64,
    /// What of `own` others had the processor, where the recording knows.
    pub preempted: Option<f64>,
    /// Time with callees, of outermost calls.
    pub total: f64,
    /// How far off `own` may be.
    pub own_error: Uncertainty,
    /// How far off `total` may be.
    pub total_error: f64,
    /// Times of calls that have returned.
    pub histogram: Histogram,
    /// The build IDs of its module: empty ones, if it has none.
    pub builds: BTreeSet<Vec<u8>>,
    /// Its code, where that was looked for.
    pub code: Seen,
    /// What of `own` it was on a processor, where the recording knows.
    pub own_cpu: Option<f64>,
    /// What of `own` it waited, where the recording knows.
    pub own_wait: Option<f64>,
    /// When it ran.
    pub ran: Ran,
}

/// Calls of one function by another.
#[derive(Clone, Copy, Debug, Default)]
pub struct Called {
    /// Calls entered.
    pub calls: u64,
    /// Time without callees.
    pub own: f64,
    /// What of `own` others had the processor, where the recording knows.
    pub preempted: Option<f64>,
    /// Time with callees.
    pub total: f64,
    /// How far off `own` may be.
    pub own_error: Uncertainty,
    /// How far off `total` may be.
    pub total_error: f64,
}

/// What is known of the functions of a profile.
#[derive(Default)]
struct Known {
    /// Which is at a place.
    ids: FxHashMap<PlaceId, FunctionId>,
    /// Those that are asked for.
    asked_for: BTreeSet<usize>,
}

impl Measured {
    /// Its own time, less that in which others had the processor as far as the recording knows.
    pub fn own_without_preempted(&self) -> f64 {
        self.own - self.preempted.unwrap_or_default()
    }

    /// Adds another function that has the same name.
    pub fn add(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.own += other.own;
        self.preempted = both(self.preempted, other.preempted);
        self.total += other.total;
        self.own_error.add(&other.own_error);
        self.total_error += other.total_error;
        self.histogram.merge(&other.histogram);
        self.builds.extend(other.builds.iter().cloned());
        self.code.add(&other.code);
        self.own_cpu = both(self.own_cpu, other.own_cpu);
        self.own_wait = both(self.own_wait, other.own_wait);
        self.ran.merge(&other.ran);
    }
}

impl Called {
    /// Adds calls of functions that have the same names.
    pub fn add(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.own += other.own;
        self.preempted = both(self.preempted, other.preempted);
        self.total += other.total;
        self.own_error.add(&other.own_error);
        self.total_error += other.total_error;
    }
}

/// The sum of what is known.
fn both(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.or(other).map(|_| one.unwrap_or_default() + other.unwrap_or_default())
}

impl Observed {
    /// Of a run's profiles.
    pub fn of(opened: &Opened) -> Result<Self, Error> {
        Ok(Self::read(opened)?.0)
    }

    /// The same, with the code of its functions; `known` is what other runs have found.
    pub fn with_code(opened: &Opened, known: &KnownCode) -> Result<Self, Error> {
        let (mut observed, Known { ids, .. }) = Self::read(opened)?;
        let codes = Codes::of(&opened.merged, &opened.symbols(), known);
        for group in &opened.merged.groups {
            for (place, seen) in codes.seen(&opened.merged, group) {
                observed.functions[ids[&place] as usize].1.code.add(&seen);
            }
        }
        Ok(observed)
    }

    fn read(opened: &Opened) -> Result<(Self, Known), Error> {
        let (mut observed, known) = Self::none(opened, Roots::named(&[]))?;
        for group in &opened.merged.groups {
            observed.add(&opened.merged, group, &known.ids);
        }
        Ok((observed, known))
    }

    /// Functions that have counted nothing yet, and what is known of them; those that are asked for must be there.
    fn none(opened: &Opened, asked_for: Roots) -> Result<(Self, Known), Error> {
        let symbols = opened.symbols();
        let merged = &opened.merged;
        let roots = Roots::of(&[], &opened.loaded.profiles);
        let names = Names::of(merged, &symbols, &roots, true, Spelling::Demangled);
        let asked_for = asked_for.in_full(&symbols, &names.places());
        asked_for.check(&symbols, &names.places())?;
        symbols.find_lines(names.places().into_iter().map(|place| (place, Probe::Function)).collect());
        let warnings = warnings::all(&opened.loaded, merged, &symbols);
        let roots = opened.loaded.profiles.iter().flat_map(|profile| &profile.roots);
        let roots = roots.map(|root| root.pattern.clone()).collect();
        let mut observed = Self { warnings, roots, knows_preempted: true, ..Self::default() };

        // Functions of one name in one file are one from here on: copies that each unit has, and those that compilers make.
        let mut numbers: FxHashMap<Identity, usize> = FxHashMap::default();
        let mut known = Known::default();
        for (&place, id) in &names.ids {
            let name = &names.functions[id];
            let identity = identity(opened, &symbols, name.place, name.symbol.as_deref());
            let next = numbers.len();
            let number = *numbers.entry(identity).or_insert(next);
            if number == next {
                observed.functions.push((Identity::default(), Measured::default()));
            }
            if asked_for.contain(&symbols, name.place) {
                known.asked_for.insert(number);
            }
            known.ids.insert(place, number as FunctionId);
        }
        for (identity, number) in numbers {
            observed.functions[number].0 = identity;
        }
        Ok((observed, known))
    }

    fn add(&mut self, merged: &Merged, group: &Group, ids: &FxHashMap<PlaceId, FunctionId>) {
        let places: FxHashSet<PlaceId> = group.tree.paths.iter().map(|path| path.key.function).collect();
        for place in places {
            let build = merged.places[place as usize].module.map(|module| &merged.modules[module as usize].build_id);
            self.functions[ids[&place] as usize].1.builds.insert(build.cloned().unwrap_or_default());
        }
        self.is_timed |= group.timing.iter().any(|timing| *timing != Timing::Off);
        let times = correct(group);
        for (id, function) in functions(group, &times, ids, |_| false) {
            let mut ran = Ran::default();
            ran.add(&function);
            let split = function.own_off.split(function.corrected.own);
            self.knows_preempted &= split.is_some();
            self.functions[id as usize].1.add(&Measured {
                calls: function.calls,
                own: function.corrected.own.ns(),
                preempted: split.map(|split| split.preempted.ns()),
                total: function.corrected.total.ns(),
                own_error: Uncertainty::default(), // see below
                total_error: function.error.ns(),
                histogram: function.histogram,
                builds: BTreeSet::new(), // are known
                code: Seen::default(),
                own_cpu: split.map(|split| split.cpu.ns()),
                own_wait: split.map(|split| split.wait.ns()),
                ran,
            });
            for (callee, edge) in function.callees {
                self.edges.entry((id as usize, callee as usize)).or_default().add(&Called {
                    calls: edge.calls,
                    own: edge.corrected.own.ns(),
                    preempted: edge.own_off.split(edge.corrected.own).map(|split| split.preempted.ns()),
                    total: edge.corrected.total.ns(),
                    own_error: Uncertainty::default(),
                    total_error: edge.error.ns(),
                });
            }
        }
        self.add_paths(group, &times, ids);
    }

    /// Adds call paths, and how far off functions' own times may be.
    fn add_paths(&mut self, group: &Group, times: &Times, ids: &FxHashMap<PlaceId, FunctionId>) {
        let overhead = group.overhead();
        let (inner, outer) = (overhead.inner.ns(), overhead.outer.ns());
        let inside = if inner + outer > 0.0 { inner / (inner + outer) } else { 0.5 };
        let mut numbers: Vec<Option<usize>> = Vec::with_capacity(group.tree.paths.len());
        for ((id, path), times) in (0..).zip(&group.tree.paths).zip(times.corrected.iter()) {
            if path.is_untimed() {
                numbers.push(None);
                continue;
            }
            let function = ids[&path.key.function] as usize;
            let parent = path.key.parent.and_then(|parent| numbers[parent as usize]);
            // A call's hooks cost the function a part, inside what they measure, and its caller the rest.
            let measured = PathMeasured::of(&group.tree, id).without_hooks(&group.parts, id);
            let (pairs, error) = (path.counts.calls as f64, measured.error.ns());
            // Where paths were fitted into the time of the one above, what was moved between them may belong elsewhere.
            let moved = match path.key.folded_into {
                Some(_) => 0.0,
                None => (times.own - measured.own).ns().abs(),
            };
            let hooks = |part: f64| Uncertainty { pairs: part * pairs, shared: part * error, ..Uncertainty::default() };
            let own_error = Uncertainty { taken: (path.counts.own - measured.own).ns(), own: moved, ..hooks(inside) };
            self.add_own_error(function, parent, &own_error);
            if let Some(parent) = parent {
                let (above, caller, _) = self.paths[parent];
                self.add_own_error(caller, above, &hooks(1.0 - inside));
            }
            numbers.push(Some(self.paths.len()));
            self.paths.push((parent, function, times.own.ns()));
        }
    }

    /// Adds how far off a function's own time may be, on a path below `parent`.
    fn add_own_error(&mut self, function: usize, parent: Option<usize>, error: &Uncertainty) {
        self.functions[function].1.own_error.add(error);
        if let Some(edge) = parent.and_then(|parent| self.edges.get_mut(&(self.paths[parent].1, function))) {
            edge.own_error.add(error);
        }
    }
}

fn identity(opened: &Opened, symbols: &Symbols, place: Place, symbol: Option<&str>) -> Identity {
    let module = place.module.map(|module| &opened.merged.modules[module as usize]);
    let name = match symbol {
        Some(symbol) => shown(base_name(symbol)).into_owned(),
        None => format!("{:#x}", place.address), // another build has it elsewhere: it will be on one side only
    };
    let file = symbols.line(place, Probe::Function).map(|line| file_name(&line.file).to_owned());
    let home = match module {
        Some(module) => Home { file: without_version(module.short_name()).to_owned(), is_program: module.is_program },
        None => Home::default(),
    };
    Identity { name, home, file }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A library's name without the version that a build gives it: `libpq.so.5.15` is `libpq.so`.
fn without_version(name: &str) -> &str {
    match name.find(".so.") {
        Some(at) => &name[..at + 3],
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_keep_their_names_over_versions() {
        for (name, expected) in [("libpq.so.5.15", "libpq.so"), ("libpq.so", "libpq.so"), ("server", "server")] {
            assert_eq!(without_version(name), expected);
        }
    }
}
