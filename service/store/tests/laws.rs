//! Laws of the store whoever keeps it, on recordings that nobody thought of.
//!
//! Each is asked of both engines.

#[path = "../../../tests/common/clickhouse.rs"]
#[allow(dead_code)] // each test file uses its part
mod clickhouse;

use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use diytrace_format::Slot;
use diytrace_format::node::mark;
use diytrace_profile::load::costs::{Costs, Evidence};
use diytrace_profile::load::{Family, Node};
use diytrace_profile::merge::{By, Merging, PartKey, merge};
use diytrace_profile::process::State;
use diytrace_profile::testing::{arena, calls, family, function_of, node, record, slot};
use diytrace_profile::time::Time;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use diytrace_store::{
    Address, Compared, Error, Frame, GroupBy, Incoming, Labels, Outgoing, Put, Query, Range, Stored, Tier, Verdict,
    VerdictFacts, VerdictKind, decode, encode, open,
};
use needs::needs;

fn any_family() -> impl Strategy<Value = Family> {
    let times = prop::collection::vec(1u64..1 << 30, 0..20);
    (calls(), 1usize..4, 0u8..3, times, any::<prop::sample::Index>(), 1u64..4).prop_map(
        |(calls, fold_at, build_id, times, open, rate)| {
            let costs = Costs { inner: 2.3, outer: 3.1, error: 0.4, ..Costs::default() };
            let mut arena = arena(record(&calls, costs, fold_at));
            if !arena.nodes.is_empty() {
                let open = open.index(arena.nodes.len());
                arena.nodes.change(open, |node| node.slots[0].mark = 400 | mark::OPEN);
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
        holds_later: true,
        start: 0,
        end,
        part: PartKey::of(family),
        summary: diytrace_profile::load::Summary::of(family),
        merged: merge(std::slice::from_ref(family), By::All, None),
    }
}

/// Who keeps a store.
#[derive(Clone, Copy, Debug)]
enum Keeper {
    Sqlite,
    ClickHouse,
    /// Two shards.
    Cluster,
}

impl Keeper {
    /// Asks a law of so many cases; of a ClickHouse, where each takes long, of some.
    fn ask<S: Strategy>(self, cases: u32, strategy: S, law: impl Fn(S::Value) -> Result<(), TestCaseError>) {
        let cases = match self {
            Self::Sqlite => cases,
            Self::ClickHouse => cases / 8,
            Self::Cluster => cases / 16,
        };
        let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) };
        TestRunner::new(config).run(&strategy, law).unwrap_or_else(|error| panic!("{error}"));
    }
}

struct Place {
    _folder: tempfile::TempDir,
    address: Address,
}

/// An empty store: a file, or a database of its own in a ClickHouse that all laws share.
fn store(keeper: Keeper) -> (Place, Stored) {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let folder = tempfile::tempdir().unwrap();
    let address = match keeper {
        Keeper::Sqlite => folder.path().join("store.db").display().to_string(),
        Keeper::ClickHouse => shared().store(&format!("laws_{}", NUMBER.fetch_add(1, Ordering::Relaxed))),
        Keeper::Cluster => shared_cluster().store(&format!("laws_{}", NUMBER.fetch_add(1, Ordering::Relaxed))),
    };
    let address: Address = address.parse().unwrap();
    let store = open(&address, true).unwrap();
    (Place { _folder: folder, address }, store)
}

/// It ends with this process; what it has kept goes when the laws are asked again.
fn shared() -> &'static clickhouse::ClickHouse {
    static SHARED: OnceLock<clickhouse::ClickHouse> = OnceLock::new();
    SHARED.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("laws");
        let _ = fs::remove_dir_all(&folder);
        clickhouse::ClickHouse::start(&folder)
    })
}

fn shared_cluster() -> &'static clickhouse::Cluster {
    static SHARED: OnceLock<clickhouse::Cluster> = OnceLock::new();
    SHARED.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("laws-of-two");
        let _ = fs::remove_dir_all(&folder);
        clickhouse::Cluster::start(&folder)
    })
}

