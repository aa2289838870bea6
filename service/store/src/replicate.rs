//! A selection as the runs of one side of a comparison.

use std::collections::BTreeMap;

use crate::engine::Engine;
use crate::{Error, Query, Range};

/// What is one run: tests need several of them, each like the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replicate {
    /// A recording.
    #[default]
    Run,
    /// All that a host has.
    Host,
    /// What was counted between two moments.
    Slice,
}

/// The runs of a selection: when each began, in nanoseconds since 1970, and what is asked for it.
pub fn replicates(store: &dyn Engine, query: &Query, by: Replicate) -> Result<Vec<(i64, Query)>, Error> {
    let mut runs: BTreeMap<(i64, String), Query> = BTreeMap::new();
    let mut hosts: BTreeMap<String, i64> = BTreeMap::new();
    let mut slices: BTreeMap<i64, i64> = BTreeMap::new();
    for frame in store.frames(query)? {
        let first = hosts.entry(frame.labels.get("host").unwrap_or_default().to_owned()).or_insert(frame.started);
        *first = frame.started.min(*first);
        let begun = slices.entry(frame.ended).or_insert(frame.started);
        *begun = frame.started.min(*begun);
        let of_run = Query { session: Some(frame.session.clone()), ..query.clone() };
        if by == Replicate::Run && !runs.values().any(|known| known.session == of_run.session) {
            runs.insert((frame.started, frame.session), of_run);
        }
    }
    Ok(match by {
        Replicate::Run => runs.into_iter().map(|((started, _), query)| (started, query)).collect(),
        Replicate::Host => hosts.into_iter().map(|(host, started)| (started, on(query, host))).collect(),
        Replicate::Slice => {
            let slice = |(&ended, &started): (&i64, &i64)| {
                let range = Range { since: ended - 1, until: ended };
                (started, Query { range, ..query.clone() })
            };
            slices.iter().map(slice).collect()
        }
    })
}

fn on(query: &Query, host: String) -> Query {
    let mut labels: Vec<(String, String)> = query.labels.iter().filter(|(name, _)| name != "host").cloned().collect();
    labels.push(("host".to_owned(), host));
    Query { labels, ..query.clone() }
}
