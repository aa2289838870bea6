//! Frames of one recording as bytes. Each place and path goes once, as long as whoever receives them says that they have come.

use diytrace_profile::merge::Module;
use diytrace_profile::module::ModuleKey;
use rustc_hash::FxHashMap;

use super::body::{Body, Fixed, News};
use super::{FRAME, write};
use crate::Frame;
use crate::dictionary::{Dictionary, ModuleNumber};
use crate::kept::{Head, Sums};
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
        let fixed = postcard::to_stdvec(&fixed).unwrap_or_default(); // into memory: it cannot fail
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