fn what_is_selected_is_what_merging_the_recordings_gives(keeper: Keeper) {
    keeper.ask(48, (prop::collection::vec((any_family(), 0usize..3, 0i64..10), 1..8), 0i64..5), |(families, since)| {
        let (place, mut store) = store(keeper);
        let hosts = ["a", "b", "c"];
        for (number, (family, host, end)) in families.iter().enumerate() {
            let frame = frame(number, family, &[("host", hosts[*host]), ("service", "s")], *end);
            prop_assert_eq!(store.put(&frame).unwrap(), Put::Added);
            prop_assert_eq!(store.put(&frame).unwrap(), Put::Known);
        }
        let store = open(&place.address, false).unwrap();
        let range = Range { since, until: i64::MAX };
        for host in ["*", "a"] {
            let chosen = families.iter().filter(|(_, on, end)| (host == "*" || hosts[*on] == host) && *end > since);
            let chosen: Vec<&(Family, usize, i64)> = chosen.collect();
            let query = Query { labels: vec![("host".to_owned(), host.to_owned())], range, session: None };
            match store.select(&query, &GroupBy::All) {
                Ok(found) => {
                    let families: Vec<Family> = chosen.iter().map(|(family, ..)| family.clone()).collect();
                    prop_assert_eq!(found.merged, merge(&families, By::All, None));
                    prop_assert_eq!(found.loaded.profiles.len(), families.len());
                }
                Err(Error::Nothing { .. } | Error::UnknownValue { .. }) => prop_assert!(chosen.is_empty()),
                Err(error) => panic!("{error}"),
            }
            if let Ok(found) = store.select(&query, &GroupBy::Label("host".to_owned())) {
                let mut apart = Merging::new(By::All, None);
                for (family, on, _) in &chosen {
                    let one = merge(std::slice::from_ref(family), By::All, None);
                    apart.add_merged(&one, Some(&format!("host={}", hosts[*on])));
                }
                prop_assert_eq!(found.merged, apart.finish());
            }
        }
        Ok(())
    });
}

/// What is asked for one of several parts: hosts, a time, and perhaps one recording.
fn any_part() -> impl Strategy<Value = Query> {
    let hosts = prop::sample::select(vec!["*", "a", "b", "?", "ab*"]);
    (hosts, 0i64..10, 1i64..10, prop::option::weighted(0.3, 0usize..8)).prop_map(|(host, since, long, session)| Query {
        labels: vec![("host".to_owned(), host.to_owned())],
        range: Range { since, until: since + long },
        session: session.map(|session| session.to_string()),
    })
}

fn parts_are_what_each_of_them_is_by_itself(keeper: Keeper) {
    let recordings = prop::collection::vec((any_family(), 0usize..3, 1i64..12), 1..8);
    let parts = (prop::collection::vec(any_part(), 1..6), any::<bool>()).prop_map(|(mut parts, are_slices)| {
        // One after the other, as those of a history: or any, so that one recording may be in several.
        for (part, since) in parts.iter_mut().zip((0..).step_by(3)).filter(|_| are_slices) {
            part.range = Range { since, until: since + 3 };
        }
        parts
    });
    keeper.ask(64, (recordings, parts), |(recordings, parts)| {
        let (_folder, mut store) = store(keeper);
        const HOSTS: [&str; 3] = ["a", "b", "abc"];
        let frame = |(number, (family, host, end)): (usize, &(Family, usize, i64))| {
            frame(number, family, &[("host", HOSTS[*host]), ("service", "s")], *end)
        };
        store.put_all(&recordings.iter().enumerate().map(frame).collect::<Vec<_>>()).unwrap();
        let of_part = |part: &Query| -> Vec<&Family> {
            let is_in = |(number, (_, host, end)): (usize, &(Family, usize, i64))| {
                let is_host = match &*part.labels[0].1 {
                    "*" => true,
                    "?" => HOSTS[*host].len() == 1,
                    "ab*" => HOSTS[*host] == "abc",
                    name => HOSTS[*host] == name,
                };
                let is_session = part.session.as_ref().is_none_or(|session| *session == number.to_string());
                is_host && is_session && *end > part.range.since && *end <= part.range.until
            };
            let all = recordings.iter().enumerate().filter(|one| is_in(*one));
            all.map(|(_, (family, ..))| family).collect()
        };
        let mut together = Merging::new(By::All, None);
        for (number, part) in parts.iter().enumerate() {
            for family in of_part(part) {
                together.add_merged(&merge(std::slice::from_ref(family), By::All, None), Some(&number.to_string()));
            }
        }
        let named = parts.iter().enumerate().map(|(number, part)| (number.to_string(), part.clone()));
        let found = store.select(&Query::default(), &GroupBy::Parts(named.collect()));
        match parts.iter().any(|part| !of_part(part).is_empty()) {
            true => prop_assert_eq!(found.unwrap().merged, together.finish()),
            false => prop_assert!(found.is_err_and(|error| matches!(error, Error::Nothing { .. })), "nothing there"),
        }
        let each = store.select_each(&parts).unwrap();
        prop_assert_eq!(each.len(), parts.len());
        for (part, found) in parts.iter().zip(each) {
            let families: Vec<Family> = of_part(part).into_iter().cloned().collect();
            prop_assert_eq!(found.is_some(), !families.is_empty());
            if let Some(found) = found {
                prop_assert_eq!(found.merged, merge(&families, By::All, None));
                prop_assert_eq!(found.loaded.profiles.len(), families.len());
            }
        }
        Ok(())
    });
}

