//! Frames of one recording as bytes. Each place and path goes once, as long as whoever receives them says that they have come.
//!
//! Of a recording that is followed, whose paths are all known, a frame is made of what has changed alone ([`Outgoing::turn`]).

use diytrace_profile::load::Family;
use diytrace_profile::merge::{Addition, Followed, Module, PathId, Row};
use diytrace_profile::module::ModuleKey;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

use super::body::{Body, Fixed, News};
use super::numbering::Numbering;
use super::{FRAME, write};
use crate::Frame;
use crate::dictionary::{Dictionary, ModuleNumber};
use crate::kept::{Head, OfFunction, Sums, Totals, one_each};
use crate::recording::{ended, signed};
use crate::{codec, function_sums};

/// What the other side knows of a recording.
#[derive(Clone, Default)]
struct Known {
    checksum: u64,
    places: usize,
    paths: usize,
    fixed: Vec<u8>,
}

/// Frames of one recording, on their way.
#[derive(Default)]
pub struct Outgoing {
    dictionary: Dictionary,
    modules: Modules,
    known: Known,
    /// What it knows if the latest frame has come.
    then: Known,
    /// Whether that frame told of places that it did not know.
    told_places: bool,
    /// Whether whoever receives them has forgotten what it knew.
    is_forgotten: bool,
    /// What the latest frame told of the recording as a whole.
    fixed: Option<Fixed>,
    /// Of a family that is followed.
    numbering: Option<Numbering>,
}

/// What makes a frame of what has changed one of its recording's.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// The recording.
    pub session: &'a str,
    /// The frame's number.
    pub sequence: u64,
}

impl Outgoing {
    /// A frame as bytes.
    pub fn encode(&mut self, frame: &Frame) -> Vec<u8> {
        let numbers: Vec<ModuleNumber> =
            frame.merged.modules.iter().map(|module| self.modules.number(module)).collect();
        let numbers = self.dictionary.number(&frame.merged, &numbers);
        let Sums { hz, totals, rows, functions } = Sums::of(frame, &numbers);
        let Head { summary, group, evidence, .. } = Head::of(frame);
        let fixed = Fixed {
            labels: frame.labels.clone(),
            part: frame.part.clone(),
            summary,
            modules: self.modules.list.clone(),
            group,
        };
        let told = fixed;
        let fixed = postcard::to_stdvec(&told).unwrap_or_default(); // into memory: it cannot fail
        self.fixed = Some(told);
        let entries = self.dictionary.entries();
        let is_new = fixed != self.known.fixed;
        let news = News::of(is_new.then(|| fixed.clone()), entries, self.known.places, self.known.paths);
        self.told_places = entries.places().len() > self.known.places;
        self.then = Known {
            checksum: news.checksum(self.known.checksum),
            places: entries.places().len(),
            paths: entries.paths().len(),
            fixed,
        };
        let body = Body {
            session: frame.session.clone(),
            sequence: frame.sequence,
            holds_later: frame.holds_later,
            start: frame.start,
            end: frame.end,
            known: self.known.checksum,
            news,
            evidence,
            totals,
            rows: codec::encode(&rows, |path| entries.parent(path)),
            functions: function_sums::encode(&functions, hz),
        };
        write(FRAME, &body)
    }

    /// Makes ready for frames of changes of a family, whose frame up to this reading has come. Whether there can be such.
    pub fn follow(&mut self, family: &Family, followed: &Followed) -> bool {
        self.dictionary.shrink();
        let numbers = &self.modules.numbers;
        let module = |module: &Module| numbers.get(&module.key()).copied();
        self.numbering = Numbering::of(&self.dictionary, family, followed, module);
        self.numbering.is_some()
    }

