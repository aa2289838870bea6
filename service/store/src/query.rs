//! What is asked of a store.

use std::collections::BTreeSet;

use diytrace_format::pattern::glob;
use diytrace_profile::nearest::nearest_names;

use crate::label::Labels;
use crate::{Error, Range};

/// Most values of a label that an error names.
const MOST_SHOWN: usize = 5;

/// Which series, in what time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Labels, and patterns that their values match. None: all series.
    pub labels: Vec<(String, String)>,
    /// The time.
    pub range: Range,
    /// Only this recording.
    pub session: Option<String>,
}

impl Query {
    /// From `k=v,k2=a*|b,k3=!c`.
    pub fn parse(select: &str, range: Range) -> Result<Self, Error> {
        let labels = select.split(',').map(str::trim).filter(|one| !one.is_empty()).map(Labels::parse);
        Ok(Self { labels: labels.collect::<Result<_, _>>()?, range, session: None })
    }

    /// Whether a series is asked for.
    pub fn selects(&self, labels: &Labels) -> bool {
        select(&self.labels, labels)
    }
}

/// Whether patterns select a series: the value of each label is meant.
pub(crate) fn select(patterns: &[(String, String)], labels: &Labels) -> bool {
    patterns.iter().all(|(name, pattern)| means(pattern, labels.get(name)))
}

/// Whether a pattern means the value of a label, or that there is none: with `*` and `?`, `a|b` for either, `!a|b` for neither.
fn means(pattern: &str, value: Option<&str>) -> bool {
    let is_any = |patterns: &str, value| patterns.split('|').any(|one| glob(one, value));
    match (pattern.strip_prefix('!'), value) {
        (_, Some(value)) if value == pattern => true,
        (Some(others), value) => value.is_none_or(|value| !is_any(others, value)),
        (None, value) => value.is_some_and(|value| is_any(pattern, value)),
    }
}

impl Query {
    /// Whether there is anything like what is asked for: each label by itself, and the one that sets apart.
    pub fn check(&self, series: &[&Labels], by: Option<&str>, store: &str) -> Result<(), Error> {
        if series.is_empty() {
            return Err(Error::Empty { store: store.to_owned() });
        }
        let names: BTreeSet<&str> = series.iter().flat_map(|labels| labels.iter()).map(|(name, _)| name).collect();
        for name in self.labels.iter().map(|(name, _)| name.as_str()).chain(by) {
            if !names.contains(name) {
                let known = names.iter().copied().collect::<Vec<_>>().join(", ");
                return Err(Error::UnknownLabel { name: name.to_owned(), known });
            }
        }
        for (name, pattern) in &self.labels {
            let values: BTreeSet<&str> = series.iter().filter_map(|labels| labels.get(name)).collect();
            if !values.iter().any(|value| means(pattern, Some(value))) {
                return Err(Error::UnknownValue {
                    name: name.clone(),
                    pattern: pattern.clone(),
                    known: shown(pattern, &values),
                });
            }
        }
        Ok(())
    }

    /// Why there is nothing, though each label has what was asked for.
    pub fn why_nothing(&self) -> String {
        match self.range == Range::default() {
            true => "no series has all of these labels".to_owned(),
            false => "no series with these labels has counted anything in that time".to_owned(),
        }
    }
}

/// Values that there are: the nearest, if there are many.
fn shown(pattern: &str, values: &BTreeSet<&str>) -> String {
    let near = nearest_names(pattern, values.iter().copied());
    let mut shown: Vec<&str> = near;
    shown.extend(values.iter().copied());
    let mut known = BTreeSet::new();
    shown.retain(|value| known.insert(*value));
    let left = shown.len().saturating_sub(MOST_SHOWN);
    shown.truncate(MOST_SHOWN);
    match left {
        0 => shown.join(" or "),
        left => format!("{} or one of {left} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_selected_by_patterns_of_all_labels() {
        let mut labels = Labels::default();
        labels.set("service", "pg".to_owned());
        labels.set("build", "ab12".to_owned());
        let selects = |text: &str| Query::parse(text, Range::default()).unwrap().selects(&labels);
        assert!(selects("") && selects("service=pg") && selects("service=p*, build=a?12"));
        assert!(!selects("service=p") && !selects("service=pg,host=a") && !selects("service=pg,build=b*"));
        assert!(Query::parse("service", Range::default()).is_err());
        assert!(
            selects("service=a|p*") && selects("service=!a|b") && selects("host=!a") && selects("build=!b*,service=pg")
        );
        assert!(
            !selects("service=a|b") && !selects("service=!p?") && !selects("service=!a|pg") && !selects("host=a|b")
        );
        labels.set("service", "!a|b".to_owned());
        assert!(Query::parse("service=!a|b", Range::default()).unwrap().selects(&labels), "its very name");
    }
}