fn series_are_those_whose_labels_match_whatever_is_in_them(keeper: Keeper) {
    let letters = |letters: &'static str| prop::sample::select(letters.chars().collect::<Vec<_>>());
    let text = |of, most| {
        prop::collection::vec(letters(of), 1..most).prop_map(|letters| letters.into_iter().collect::<String>())
    };
    let values = prop::collection::vec((text("ab\"\\%_'é:,{", 4), text("ab", 3)), 1..8);
    // Of a value, with letters that anything may stand for; and those that match none.
    let change = prop::sample::select(vec!["", "", "?", "*", "??", "x"]);
    let patterns =
        prop::collection::vec((any::<prop::sample::Index>(), prop::collection::vec(change, 3), text("ab*?", 3)), 24);
    let none = || family(vec![arena(Vec::new())]);
    keeper.ask(32, (values, patterns), |(values, patterns)| {
        let (_folder, mut store) = store(keeper);
        let frames: Vec<Frame> = values
            .iter()
            .enumerate()
            .map(|(number, (one, other))| frame(number, &none(), &[("one", one), ("other", other)], 1))
            .collect();
        store.put_all(&frames).unwrap();
        for (value, changes, other) in &patterns {
            let letters = values[value.index(values.len())].0.chars().zip(changes);
            let change = |(letter, change): (char, &&str)| match change.is_empty() {
                true => letter.to_string(),
                false => (*change).to_owned(),
            };
            let one: String = letters.map(change).collect();
            let other = if value.index(2) == 0 { "*".to_owned() } else { other.clone() };
            let labels = vec![("other".to_owned(), other), ("one".to_owned(), one)];
            let query = Query { labels, ..Query::default() };
            let mut expected: Vec<&str> =
                frames.iter().filter(|frame| query.selects(&frame.labels)).map(|frame| &*frame.session).collect();
            expected.sort_unstable();
            match store.frames(&query) {
                Ok(found) => {
                    let mut found: Vec<&str> = found.iter().map(|facts| &*facts.session).collect();
                    found.sort_unstable();
                    prop_assert_eq!(found, expected);
                }
                Err(error) => prop_assert!(error.is_missing() && expected.is_empty(), "{error}: {expected:?}"),
            }
        }
        Ok(())
    });
}

/// Readings of one recording as it goes on: its calls so far, of which one is open.
fn any_readings() -> impl Strategy<Value = Vec<Family>> {
    let times = prop::collection::vec(1u64..1 << 30, 0..20);
    let cuts = prop::collection::vec(any::<prop::sample::Index>(), 1..5);
    (calls(), times, cuts, any::<prop::sample::Index>()).prop_map(|(calls, times, cuts, open)| {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(calls.len() + 1)).collect();
        cuts.sort_unstable();
        cuts.push(calls.len());
        let ends = open.index(cuts.len() + 1);
        let reading = |(number, cut): (usize, &usize)| {
            let below = |path: u32| path + 1;
            let nodes = record(&calls[..*cut], Costs::default(), 3).into_iter().map(|node| Node {
                parent: node.parent.map(below),
                folded_into: node.folded_into.map(below),
                ..node
            });
            // A call that lasts until some reading.
            let mark = if number < ends { 400 | mark::OPEN } else { 90_000 };
            let slot = Slot { mark, ..slot(1, if number < ends { 0 } else { 5000 }, 0) };
            let mut arena = arena(std::iter::once(node(0x9000, None, slot)).chain(nodes).collect());
            (arena.facts.flags, arena.state) = (0, State::Running);
            arena.functions = vec![function_of(0x1000, &times[..times.len().min(*cut)])];
            let mut family = family(vec![arena]);
            family.read_ticks = 20_000 + 10_000 * number as u64;
            family
        };
        cuts.iter().enumerate().map(reading).collect()
    })
}

fn slices(readings: &[Family]) -> Vec<Frame> {
    let slice = |(number, family): (usize, &Family)| {
        let mut merging = Merging::new(By::All, None).with_whole_open_calls();
        merging.add_since(number.checked_sub(1).map(|before| &readings[before]), family);
        let (sequence, merged) = (number as u64, merging.finish().without_idle());
        let (start, end) = (number as i64 * 10, number as i64 * 10 + 10);
        Frame { sequence, holds_later: number == 0, start, end, merged, ..frame(7, family, &[("service", "s")], end) }
    };
    readings.iter().enumerate().map(slice).collect()
}

