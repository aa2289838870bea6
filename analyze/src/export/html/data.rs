//! The data of the page, in columns: shorter than objects, and quicker to read.

use serde::Serialize;

use crate::export::profile::{Frame, Function, Part, Profile, Spread, Sums};

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

/// Function, calls, self, total and its error, mean, min, p50, p90, p99, p99.9, max. Times are nanoseconds.
type SumsRow = (usize, u64, u64, u64, u64, Option<[f64; 7]>);

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
    let sums = part.sums.iter().enumerate().filter(|(_, sums)| sums.calls > 0 || sums.total_ns > 0);
    PartData {
        name: &part.name,
        processes: part.processes,
        calls: part.calls,
        total: part.total_ns(),
        error: part.error_ns,
        call_error: tenths(part.call_error_ns),
        paths,
        sums: sums.map(row).collect(),
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
    (function, sums.calls, sums.self_ns, sums.total_ns, sums.error_ns, sums.spread.map(times))
}

/// A tenth of a nanosecond is more than any clock has.
fn tenths(ns: f64) -> f64 {
    (ns * 10.0).round() / 10.0
}
