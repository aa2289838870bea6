//! Frames, one by one and together.

use super::*;

pub fn paths_are_numbered_once_whoever_puts_them_in(keeper: Keeper) {
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

pub fn many_frames_together_are_as_one_after_the_other(keeper: Keeper) {
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
pub fn with_one_refused(store: &mut Stored) -> [Frame; 3] {
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

pub fn after_a_frame_that_is_refused_those_before_it_are_in(keeper: Keeper) {
    let (_folder, mut store) = store(keeper);
    let frames = with_one_refused(&mut store);
    assert!(matches!(store.put_all(&frames), Err(Error::Overlap { .. })));
    assert_eq!(store.select(&Query::default(), &GroupBy::All).unwrap().merged.groups[0].calls, 2 + 5);
    assert_eq!(store.put(&frames[0]).unwrap(), Put::Known);
    assert_eq!(store.put(&frames[2]).unwrap(), Put::Added);
}

/// In a ClickHouse, those before it were known when all came one by one, so who counts what is new left them out.
pub fn a_frame_that_is_refused_keeps_no_other_out(keeper: Keeper) {
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

pub fn numbers_of_any_size_add_up(keeper: Keeper) {
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

pub fn a_recording_that_has_counted_nothing_is_nothing(keeper: Keeper) {
    let (_folder, mut store) = store(keeper);
    let mut empty = frame(7, &family(vec![arena(Vec::new())]), &[("service", "s")], 10);
    empty.merged.groups.clear();
    store.put(&empty).unwrap();
    for by in [GroupBy::All, GroupBy::Label("service".to_owned())] {
        assert!(matches!(store.select(&Query::default(), &by), Err(Error::Nothing { .. })));
    }
}
