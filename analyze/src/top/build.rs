//! From two readings to a frame.

use std::path::PathBuf;

use rustc_hash::{FxHashMap, FxHashSet};

#[cfg(feature = "service")]
use super::frame::Newest;
use super::frame::{Frame, Row, SCHEMA, Unlisted};
use diytrace_profile::correct::correct;
use diytrace_profile::demangle::shown;
use diytrace_profile::functions::{Function, FunctionId, functions};
use diytrace_profile::load::Loaded;
use diytrace_profile::load::reader::Reading;
use diytrace_profile::merge::{By, Group, Merged, Merging, Place, PlaceId};
use diytrace_profile::opened::Opened;
use diytrace_profile::process::State;
use diytrace_profile::units::Address;

/// Builds frames, and remembers names between them.
#[derive(Default)]
pub struct Builder {
    modules: FxHashMap<(String, Vec<u8>), u32>,
    names: FxHashMap<(Option<u32>, u64), String>,
}

/// What the places of two readings are called.
struct Names {
    ids: FxHashMap<PlaceId, FunctionId>,
    /// Name and module.
    of: FxHashMap<FunctionId, (String, String)>,
}

impl Builder {
    /// What has happened from one reading to the next.
    pub fn frame(&mut self, earlier: &Reading, later: &Reading, by: By) -> Frame {
        let family = &later.family;
        let mut merging = Merging::new(by, None).with_whole_timelines();
        merging.add_since(Some(&earlier.family), family);
        let opened = Opened::of(Loaded::default(), merging.finish());
        let interval_ns = later.at_ns.saturating_sub(earlier.at_ns).max(1);
        let running = family.arenas.iter().filter(|arena| arena.state == State::Running);
        Frame {
            profile: family.path.clone(),
            exe: family.exe.clone(),
            at_unix_ns: family.unix_ns(family.clock.ticks_at(later.at_ns)),
            paused: later.paused,
            running: running.map(|arena| arena.facts.process).collect::<FxHashSet<_>>().len() as u64,
            recorded: family.processes.into(),
            ..self.of(&opened, interval_ns, by)
        }
    }

    /// What a store has of the time up to a moment, both in nanoseconds, the moment since 1970.
    #[cfg(feature = "service")]
    pub fn of_newest(
        &mut self,
        opened: &Opened,
        store: PathBuf,
        newest: Newest,
        (at, interval_ns): (u64, u64),
    ) -> Frame {
        Frame { profile: store, at_unix_ns: at, newest: Some(newest), ..self.of(opened, interval_ns, By::All) }
    }

    /// What was counted in so many nanoseconds, of nobody knows whom.
    fn of(&mut self, opened: &Opened, interval_ns: u64, by: By) -> Frame {
        let names = self.names(opened);
        let merged = &opened.merged;
        let rates = Rates { names: &names, seconds: interval_ns as f64 / 1e9, by };
        let groups = || merged.groups.iter();
        Frame {
            schema: SCHEMA,
            profile: PathBuf::new(),
            exe: String::new(),
            at_unix_ns: 0,
            interval_ns,
            paused: false,
            running: 0,
            recorded: 0,
            newest: None,
            calls_per_s: groups().map(|group| group.calls).sum::<u64>() as f64 / rates.seconds,
            lost_calls: groups().map(|group| group.lost_calls).sum(),
            functions: groups().flat_map(|group| rates.rows(group)).collect(),
            unlisted: Unlisted::default(),
            others: Vec::new(),
        }
    }

    /// Names of all functions; those of one name in a module are one.
    fn names(&mut self, opened: &Opened) -> Names {
        let merged = &opened.merged;
        let modules: Vec<u32> = merged.modules.iter().map(|module| self.module(module)).collect();
        let places: Vec<PlaceId> = merged.functions().collect();
        let key = |place: Place| (place.module.map(|module| modules[module as usize]), place.address);
        let at = |id: &PlaceId| merged.places[*id as usize];
        let unknown: Vec<Place> =
            places.iter().map(at).filter(|place| !self.names.contains_key(&key(*place))).collect();
        if !unknown.is_empty() {
            let symbols = opened.symbols();
            symbols.find_functions(&unknown);
            for place in unknown {
                let name = symbols.function(place).map(|symbol| shown(symbol.name).into_owned());
                self.names.insert(key(place), name.unwrap_or_else(|| Address(place.address).to_string()));
            }
        }
        let mut names = Names { ids: FxHashMap::default(), of: FxHashMap::default() };
        let mut first: FxHashMap<(String, String), FunctionId> = FxHashMap::default();
        for id in places {
            let name = (self.names[&key(at(&id))].clone(), module_path(merged, at(&id)));
            let function = *first.entry(name.clone()).or_insert(id);
            names.ids.insert(id, function);
            names.of.insert(function, name);
        }
        names
    }

    fn module(&mut self, module: &diytrace_profile::merge::Module) -> u32 {
        let next = self.modules.len() as u32;
        *self.modules.entry((module.path().to_owned(), module.build_id.clone())).or_insert(next)
    }
}