/// A frame whose places and paths are in the order that merging gives them.
fn ordered(frame: Frame) -> Frame {
    let mut merging = Merging::new(By::All, None);
    merging.add_merged(&frame.merged, None);
    Frame { merged: merging.finish(), ..frame }
}

fn slices_of_a_recording_add_up_to_it_whatever_is_sent_again(keeper: Keeper) {
    keeper.ask(64, (any_readings(), prop::collection::vec(any::<prop::sample::Index>(), 0..4)), |(readings, again)| {
        let (_folder, mut store) = store(keeper);
        let frames = slices(&readings);
        let (mut outgoing, incoming) = (Outgoing::default(), Incoming::default());
        for (number, frame) in frames.iter().enumerate() {
            // As it comes over the wire, whole or with what is new; one that was damaged there is none.
            let mut bytes = encode(frame);
            prop_assert_eq!(ordered(decode(&bytes, 1 << 20).unwrap()), ordered(frame.clone()));
            let next = incoming.decode(&outgoing.encode(frame), 1 << 20).unwrap();
            outgoing.acknowledged();
            let counted = next.frame().unwrap();
            let (put, after) = store.put_received(&[next]).unwrap().remove(0).unwrap();
            prop_assert_eq!((put, after), (Put::Added, number as u64 + 1));
            prop_assert_eq!(ordered(counted), ordered(frame.clone()));
            let at = number * 7 % bytes.len();
            bytes[at] ^= 1;
            prop_assert!(decode(&bytes, 1 << 20).is_err() && decode(&encode(frame), 10).is_err());
            for late in &again {
                prop_assert_eq!(store.put(&frames[late.index(number + 1)]).unwrap(), Put::Known);
            }
        }
        let last = &readings[readings.len() - 1..];
        let mut whole = Merging::new(By::All, None);
        whole.add_merged(&merge(last, By::All, None).without_idle(), None);
        let found = store.select(&Query::default(), &GroupBy::All).unwrap();
        prop_assert_eq!(found.merged, whole.finish());
        // A part of the time is what came in it.
        let at = readings.len() / 2;
        let part = Query { range: Range { since: at as i64 * 10, until: i64::MAX }, ..Query::default() };
        let mut between = Merging::new(By::All, None);
        between.add_since(at.checked_sub(1).map(|before| &readings[before]), &last[0]);
        let calls = |merged: &diytrace_profile::merge::Merged| merged.groups[0].calls;
        prop_assert_eq!(calls(&store.select(&part, &GroupBy::All).unwrap().merged), calls(&between.finish()));
        // The whole recording, put in beside its slices, counts once.
        let whole = Frame { sequence: 0, end: frames.len() as i64 * 10, ..frame(7, &last[0], &[("service", "s")], 0) };
        store.put(&whole).unwrap();
        prop_assert_eq!(calls(&store.select(&Query::default(), &GroupBy::All).unwrap().merged), calls(&whole.merged));
        Ok(())
    });
}

fn coarser_slices_have_the_same_sums(keeper: Keeper) {
    keeper.ask(32, (any_readings(), 1i64..100), |(readings, seconds)| {
        let (_folder, mut store) = store(keeper);
        let at = |moment: i64| moment * seconds * 100_000_000;
        for frame in slices(&readings) {
            store.put(&Frame { start: at(frame.start), end: at(frame.end), ..frame }).unwrap();
        }
        let fine = store.select(&Query::default(), &GroupBy::All).unwrap().merged;
        let frames = |store: &Stored| store.frames(&Query::default()).unwrap().len() as u64;
        for tier in [Tier::Minute, Tier::Hour] {
            // At once, or by portions.
            let before = frames(&store);
            let less = match seconds % 2 {
                0 => store.compact(tier, i64::MAX).unwrap(),
                _ => {
                    let mut after = None;
                    while let Some(last) = store.compact_next(tier, i64::MAX, after).unwrap() {
                        prop_assert!(after.is_none_or(|after| after < last));
                        after = Some(last);
                    }
                    before - frames(&store)
                }
            };
            prop_assert_eq!(frames(&store), before - less);
            prop_assert_eq!(store.compact(tier, i64::MAX).unwrap(), 0);
            prop_assert_eq!(&store.select(&Query::default(), &GroupBy::All).unwrap().merged, &fine);
        }
        // What is sent again is known; the next slice goes on from the last.
        let mut next = slices(&readings).pop().unwrap();
        prop_assert_eq!(
            store.put(&Frame { end: at(next.end), start: at(next.start), ..next.clone() }).unwrap(),
            Put::Known
        );
        next.sequence += 1;
        next.holds_later = false;
        next.merged.groups.clear();
        let put = store.put(&Frame { start: at(next.end), end: at(next.end + 1), ..next }).unwrap();
        prop_assert_eq!(put, Put::Added);
        Ok(())
    });
}

