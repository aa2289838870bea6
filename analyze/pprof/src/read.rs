//! Bytes of a profile: unpacked, decoded, and every number in it looked up.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::MultiGzDecoder;
use prost::Message;
use rustc_hash::FxHashSet;

use crate::Error;
use crate::proto::{Location, Profile};

const GZIP: [u8; 2] = [0x1f, 0x8b];

/// What is in bytes that may be gzipped: at most so many.
pub fn unpack(bytes: &[u8], most: u64) -> Result<Cow<'_, [u8]>, Error> {
    let unpacked = if bytes.starts_with(&GZIP) {
        let mut unpacked = Vec::new();
        let mut limited = MultiGzDecoder::new(bytes).take(most.saturating_add(1));
        limited.read_to_end(&mut unpacked).map_err(|error| foreign(&error))?;
        Cow::Owned(unpacked)
    } else {
        Cow::Borrowed(bytes)
    };
    if unpacked.len() as u64 > most { Err(Error::Large { most }) } else { Ok(unpacked) }
}

fn foreign(why: &dyn std::fmt::Display) -> Error {
    Error::Foreign { why: why.to_string() }
}

/// A profile, gzipped or not, that takes at most so many bytes. Every number in it stands for something then.
pub fn read(bytes: &[u8], most: u64) -> Result<Profile, Error> {
    let bytes = unpack(bytes, most)?;
    let profile = Profile::decode(&*bytes).map_err(|error| foreign(&error))?;
    // Any bytes may be a message that has nothing we know.
    if profile.sample_type.is_empty() {
        return Err(foreign(&"it has no types of samples"));
    }
    check(&profile)?;
    Ok(profile)
}

fn check(profile: &Profile) -> Result<(), Error> {
    let damaged = |what| Err(Error::Damaged { what });
    if profile.string_table.first().is_none_or(|first| !first.is_empty()) {
        return damaged("its first string is not empty");
    }
    let is_string = |at: i64| usize::try_from(at).is_ok_and(|at| at < profile.string_table.len());
    let types = profile.sample_type.iter().chain(&profile.period_type);
    let strings = [profile.drop_frames, profile.keep_frames, profile.default_sample_type];
    let mut strings = strings.into_iter().chain(profile.comment.iter().copied());
    if !types.flat_map(|of| [of.r#type, of.unit]).all(is_string) || !strings.all(is_string) {
        return damaged("a type or a comment has no string");
    }
    let mappings = ids(profile.mapping.iter().map(|mapping| mapping.id));
    let functions = ids(profile.function.iter().map(|function| function.id));
    let locations = ids(profile.location.iter().map(|location| location.id));
    let (Some(mappings), Some(functions), Some(locations)) = (mappings, functions, locations) else {
        return damaged("two mappings, functions or locations have one number");
    };
    if !profile.mapping.iter().all(|mapping| is_string(mapping.filename) && is_string(mapping.build_id)) {
        return damaged("a mapping's file has no string");
    }
    let named = profile.function.iter().flat_map(|function| [function.name, function.system_name, function.filename]);
    if !{ named }.all(is_string) {
        return damaged("a function's name has no string");
    }
    let is_place = |location: &Location| {
        (location.mapping_id == 0 || mappings.contains(&location.mapping_id))
            && location.line.iter().all(|line| functions.contains(&line.function_id))
    };
    if !profile.location.iter().all(is_place) {
        return damaged("a location has no mapping, or no function");
    }
    for sample in &profile.sample {
        if sample.value.len() != profile.sample_type.len() {
            return damaged("a sample has more values, or fewer, than there are types");
        }
        if !sample.location_id.iter().all(|id| locations.contains(id)) {
            return damaged("a sample has no location");
        }
        if !sample.label.iter().flat_map(|label| [label.key, label.str, label.num_unit]).all(is_string) {
            return damaged("a label has no string");
        }
    }
    Ok(())
}

/// Numbers, if each is there once, and none is 0.
fn ids(mut all: impl Iterator<Item = u64>) -> Option<FxHashSet<u64>> {
    let mut ids = FxHashSet::default();
    all.all(|id| id != 0 && ids.insert(id)).then_some(ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack;
    use crate::testing::server;

    const MOST: u64 = 1 << 20;

    #[test]
    fn packed_or_not_it_is_the_same() {
        let profile = server();
        assert_eq!(read(&pack(&profile).unwrap(), MOST).unwrap(), profile);
        assert_eq!(read(&profile.encode_to_vec(), MOST).unwrap(), profile);
    }

    #[test]
    fn what_is_none_is_refused_in_a_sentence() {
        for bytes in [&b""[..], b"hello", b"\x1f\x8b\x08", b"{\"a\": 1}"] {
            let sentence = read(bytes, MOST).unwrap_err().to_string();
            assert!(sentence.starts_with("this is no pprof profile: "), "{sentence}");
        }
    }

    #[test]
    fn what_unpacks_to_too_much_is_refused() {
        let packed = pack(&Profile { string_table: vec!["a".repeat(1 << 20)], ..server() }).unwrap();
        assert!(matches!(read(&packed, 1 << 10), Err(Error::Large { most: 1024 })));
    }

    #[test]
    fn numbers_that_stand_for_nothing_are_damage() {
        type Harm = fn(&mut Profile);
        let harms: [Harm; 9] = [
            |p| p.sample_type[0].unit = 99,
            |p| p.string_table[0] = "a".to_owned(),
            |p| p.function[0].name = -1,
            |p| p.mapping[0].filename = 99,
            |p| p.location[0].line[0].function_id = 99,
            |p| p.location[1].id = p.location[0].id,
            |p| p.sample[0].value.push(1),
            |p| p.sample[0].location_id.push(99),
            |p| p.sample[1].label[0].key = 99,
        ];
        for harm in harms {
            let mut profile = server();
            harm(&mut profile);
            assert!(matches!(read(&profile.encode_to_vec(), MOST), Err(Error::Damaged { .. })));
        }
    }
}
