//! What engines keep of a frame, whichever they are.

use std::borrow::Cow;

use diytrace_profile::load::Summary;
use diytrace_profile::load::costs::Evidence;
use diytrace_profile::load::timed::Timing;
use diytrace_profile::merge::{Filed, FunctionTimes, Group, Module, PathId, PlaceId, Row};
use diytrace_profile::module::ModuleKey;
use diytrace_profile::time::Time;
use serde::{Deserialize, Serialize};

use crate::dictionary::Numbers;
use crate::{Frame, codec};

/// Most series: more mean that a label has values without end.
pub const MOST_SERIES: u64 = 1 << 20;

/// The latest slices of a recording stay as they are when others become coarser: whoever sends them may send them again.
pub const LATEST_NS: i64 = 120_000_000_000;

/// Who is started again takes the same moment from a file: it may be another by as much.
const ROUNDING_NS: i64 = 1000;

/// What to do about them.
pub const TOO_MANY_SERIES: &str =
    "leave out labels whose values never come again, such as a time or a process's number";

/// What is told of a recording as a whole: the latest frame knows best.
#[derive(Serialize, Deserialize)]
pub struct Head {
    pub summary: Summary,
    pub modules: Vec<Module>,
    /// Without what is in frames.
    pub group: Option<Group>,
    /// What tells what its hooks cost.
    pub evidence: Option<Evidence>,
}

/// What a frame counted beside the sums of paths and functions.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub struct Totals {
    pub calls: u64,
    pub lost_calls: u64,
    pub folded_calls: u64,
    pub unwound: u64,
    pub left_out: u64,
    /// Of the part, if there is one.
    pub part_calls: Option<u64>,
}

/// What a frame has of a function. Times are those of the frame itself while it is put in: they are most of its bytes.
#[derive(Debug, PartialEq, Deserialize)]
pub struct OfFunction<'a> {
    pub place: PlaceId,
    pub times: Option<Cow<'a, FunctionTimes>>,
    pub filed: Option<Filed>,
}

/// What a frame counted.
pub struct Sums<'a> {
    /// The rate of the clock that its histograms are by, if they are of one recording.
    pub hz: f64,
    pub totals: Totals,
    /// In the order of the paths' numbers.
    pub rows: Vec<(PathId, Row)>,
    /// In the order of the places' numbers.
    pub functions: Vec<OfFunction<'a>>,
}

impl Head {
    /// Of a frame's recording.
    pub fn of(frame: &Frame) -> Self {
        let group = frame.merged.groups.first();
        Self {
            summary: frame.summary.clone(),
            modules: frame.merged.modules.clone(),
            group: group.map(Group::without_sums),
            evidence: group.and_then(|group| group.parts.first()).map(|part| (*part.evidence).clone()),
        }
    }
}

impl<'a> Sums<'a> {
    /// Of a frame, whose places and paths have these numbers in the store.
    pub fn of(frame: &'a Frame, numbers: &Numbers) -> Self {
        let group = frame.merged.groups.first();
        let part = group.and_then(|group| group.parts.first());
        let mut rows: Vec<(PathId, Row)> = Vec::with_capacity(numbers.paths.len());
        for (number, (path, at)) in (0u32..).zip(group.iter().flat_map(|group| &group.tree.paths).zip(&numbers.paths)) {
            let pairs = part.and_then(|part| part.pairs(number)).unwrap_or_default();
            rows.push((*at, Row { counts: path.counts, pairs }));
        }
        one_each(&mut rows); // whoever sends frames may tell of one path twice

        let mut places: Vec<PlaceId> = Vec::new();
        places.extend(group.iter().flat_map(|group| group.functions.keys()));
        places.extend(part.iter().flat_map(|part| part.filed.keys()));
        places.sort_unstable();
        places.dedup();
        let of_function = |place: &PlaceId| OfFunction {
            place: numbers.places[*place as usize],
            times: group.and_then(|group| group.functions.get(place)).map(Cow::Borrowed),
            filed: part.and_then(|part| part.filed.get(place)).copied(),
        };
        let mut functions: Vec<OfFunction> = places.iter().map(of_function).collect();
        functions.sort_unstable_by_key(|function| function.place);
        let totals = group.map_or_else(Totals::default, |group| Totals {
            calls: group.calls,
            lost_calls: group.lost_calls,
            folded_calls: group.folded_calls,
            unwound: group.unwound,
            left_out: group.left_out,
            part_calls: part.map(|part| part.calls),
        });
        Self { hz: frame.summary.clock.hz, totals, rows, functions }
    }
}