/// A file's writer remembers recordings that send frame after frame: only as long as nobody changes what is there.
#[test]
fn frames_go_on_whatever_becomes_of_the_store_in_between() {
    let keeper = Keeper::Sqlite;
    let meanwhile = prop::collection::vec(0u8..9, 16);
    keeper.ask(32, (prop::collection::vec(any_family(), 2), meanwhile), |(families, meanwhile)| {
        let (place, mut store) = store(keeper);
        const SECOND: i64 = 1_000_000_000;
        let mut senders: Vec<(Outgoing, Incoming, u64, i64)> = families.iter().map(|_| Default::default()).collect();
        let labels = [("service", "s")];
        // Of each recording, what was sent and is not deleted.
        let mut calls = vec![0u64; families.len()];
        for (round, meanwhile) in (0i64..).zip(meanwhile) {
            for (number, family) in families.iter().enumerate() {
                let (outgoing, incoming, sequence, start) = &mut senders[number];
                let end = (round + 1) * 20 * SECOND;
                let frame = Frame {
                    sequence: *sequence,
                    holds_later: *sequence == 0,
                    start: *start,
                    ..frame(number, family, &labels, end)
                };
                if meanwhile == 1 {
                    *incoming = Incoming::default(); // it was started anew
                    outgoing.forgotten();
                }
                let received = incoming.decode(&outgoing.encode(&frame), 1 << 20).unwrap();
                outgoing.acknowledged();
                calls[number] += received.calls();
                let put = store.put_received(&[received]).unwrap().remove(0).unwrap();
                prop_assert_eq!(put, (Put::Added, *sequence + 1));
                (*sequence, *start) = (*sequence + 1, end);
            }
            match meanwhile {
                2 => drop(store.compact_next(Tier::Minute, i64::MAX, None).unwrap()),
                3 => drop(store.compact(Tier::Hour, i64::MAX).unwrap()),
                // Somebody else writes: paths that nobody has told of yet, before they are told of here.
                4 => {
                    let mut other = open(&place.address, true).unwrap();
                    other.put(&frame(100 + round as usize, &families[1], &[("service", "other")], 10)).unwrap();
                }
                // All is deleted, by somebody else or here: recordings begin anew.
                5 | 6 => {
                    match meanwhile {
                        5 => open(&place.address, true).unwrap().delete(&Query::default()).unwrap(),
                        _ => store.delete(&Query::default()).unwrap(),
                    };
                    let start = (round + 1) * 20 * SECOND;
                    senders = families.iter().map(|_| (Outgoing::default(), Incoming::default(), 0, start)).collect();
                    calls.fill(0);
                }
                _ => {}
            }
            for (number, calls) in calls.iter().enumerate().filter(|(_, calls)| **calls > 0) {
                let select = Query { session: Some(number.to_string()), ..Query::default() };
                let found = store.select(&select, &GroupBy::All).unwrap().merged;
                prop_assert_eq!(found.groups[0].calls, *calls);
                let functions = |merged: &diytrace_profile::merge::Merged| -> Vec<(u64, u64)> {
                    let functions = &merged.groups[0].functions;
                    functions
                        .iter()
                        .map(|(place, times)| (merged.places[*place as usize].address, times.returned))
                        .collect()
                };
                let (one, times) = (merge(&families[number..][..1], By::All, None), senders[number].2);
                let expected: Vec<(u64, u64)> =
                    functions(&one).into_iter().map(|(address, returned)| (address, returned * times)).collect();
                prop_assert_eq!(functions(&found), expected);
            }
        }
        Ok(())
    });
}

