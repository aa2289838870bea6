//! The data of the page, in columns: shorter than objects, and quicker to read.

use serde::{Serialize, Serializer};

use crate::export::profile::{Frame, Function, Part, Profile, Spread, Sums};
use diytrace_profile::timeline::{Timeline, TimelineSlice};

/// All of it.
#[derive(Serialize)]
pub struct Page<'a> {
    title: &'a str,
    times: &'static str,
    is_raw: bool,
    is_part: bool,
    version: &'static str,
    warnings: &'a [String],
    modules: Vec<&'a str>,
    functions: Vec<FunctionRow<'a>>,
    /// What lies between caller and callee and has no hooks.
    vias: Vec<&'a str>,
    parts: Vec<PartData<'a>>,
}

/// Label, module, file, line.
type FunctionRow<'a> = (&'a str, Option<usize>, Option<&'a str>, Option<u32>);

#[derive(Serialize)]
struct PartData<'a> {
    name: &'a str,
    processes: u64,
    calls: u64,
    total: u64,
    error: u64,
    call_error: f64,
    paths: Paths,
    sums: Vec<SumsRow>,
    timelines: Timelines,
}

/// Call paths in preorder, in columns.
#[derive(Default, Serialize)]
struct Paths {
    /// The path above; -1: none.
    parent: Vec<i64>,
    function: Vec<usize>,
    calls: Vec<u64>,
    /// Nanoseconds.
    own: Vec<u64>,
    /// How far off the time with callees may be, in nanoseconds.
    error: Vec<u64>,
    /// Whether the body is inlined in its caller's.
    inlined: Vec<u8>,
    /// What is between caller and callee, from 1; 0: nothing.
    via: Vec<usize>,
}

/// Function, calls, self and its error, total and its error, mean, min, p50, p90, p99, p99.9, max. Times are nanoseconds.
type SumsRow = (usize, u64, u64, u64, u64, u64, Option<[f64; 7]>);

/// When functions ran.
#[derive(Default, Serialize)]
struct Timelines {
    /// When the earliest begins, in nanoseconds since 1970.
    start: u64,
    is_all_timed: bool,
    rows: Vec<TimelineRow>,
}

/// Function; where its slices begin, in nanoseconds from the common start; nanoseconds of a slice; how many there are; how many
/// empty ones are left out before the first that is not; calls and nanoseconds of each from there on.
type TimelineRow = (usize, u64, f64, usize, usize, Vec<Number>, Vec<Number>);

/// A number that is written as a whole one where it is one: slices are many.
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 as i64 {
            whole if whole as f64 == self.0 => to.serialize_i64(whole),
            _ => to.serialize_f64(self.0),
        }
    }
}

impl<'a> Page<'a> {
    /// Of a profile.
    pub fn of(profile: &'a Profile) -> Self {
        let mut vias: Vec<&str> = profile.sites.iter().filter_map(|site| site.via.as_deref()).collect();
        vias.sort_unstable();
        vias.dedup();
        Self {
            title: &profile.title,
            times: profile.kind_of_time(),
            is_raw: profile.is_raw,
            is_part: profile.is_part,
            version: env!("CARGO_PKG_VERSION"),
            warnings: &profile.warnings,
            modules: (0..profile.modules.len()).map(|module| profile.short_name(module)).collect(),
            functions: profile.functions.iter().map(function).collect(),
            parts: profile.parts.iter().map(|of| part(profile, of, &vias)).collect(),
            vias,
        }
    }
}

fn function(function: &Function) -> FunctionRow<'_> {
    let line = function.line.as_ref();
    (&function.label, function.module, line.map(|line| line.file.as_str()), line.map(|line| line.number))
}

fn part<'a>(profile: &Profile, part: &'a Part, vias: &[&str]) -> PartData<'a> {
    let mut paths = Paths::default();
    for frame in &part.frames {
        paths.add(profile, frame, vias);
    }
    PartData {
        name: &part.name,
        processes: part.processes,
        calls: part.calls,
        total: part.total_ns(),
        error: part.error_ns,
        call_error: tenths(part.call_error_ns),
        paths,
        timelines: Timelines::of(part),
        sums: shown(part).map(row).collect(),
    }
}

/// The functions that the part has anything of.
fn shown(part: &Part) -> impl Iterator<Item = (usize, &Sums)> {
    part.sums.iter().enumerate().filter(|(_, sums)| sums.calls > 0 || sums.total_ns > 0)
}

impl Timelines {
    /// Those of a part's functions.
    fn of(part: &Part) -> Self {
        let all: Vec<(usize, &Timeline)> =
            shown(part).filter_map(|(function, sums)| Some((function, sums.timeline.as_ref()?))).collect();
        let start = all.iter().map(|(_, timeline)| timeline.start_unix_ns).min().unwrap_or(0);
        let row = |(function, timeline): (usize, &Timeline)| {
            let Timeline { start_unix_ns, slice_ns, slices } = timeline;
            let is_filled = |slice: &&TimelineSlice| slice.calls > 0.0 || slice.total_ns > 0.0;
            let empty = slices.iter().position(|slice| is_filled(&slice)).unwrap_or(slices.len());
            let filled = &slices[empty..];
            let calls = filled.iter().map(|slice| Number(thousandths(slice.calls))).collect();
            let times = filled.iter().map(|slice| Number(tenths(slice.total_ns))).collect();
            (function, start_unix_ns - start, thousandths(*slice_ns), slices.len(), empty, calls, times)
        };
        Self { start, is_all_timed: part.is_all_timed, rows: all.into_iter().map(row).collect() }
    }
}

impl Paths {
    fn add(&mut self, profile: &Profile, frame: &Frame, vias: &[&str]) {
        let site = &profile.sites[frame.site];
        let via = site.via.as_deref().and_then(|via| vias.binary_search(&via).ok());
        self.parent.push(frame.parent.map_or(-1, |parent| parent as i64));
        self.function.push(frame.function);
        self.calls.push(frame.calls);
        self.own.push(frame.self_ns);
        self.error.push(frame.error_ns);
        self.inlined.push(site.is_inlined.into());
        self.via.push(via.map_or(0, |via| via + 1));
    }
}

fn row((function, sums): (usize, &Sums)) -> SumsRow {
    let times = |spread: Spread| {
        let Spread { mean, min, p50, p90, p99, p999, max } = spread;
        [mean, min, p50, p90, p99, p999, max].map(tenths)
    };
    let Sums { calls, self_ns, self_error_ns, total_ns, error_ns, spread, .. } = *sums;
    (function, calls, self_ns, self_error_ns, total_ns, error_ns, spread.map(times))
}

fn thousandths(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}

/// A tenth of a nanosecond is more than any clock has.
fn tenths(ns: f64) -> f64 {
    (ns * 10.0).round() / 10.0
}