fn module_path(merged: &Merged, place: Place) -> String {
    place.module.map_or_else(String::new, |module| merged.modules[module as usize].path().to_owned())
}

struct Rates<'a> {
    names: &'a Names,
    seconds: f64,
    by: By,
}

impl Rates<'_> {
    fn rows(&self, group: &Group) -> Vec<Row> {
        let all = functions(group, &correct(group), &self.names.ids, |_| false);
        let pid = group.process.as_ref().filter(|_| self.by != By::All).map(|process| process.pid);
        let happened =
            |function: &&Function| function.calls > 0 || function.open() > 0 || function.corrected.total.ns() > 0.0;
        all.iter()
            .filter(|(_, function)| happened(function))
            .map(|(id, function)| self.row(pid, *id, function))
            .collect()
    }

    fn row(&self, pid: Option<u32>, id: FunctionId, function: &Function) -> Row {
        let sums = &function.corrected;
        let callees = function.callees.iter().map(|(callee, edge)| {
            let (total, own) = (edge.corrected.total.ns(), edge.corrected.own.ns());
            let nested_ns_per_s = edge.corrected.nested.ns() / self.seconds;
            Row { nested_ns_per_s, ..self.named(pid, *callee, edge.calls, [total, own, edge.error.ns()]) }
        });
        let spent = function.own_off.split(sums.own);
        Row {
            self_cpu_ns_per_s: spent.map(|spent| spent.cpu.ns() / self.seconds),
            self_wait_ns_per_s: spent.map(|spent| spent.wait.ns() / self.seconds),
            mean_ns: function.mean().map(|mean| mean.ns()),
            p99_ns: function.histogram.percentiles([0.99]).map(|[p99]| p99.ns()),
            open: function.open(),
            timeline: function.timelines.finish(),
            callees: callees.filter(|row| row.calls > 0 || row.total_ns_per_s > 0.0).collect(),
            ..self.named(pid, id, function.calls, [sums.total.ns(), sums.own.ns(), function.error.ns()])
        }
    }

    fn named(&self, pid: Option<u32>, id: FunctionId, calls: u64, times: [f64; 3]) -> Row {
        let (name, module) = self.names.of[&id].clone();
        let [total_ns_per_s, self_ns_per_s, error_ns_per_s] = times.map(|ns| ns / self.seconds);
        let calls_per_s = calls as f64 / self.seconds;
        Row { pid, name, module, calls, calls_per_s, self_ns_per_s, total_ns_per_s, error_ns_per_s, ..Row::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diytrace_profile::load::Family;
    use diytrace_profile::testing::{arena, family, function_of, node, slot};

    fn reading(at_ns: u64, processes: &[(u32, u64)]) -> Reading {
        let arenas = processes.iter().map(|&(process, calls)| {
            let (outer, inner) = (slot(calls, 100 * calls, calls), slot(calls, 60 * calls, 0));
            let mut nodes = vec![node(0x1100, None, outer), node(0x1200, Some(0), inner)];
            nodes.iter_mut().for_each(|node| node.has_histogram = true);
            let mut arena = arena(nodes);
            arena.functions =
                vec![function_of(0x1100, &vec![100; calls as usize]), function_of(0x1200, &vec![60; calls as usize])];
            (arena.facts.process, arena.facts.pid, arena.name) = (process, 100 + process, process);
            arena
        });
        let family = Family { processes: processes.len() as u32, ..family(arenas.collect()) };
        Reading { family, at_ns, paused: false }
    }

    #[test]
    fn rates_are_of_the_time_between_two_readings() {
        let (earlier, later) = (reading(1_000, &[(1, 10)]), reading(250_001_000, &[(1, 30)]));
        let frame = Builder::default().frame(&earlier, &later, By::All);
        assert_eq!((frame.interval_ns, frame.calls_per_s), (250_000_000, 160.0));
        let [outer, inner] = &frame.functions[..] else { panic!("two functions") };
        assert_eq!(
            (outer.calls, outer.calls_per_s, outer.total_ns_per_s, outer.self_ns_per_s),
            (20, 80.0, 8000.0, 3200.0)
        );
        assert_eq!((inner.calls, inner.total_ns_per_s, inner.mean_ns), (20, 4800.0, Some(60.0)));
        assert!((inner.p99_ns.unwrap() - 60.0).abs() < 2.0, "within a bin");
        assert_eq!((outer.callees[0].id(), outer.callees[0].calls), (inner.id(), 20));
    }

    #[test]
    fn nothing_happened_is_an_empty_frame() {
        let reading = reading(0, &[(1, 10)]);
        assert_eq!(Builder::default().frame(&reading, &reading, By::All).functions, []);
    }

    #[test]
    fn processes_are_told_apart_and_new_ones_count_from_their_start() {
        let (earlier, later) = (reading(0, &[(1, 10)]), reading(1_000_000_000, &[(1, 11), (2, 5)]));
        let frame = Builder::default().frame(&earlier, &later, By::Process);
        let calls: Vec<_> = frame.functions.iter().map(|row| (row.pid, row.calls)).collect();
        assert_eq!(calls, [(Some(101), 1), (Some(101), 1), (Some(102), 5), (Some(102), 5)]);
    }
}
