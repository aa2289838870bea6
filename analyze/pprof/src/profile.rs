//! Profiles added up: what is the same in several is kept once.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::strings::Strings;
use crate::{Error, proto};

/// What a value is, and its unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleType {
    /// Such as `cpu`, `alloc_space`.
    pub name: String,
    /// Such as `nanoseconds`, `bytes`, `count`.
    pub unit: String,
}

/// A function as a profile has it: numbers of strings, and the line it begins at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Named {
    pub name: u32,
    pub system_name: u32,
    pub file: u32,
    pub start_line: i64,
}

/// A program or library. Of one that lies elsewhere in another profile, addresses are moved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapped {
    pub start: u64,
    pub limit: u64,
    pub offset: u64,
    pub file: u32,
    pub build_id: u32,
    /// Functions, files, lines and inlined frames are told.
    pub has: [bool; 4],
}

/// A place in code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub mapping: Option<u32>,
    pub address: u64,
    /// Functions and lines, the innermost inlined one first.
    pub lines: Vec<(u32, i64)>,
    pub is_folded: bool,
}

/// What a sample is marked with: a text, or a number and its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mark {
    Text(u32, u32),
    Number(u32, i64, u32),
}

/// What samples are told from each other by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Stack {
    /// Places, the innermost first.
    pub places: Vec<u32>,
    pub marks: Vec<Mark>,
}

/// Values, each kept once, by number.
#[derive(Clone, Debug)]
pub(crate) struct Numbered<T> {
    numbers: FxHashMap<T, u32>,
    pub all: Vec<T>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { numbers: FxHashMap::default(), all: Vec::new() }
    }
}

impl<T: Clone + Eq + Hash> Numbered<T> {
    fn number(&mut self, value: T) -> u32 {
        let next = self.all.len() as u32;
        let number = *self.numbers.entry(value.clone()).or_insert(next);
        if number == next {
            self.all.push(value);
        }
        number
    }
}

/// Several profiles in one.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    pub(crate) types: Vec<SampleType>,
    /// The type that its makers would show, of the first of them.
    default: Option<usize>,
    pub(crate) strings: Strings,
    pub(crate) functions: Numbered<Named>,
    mappings_by_file: FxHashMap<(u64, u64, u32), u32>,
    pub(crate) mappings: Vec<Mapped>,
    pub(crate) places: Numbered<Place>,
    pub(crate) stacks: Numbered<Stack>,
    /// Of each type, the value of each stack.
    pub(crate) values: Vec<Vec<i64>>,
    /// Nanoseconds since 1970, and how long, of all together; 0: not told.
    pub(crate) began: i64,
    pub(crate) duration: i64,
    pub(crate) period: Option<(SampleType, i64)>,
}

fn text(profile: &proto::Profile, at: i64) -> &str {
    usize::try_from(at).ok().and_then(|at| profile.string_table.get(at)).map_or("", String::as_str)
}