fn old_slices_become_minutes_and_the_latest_stay(keeper: Keeper) {
    let (_folder, mut store) = store(keeper);
    let reading = |calls: u64| {
        let call = || diytrace_profile::testing::Call { function: 0x1000, own: 10, callees: Vec::new() };
        let calls: Vec<_> = (0..calls).map(|_| call()).collect();
        let mut family = family(vec![arena(record(&calls, Costs::default(), 3))]);
        family.read_ticks = 2000;
        family
    };
    const SECOND: i64 = 1_000_000_000;
    let readings: Vec<Family> = (1..=120).map(reading).collect();
    for frame in slices(&readings) {
        store.put(&Frame { start: frame.start * SECOND, end: frame.end * SECOND, ..frame }).unwrap();
    }
    let bytes: u64 = store.series().unwrap().iter().map(|facts| facts.bytes).sum();
    assert_eq!(store.beyond(Tier::Minute, bytes).unwrap(), None);
    let half = store.beyond(Tier::Minute, bytes / 2).unwrap().unwrap() / SECOND;
    assert!((500..700).contains(&half), "{half}");
    // 20 minutes of slices of 10 s, of which the last 2 minutes stay.
    assert_eq!(store.compact(Tier::Minute, i64::MAX).unwrap(), 18 * 5);
    let minute = |since: i64, until: i64| {
        let range = Range { since: since * SECOND, until: until * SECOND };
        store.select(&Query { range, ..Query::default() }, &GroupBy::All).unwrap().merged.groups[0].calls
    };
    assert_eq!([minute(0, 1200), minute(60, 120), minute(1190, 1200)], [120, 6, 1]);
}

fn a_slice_of_a_time_that_the_whole_has_is_refused(keeper: Keeper) {
    let (_folder, mut store) = store(keeper);
    let call = |function: u64| diytrace_profile::testing::Call { function, own: 10, callees: Vec::new() };
    let reading = |calls: u64| {
        let calls: Vec<_> = (0..calls).map(|_| call(0x1000)).collect();
        let mut family = family(vec![arena(record(&calls, Costs::default(), 3))]);
        family.read_ticks = 2000;
        family
    };
    let frames = slices(&[reading(2), reading(5), reading(9)]);
    store.put(&frames[0]).unwrap();
    let whole = frame(7, &reading(7), &[("service", "s")], 25);
    assert_eq!(store.put(&whole).unwrap(), Put::Grown);
    assert!(matches!(store.put(&frames[2]), Err(Error::Overlap { .. })));
    // Its sender then sends all that there is.
    assert_eq!(store.put(&frame(7, &reading(9), &[("service", "s")], 30)).unwrap(), Put::Grown);
    assert_eq!(store.select(&Query::default(), &GroupBy::All).unwrap().merged.groups[0].calls, 9);
}

fn paths_are_numbered_once_whoever_puts_them_in(keeper: Keeper) {
    let (place, mut one) = store(keeper);
    let mut other = open(&place.address, true).unwrap();
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
    let found = one.select(&Query::default(), &GroupBy::All).unwrap();
    assert_eq!(found.merged, merge(&all, By::All, None));
    let mut paths = Vec::new();
    one.sql("SELECT count(DISTINCT id) FROM path", &mut |row| {
        paths.push(row[0].text());
        true
    })
    .unwrap();
    assert_eq!(paths[1], "3");
}

fn many_frames_together_are_as_one_after_the_other(keeper: Keeper) {
    let again = prop::collection::vec(any::<prop::sample::Index>(), 0..4);
    keeper.ask(
        32,
        (prop::collection::vec(any_family(), 0..4), any_readings(), again),
        |(families, readings, again)| {
            // Some of a recording in slices, others whole, some twice.
            let mut frames = slices(&readings);
            frames.extend(families.iter().enumerate().map(|(number, family)| Frame {
                session: format!("whole '{number}' \\"),
                ..frame(number, family, &[("service", "s")], 7)
            }));
            again.iter().for_each(|one| frames.push(frames[one.index(frames.len())].clone()));
            let ((_here, mut together), (_there, mut apart)) = (store(keeper), store(keeper));
            let one_by_one: Vec<Put> = frames.iter().map(|frame| apart.put(frame).unwrap()).collect();
            prop_assert_eq!(together.put_all(&frames).unwrap(), one_by_one);
            prop_assert!(together.put_all(&frames).unwrap().iter().all(|put| *put == Put::Known));
            let all = |store: &Stored| store.select(&Query::default(), &GroupBy::All).unwrap().merged;
            prop_assert_eq!(all(&together), all(&apart));
            Ok(())
        },
    );
}

