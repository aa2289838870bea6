//! Runs whose times are made up: the truth about them is known, and no other process can disturb it.
//!
//! Functions, call paths and counts are those of a profile that the recorder has written. A program is then thought through
//! call by call: each takes the time that the story says, and what its hooks cost. What the recorder's clock would have shown
//! is written into a copy of the profile, as the recorder would have: sums, histograms, the timeline, what its loop at the
//! start found, and the results of windows. A tick is a nanosecond.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use diytrace_format::calibration::RESULTS;
use diytrace_format::header::clock::CLOCK_GETTIME;
use diytrace_format::histogram::bin;
use diytrace_format::reader::File;
use diytrace_format::timeline::{FIRST_WIDTH, Timeline, parts, width_for};
use diytrace_format::{Arena, Bins, Calibration, Function, GRANULE, Header, NodeRecord, OffCpu, Ref, UNIT, kind, node};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

use super::Recorded;

/// A recorded program whose functions are called as often by each call of their caller, and never by themselves.
pub struct Program {
    bytes: Vec<u8>,
    name: String,
    arena: usize,
    paths: Vec<CallPath>,
}

/// A call path; those above come first.
struct CallPath {
    offset: usize,
    function: String,
    calls: u64,
    record: Ref,
    callees: Vec<usize>,
}

/// What a pair of hooks takes, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Hooks {
    /// Inside the interval that it measures.
    pub inner: f64,
    /// Beside that.
    pub outer: f64,
    /// If it counts only.
    pub counted: f64,
}

/// What happens in a run.
pub struct Times<'a> {
    /// What a call takes itself, in nanoseconds, by function.
    pub own: &'a dyn Fn(&str) -> f64,
    /// By how much calls differ from each other, as a part of that.
    pub variation: f64,
    /// What a pair of hooks takes in truth, and by how much pairs differ, as a part of it.
    pub hooks: Hooks,
    pub hooks_variation: f64,
    /// What the recorder's loop has found, and how far off it says that may be.
    pub found: Hooks,
    pub found_error: f64,
    /// What each window has found that timing costs.
    pub windows: Vec<f64>,
    /// One call of a function is kept waiting for so many nanoseconds.
    pub wait: Option<(&'a str, f64)>,
    /// Whether the recording knows that it was others who had the processor then.
    pub knows_preempted: bool,
}

/// What is so of a function.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    pub calls: u64,
    pub own_ns: f64,
    pub total_ns: f64,
    /// What each call took with its callees, the shortest first.
    pub each_ns: Vec<f64>,
    /// Hooks in it and below.
    pub pairs: u64,
}

/// Random numbers of which each run of a test gets the same.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to 1.
    pub fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// About 0, with a standard deviation of 1.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.part()).sum::<f64>() - 6.0
    }
}

impl Program {
    /// The one that was recorded.
    pub fn of(recorded: &Recorded) -> Self {
        let report = recorded.report();
        let [profile] = &recorded.profiles()[..] else { panic!("one profile") };
        let mut bytes = fs::read(profile).unwrap();
        let used = File::open(&bytes).unwrap().header().used as usize;
        bytes.truncate(used);
        let file = File::open(&bytes).unwrap();
        let modules: Vec<_> = file.blocks().flat_map(|block| file.modules(&block).collect::<Vec<_>>()).collect();
        let name_of = |address: u64| {
            let (module, _) = modules.iter().find(|(module, _)| (module.start..module.end).contains(&address)).unwrap();
            let known = format!("{:#x}", address - module.bias);
            report.functions.iter().find(|function| function.address == known).unwrap().name.clone()
        };
        let arenas: Vec<_> = file.blocks().filter(|block| block.block.kind == kind::ARENA).collect();
        let [arena] = &arenas[..] else { panic!("one thread") };
        let mut places = BTreeMap::new();
        let mut paths: Vec<CallPath> = Vec::new();
        for (reference, path) in file.blocks().flat_map(|block| file.nodes(&block).collect::<Vec<_>>()) {
            let place = places.len();
            places.insert(reference, place);
            let [slot, folded] = path.slots;
            assert_eq!((slot.mark & node::mark::OPEN, folded.calls), (0, 0), "a path that is open or folded");
            if path.parent != node::ROOT {
                let above: &mut CallPath = &mut paths[places[&path.parent]];
                assert!(slot.calls.is_multiple_of(above.calls), "calls differ in what they call");
                above.callees.push(place);
            }
            let function = name_of(path.function);
            let (offset, callees) = (reference as usize * UNIT, Vec::new());
            paths.push(CallPath { offset, function, calls: slot.calls, record: path.record, callees });
        }
        let name = profile.file_name().unwrap().to_str().unwrap().to_owned();
        Self { arena: arena.offset + UNIT, paths, name, bytes }
    }

