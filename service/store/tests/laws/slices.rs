//! Slices of a recording.

use super::*;

/// Readings of one recording as it goes on: its calls so far, of which one is open.
pub fn any_readings() -> impl Strategy<Value = Vec<Family>> {
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

pub fn slices(readings: &[Family]) -> Vec<Frame> {
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
pub fn ordered(frame: Frame) -> Frame {
    let mut merging = Merging::new(By::All, None);
    merging.add_merged(&frame.merged, None);
    Frame { merged: merging.finish(), ..frame }
}

pub fn slices_of_a_recording_add_up_to_it_whatever_is_sent_again(keeper: Keeper) {
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

pub fn coarser_slices_have_the_same_sums(keeper: Keeper) {
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

pub fn old_slices_become_minutes_and_the_latest_stay(keeper: Keeper) {
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

pub fn a_slice_of_a_time_that_the_whole_has_is_refused(keeper: Keeper) {
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