/// Frames of 5, 3 and 7 calls, of which the second overlaps one of 2 calls that is put in here.
fn with_one_refused(store: &mut Stored) -> [Frame; 3] {
    let calls = |calls: u64| {
        let call = || diytrace_profile::testing::Call { function: 0x1000, own: 10, callees: Vec::new() };
        let calls: Vec<_> = (0..calls).map(|_| call()).collect();
        family(vec![arena(record(&calls, Costs::default(), 3))])
    };
    let labels: [_; 1] = [("service", "s")];
    store.put(&frame(7, &calls(2), &labels, 25)).unwrap();
    let late = Frame { sequence: 3, start: 20, holds_later: false, ..frame(7, &calls(3), &labels, 30) };
    [frame(1, &calls(5), &labels, 10), late, frame(2, &calls(7), &labels, 10)]
}

fn after_a_frame_that_is_refused_those_before_it_are_in(keeper: Keeper) {
    let (_folder, mut store) = store(keeper);
    let frames = with_one_refused(&mut store);
    assert!(matches!(store.put_all(&frames), Err(Error::Overlap { .. })));
    assert_eq!(store.select(&Query::default(), &GroupBy::All).unwrap().merged.groups[0].calls, 2 + 5);
    assert_eq!(store.put(&frames[0]).unwrap(), Put::Known);
    assert_eq!(store.put(&frames[2]).unwrap(), Put::Added);
}

/// In a ClickHouse, those before it were known when all came one by one, so who counts what is new left them out.
fn a_frame_that_is_refused_keeps_no_other_out(keeper: Keeper) {
    let (_folder, mut store) = store(keeper);
    let frames = with_one_refused(&mut store);
    let frames = frames.map(|frame| Incoming::default().decode(&encode(&frame), 1 << 20).unwrap());
    let taken = store.put_received(&frames).unwrap();
    assert!(matches!(taken[..], [Ok((Put::Added, 1)), Err(Error::Overlap { .. }), Ok((Put::Added, 1))]), "{taken:?}");
    assert_eq!(store.select(&Query::default(), &GroupBy::All).unwrap().merged.groups[0].calls, 2 + 5 + 7);
}

/// The same of one that would be of a series too many.
#[needs(clickhouse)]
#[test]
fn where_there_is_no_room_for_a_series_frames_of_others_go_in() {
    let (place, mut store) = store(Keeper::ClickHouse);
    let family = family(vec![arena(Vec::new())]);
    let frame = |number: usize, service: &str| {
        let frame = frame(number, &family, &[("service", service)], 10);
        Incoming::default().decode(&encode(&frame), 1 << 20).unwrap()
    };
    assert!(matches!(store.put_received(&[frame(0, "old")]).unwrap()[..], [Ok((Put::Added, 1))]));
    let database = place.address.to_string();
    let database = database.rsplit('/').next().unwrap();
    let others = "INSERT INTO series (id, labels) SELECT number + 1, '{}' FROM numbers(1048576 - 2)";
    shared().run(database, others);
    let taken = store.put_received(&[frame(1, "one"), frame(2, "two"), frame(3, "old"), frame(4, "one")]).unwrap();
    let expected = [Some(Put::Added), None, Some(Put::Added), Some(Put::Added)];
    let is_full = |taken: &Result<_, Error>| matches!(taken, Ok(_) | Err(Error::Full { .. }));
    assert!(taken.iter().all(is_full), "{taken:?}");
    assert_eq!(taken.iter().map(|taken| taken.as_ref().ok().map(|(put, _)| *put)).collect::<Vec<_>>(), expected);
}

fn numbers_of_any_size_add_up(keeper: Keeper) {
    // Times of thousands of years, and some that are larger together than one number of a database.
    let times = [1i128 << 80, (1 << 62) + 5, (1 << 62) + 7, 1 << 62, -(1 << 62), 3];
    let of = |own: i128| {
        let call = diytrace_profile::testing::Call { function: 0x1000, own: 10, callees: Vec::new() };
        let mut frame = frame(0, &family(vec![arena(record(&[call], Costs::default(), 3))]), &[("service", "s")], 1);
        let tree = &mut frame.merged.groups[0].tree;
        let mut path = tree.paths.get(0);
        path.counts.own = Time::from_units(own);
        path.counts.inclusive[0] = Time::from_units(own);
        tree.paths = [path].into_iter().collect();
        frame
    };
    let own = |frames: &[i128]| {
        let (_folder, mut store) = store(keeper);
        for (number, own) in frames.iter().enumerate() {
            store.put(&Frame { session: number.to_string(), ..of(*own) }).unwrap();
        }
        let found = store.select(&Query::default(), &GroupBy::All).unwrap().merged;
        found.groups[0].tree.paths.counts(0).own.units()
    };
    assert_eq!(own(&times), times.iter().sum::<i128>());
    assert_eq!(own(&times[1..4]), times[1..4].iter().sum::<i128>());
}

