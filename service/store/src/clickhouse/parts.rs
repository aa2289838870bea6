//! Parts of a selection, such as slices of its time: their frames are listed once, for all of them.

use rustc_hash::FxHashMap;

use super::series::{Row, Series};
use crate::{Query, Range};

/// Frames of a series, and which group they are in.
pub struct Chosen<'a> {
    pub label: Option<String>,
    pub series: &'a Series,
    pub rows: Vec<Row>,
}

/// All that parts are of: nothing if they are not of the same series.
pub fn together(parts: &[(String, Query)]) -> Option<Query> {
    let (_, first) = parts.first()?;
    let ranges = || parts.iter().map(|(_, query)| query.range);
    let range =
        Range { since: ranges().map(|range| range.since).min()?, until: ranges().map(|range| range.until).max()? };
    let are_alike = parts.iter().all(|(_, query)| query.labels == first.labels);
    are_alike.then(|| Query { labels: first.labels.clone(), range, session: None })
}

/// Frames by the parts that they are in; nothing if one is in several.
pub fn apart<'a>(parts: &[(String, Query)], found: Vec<(&'a Series, Vec<Row>)>) -> Option<Vec<Chosen<'a>>> {
    let mut of_session: FxHashMap<Option<&str>, Vec<usize>> = FxHashMap::default();
    for (number, (_, query)) in parts.iter().enumerate() {
        of_session.entry(query.session.as_deref()).or_default().push(number);
    }
    let mut of_parts: Vec<Vec<Chosen>> = parts.iter().map(|_| Vec::new()).collect();
    for (series, rows) in found {
        for row in rows {
            let candidates = [None, Some(&*row.session)].into_iter().filter_map(|session| of_session.get(&session));
            let has = |number: &&usize| {
                let Range { since, until } = parts[**number].1.range;
                row.ended > since && row.ended <= until
            };
            let numbers: Vec<usize> = candidates.flatten().filter(has).copied().collect();
            let number = match numbers[..] {
                [] => continue,
                [number] => number,
                _ => return None,
            };
            match of_parts[number].last_mut() {
                Some(chosen) if chosen.series.id == series.id => chosen.rows.push(row),
                _ => of_parts[number].push(Chosen { label: Some(parts[number].0.clone()), series, rows: vec![row] }),
            }
        }
    }
    Some(of_parts.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, since: i64, until: i64, session: Option<&str>) -> (String, Query) {
        let query = Query { range: Range { since, until }, session: session.map(str::to_owned), ..Query::default() };
        (name.to_owned(), query)
    }

    #[test]
    fn what_is_asked_of_parts_is_asked_once_if_they_are_of_the_same_series() {
        let mut parts = vec![part("a", 0, 10, None), part("b", 10, 30, None)];
        assert_eq!(together(&parts).unwrap().range, Range { since: 0, until: 30 });
        parts[1].1.labels.push(("service".to_owned(), "pg".to_owned()));
        assert_eq!(together(&parts), None);
        assert_eq!(together(&[]), None);
    }
}
