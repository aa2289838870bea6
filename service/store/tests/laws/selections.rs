//! What is selected.

use super::*;

pub fn what_is_selected_is_what_merging_the_recordings_gives(keeper: Keeper) {
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
pub fn any_part() -> impl Strategy<Value = Query> {
    let hosts = prop::sample::select(vec!["*", "a", "b", "?", "ab*"]);
    (hosts, 0i64..10, 1i64..10, prop::option::weighted(0.3, 0usize..8)).prop_map(|(host, since, long, session)| Query {
        labels: vec![("host".to_owned(), host.to_owned())],
        range: Range { since, until: since + long },
        session: session.map(|session| session.to_string()),
    })
}

pub fn parts_are_what_each_of_them_is_by_itself(keeper: Keeper) {
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

pub fn series_are_those_whose_labels_match_whatever_is_in_them(keeper: Keeper) {
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
