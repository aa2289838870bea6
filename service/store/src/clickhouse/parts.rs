//! Parts of a selection, such as slices of its time: their frames are listed once, for all of them.

use rustc_hash::FxHashMap;

use super::labels::Patterns;
use super::series::{Row, Series};
use crate::query::select;
use crate::{Query, Range};

/// Of how many recordings frames are asked for by name: more are found by their series.
const MOST_SESSIONS: usize = 1000;

/// A part: which sum it goes to, and which group of that.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    pub sum: usize,
    pub label: Option<&'a str>,
    pub query: &'a Query,
}

/// Frames of a series, and where they go.
pub struct Chosen<'a> {
    pub sum: usize,
    pub label: Option<String>,
    pub series: &'a Series,
    pub rows: Vec<Row>,
}

/// All that parts are of.
pub struct Together<'a> {
    /// Each pattern once.
    pub labels: Vec<&'a Patterns>,
    pub range: Range,
    /// Recordings, if all parts are of some.
    pub sessions: Option<Vec<&'a str>>,
    /// Of each part which of `labels` it has.
    of: Vec<usize>,
}

/// All that parts are of; nothing if there are none.
pub fn together<'a>(parts: &[Part<'a>]) -> Option<Together<'a>> {
    let ranges = || parts.iter().map(|part| part.query.range);
    let range =
        Range { since: ranges().map(|range| range.since).min()?, until: ranges().map(|range| range.until).max()? };
    let (mut labels, mut numbers): (Vec<&Patterns>, FxHashMap<&Patterns, usize>) = Default::default();
    let number = |part: &Part<'a>| {
        *numbers.entry(&part.query.labels).or_insert_with(|| {
            labels.push(&part.query.labels);
            labels.len() - 1
        })
    };
    let of = parts.iter().map(number).collect();
    let sessions: Option<Vec<&str>> = parts.iter().map(|part| part.query.session.as_deref()).collect();
    let sessions = sessions.filter(|sessions| sessions.len() <= MOST_SESSIONS);
    Some(Together { labels, range, sessions, of })
}

/// Frames by the parts that they are in; nothing if one is in several.
pub fn apart<'a>(parts: &[Part], together: &Together, found: Vec<(&'a Series, Vec<Row>)>) -> Option<Vec<Chosen<'a>>> {
    let mut of_session: FxHashMap<Option<&str>, Vec<usize>> = FxHashMap::default();
    for (number, part) in parts.iter().enumerate() {
        of_session.entry(part.query.session.as_deref()).or_default().push(number);
    }
    let mut of_parts: Vec<Vec<Chosen>> = parts.iter().map(|_| Vec::new()).collect();
    for (series, rows) in found {
        let are_of: Vec<bool> = together.labels.iter().map(|patterns| select(patterns, &series.labels)).collect();
        for row in rows {
            let candidates = [None, Some(&*row.session)].into_iter().filter_map(|session| of_session.get(&session));
            let has = |number: &&usize| {
                let Range { since, until } = parts[**number].query.range;
                row.ended > since && row.ended <= until && are_of[together.of[**number]]
            };
            let numbers: Vec<usize> = candidates.flatten().filter(has).copied().collect();
            let number = match numbers[..] {
                [] => continue,
                [number] => number,
                _ => return None,
            };
            match of_parts[number].last_mut() {
                Some(chosen) if chosen.series.id == series.id => chosen.rows.push(row),
                _ => {
                    let Part { sum, label, .. } = parts[number];
                    of_parts[number].push(Chosen { sum, label: label.map(str::to_owned), series, rows: vec![row] });
                }
            }
        }
    }
    Some(of_parts.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(host: &str, range: (i64, i64), session: Option<&str>) -> Query {
        let labels = vec![("host".to_owned(), host.to_owned())];
        Query { labels, range: Range { since: range.0, until: range.1 }, session: session.map(str::to_owned) }
    }

    fn parts(queries: &[Query]) -> Vec<Part<'_>> {
        queries.iter().enumerate().map(|(sum, query)| Part { sum, label: None, query }).collect()
    }

    #[test]
    fn what_is_asked_of_parts_is_asked_once() {
        let mut queries =
            [query("a", (0, 10), Some("1")), query("b", (10, 30), Some("2")), query("a", (5, 6), Some("3"))];
        let all = parts(&queries);
        let all = together(&all).unwrap();
        assert_eq!((all.range, all.sessions), (Range { since: 0, until: 30 }, Some(vec!["1", "2", "3"])));
        assert_eq!((all.labels, all.of), (vec![&queries[0].labels[..], &queries[1].labels], vec![0, 1, 0]));
        queries[1].session = None;
        assert_eq!(together(&parts(&queries)).unwrap().sessions, None);
        assert!(together(&[]).is_none());
    }
}
