//! What only files have.

use std::borrow::Cow;

use diytrace_profile::load::Family;
use diytrace_profile::load::costs::Costs;
use diytrace_profile::merge::{By, PartKey, merge};
use diytrace_profile::testing::{Call, arena, family, function_of, record};
use rusqlite::params;

use super::rows::checksum;
use super::{Sqlite, schema};
use crate::engine::{Engine, Put};
use crate::kept::OfFunction;
use crate::{
    Compared, Error, Frame, GroupBy, Labels, Query, Range, Sampled, SampledFacts, Verdict, VerdictFacts, VerdictKind,
    blob, function_sums,
};

fn store() -> (tempfile::TempDir, Sqlite) {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(&folder.path().join("store.db"), true).unwrap();
    (folder, store)
}

#[test]
fn a_store_of_a_later_version_is_refused() {
    let (folder, store) = store();
    store.connection.pragma_update(None, "user_version", 99).unwrap();
    drop(store);
    let path = folder.path().join("store.db");
    for create in [false, true] {
        let Err(error) = Sqlite::open(&path, create) else { panic!("it was opened") };
        assert!(matches!(error, Error::Newer { version: 99, .. }), "{error}");
    }
}

#[test]
fn a_store_of_an_earlier_version_is_refused() {
    let (folder, store) = store();
    store.connection.pragma_update(None, "user_version", 1).unwrap();
    drop(store);
    let Err(error) = Sqlite::open(&folder.path().join("store.db"), false) else { panic!("it was opened") };
    assert!(matches!(error, Error::Older { version: 1, .. }), "{error}");
}

fn frame(number: usize, family: &Family) -> Frame {
    let mut labels = Labels::default();
    labels.set("service", "s".to_owned());
    Frame {
        labels,
        session: number.to_string(),
        sequence: 0,
        holds_later: true,
        start: 0,
        end: number as i64,
        part: PartKey::of(family),
        summary: diytrace_profile::load::Summary::of(family),
        merged: merge(std::slice::from_ref(family), By::All, None),
    }
}

/// Two that send one recording, or a store that was put back or made anew: what does not follow what is there was taken, and a part was missing.
#[test]
fn of_frames_that_do_not_follow_what_is_there_all_is_asked_for() {
    let (_folder, mut store) = store();
    let family =
        family(vec![arena(record(&[Call { function: 0x1000, own: 5, callees: vec![] }], Costs::default(), 3))]);
    let mut put = |number: usize, sequence: u64, holds_later: bool, [start, end]: [i64; 2]| match store.put(&Frame {
        sequence,
        holds_later,
        start,
        end,
        ..frame(number, &family)
    }) {
        Ok(put) => Some(put),
        Err(Error::Overlap { .. }) => None,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(put(1, 5, false, [50, 60]), None, "nothing is there");
    assert_eq!(put(1, 1, true, [10, 60]), None, "whoever was started again goes on, and nothing is there");
    assert_eq!(put(1, 0, true, [0, 10]), Some(Put::Added));
    assert_eq!(put(1, 1, false, [10, 20]), Some(Put::Added));
    for holds_later in [false, true] {
        assert_eq!(put(1, 3, holds_later, [30, 40]), None, "one is missing before it");
    }
    assert_eq!(put(1, 0, false, [0, 15]), Some(Put::Known), "it was sent before what is there");
    assert_eq!(put(1, 0, false, [0, 25]), None, "it tells of more than is there");
    assert_eq!(put(1, 2, false, [20, 30]), Some(Put::Added));

    // What was sent first of a time is there, and not what was sent once more of it and of what came then.
    assert_eq!(put(2, 0, true, [0, 1_000_000]), Some(Put::Added));
    for holds_later in [false, true] {
        assert_eq!(put(2, 1, holds_later, [2_000_000, 3_000_000]), None, "the time before it is missing");
    }
    assert_eq!(put(2, 1, false, [1_000_000, 3_000_000]), Some(Put::Added));
}

#[test]
fn a_store_with_functions_as_they_were_written_before_is_read_and_goes_on() {
    let (folder, mut store) = store();
    let calls =
        [Call { function: 0x1000, own: 500, callees: vec![Call { function: 0x1100, own: 9, callees: vec![] }] }];
    let mut arena = arena(record(&calls, Costs::default(), 3));
    arena.functions = vec![function_of(0x1000, &[509]), function_of(0x1100, &[9])];
    let families = [family(vec![arena.clone()]), family(vec![arena])];
    store.put(&frame(1, &families[0])).unwrap();
    let columns = "SELECT totals, path_sums, function_sums FROM frame_data";
    let columns = store.connection.query_row(columns, [], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]));
    let [totals, paths, functions]: [Vec<u8>; 3] = columns.unwrap();
    let mut all = Vec::new();
    let take = |OfFunction { place, times, filed }| all.push((place, times.map(Cow::into_owned), filed));
    function_sums::read_column(&functions, u32::MAX, &mut Vec::new(), take).unwrap();
    assert_eq!(all.len(), 2);
    let functions = blob::write(&all, blob::LASTING);
    let sum = checksum([&totals, &paths, &functions]);
    store
        .connection
        .execute("UPDATE frame_data SET function_sums = ?1, checksum = ?2", params![functions, sum])
        .unwrap();
    store.connection.pragma_update(None, "user_version", 4).unwrap();
    drop(store);
    let path = folder.path().join("store.db");
    let merged = |store: &Sqlite| store.select(&Query::default(), &GroupBy::All).unwrap().merged;
    assert_eq!(merged(&Sqlite::open(&path, false).unwrap()), merge(&families[..1], By::All, None));
    let mut store = Sqlite::open(&path, true).unwrap();
    let version: i64 = store.connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, schema::VERSION);
    store.put(&frame(2, &families[1])).unwrap();
    assert_eq!(merged(&store), merge(&families, By::All, None));
}