    /// Writes the profile of a run into a folder, and tells the truth about it.
    pub fn run(&self, times: &Times, chance: &mut Chance, folder: &Path) -> BTreeMap<String, Truth> {
        let waits = times.wait.map(|(function, ns)| {
            let path = self.paths.iter().position(|path| path.function == function).unwrap();
            (path, (chance.part() * self.paths[path].calls as f64) as u64, ns)
        });
        let counted = vec![Counted::default(); self.paths.len()];
        let mut run = Run { program: self, times, chance, waits, counted, truth: BTreeMap::new() };
        for (index, path) in self.paths.iter().enumerate() {
            if self.paths.iter().all(|above| !above.callees.contains(&index)) {
                for _ in 0..path.calls {
                    run.call(index);
                }
            }
        }
        let Run { counted, mut truth, waits, .. } = run;
        let preempted = waits.filter(|_| times.knows_preempted).map(|(path, _, ns)| (path, ns as u64));
        truth.values_mut().for_each(|truth| truth.each_ns.sort_by(f64::total_cmp));
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join(&self.name), self.profile(times, &counted, preempted)).unwrap();
        truth
    }

    fn profile(&self, times: &Times, counted: &[Counted], preempted: Option<(usize, u64)>) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        for (path, counted) in self.paths.iter().zip(counted) {
            change(&mut bytes, path.offset, |record: &mut NodeRecord| {
                record.slot.ticks = counted.ticks;
                record.noted = 0;
            });
        }
        for record in self.paths.iter().map(|path| path.record).filter(|record| *record != 0) {
            let of_record = || self.paths.iter().zip(counted).filter(|(path, _)| path.record == record);
            let filed: Vec<u64> = of_record().flat_map(|(_, counted)| &counted.filed).copied().collect();
            let mut octaves: BTreeMap<usize, Bins> = BTreeMap::new();
            for &value in &filed {
                let (octave, sub) = bin(value);
                octaves.entry(octave).or_insert_with(Bins::new_zeroed).counts[sub] += 1;
            }
            let places: Vec<_> = octaves.iter().map(|(&octave, bins)| (octave, append(&mut bytes, bins))).collect();
            let has_timeline = is_set(&bytes, record, |function: &Function| function.timeline != 0);
            let ticks = of_record().map(|(_, counted)| counted.ticks).sum();
            let timeline = if has_timeline { append(&mut bytes, &timeline(ticks)) } else { 0 };
            change(&mut bytes, record as usize * UNIT, |function: &mut Function| {
                (function.min, function.max) = (*filed.iter().min().unwrap(), *filed.iter().max().unwrap());
                (function.octaves, function.unbinned, function.timeline) = (function.octaves.map(|_| 0), 0, timeline);
                places.iter().for_each(|&(octave, place)| function.octaves[octave] = place);
            });
        }
        let mut windows = Calibration::new_zeroed();
        windows.count = times.windows.len() as u64;
        assert!(times.windows.len() <= RESULTS);
        (windows.made, windows.weights) = (windows.count, [1; RESULTS]);
        // All that they differ by is what noted calls have found; timed ones are all there are.
        let mean = times.windows.iter().sum::<f64>() / times.windows.len().max(1) as f64;
        let note = times.found.counted;
        windows
            .noted
            .iter_mut()
            .zip(&times.windows)
            .for_each(|(to, ns)| *to = ((mean + 5.0 - ns + note) * 1024.0) as i32);
        windows.own = [(note / 0.75 * 1024.0) as i32; RESULTS];
        windows.differences.iter_mut().zip(&times.windows).for_each(|(to, ns)| *to = (ns * 1024.0) as i32);
        let windows = append(&mut bytes, &windows);
        // What the recorded run was off the processor is nothing of this one.
        let off_cpu = preempted.map(|(path, preempted_ns)| {
            let node = (self.paths[path].offset / UNIT) as Ref;
            append(&mut bytes, &OffCpu { node, preempted_ns, ..OffCpu::default() })
        });
        change(&mut bytes, self.arena, |arena: &mut Arena| {
            arena.spent = 0; // what the recorder did there is no part of what is simulated
            (arena.pending, arena.calibration, arena.off_cpu) = (0, windows, off_cpu.unwrap_or(0));
        });
        bytes.resize(bytes.len().next_multiple_of(GRANULE), 0);
        let used = bytes.len() as u64;
        change(&mut bytes, 0, |header: &mut Header| {
            (header.clock, header.ticks_per_second, header.used) = (CLOCK_GETTIME, 1_000_000_000, used);
            (header.inner_cost, header.outer_cost) = (cost(times.found.inner), cost(times.found.outer));
            header.cost_error = cost(times.found_error);
        });
        bytes
    }
}

