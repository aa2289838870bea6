//! A frame as it was sent: checked, and not made into anything else. A store that keeps the same bytes takes them as they are, under
//! numbers of its own; what needs the sums has them made of it.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use diytrace_format::node::flag;
use diytrace_profile::histogram::Histogram;
use diytrace_profile::load::costs::{Costs, Evidence};
use diytrace_profile::merge::{Merged, Part, PathId, PlaceId, Row};
use diytrace_profile::module::ModuleKey;
use diytrace_profile::time::Time;

use super::body::{Body, Fixed};
use super::wrong;
use crate::among::Among;
use crate::dictionary::{Entries, ModuleNumber, Numbers};
use crate::frame::build_of;
use crate::kept::{Head, OfFunction, Totals};
use crate::sums::{OfSeries, as_a_whole};
use crate::{Error, Frame, Labels, blob, codec, function_sums};

/// What is told of a recording as a whole.
pub struct Told {
    fixed: Fixed,
    keys: Vec<Option<ModuleKey>>,
    evidence: Option<Arc<Evidence>>,
    costs: OnceLock<Costs>,
}

impl Told {
    /// From bytes that anybody may have written.
    pub fn read(fixed: &[u8], evidence: Option<Arc<Evidence>>) -> Result<Self, Error> {
        let Ok(fixed) = postcard::from_bytes::<Fixed>(fixed) else {
            return wrong("nothing is told of its recording");
        };
        if !fixed.labels.are_sound() {
            return wrong("its labels cannot be, or there are more than 64");
        }
        let keys = fixed.modules.iter().map(|module| module.key()).collect();
        Ok(Self { fixed, keys, evidence, costs: OnceLock::new() })
    }

    /// Whether both are told of recordings of one series and build.
    pub fn is_of_series(&self, other: &Self) -> bool {
        let (one, other) = (&self.fixed, &other.fixed);
        let build = |fixed: &Fixed| build_of(&fixed.modules, &fixed.part);
        one.labels == other.labels && one.part == other.part && build(one) == build(other)
    }

    /// Whether all places' modules are told of: those have numbers up to this one.
    pub fn has_modules(&self, most: Option<ModuleNumber>) -> bool {
        let is_told = |most| usize::try_from(most).is_ok_and(|most| most < self.keys.len());
        most.is_none_or(is_told) && self.keys.iter().all(Option::is_some)
    }

    /// What its hooks cost.
    fn costs(&self) -> Costs {
        let costs = || self.evidence.as_ref().map_or_else(|| Evidence::default().costs(), |evidence| evidence.costs());
        *self.costs.get_or_init(costs)
    }
}

/// Bytes, and where in them what there is of each number lies, in the order of the bytes.
pub struct Parts {
    bytes: Vec<u8>,
    list: Vec<(u32, Range<usize>)>,
}

/// What a path counted, for who wants no more than that.
pub struct Calls {
    /// Which function's.
    pub function: PlaceId,
    /// Calls entered.
    pub calls: u64,
    /// If nothing recorded has made them: their time with what they called, less what is known at the time of what that costs.
    pub time: Option<Time>,
}

/// A frame as it was sent.
pub struct Received {
    /// Which recording it is of.
    pub session: String,
    /// Its number among the frames of that.
    pub sequence: u64,
    /// Whether what later frames had is in it.
    pub holds_later: bool,
    /// When it began, in nanoseconds since 1970.
    pub start: i64,
    /// When it ended.
    pub end: i64,
    /// What it counted as a whole.
    pub(crate) totals: Totals,
    pub(crate) told: Arc<Told>,
    pub(crate) entries: Arc<Entries>,
    /// Entries that grow have one; others, which begin anew, have another.
    pub(crate) lineage: u64,
    /// Self times of its paths, as measured.
    pub(crate) own: Time,
    calls: Vec<Calls>,
    /// As [`crate::codec`] writes them, the last path first.
    rows: Parts,
    /// As [`crate::function_sums`] does.
    functions: Parts,
    /// Whether it is what agents usually send, so that a store may keep its bytes.
    is_usual: bool,
}