fn sample_type(profile: &proto::Profile, of: &proto::ValueType) -> SampleType {
    SampleType { name: text(profile, of.r#type).to_owned(), unit: text(profile, of.unit).to_owned() }
}

impl Profile {
    /// Adds one that was [read](crate::read()).
    pub fn add(&mut self, profile: &proto::Profile) -> Result<(), Error> {
        self.add_times(profile, |_| 1)?;
        let of = |of: &proto::ValueType| sample_type(profile, of);
        if self.default.is_none() {
            let told = text(profile, profile.default_sample_type);
            let last = profile.sample_type.last().map(of);
            let is_shown = |each: &SampleType| each.name == told;
            self.default =
                self.types.iter().position(is_shown).or(self.types.iter().position(|each| Some(each) == last.as_ref()));
        }
        self.began = match self.began {
            0 => profile.time_nanos,
            began if profile.time_nanos == 0 => began,
            began => began.min(profile.time_nanos),
        };
        self.duration = self.duration.saturating_add(profile.duration_nanos.max(0));
        let period = profile.period_type.as_ref().map(|each| (of(each), profile.period));
        self.period = self.period.take().or(period);
        Ok(())
    }

    /// Takes values of some types away: what has come since an earlier reading of the same counters is left.
    pub fn subtract(&mut self, profile: &proto::Profile, which: impl Fn(&SampleType) -> bool) -> Result<(), Error> {
        self.add_times(profile, |of| if which(of) { -1 } else { 0 })
    }

    fn add_times(&mut self, profile: &proto::Profile, times: impl Fn(&SampleType) -> i64) -> Result<(), Error> {
        let text = |at: i64| text(profile, at);
        let columns: Vec<usize> =
            profile.sample_type.iter().map(|each| self.column(sample_type(profile, each))).collect();
        let times: Vec<i64> = columns.iter().map(|column| times(&self.types[*column])).collect();
        let mut mappings: FxHashMap<u64, (u32, u64)> = FxHashMap::default();
        for mapping in &profile.mapping {
            mappings.insert(mapping.id, self.mapping(mapping, text));
        }
        let mut functions: FxHashMap<u64, u32> = FxHashMap::default();
        for function in &profile.function {
            let named = Named {
                name: self.strings.number(text(function.name)),
                system_name: self.strings.number(text(function.system_name)),
                file: self.strings.number(text(function.filename)),
                start_line: function.start_line,
            };
            functions.insert(function.id, self.functions.number(named));
        }
        let mut places: FxHashMap<u64, u32> = FxHashMap::default();
        for location in &profile.location {
            let mapping = mappings.get(&location.mapping_id);
            let lines = location.line.iter().filter_map(|line| Some((*functions.get(&line.function_id)?, line.line)));
            let place = Place {
                mapping: mapping.map(|(number, _)| *number),
                address: location.address.wrapping_add(mapping.map_or(0, |(_, moved)| *moved)),
                lines: lines.collect(),
                is_folded: location.is_folded,
            };
            places.insert(location.id, self.places.number(place));
        }
        for sample in &profile.sample {
            let marks = sample.label.iter().map(|label| {
                let key = self.strings.number(text(label.key));
                match label.str {
                    0 => Mark::Number(key, label.num, self.strings.number(text(label.num_unit))),
                    value => Mark::Text(key, self.strings.number(text(value))),
                }
            });
            let marks = marks.collect();
            let stack =
                Stack { places: sample.location_id.iter().filter_map(|id| places.get(id).copied()).collect(), marks };
            let stack = self.stacks.number(stack) as usize;
            for values in &mut self.values {
                values.resize(self.stacks.all.len(), 0);
            }
            for ((column, times), value) in columns.iter().zip(&times).zip(&sample.value) {
                let value = value.checked_mul(*times).and_then(|value| self.values[*column][stack].checked_add(value));
                self.values[*column][stack] = value.ok_or(Error::Overflow)?;
            }
        }
        Ok(())
    }

    fn column(&mut self, of: SampleType) -> usize {
        if let Some(known) = self.types.iter().position(|known| *known == of) {
            return known;
        }
        self.types.push(of);
        self.values.push(vec![0; self.stacks.all.len()]);
        self.types.len() - 1
    }

    /// A mapping's number, and how far addresses in it are moved. The same file is the same, wherever it was loaded.
    fn mapping<'a>(&mut self, mapping: &proto::Mapping, text: impl Fn(i64) -> &'a str) -> (u32, u64) {
        let (file, build_id) =
            (self.strings.number(text(mapping.filename)), self.strings.number(text(mapping.build_id)));
        let size = mapping.memory_limit.wrapping_sub(mapping.memory_start);
        let name = if text(mapping.build_id).is_empty() { file } else { build_id };
        let next = self.mappings.len() as u32;
        let number = *self.mappings_by_file.entry((size, mapping.file_offset, name)).or_insert(next);
        if number == next {
            self.mappings.push(Mapped {
                start: mapping.memory_start,
                limit: mapping.memory_limit,
                offset: mapping.file_offset,
                file,
                build_id,
                has: [
                    mapping.has_functions,
                    mapping.has_filenames,
                    mapping.has_line_numbers,
                    mapping.has_inline_frames,
                ],
            });
        }
        let known = &mut self.mappings[number as usize];
        let has = [mapping.has_functions, mapping.has_filenames, mapping.has_line_numbers, mapping.has_inline_frames];
        for (known, has) in known.has.iter_mut().zip(has) {
            *known &= has;
        }
        (number, known.start.wrapping_sub(mapping.memory_start))
    }

    /// What its values are.
    pub fn types(&self) -> &[SampleType] {
        &self.types
    }

    /// The type that is shown if none is asked for.
    pub fn default_type(&self) -> usize {
        self.default.unwrap_or(0)
    }

    /// The sum of a type's values.
    pub fn total(&self, of: usize) -> i64 {
        self.values[of].iter().fold(0, |sum, value| sum.saturating_add(*value))
    }

    /// What one sample adds to a type's values, if they are sums of samples: 1 of samples that are counted, the period of what was
    /// sampled by it.
    pub fn of_a_sample(&self, of: usize) -> Option<i64> {
        let kind = self.types.get(of)?;
        match &self.period {
            _ if kind.unit == "count" && matches!(&*kind.name, "samples" | "sample") => Some(1),
            Some((sampled, period)) if sampled == kind && *period > 0 => Some(*period),
            _ => None,
        }
    }

    /// How many samples there are that differ in stack or marks.
    pub fn samples(&self) -> usize {
        self.stacks.all.len()
    }

    /// When the first began, in nanoseconds since 1970, and how long all took; 0: not told.
    pub fn time(&self) -> (i64, i64) {
        (self.began, self.duration)
    }

    /// Says when it began, and how long it took.
    pub fn set_time(&mut self, began: i64, duration: i64) {
        (self.began, self.duration) = (began, duration);
    }

    /// Whether no value is below 0: of what has come since an earlier reading one is, if the counters began anew in between.
    pub fn is_positive(&self) -> bool {
        self.values.iter().flatten().all(|value| *value >= 0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::functions::functions;
    use crate::testing::{any_profile, server};
    use crate::{Rows, pack, read};

    #[test]
    fn the_same_code_loaded_elsewhere_is_the_same() {
        let here = server();
        let mut there = server();
        there.mapping[0].memory_start += 0x10000;
        there.mapping[0].memory_limit += 0x10000;
        for location in there.location.iter_mut().filter(|location| location.mapping_id == there.mapping[0].id) {
            location.address += 0x10000;
        }
        let mut both = Profile::default();
        both.add(&here).unwrap();
        both.add(&there).unwrap();
        assert_eq!((both.mappings.len(), both.places.all.len()), (here.mapping.len(), here.location.len()));
        assert_eq!(
            (both.samples(), both.total(1)),
            (here.sample.len(), 2 * here.sample.iter().map(|s| s.value[1]).sum::<i64>())
        );
    }

    #[test]
    fn values_that_no_number_holds_are_an_error() {
        let mut profile = server();
        profile.sample[0].value = vec![i64::MAX, 0];
        let mut sum = Profile::default();
        sum.add(&profile).unwrap();
        assert!(matches!(sum.add(&profile), Err(Error::Overflow)));
    }

    #[test]
    fn what_a_sample_adds_is_one_or_its_period() {
        let mut messages = server();
        let of = |profile: &Profile| profile.types().iter().map(|kind| kind.name.clone()).collect::<Vec<_>>();
        for (period, of_cpu) in [(0, None), (10_000_000, Some(10_000_000))] {
            (messages.period_type, messages.period) = (messages.sample_type.get(1).copied(), period);
            let mut profile = Profile::default();
            profile.add(&messages).unwrap();
            assert_eq!(of(&profile), ["samples", "cpu"]);
            assert_eq!([0, 1, 2].map(|of| profile.of_a_sample(of)), [Some(1), of_cpu, None]);
        }
    }

    #[test]
    fn the_first_to_say_what_is_shown_is_right() {
        let mut sum = Profile::default();
        sum.add(&server()).unwrap();
        assert_eq!(sum.types()[sum.default_type()].name, "cpu");
    }

    proptest! {
        #[test]
        fn sums_are_those_of_the_parts(profiles in proptest::collection::vec(any_profile(), 1..5)) {
            let mut sum = Profile::default();
            for profile in &profiles {
                sum.add(profile).unwrap();
            }
            for (of, kind) in sum.types().iter().enumerate() {
                let text = |profile: &proto::Profile, at: i64| profile.string_table[at as usize].clone();
                let mut total = 0;
                for profile in &profiles {
                    let column = profile.sample_type.iter().position(|each| {
                        text(profile, each.r#type) == kind.name && text(profile, each.unit) == kind.unit
                    });
                    total += column.map_or(0, |at| profile.sample.iter().map(|sample| sample.value[at]).sum::<i64>());
                }
                prop_assert_eq!(sum.total(of), total);
                let flat: i64 = functions(&sum, of, Rows::Functions).iter().map(|function| function.flat).sum();
                let without_stack: i64 = sum.stacks.all.iter().zip(&sum.values[of]).filter(|(stack, _)| stack.places.is_empty()).map(|(_, value)| *value).sum();
                prop_assert_eq!(flat + without_stack, total);
            }
        }

        #[test]
        fn written_and_read_again_it_is_the_same(profile in any_profile()) {
            let mut sum = Profile::default();
            sum.add(&profile).unwrap();
            let again = read(&pack(&sum.message()).unwrap(), 1 << 24).unwrap();
            let mut second = Profile::default();
            second.add(&again).unwrap();
            prop_assert_eq!(second.message(), sum.message());
        }

        #[test]
        fn less_itself_it_is_nothing(profile in any_profile()) {
            let mut sum = Profile::default();
            sum.add(&profile).unwrap();
            sum.subtract(&profile, |_| true).unwrap();
            prop_assert!(sum.values.iter().flatten().all(|value| *value == 0));
        }
    }
}