fn a_recording_that_has_counted_nothing_is_nothing(keeper: Keeper) {
    let (_folder, mut store) = store(keeper);
    let mut empty = frame(7, &family(vec![arena(Vec::new())]), &[("service", "s")], 10);
    empty.merged.groups.clear();
    store.put(&empty).unwrap();
    for by in [GroupBy::All, GroupBy::Label("service".to_owned())] {
        assert!(matches!(store.select(&Query::default(), &by), Err(Error::Nothing { .. })));
    }
}

fn verdict(number: u8, saved: i64) -> Verdict {
    let compared = Compared {
        left: "before".to_owned(),
        right: "after".to_owned(),
        left_select: "commit=a1".to_owned(),
        right_select: format!("commit=b{number},service='s\\"),
        since: None,
        until: Some("@12.5".to_owned()),
        replicate: "run".to_owned(),
    };
    let document = format!("{{\"number\": {number}, \"text\": \"µ\"}}").into_bytes();
    let facts = VerdictFacts {
        id: String::new(),
        kind: [VerdictKind::Bench, VerdictKind::Diff, VerdictKind::Similar][usize::from(number) % 3],
        saved,
        compared,
        command: "diytrace diff 'a b'".to_owned(),
        sentence: "No function changed.".to_owned(),
        status: number % 2,
        bytes: document.len() as u64,
    };
    Verdict { facts, document }
}

fn verdicts_count_once_and_go_by_the_time_of_their_coming(keeper: Keeper) {
    let (place, mut store) = store(keeper);
    let all: Vec<Verdict> = (0..5).map(|number| verdict(number, 10 + i64::from(number))).collect();
    for one in &all {
        assert_eq!(store.put_verdict(one).unwrap(), Put::Added);
    }
    // When it is put in again, and how the command was written then, makes no other verdict of it.
    let mut again = all[1].clone();
    (again.facts.saved, again.facts.command) = (99, "diytrace diff".to_owned());
    assert_eq!(store.put_verdict(&again).unwrap(), Put::Known);
    let mut other = all[1].clone();
    other.facts.compared.left_select = "commit=a2".to_owned();
    assert_ne!(other.id(), all[1].id());

    let mut reader = open(&place.address, false).unwrap();
    let expected: Vec<VerdictFacts> =
        all.iter().rev().map(|one| VerdictFacts { id: one.id(), ..one.facts.clone() }).collect();
    assert_eq!(reader.verdicts(Range::default()).unwrap(), expected);
    assert_eq!(reader.verdicts(Range { since: 11, until: 13 }).unwrap(), expected[1..3]);
    for (one, facts) in all.iter().rev().zip(&expected) {
        let found = reader.one_verdict(&facts.id).unwrap().unwrap();
        assert_eq!((&found.facts, &found.document), (facts, &one.document));
    }
    for id in ["0", "x", ""] {
        assert_eq!(reader.one_verdict(id).unwrap(), None);
    }
    assert_eq!(reader.delete_verdicts(Range { since: i64::MIN, until: 12 }).unwrap(), 3);
    assert_eq!(reader.verdicts(Range::default()).unwrap(), expected[..2]);
    assert_eq!(store.put_verdict(&all[0]).unwrap(), Put::Added, "it may come again");
}

/// Each law, asked of both.
macro_rules! laws {
    ($($law:ident)*) => {
        mod kept_by_sqlite {
            $(#[test] fn $law() { super::$law(super::Keeper::Sqlite); })*
        }
        mod kept_by_clickhouse {
            $(#[super::needs(clickhouse)] #[test] fn $law() { super::$law(super::Keeper::ClickHouse); })*
        }
        mod kept_by_two_shards {
            $(#[super::needs(clickhouse)] #[test] fn $law() { super::$law(super::Keeper::Cluster); })*
        }
    };
}

laws! {
    what_is_selected_is_what_merging_the_recordings_gives
    parts_are_what_each_of_them_is_by_itself
    series_are_those_whose_labels_match_whatever_is_in_them
    slices_of_a_recording_add_up_to_it_whatever_is_sent_again
    coarser_slices_have_the_same_sums
    old_slices_become_minutes_and_the_latest_stay
    a_slice_of_a_time_that_the_whole_has_is_refused
    paths_are_numbered_once_whoever_puts_them_in
    many_frames_together_are_as_one_after_the_other
    after_a_frame_that_is_refused_those_before_it_are_in
    a_frame_that_is_refused_keeps_no_other_out
    numbers_of_any_size_add_up
    a_recording_that_has_counted_nothing_is_nothing
    verdicts_count_once_and_go_by_the_time_of_their_coming
}