    /// A frame of what has come since the latest one, without its envelope: see [`super::together`]. `None`: a whole one is
    /// needed, as the other side does not know all that this would tell of.
    pub fn turn(&mut self, turn: Turn, addition: &Addition) -> Option<Vec<u8>> {
        let Addition { before, now, calls, lost_calls, folded_calls, unwound, left_out, .. } = addition;
        let (numbering, told) = (self.numbering.as_ref()?, self.fixed.as_mut()?);
        // Where calls were left, it may be that others below are to be put elsewhere.
        if self.known.checksum == 0 || addition.paths.iter().any(|(_, row)| row.counts.unwound > 0) {
            return None;
        }
        let row = |((arena, path), row)| Some((numbering.path(arena, path)?, row));
        let mut rows =
            addition.paths.iter().map(|(at, sums)| row((*at, sums))).collect::<Option<Vec<(PathId, &Row)>>>()?;
        rows.sort_unstable_by_key(|(path, _)| *path);
        // Threads have paths in common.
        let mut sums: Vec<(PathId, Row)> = Vec::new();
        if !rows.is_sorted_by(|(path, _), (next, _)| path < next) {
            sums.extend(rows.drain(..).map(|(path, row)| (path, *row)));
            one_each(&mut sums);
        }
        rows.extend(sums.iter().map(|(path, row)| (*path, row)));
        let mut functions: Vec<OfFunction> = Vec::with_capacity(addition.functions.len());
        let mut filed = addition.filed.iter().peekable();
        for (number, times) in &addition.functions {
            while let Some((other, filed)) = filed.next_if(|(other, _)| other < number) {
                functions.push(OfFunction { place: numbering.function(*other)?, times: None, filed: Some(*filed) });
            }
            let filed = filed.next_if(|(other, _)| other == number).map(|(_, filed)| *filed);
            let times = Some(Cow::Borrowed(times));
            functions.push(OfFunction { place: numbering.function(*number)?, times, filed });
        }
        for (number, filed) in filed {
            functions.push(OfFunction { place: numbering.function(*number)?, times: None, filed: Some(*filed) });
        }
        functions.sort_unstable_by_key(|function| function.place);
        let mut known = self.known.clone();
        told.summary.clock = now.clock;
        let fixed = postcard::to_stdvec(told).unwrap_or_default(); // into memory: it cannot fail
        let fixed = Some(fixed).filter(|fixed| *fixed != known.fixed);
        known.fixed = fixed.clone().unwrap_or(known.fixed);
        let entries = self.dictionary.entries();
        let news = News::of(fixed, entries, known.places, known.paths);
        known.checksum = news.checksum(known.checksum);
        let body = Body {
            session: turn.session.to_owned(),
            sequence: turn.sequence,
            holds_later: false,
            start: signed(ended(before)),
            end: signed(ended(now)),
            known: self.known.checksum,
            news,
            evidence: None, // as it was
            totals: Totals {
                calls: *calls,
                lost_calls: *lost_calls,
                folded_calls: *folded_calls,
                unwound: *unwound,
                left_out: *left_out,
                part_calls: Some(*calls),
            },
            rows: codec::encode_by(rows.into_iter(), |path| entries.parent(path)),
            functions: function_sums::encode(&functions, now.clock.hz),
        };
        (self.then, self.told_places) = (known, false);
        Some(postcard::to_stdvec(&body).unwrap_or_default()) // likewise
    }

    /// Whether the latest frame told of places that were not known.
    pub fn told_places(&self) -> bool {
        self.told_places
    }

    /// The latest frame has come.
    pub fn acknowledged(&mut self) {
        self.known = std::mem::take(&mut self.then);
    }

    /// Whoever receives them knows nothing of the recording any more.
    pub fn forgotten(&mut self) {
        self.known = Known::default();
        self.is_forgotten = true;
    }

    /// Whether that was so since this was asked last.
    pub fn was_forgotten(&mut self) -> bool {
        std::mem::take(&mut self.is_forgotten)
    }
}

/// Modules, by the order in which they were met.
#[derive(Default)]
struct Modules {
    list: Vec<Module>,
    numbers: FxHashMap<Option<ModuleKey>, ModuleNumber>,
}

impl Modules {
    /// Its number; what is told of it now is what counts.
    fn number(&mut self, module: &Module) -> ModuleNumber {
        let number = *self.numbers.entry(module.key()).or_insert(self.list.len() as ModuleNumber);
        match self.list.get_mut(number as usize) {
            Some(known) if known == module => {}
            Some(known) => *known = module.clone(),
            None => self.list.push(module.clone()),
        }
        number
    }
}
