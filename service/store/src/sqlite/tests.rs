//! Laws of the store, on recordings that nobody thought of.

use diytrace_format::node::mark;
use diytrace_profile::load::Family;
use diytrace_profile::load::costs::{Costs, Evidence};
use diytrace_profile::merge::{By, Merging, PartKey, merge};
use diytrace_profile::testing::{arena, calls, family, function_of, record};
use proptest::prelude::*;

use super::Sqlite;
use crate::engine::{Engine, Put};
use crate::{Error, Frame, Labels, Query, Range};

fn any_family() -> impl Strategy<Value = Family> {
    let times = prop::collection::vec(1u64..1 << 30, 0..20);
    (calls(), 1usize..4, 0u8..3, times, any::<prop::sample::Index>(), 1u64..4).prop_map(
        |(calls, fold_at, build_id, times, open, rate)| {
            let costs = Costs { inner: 2.3, outer: 3.1, error: 0.4, ..Costs::default() };
            let mut arena = arena(record(&calls, costs, fold_at));
            if !arena.nodes.is_empty() {
                let open = open.index(arena.nodes.len());
                arena.nodes[open].slots[0].mark = 400 | mark::OPEN;
            }
            arena.functions = vec![function_of(0x1000, &times)];
            let mut family = family(vec![arena]);
            family.clock.hz = 1e9 + rate as f64 * 123_456.7;
            family.evidence = Evidence::of_costs(costs);
            family.modules[0].build_id = vec![build_id];
            family.read_ticks = 2000;
            family
        },
    )
}

fn frame(number: usize, family: &Family, labels: &[(&str, &str)], end: i64) -> Frame {
    let mut set = Labels::default();
    labels.iter().for_each(|(name, value)| set.set(name, (*value).to_owned()));
    Frame {
        labels: set,
        session: number.to_string(),
        sequence: 0,
        start: 0,
        end,
        part: PartKey::of(family),
        summary: diytrace_profile::load::Summary::of(family),
        merged: merge(std::slice::from_ref(family), By::All, None),
    }
}

fn store() -> (tempfile::TempDir, Sqlite) {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(&folder.path().join("store.db"), true).unwrap();
    (folder, store)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn what_is_selected_is_what_merging_the_recordings_gives(
        families in prop::collection::vec((any_family(), 0usize..3, 0i64..10), 1..8),
        since in 0i64..5,
    ) {
        let (folder, mut store) = store();
        let hosts = ["a", "b", "c"];
        for (number, (family, host, end)) in families.iter().enumerate() {
            let frame = frame(number, family, &[("host", hosts[*host]), ("service", "s")], *end);
            prop_assert_eq!(store.put(&frame).unwrap(), Put::Added);
            prop_assert_eq!(store.put(&frame).unwrap(), Put::Known);
        }
        let store = Sqlite::open(&folder.path().join("store.db"), false).unwrap();
        let range = Range { since, until: i64::MAX };
        for host in ["*", "a"] {
            let chosen = families.iter().filter(|(_, on, end)| (host == "*" || hosts[*on] == host) && *end > since);
            let chosen: Vec<&(Family, usize, i64)> = chosen.collect();
            let query = Query { labels: vec![("host".to_owned(), host.to_owned())], range, session: None };
            match store.select(&query, None) {
                Ok(found) => {
                    let families: Vec<Family> = chosen.iter().map(|(family, ..)| family.clone()).collect();
                    prop_assert_eq!(found.merged, merge(&families, By::All, None));
                    prop_assert_eq!(found.loaded.profiles.len(), families.len());
                }
                Err(Error::Nothing { .. } | Error::UnknownValue { .. }) => prop_assert!(chosen.is_empty()),
                Err(error) => panic!("{error}"),
            }
            if let Ok(found) = store.select(&query, Some("host")) {
                let mut apart = Merging::new(By::All, None);
                for (family, on, _) in &chosen {
                    let one = merge(std::slice::from_ref(family), By::All, None);
                    apart.add_merged(&one, Some(&format!("host={}", hosts[*on])));
                }
                prop_assert_eq!(found.merged, apart.finish());
            }
        }
    }
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
fn paths_are_numbered_once_whoever_puts_them_in() {
    let (folder, mut one) = store();
    let mut other = Sqlite::open(&folder.path().join("store.db"), true).unwrap();
    let call = |function: u64| diytrace_profile::testing::Call { function, own: 10, callees: Vec::new() };
    let of = |functions: &[u64]| {
        let calls: Vec<_> = functions.iter().map(|&function| call(function)).collect();
        family(vec![arena(record(&calls, Costs::default(), 3))])
    };
    let all = [of(&[0x1000]), of(&[0x1100, 0x1000]), of(&[0x1200, 0x1100]), of(&[0x1000, 0x1200])];
    for (number, family) in all.iter().enumerate() {
        let store = if number % 2 == 0 { &mut one } else { &mut other };
        store.put(&frame(number, family, &[("service", "s")], 1)).unwrap();
    }
    let found = one.select(&Query::default(), None).unwrap();
    assert_eq!(found.merged, merge(&all, By::All, None));
    let paths: i64 = one.connection.query_row("SELECT count(*) FROM path", [], |row| row.get(0)).unwrap();
    assert_eq!(paths, 3);
}

#[test]
fn the_oldest_are_thrown_away_first_and_others_stay_as_they_were() {
    let (_folder, mut store) = store();
    let call = |function: u64| diytrace_profile::testing::Call { function, own: 10, callees: Vec::new() };
    let all: Vec<Family> = (0..40u64)
        .map(|number| {
            let calls: Vec<_> = (0..200).map(|function| call(0x1000 + number % 8 * 0x10000 + function * 16)).collect();
            let mut family = family(vec![arena(record(&calls, Costs::default(), 3))]);
            family.modules[0].build_id = vec![number as u8 % 8];
            family
        })
        .collect();
    for (number, family) in all.iter().enumerate() {
        store.put(&frame(number, family, &[("service", "s")], number as i64)).unwrap();
    }
    let size = |store: &Sqlite| {
        let pages: u64 = store.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        pages * 4096
    };
    let half = size(&store) / 2;
    let deleted = store.shrink(&Query::default(), half).unwrap();
    assert!(size(&store) <= half && deleted.frames > 0 && deleted.frames < 40, "{deleted:?}");
    let found = store.select(&Query::default(), None).unwrap();
    assert_eq!(found.merged, merge(&all[deleted.frames as usize..], By::All, None));
}
