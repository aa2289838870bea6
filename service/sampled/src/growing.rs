//! Values that only grow as long as their program runs, as those of Go's runtime that count since its start: what came to pass
//! between two readings is the difference of both, and of one alone it is not known.

use std::collections::{BTreeMap, BTreeSet};

use diytrace_pprof::Profile;
use diytrace_pprof::proto::Profile as Messages;
use diytrace_store::SampledFacts;

use crate::Error;

/// Whether values of a type only grow, where nobody says.
pub fn only_grows(name: &str) -> bool {
    matches!(name, "alloc_objects" | "alloc_space" | "contentions" | "delay")
}

/// Whether values of a type tell how much there is at a moment, not how much came to pass.
pub fn is_level(name: &str) -> bool {
    name.starts_with("inuse_") || matches!(name, "goroutine" | "goroutines" | "threadcreate" | "threads" | "resident")
}

/// Whether a profile's values of a type make no sum with those of other moments: how much there is, or how much there has been since
/// the program was started. What came between two readings has a duration.
pub fn is_of_a_moment(facts: &SampledFacts, name: &str) -> bool {
    is_level(name) || only_grows(name) && facts.ended <= facts.started
}

/// Of profiles by time, those that make a sum, and what of a series that is left out tells: of a moment, the latest of each series
/// unless others tell what came between.
pub fn summed(profiles: Vec<SampledFacts>, name: &str) -> (Vec<SampledFacts>, Option<String>) {
    let all = profiles.len();
    let (of_moments, mut kept): (Vec<SampledFacts>, Vec<SampledFacts>) =
        profiles.into_iter().partition(|facts| is_of_a_moment(facts, name));
    let between: BTreeSet<String> = kept.iter().map(|facts| facts.labels.to_json()).collect();
    let mut latest: BTreeMap<String, SampledFacts> = BTreeMap::new();
    for facts in of_moments {
        let series = facts.labels.to_json();
        if !between.contains(&series) {
            latest.insert(series, facts);
        }
    }
    kept.extend(latest.into_values());
    kept.sort_by(|a, b| (a.ended, &a.id).cmp(&(b.ended, &b.id)));
    let left_out = all - kept.len();
    let warning = match is_level(name) {
        _ if left_out == 0 => return (kept, None),
        true => format!(
            "{name} tells how much there is at a moment: of each series the latest profile is shown, and {left_out} earlier \
             ones are left out"
        ),
        false => format!(
            "{name} of profiles without a duration counts since the start of the program: of each series the latest is shown, or \
             those that tell what came between two readings, and {left_out} others are left out"
        ),
    };
    (kept, Some(warning))
}

/// What has come since an earlier reading of the same program, of the types that only grow; all of it if the program was started again
/// in between.
pub fn since(latest: &Messages, before: &Messages, grows: impl Fn(&str) -> bool) -> Result<Profile, Error> {
    let mut all = Profile::default();
    all.add(latest)?;
    let mut new = all.clone();
    new.subtract(before, |of| grows(&of.name))?;
    Ok(if new.is_positive() { new } else { all })
}

#[cfg(test)]
mod tests {
    use diytrace_store::Labels;

    use super::*;

    fn profile(host: &str, [started, ended]: [i64; 2]) -> SampledFacts {
        let mut labels = Labels::default();
        labels.set("host", host.to_owned());
        let id = format!("{host}{ended}");
        SampledFacts { id, labels, started, ended, types: Vec::new(), samples: 1, bytes: 1 }
    }

    #[test]
    fn what_counts_since_the_start_makes_no_sum() {
        let kept = |profiles: &[SampledFacts], name| {
            let (kept, warning) = summed(profiles.to_vec(), name);
            (kept.into_iter().map(|facts| facts.id).collect::<Vec<_>>().join(" "), warning.is_some())
        };
        let since_the_start = [profile("a", [1, 1]), profile("b", [2, 2]), profile("a", [3, 3])];
        assert_eq!(kept(&since_the_start, "alloc_space"), ("b2 a3".to_owned(), true));
        assert_eq!(kept(&since_the_start, "inuse_space"), ("b2 a3".to_owned(), true));
        assert_eq!(kept(&since_the_start, "cpu"), ("a1 b2 a3".to_owned(), false));
        let between = [profile("a", [1, 1]), profile("a", [1, 2]), profile("a", [2, 3]), profile("b", [3, 3])];
        assert_eq!(kept(&between, "alloc_space"), ("a2 a3 b3".to_owned(), true));
        assert_eq!(kept(&between[1..], "alloc_space"), ("a2 a3 b3".to_owned(), false));
    }
}
