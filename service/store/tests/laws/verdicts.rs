//! Verdicts.

use super::*;

pub fn verdict(number: u8, saved: i64) -> Verdict {
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

pub fn verdicts_count_once_and_go_by_the_time_of_their_coming(keeper: Keeper) {
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
