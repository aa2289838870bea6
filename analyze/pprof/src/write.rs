//! Profiles as bytes.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;

use crate::profile::{Mark, SampleType};
use crate::strings::Strings;
use crate::{Error, Profile, proto, read};

/// A profile's messages, which are not packed.
pub fn messages(profile: &proto::Profile) -> Vec<u8> {
    profile.encode_to_vec()
}

/// A profile's bytes, gzipped as the format has it.
pub fn pack(profile: &proto::Profile) -> io::Result<Vec<u8>> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&profile.encode_to_vec())?;
    gzip.finish()
}

/// A profile's bytes that say when it began, in nanoseconds since 1970, and how long it took.
pub fn with_time(bytes: &[u8], most: u64, began: i64, duration: i64) -> Result<Vec<u8>, Error> {
    let mut profile = read(bytes, most)?;
    (profile.time_nanos, profile.duration_nanos) = (began, duration);
    pack(&profile).map_err(|source| Error::Foreign { why: source.to_string() })
}

/// The strings of a message: those that something in it names.
struct Named<'a> {
    all: &'a Strings,
    written: Strings,
}

impl<'a> Named<'a> {
    fn new(all: &'a Strings) -> Self {
        let mut written = Strings::default();
        written.number(""); // the first of the format
        Self { all, written }
    }

    fn text(&mut self, text: &str) -> i64 {
        self.written.number(text).into()
    }

    fn number(&mut self, number: u32) -> i64 {
        self.text(self.all.text(number))
    }

    fn value_type(&mut self, of: &SampleType) -> proto::ValueType {
        proto::ValueType { r#type: self.text(&of.name), unit: self.text(&of.unit) }
    }

    fn label(&mut self, mark: &Mark) -> proto::Label {
        match *mark {
            Mark::Text(key, text) => {
                proto::Label { key: self.number(key), str: self.number(text), ..proto::Label::default() }
            }
            Mark::Number(key, num, unit) => {
                proto::Label { key: self.number(key), num, num_unit: self.number(unit), str: 0 }
            }
        }
    }
}

impl Profile {
    /// All in one message, without samples whose values are all 0.
    pub fn message(&self) -> proto::Profile {
        let mut strings = Named::new(&self.strings);
        let sample_type = self.types.iter().map(|of| strings.value_type(of)).collect();
        let default_sample_type = self.types.get(self.default_type()).map_or(0, |of| strings.text(&of.name));
        let period_type = self.period.as_ref().map(|(of, _)| strings.value_type(of));
        let mapping = (1..).zip(&self.mappings).map(|(id, mapping)| proto::Mapping {
            id,
            memory_start: mapping.start,
            memory_limit: mapping.limit,
            file_offset: mapping.offset,
            filename: strings.number(mapping.file),
            build_id: strings.number(mapping.build_id),
            has_functions: mapping.has[0],
            has_filenames: mapping.has[1],
            has_line_numbers: mapping.has[2],
            has_inline_frames: mapping.has[3],
        });
        let mapping = mapping.collect();
        let location = (1..).zip(&self.places.all).map(|(id, place)| proto::Location {
            id,
            mapping_id: place.mapping.map_or(0, |number| u64::from(number) + 1),
            address: place.address,
            line: place
                .lines
                .iter()
                .map(|(function, line)| proto::Line { function_id: u64::from(*function) + 1, line: *line })
                .collect(),
            is_folded: place.is_folded,
        });
        let function = (1..).zip(&self.functions.all).map(|(id, function)| proto::Function {
            id,
            name: strings.number(function.name),
            system_name: strings.number(function.system_name),
            filename: strings.number(function.file),
            start_line: function.start_line,
        });
        let function = function.collect();
        let samples = self.stacks.all.iter().enumerate().filter_map(|(number, stack)| {
            let value: Vec<i64> = self.values.iter().map(|values| values[number]).collect();
            value.iter().any(|value| *value != 0).then(|| proto::Sample {
                location_id: stack.places.iter().map(|place| u64::from(*place) + 1).collect(),
                value,
                label: stack.marks.iter().map(|mark| strings.label(mark)).collect(),
            })
        });
        let sample = samples.collect();
        proto::Profile {
            sample_type,
            default_sample_type,
            period_type,
            period: self.period.as_ref().map_or(0, |(_, period)| *period),
            mapping,
            location: location.collect(),
            function,
            sample,
            time_nanos: self.began,
            duration_nanos: self.duration,
            string_table: strings.written.all().to_vec(),
            ..proto::Profile::default()
        }
    }
}