impl Received {
    /// `are_usual`: its recording's paths and places.
    pub(super) fn of(
        body: Body,
        told: Arc<Told>,
        (entries, lineage): (Arc<Entries>, u64),
        are_usual: bool,
    ) -> Result<Self, Error> {
        let cannot_be = |_| super::cannot_be();
        let costs = told.costs();
        let (paths, places) = (entries.paths().len() as u32, entries.places().len() as u32);
        let (mut own, mut can_be) = (Time::ZERO, true);
        let mut rows: Vec<(PathId, Range<usize>)> = Vec::new();
        let mut calls: Vec<Calls> = Vec::new();
        let take = |path: PathId, numbers: &codec::Numbers, range| {
            let Some(Row { counts, pairs }) = codec::row(numbers) else {
                can_be = false;
                return;
            };
            own += counts.own;
            rows.push((path, range));
            let key = &entries.paths()[path as usize].key;
            if key.flags & (flag::UNTIMED | flag::OTHERS) == 0 {
                let time = (key.parent.is_none() && key.flags & flag::EDGE == 0)
                    .then(|| counts.inclusive[0] - Time::from_ns(pairs.inclusive[0].cost(&costs)));
                calls.push(Calls { function: key.function, calls: counts.calls, time });
            }
        };
        let parent = |path| entries.parent(path);
        codec::with_below(paths, |below| codec::look_through(&body.rows, parent, paths, below, take))
            .map_err(cannot_be)?;
        let mut functions: Vec<(PlaceId, Range<usize>)> = Vec::with_capacity(rows.len());
        let take = |place, range| functions.push((place, range));
        function_sums::look_through(&body.functions, places, take).map_err(cannot_be)?;
        if !can_be {
            return Err(super::cannot_be());
        }
        let is_usual = are_usual && functions.is_sorted_by(|(place, _), (next, _)| place < next);
        let received = Self {
            session: body.session,
            sequence: body.sequence,
            holds_later: body.holds_later,
            start: body.start,
            end: body.end,
            totals: body.totals,
            told,
            entries,
            lineage,
            own,
            calls,
            rows: Parts { bytes: body.rows, list: rows },
            functions: Parts { bytes: body.functions, list: functions },
            is_usual,
        };
        if !is_usual {
            received.frame()?; // whether it can be is found by making it
        }
        Ok(received)
    }

    /// The series that it is in.
    pub fn labels(&self) -> &Labels {
        &self.told.fixed.labels
    }

    /// Calls in it.
    pub fn calls(&self) -> u64 {
        self.totals.calls
    }

    /// The key of a module, by the number that places have it by.
    pub fn module(&self, module: i64) -> Option<&ModuleKey> {
        self.told.keys.get(usize::try_from(module).ok()?)?.as_ref()
    }

    /// The module, if it is in one, and address of a place.
    pub fn place(&self, place: PlaceId) -> Option<(Option<i64>, u64)> {
        self.entries.places().get(place as usize).copied()
    }

    /// Calls of paths, one by one: not those that are only counted, nor others that stand for several.
    pub fn each_path(&self) -> &[Calls] {
        &self.calls
    }

    /// How long calls of a function took that returned, as far as it is known what their hooks cost.
    pub fn distribution(&self, place: PlaceId) -> Histogram {
        let Parts { bytes, list } = &self.functions;
        let at = list.binary_search_by_key(&place, |(place, _)| *place).ok();
        let function = at.and_then(|at| function_sums::one(bytes, place, list[at].1.clone()));
        let Some(OfFunction { times: Some(times), filed, .. }) = function else { return Histogram::default() };
        let Told { fixed, evidence, .. } = &*self.told;
        let refinement = self.totals.part_calls.zip(filed).map(|(calls, filed)| {
            let (paths, of_functions) = Default::default();
            let evidence = evidence.clone().unwrap_or_default();
            let (key, costs) = (fixed.part.clone(), self.told.costs());
            Part { key, calls, evidence, costs, paths, filed: of_functions }.refinement(&filed)
        });
        times.histogram.refined_by(refinement.unwrap_or_default())
    }