/// Puts rows in the order of their paths, of each one.
pub fn one_each(rows: &mut Vec<(PathId, Row)>) {
    rows.sort_unstable_by_key(|(path, _)| *path);
    rows.dedup_by(|(next, row), (path, sum)| {
        let is_same = next == path;
        if is_same {
            let mut numbers = codec::numbers(sum);
            codec::add(&mut numbers, &codec::numbers(row));
            *sum = codec::row(&numbers).unwrap_or(*sum);
        }
        is_same
    });
}

/// The self times of paths, as measured.
pub fn own(rows: &[(PathId, Row)]) -> Time {
    rows.iter().map(|(_, row)| row.counts.own).sum()
}

/// What there is of a frame's recording.
#[derive(Default)]
pub struct Known {
    /// When the frame of this number ended.
    pub ended: Option<i64>,
    /// If there are later ones: the calls in this and those, and when the last ended.
    pub later: Option<(u64, i64)>,
    /// When the last before it ended.
    pub before: Option<i64>,
    /// The highest number of a frame.
    pub highest: Option<u64>,
}

impl Known {
    /// Whether the frame tells nothing that is not there: it was sent before what is.
    pub fn is_newer_than(&self, frame: &Frame, calls: u64) -> bool {
        match self.later {
            Some((there, ended)) if frame.holds_later => (calls, frame.end) <= (there, ended),
            Some((_, ended)) => frame.end <= ended,
            None => self.ended.is_some_and(|ended| ended > frame.end),
        }
    }

    /// Whether it does not fit to what is there, so that all since the beginning is needed: a part of its time is in others, or what came
    /// before it is not there any more, as where a store is new, or was put back to what it was some time ago. Then the one before may be
    /// there as it was first sent, and not as it was sent once more, with what had been counted meanwhile.
    pub fn needs_all(&self, frame: &Frame) -> bool {
        let is_apart = self.before.is_some_and(|before| !follows(before, frame.start));
        let is_beside_later = self.later.is_some_and(|(_, ended)| ended < frame.end);
        let misses_some = frame.sequence > self.highest.map_or(0, |highest| highest.saturating_add(1));
        is_apart || misses_some || is_beside_later && !frame.holds_later
    }
}

/// Whether a frame begins where the one before it ended.
pub fn follows(ended: i64, start: i64) -> bool {
    (ended..=ended.saturating_add(ROUNDING_NS)).contains(&start)
}

/// A timing's name in the store.
pub fn timing_name(timing: Timing) -> &'static str {
    match timing {
        Timing::All => "all",
        Timing::Off => "off",
    }
}

/// A module's key as it is written.
pub fn bytes_of(key: &ModuleKey) -> Vec<u8> {
    postcard::to_stdvec(key).unwrap_or_default() // into memory: it cannot fail
}

/// Its build ID in hexadecimal digits, as people and SQL read it; empty if it has none.
pub fn build_id_of(key: &ModuleKey) -> String {
    match key {
        ModuleKey::BuildId(id) => id.iter().map(|byte| format!("{byte:02x}")).collect(),
        ModuleKey::File(_) => String::new(),
    }
}

/// The path in its key, if it has one.
pub fn path_of(key: &ModuleKey) -> &str {
    match key {
        ModuleKey::File(file) => &file.path,
        ModuleKey::BuildId(_) => "",
    }
}
