//! Profiles for tests.

use proptest::prelude::*;

use crate::proto::{Function, Label, Line, Location, Mapping, Profile, Sample, ValueType};

/// A server's: `main` calls `handle`, which calls itself and `parse`; a library without names.
pub fn server() -> Profile {
    let texts = [
        "",
        "samples",
        "count",
        "cpu",
        "nanoseconds",
        "main",
        "handle",
        "parse",
        "main.c",
        "/bin/server",
        "ab12",
        "/lib/libz.so",
        "client",
        "web",
        "bytes",
    ];
    let line = |function_id, line| Line { function_id, line };
    let location = |id, mapping_id, address, line| Location { id, mapping_id, address, line, is_folded: false };
    let function = |id, name, start_line| Function { id, name, system_name: name, filename: 8, start_line };
    let sample = |location_id: &[u64], value: i64, label: &[Label]| Sample {
        location_id: location_id.to_vec(),
        value: vec![1, value],
        label: label.to_vec(),
    };
    let labels = [
        Label { key: 12, str: 13, ..Label::default() },
        Label { key: 14, num: 4096, num_unit: 14, ..Label::default() },
    ];
    Profile {
        sample_type: vec![ValueType { r#type: 1, unit: 2 }, ValueType { r#type: 3, unit: 4 }],
        mapping: vec![
            Mapping {
                id: 1,
                memory_start: 0x40_0000,
                memory_limit: 0x50_0000,
                filename: 9,
                build_id: 10,
                has_functions: true,
                ..Mapping::default()
            },
            Mapping {
                id: 2,
                memory_start: 0x7000,
                memory_limit: 0x9000,
                file_offset: 0x1000,
                filename: 11,
                ..Mapping::default()
            },
        ],
        location: vec![
            location(1, 1, 0x40_1000, vec![line(1, 3)]),
            location(2, 1, 0x40_2000, vec![line(2, 7)]),
            // `parse`, put into the code of `handle`.
            location(3, 1, 0x40_2010, vec![line(3, 11), line(2, 8)]),
            location(4, 1, 0x40_2020, vec![line(3, 12), line(2, 8)]),
            location(5, 2, 0x7040, vec![]),
        ],
        function: vec![function(1, 5, 1), function(2, 6, 5), function(3, 7, 10)],
        sample: vec![
            sample(&[2, 1], 15, &[]),
            sample(&[4, 1], 40, &labels),
            sample(&[2, 2, 1], 5, &[]),
            sample(&[3, 1], 50, &[]),
            sample(&[5, 1], 5, &[]),
        ],
        string_table: texts.map(str::to_owned).to_vec(),
        time_nanos: 1_700_000_000_000_000_000,
        duration_nanos: 10_000_000_000,
        period_type: Some(ValueType { r#type: 3, unit: 4 }),
        period: 10_000_000,
        ..Profile::default()
    }
}

/// Any that [`crate::read()`] takes.
pub fn any_profile() -> impl Strategy<Value = Profile> {
    let texts = ["", "a", "b", "c", "cpu", "bytes", "heap"].map(str::to_owned).to_vec();
    let string = 0..texts.len() as i64;
    let types = proptest::sample::subsequence(vec![(1, 2), (4, 1), (5, 6)], 1..=3);
    let functions = proptest::collection::vec((string.clone(), string.clone(), 0..3i64), 3);
    let locations =
        proptest::collection::vec((0..=2u64, 0..4u64, proptest::collection::vec((1..=3u64, 0..3i64), 0..3)), 4);
    let samples = proptest::collection::vec(
        (
            proptest::collection::vec(1..=4u64, 0..4),
            [0..1000i64, 0..1000, 0..1000],
            proptest::option::of((1..7i64, string, 0..3i64)),
        ),
        0..8,
    );
    (types, functions, locations, samples).prop_map(move |(types, functions, locations, samples)| Profile {
        sample_type: types.iter().map(|(name, unit)| ValueType { r#type: *name, unit: *unit }).collect(),
        mapping: [(1, 0x1000, 1), (2, 0x8000, 2)]
            .map(|(id, start, name)| Mapping {
                id,
                memory_start: start,
                memory_limit: start + 0x100,
                filename: name,
                ..Mapping::default()
            })
            .to_vec(),
        function: (1..)
            .zip(functions)
            .map(|(id, (name, filename, start_line))| Function { id, name, system_name: name, filename, start_line })
            .collect(),
        location: (1..)
            .zip(locations)
            .map(|(id, (mapping_id, address, lines))| Location {
                id,
                mapping_id,
                address,
                line: lines.into_iter().map(|(function_id, line)| Line { function_id, line }).collect(),
                is_folded: false,
            })
            .collect(),
        sample: samples
            .into_iter()
            .map(|(location_id, value, label)| Sample {
                location_id,
                value: value[..types.len()].to_vec(),
                label: label.into_iter().map(|(key, str, num)| Label { key, str, num, num_unit: 0 }).collect(),
            })
            .collect(),
        string_table: texts.clone(),
        ..Profile::default()
    })
}
