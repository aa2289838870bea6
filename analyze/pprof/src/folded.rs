//! Folded stacks: `outer;inner NUMBER`, one a line.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::functions::{Rows, frames};
use crate::{Error, Profile, proto};

/// A profile's stacks, sorted.
pub fn folded(profile: &Profile, of: usize) -> Vec<String> {
    let frames = frames(profile, Rows::Functions);
    let names: Vec<String> =
        frames.names.iter().map(|(name, ..)| name.replace(';', ":").replace(['\n', '\r'], " ")).collect();
    let mut sums: BTreeMap<String, i64> = BTreeMap::new();
    for (stack, value) in profile.stacks.all.iter().zip(&profile.values[of]).filter(|(_, value)| **value > 0) {
        let places = stack.places.iter().rev();
        let outermost_first = places.flat_map(|place| frames.of_place[*place as usize].iter().rev());
        let text: Vec<&str> = outermost_first.map(|frame| names[*frame as usize].as_str()).collect();
        let sum = sums.entry(if text.is_empty() { "(no stack)".to_owned() } else { text.join(";") }).or_default();
        *sum = sum.saturating_add(*value);
    }
    sums.into_iter().map(|(stack, value)| format!("{stack} {value}")).collect()
}

/// A profile of folded stacks, whose values are of a type.
pub fn of_folded(text: &str, name: &str, unit: &str) -> Result<proto::Profile, Error> {
    let mut profile = proto::Profile { string_table: vec![String::new()], ..proto::Profile::default() };
    let string = |profile: &mut proto::Profile, text: &str| {
        profile.string_table.push(text.to_owned());
        profile.string_table.len() as i64 - 1
    };
    let (name, unit) = (string(&mut profile, name), string(&mut profile, unit));
    profile.sample_type = vec![proto::ValueType { r#type: name, unit }];
    let mut places: FxHashMap<&str, u64> = FxHashMap::default();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = Error::Folded { line: at + 1 };
        let Some((stack, value)) = line.trim_end().rsplit_once([' ', '\t']) else { return Err(wrong) };
        let Some(value) = value.parse::<i64>().ok().filter(|value| *value >= 0) else { return Err(wrong) };
        let mut location_id = Vec::new();
        for frame in stack.trim().split(';').rev() {
            let next = places.len() as u64 + 1;
            let id = *places.entry(frame).or_insert(next);
            if id == next {
                let name = string(&mut profile, frame);
                profile.function.push(proto::Function { id, name, system_name: name, ..proto::Function::default() });
                let line = vec![proto::Line { function_id: id, line: 0 }];
                profile.location.push(proto::Location { id, line, ..proto::Location::default() });
            }
            location_id.push(id);
        }
        profile.sample.push(proto::Sample { location_id, value: vec![value], label: Vec::new() });
    }
    Ok(profile)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::server;

    #[test]
    fn stacks_are_the_same_from_their_lines() {
        let mut profile = Profile::default();
        profile.add(&server()).unwrap();
        let lines = folded(&profile, 1);
        assert_eq!(lines, ["main;handle 15", "main;handle;handle 5", "main;handle;parse 90", "main;libz.so+0x1040 5"]);
        let mut again = Profile::default();
        again.add(&of_folded(&lines.join("\n"), "cpu", "nanoseconds").unwrap()).unwrap();
        assert_eq!((folded(&again, 0), again.total(0)), (lines, 115));
    }

    #[test]
    fn a_line_that_is_none_is_named() {
        for (text, line) in [("a;b 1\nfoo", 2), ("a x", 1), ("a -1", 1)] {
            assert!(matches!(of_folded(text, "samples", "count"), Err(Error::Folded { line: at }) if at == line));
        }
        assert_eq!(of_folded("f(int, char) 3\n\n", "samples", "count").unwrap().string_table[3], "f(int, char)");
    }
}