    /// What is told of its recording as a whole, as stores have it.
    pub(crate) fn head(&self) -> Vec<u8> {
        let Told { fixed, evidence, .. } = &*self.told;
        let evidence = self.totals.part_calls.map(|_| evidence.as_deref().cloned().unwrap_or_default());
        let head = Head {
            summary: fixed.summary.clone(),
            modules: fixed.modules.clone(),
            group: Some(as_a_whole(fixed.group.as_slice())),
            evidence,
        };
        blob::write(&head, self.level())
    }

    /// How much is done to make it small.
    pub(crate) fn level(&self) -> flate2::Compression {
        if self.holds_later { blob::LASTING } else { blob::PASSING }
    }

    /// The numbers of what is told of it.
    pub(crate) fn fixed(&self) -> &Fixed {
        &self.told.fixed
    }

    /// Which build of its program it is of.
    pub(crate) fn build(&self) -> ModuleKey {
        build_of(&self.told.fixed.modules, &self.told.fixed.part)
    }

    /// How many paths it has.
    pub(crate) fn paths(&self) -> usize {
        self.rows.list.len()
    }

    /// Whether it is what agents usually send.
    pub(crate) fn is_usual(&self) -> bool {
        self.is_usual
    }

    /// The sums of paths and functions under other numbers, by those that they have here; `None` if some are to be added up.
    pub(crate) fn renumbered(&self, numbers: &Numbers) -> Option<[Vec<u8>; 2]> {
        let mut rows = self.rows.by(&numbers.paths)?;
        rows.reverse();
        let functions = self.functions.by(&numbers.places)?;
        Some([
            codec::renumbered(&self.rows.bytes, &rows)?,
            function_sums::renumbered(&self.functions.bytes, &functions)?,
        ])
    }

    /// What was counted, added up.
    pub fn frame(&self) -> Result<Frame, Error> {
        let cannot_be = super::cannot_be;
        let Told { fixed, keys, evidence, .. } = &*self.told;
        let Fixed { labels, part, summary, modules, group } = fixed;
        let mut sums = OfSeries::to_keep();
        let evidence = evidence.as_deref().cloned();
        sums.add_session(
            0,
            Head { summary: summary.clone(), modules: modules.clone(), group: group.clone(), evidence },
        );
        let only = Among::of(true, true, None, self.end);
        sums.add_totals(&self.totals);
        sums.add_paths(&self.rows.bytes, only, &self.entries).map_err(|_| cannot_be())?;
        let places = self.entries.places().len() as u32;
        function_sums::decode(&self.functions.bytes, places, |function| sums.add_function(function, only))
            .map_err(|_| cannot_be())?;
        let key = |number: i64| usize::try_from(number).ok().and_then(|number| keys.get(number)?.clone());
        let merged = sums.merged(part, &self.entries, key).filter(Merged::is_sound).ok_or_else(cannot_be)?;
        Ok(Frame {
            labels: labels.clone(),
            session: self.session.clone(),
            sequence: self.sequence,
            holds_later: self.holds_later,
            start: self.start,
            end: self.end,
            part: part.clone(),
            summary: summary.clone(),
            merged,
        })
    }
}

impl Parts {
    /// By other numbers, in their order. `None` if several have one.
    fn by(&self, numbers: &[u32]) -> Option<Vec<(u32, Range<usize>)>> {
        let other = |(number, range): &(u32, Range<usize>)| Some((*numbers.get(*number as usize)?, range.clone()));
        let mut list = self.list.iter().map(other).collect::<Option<Vec<_>>>()?;
        list.sort_unstable_by_key(|(number, _)| *number);
        list.is_sorted_by(|(number, _), (next, _)| number < next).then_some(list)
    }
}

/// Whether paths, of which those from this one on are new, are such as recordings have: one that is folded is so into one that it lies
/// below.
pub fn are_usual(entries: &Entries, first: usize) -> bool {
    let new = &entries.paths()[first..];
    // Recordings fold into what is a few calls above; who sends something else does not keep us at it.
    let mut steps = new.len() * 64 + 4096;
    new.iter().all(|path| {
        let Some(into) = path.key.folded_into else { return true };
        let mut above = path.key.parent;
        while let Some(at) = above {
            if at == into {
                return true;
            }
            steps -= 1;
            if steps == 0 {
                return false;
            }
            above = entries.parent(at);
        }
        false
    })
}