#[test]
fn a_store_without_verdicts_is_read_and_gets_a_place_for_the_first() {
    let (folder, store) = store();
    store.connection.execute_batch("DROP TABLE verdict").unwrap();
    drop(store);
    let path = folder.path().join("store.db");
    let mut store = Sqlite::open(&path, false).unwrap();
    assert_eq!(store.verdicts(Range::default()).unwrap(), []);
    assert_eq!(store.one_verdict("12").unwrap(), None);
    assert_eq!(store.delete_verdicts(Range::default()).unwrap(), 0);
    let compared =
        Compared { left: "a".to_owned(), right: "b".to_owned(), replicate: "run".to_owned(), ..Compared::default() };
    let facts = VerdictFacts {
        id: String::new(),
        kind: VerdictKind::Bench,
        saved: 1,
        compared,
        command: String::new(),
        sentence: String::new(),
        status: 0,
        bytes: 2,
    };
    let verdict = Verdict { facts, document: b"{}".to_vec() };
    store.put_verdict(&verdict).unwrap();
    assert_eq!(Sqlite::open(&path, false).unwrap().one_verdict(&verdict.id()).unwrap().unwrap().document, b"{}");
}

#[test]
fn the_oldest_are_thrown_away_first_and_others_stay_as_they_were() {
    let (_folder, mut store) = store();
    let call = |function: u64| Call { function, own: 10, callees: Vec::new() };
    let all: Vec<Family> = (0..40u64)
        .map(|number| {
            let calls: Vec<_> = (0..500).map(|function| call(0x1000 + number % 8 * 0x10000 + function * 16)).collect();
            let mut family = family(vec![arena(record(&calls, Costs::default(), 3))]);
            family.modules[0].build_id = vec![number as u8 % 8];
            family
        })
        .collect();
    for (number, family) in all.iter().enumerate() {
        store.put(&frame(number, family)).unwrap();
    }
    let size = |store: &Sqlite| {
        let pages: u64 = store.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        pages * 4096
    };
    let half = size(&store) / 2;
    let deleted = store.shrink(&Query::default(), half).unwrap();
    assert!(size(&store) <= half && deleted.frames > 0 && deleted.frames < 40, "{deleted:?}");
    let found = store.select(&Query::default(), &GroupBy::All).unwrap();
    assert_eq!(found.merged, merge(&all[deleted.frames as usize..], By::All, None));
}

#[test]
fn a_store_without_sampled_profiles_is_read_and_gets_a_place_for_them() {
    let (folder, store) = store();
    let gone = "DROP TABLE sampled_data; DROP TABLE sampled; DROP TABLE sampled_series; PRAGMA user_version = 3";
    store.connection.execute_batch(gone).unwrap();
    drop(store);
    let path = folder.path().join("store.db");
    let store = Sqlite::open(&path, false).unwrap();
    assert_eq!(store.all_sampled(Range::default()).unwrap(), []);
    assert_eq!(store.one_sampled("12").unwrap().map(|one| one.messages), None);
    drop(store);
    let mut store = Sqlite::open(&path, true).unwrap();
    let mut labels = Labels::default();
    labels.set("service", "s".to_owned());
    let facts =
        SampledFacts { id: String::new(), labels, started: 1, ended: 2, types: Vec::new(), samples: 0, bytes: 3 };
    let sampled = Sampled { facts, messages: b"abc".to_vec() };
    store.put_sampled(&sampled).unwrap();
    assert_eq!(store.one_sampled(&sampled.id()).unwrap().unwrap().messages, b"abc");
    assert_eq!(Sqlite::open(&path, false).unwrap().all_sampled(Range::default()).unwrap().len(), 1);
}
