//! Profiles as bytes.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;

use crate::Profile;
use crate::profile::{Mark, SampleType};
use crate::proto;

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

impl Profile {
    /// All in one message, without samples whose values are all 0.
    pub fn message(&self) -> proto::Profile {
        let mut strings = self.strings.clone();
        // The first string of the format is empty: ours come behind it.
        let at = |number: u32| i64::from(number) + 1;
        let value_type = |strings: &mut crate::strings::Strings, of: &SampleType| proto::ValueType {
            r#type: at(strings.number(&of.name)),
            unit: at(strings.number(&of.unit)),
        };
        let sample_type = self.types.iter().map(|of| value_type(&mut strings, of)).collect();
        let default_sample_type = self.types.get(self.default_type()).map_or(0, |of| at(strings.number(&of.name)));
        let period_type = self.period.as_ref().map(|(of, _)| value_type(&mut strings, of));
        let mapping = (1..).zip(&self.mappings).map(|(id, mapping)| proto::Mapping {
            id,
            memory_start: mapping.start,
            memory_limit: mapping.limit,
            file_offset: mapping.offset,
            filename: at(mapping.file),
            build_id: at(mapping.build_id),
            has_functions: mapping.has[0],
            has_filenames: mapping.has[1],
            has_line_numbers: mapping.has[2],
            has_inline_frames: mapping.has[3],
        });
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
            name: at(function.name),
            system_name: at(function.system_name),
            filename: at(function.file),
            start_line: function.start_line,
        });
        let label = |mark: &Mark| match *mark {
            Mark::Text(key, text) => proto::Label { key: at(key), str: at(text), ..proto::Label::default() },
            Mark::Number(key, num, unit) => {
                let num_unit = if self.strings.text(unit).is_empty() { 0 } else { at(unit) };
                proto::Label { key: at(key), num, num_unit, str: 0 }
            }
        };
        let samples = self.stacks.all.iter().enumerate().filter_map(|(number, stack)| {
            let value: Vec<i64> = self.values.iter().map(|values| values[number]).collect();
            value.iter().any(|value| *value != 0).then(|| proto::Sample {
                location_id: stack.places.iter().map(|place| u64::from(*place) + 1).collect(),
                value,
                label: stack.marks.iter().map(label).collect(),
            })
        });
        proto::Profile {
            sample_type,
            default_sample_type,
            period_type,
            period: self.period.as_ref().map_or(0, |(_, period)| *period),
            mapping: mapping.collect(),
            location: location.collect(),
            function: function.collect(),
            sample: samples.collect(),
            time_nanos: self.began,
            duration_nanos: self.duration,
            string_table: std::iter::once(String::new()).chain(strings.all().iter().cloned()).collect(),
            ..proto::Profile::default()
        }
    }
}