/// What the recorder counts of a path.
#[derive(Clone, Default)]
struct Counted {
    calls: u64,
    ticks: u64,
    /// As the histogram has them.
    filed: Vec<u64>,
}

struct Run<'a> {
    program: &'a Program,
    times: &'a Times<'a>,
    chance: &'a mut Chance,
    /// The path and number of the call that waits, and how long.
    waits: Option<(usize, u64, f64)>,
    counted: Vec<Counted>,
    truth: BTreeMap<String, Truth>,
}

/// A call that is over.
struct Call {
    /// From one reading of the clock to the other.
    measured: f64,
    /// What it would have taken without hooks.
    true_ns: f64,
    descendants: u64,
}

impl Run<'_> {
    fn call(&mut self, path: usize) -> Call {
        let (times, program) = (self.times, self.program);
        let CallPath { function, calls, callees, .. } = &program.paths[path];
        let mut own = (times.own)(function) * (1.0 + times.variation * self.chance.normal()).max(0.0);
        own += self.waits.map_or(0.0, |(waiting, number, ns)| {
            match (waiting, number) == (path, self.counted[path].calls) {
                true => ns,
                false => 0.0,
            }
        });
        self.counted[path].calls += 1;
        let mut call = Call { measured: own + self.hooks(times.hooks.inner), true_ns: own, descendants: 0 };
        for &callee in callees {
            for _ in 0..program.paths[callee].calls / calls {
                let inside = self.call(callee);
                call.measured += inside.measured + self.hooks(times.hooks.outer);
                call.true_ns += inside.true_ns;
                call.descendants += inside.descendants + 1;
            }
        }
        let ticks = call.measured.round() as u64;
        let [inner, outer] = [times.found.inner, times.found.outer].map(cost);
        let counted = &mut self.counted[path];
        counted.ticks += ticks;
        counted.filed.push(ticks.saturating_sub((inner + call.descendants * (inner + outer)) >> 10));
        let truth = self.truth.entry(function.clone()).or_default();
        truth.calls += 1;
        truth.own_ns += own;
        truth.total_ns += call.true_ns;
        truth.each_ns.push(call.true_ns);
        truth.pairs += call.descendants + 1;
        call
    }

    fn hooks(&mut self, ns: f64) -> f64 {
        ns * (1.0 + self.times.hooks_variation * self.chance.normal()).max(0.0)
    }
}

/// That of a root that was called once.
fn timeline(ticks: u64) -> Timeline {
    let mut timeline = Timeline::new_zeroed();
    timeline.width = width_for(FIRST_WIDTH, ticks);
    for (slice, part) in parts(timeline.width, 0, ticks) {
        timeline.slices[slice].ticks = part;
        timeline.slices[slice].calls = u64::from(ticks >> timeline.width == slice as u64);
    }
    timeline
}

/// A time as the header has it.
fn cost(ns: f64) -> u64 {
    (ns * 1024.0) as u64
}

fn is_set<T: FromBytes>(bytes: &[u8], record: Ref, is_so: impl Fn(&T) -> bool) -> bool {
    is_so(&T::read_from_bytes(&bytes[record as usize * UNIT..][..size_of::<T>()]).ok().unwrap())
}

fn change<T: FromBytes + IntoBytes + Immutable>(bytes: &mut [u8], offset: usize, change: impl FnOnce(&mut T)) {
    let place = &mut bytes[offset..][..size_of::<T>()];
    let mut record = T::read_from_bytes(place).ok().unwrap();
    change(&mut record);
    place.copy_from_slice(record.as_bytes());
}

fn append<T: IntoBytes + Immutable>(bytes: &mut Vec<u8>, record: &T) -> Ref {
    let start = bytes.len().next_multiple_of(UNIT);
    bytes.resize(start, 0);
    bytes.extend_from_slice(record.as_bytes());
    (start / UNIT) as Ref
}
