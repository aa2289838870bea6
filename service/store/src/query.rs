//! What is asked of a store.

use std::collections::BTreeSet;

use diytrace_format::pattern::glob;
use diytrace_profile::nearest::nearest_names;

use crate::label::Labels;
use crate::quoted::literal;
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
    /// From `k=v,k2=a*|b,k3=!c,k4="a very value, whatever is in it"`.
    pub fn parse(select: &str, range: Range) -> Result<Self, Error> {
        let labels = pieces(select).into_iter().map(str::trim).filter(|one| !one.is_empty()).map(label);
        Ok(Self { labels: labels.collect::<Result<_, _>>()?, range, session: None })
    }

    /// Whether a series is asked for.
    pub fn selects(&self, labels: &Labels) -> bool {
        select(&self.labels, labels)
    }
}

/// A label and what its value is to be. What is in quotes is as long as a value may be, and they come on top.
fn label(text: &str) -> Result<(String, String), Error> {
    let parts = text.split_once('=');
    let quoted =
        parts.and_then(|(name, value)| Some((name, value, literal(value.strip_prefix('!').unwrap_or(value))?)));
    match quoted {
        Some((name, pattern, value)) => {
            Labels::parse(&format!("{name}={value}")).map(|(name, _)| (name, pattern.to_owned()))
        }
        None => Labels::parse(text),
    }
}

/// The parts of a selection: what is in between commas that no quotes are around.
fn pieces(select: &str) -> Vec<&str> {
    let (mut pieces, mut start, mut in_quotes, mut before) = (Vec::new(), 0, false, ' ');
    for (at, letter) in select.char_indices() {
        match letter {
            '"' if in_quotes => in_quotes = before == '\\',
            '"' => in_quotes = matches!(before, '=' | '!'),
            ',' if !in_quotes => {
                pieces.push(&select[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        before = if before == '\\' && letter == '\\' { ' ' } else { letter };
    }
    pieces.push(&select[start..]);
    pieces
}

/// Whether patterns select a series: the value of each label is meant.
pub(crate) fn select(patterns: &[(String, String)], labels: &Labels) -> bool {
    patterns.iter().all(|(name, pattern)| means(pattern, labels.get(name)))
}

/// Whether a pattern means the value of a label, or that there is none: with `*` and `?`, `a|b` for either, `!a|b` for neither.
fn means(pattern: &str, value: Option<&str>) -> bool {
    let (is_not, meant) = pattern.strip_prefix('!').map_or((false, pattern), |meant| (true, meant));
    let is_meant = |value: &str| match literal(meant) {
        Some(literal) => value == literal,
        None => meant.split('|').any(|one| glob(one, value)),
    };
    value == Some(pattern) || value.is_some_and(is_meant) != is_not
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
    use crate::quoted::exactly;

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
        for value in [
            "a,b",
            " a ",
            "!a",
            "a|b",
            "*",
            "a\"b\\",
            "\"",
            "\\",
            "a=b",
            "plain",
            "\"x\"",
            &",".repeat(Labels::MOST_BYTES),
        ] {
            labels.set("service", value.to_owned());
            let selects = |of: &str| {
                let text = format!("build=ab12,service={},build=a*", exactly(of));
                Query::parse(&text, Range::default()).unwrap().selects(&labels)
            };
            let all_but = format!("service=!{}", exactly(value));
            let all_but = Query::parse(&all_but, Range::default()).unwrap().selects(&labels);
            assert!(selects(value) && !selects("zz") && !selects("a") && !all_but, "{value}: {}", exactly(value));
        }
        labels.set("service", "!a|b".to_owned());
        assert!(Query::parse("service=!a|b", Range::default()).unwrap().selects(&labels), "its very name");
    }
}
