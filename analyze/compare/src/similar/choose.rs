//! Which runs and which metrics are compared.

use diytrace_format::pattern::{glob, matches_demangled};
use diytrace_profile::moment::moment;
use jiff::{Timestamp, Zoned};

use super::metric::{Kind, Metric};
use super::read::Side;
use super::{Error, Options};

/// Metrics by their names, as people write them: `eval_*:p99`, `*:count`, `wall_ns`, `queries.*.time`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patterns(pub Vec<String>);

impl Patterns {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of them means a metric.
    pub fn mean(&self, metric: &Metric, kind: Kind) -> bool {
        self.0.iter().any(|pattern| means(pattern, metric, kind))
    }
}

/// Whether a pattern means a metric: its whole name, or without the group; a function also without its parameters. One
/// that says nothing of the field means the usual ones.
pub fn means(pattern: &str, metric: &Metric, kind: Kind) -> bool {
    if glob(pattern, &metric.to_string()) || glob(pattern, &metric.short()) {
        return true;
    }
    let own = |pattern: &str| {
        glob(pattern, &metric.name) || kind == Kind::Function && matches_demangled(pattern, &metric.name)
    };
    let of_group = |(group, name): (&str, &str)| !metric.group.is_empty() && glob(group, &metric.group) && own(name);
    let is_name = |pattern: &str| own(pattern) || pattern.split_once('/').is_some_and(of_group);
    match pattern.rsplit_once(':').filter(|(name, _)| !name.ends_with(':')) {
        Some((name, field)) => glob(field, &metric.field) && is_name(name),
        None => kind.is_usual(metric) && is_name(pattern),
    }
}

/// From when on runs are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Since {
    /// As it was written.
    pub text: String,
    /// The moment, in nanoseconds since 1970.
    pub unix_ns: i128,
}

impl Since {
    /// An age (`24h`, `7 days`), or a moment (`2026-11-20`, `2026-11-20 10:00`, with an offset or in the zone of `now`).
    pub fn parse(text: &str, now: &Zoned) -> Result<Self, String> {
        let at = |moment: Timestamp| Self { text: text.to_owned(), unix_ns: moment.as_nanosecond() };
        moment(text, now).map(at).ok_or_else(|| {
            "it must be an age, such as 24h or 7d, or a moment, such as 2026-11-20 or 2026-11-20T10:00:00Z".to_owned()
        })
    }
}

/// The runs of a side that were asked for.
pub fn runs(mut side: Side, name: &'static str, options: &Options) -> Result<Side, Error> {
    if let Some(since) = &options.since {
        if let Some(run) = side.runs.iter().find(|run| run.at_unix_ns.is_none()) {
            return Err(Error::Timeless { run: run.title.clone(), side: name });
        }
        let latest = side.runs.iter().filter_map(|run| run.at_unix_ns).max();
        side.runs.retain(|run| run.at_unix_ns >= Some(since.unix_ns));
        if side.runs.is_empty() {
            let latest = latest.and_then(|at| Timestamp::from_nanosecond(at).ok());
            let latest = latest.map(|at| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
            return Err(Error::NoRuns { side: name, since: since.text.clone(), latest });
        }
    }
    if let Some(last) = options.last {
        let queries: Vec<_> = side.runs.iter().map(|run| run.query.clone()).collect();
        let mut index = 0;
        side.runs.retain(|run| {
            index += 1;
            queries[index..].iter().filter(|query| **query == run.query).count() < last
        });
    }
    Ok(side)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(group: &str, name: &str, field: &str) -> Metric {
        Metric { group: group.into(), name: name.into(), field: field.into() }
    }

    #[test]
    fn patterns_mean_names_and_fields() {
        let draw = metric("Q1", "ns::Widget::draw(int) const", "p99");
        for (pattern, expected) in [
            ("*", true),
            ("*:p99", true),
            ("*:p9?", true),
            ("*:count", false),
            ("ns::Widget::draw:p99", true),
            ("ns::Widget::draw", true),
            ("ns::Widget::draw(int) const:p99", true),
            ("Q1/*:p99", true),
            ("Q1/ns::Widget::draw", true),
            ("Q?/*", true),
            ("Q2/*", false),
            ("ns::Widget::*:p50", false),
            ("draw", false),
        ] {
            assert_eq!(means(pattern, &draw, Kind::Function), expected, "{pattern}");
        }
        let rare = metric("", "parse", "p99.9");
        assert!(means("parse:p99.9", &rare, Kind::Function) && !means("parse", &rare, Kind::Function));
        assert!(means("*.time", &metric("", "queries.3.time", ""), Kind::Number));
        assert!(means("GET *:Perc99", &metric("", "GET pods/status", "Perc99"), Kind::Request));
    }

    #[test]
    fn moments_and_ages() {
        let now: Zoned = "2026-11-20T12:00:00+01:00[+01:00]".parse().unwrap();
        for (text, expected) in [
            ("2026-11-20T10:00:00Z", "2026-11-20T10:00:00Z"),
            ("2026-11-20T10:00:00+02:00", "2026-11-20T08:00:00Z"),
            ("2026-11-20", "2026-11-19T23:00:00Z"),
            ("2026-11-20 10:00", "2026-11-20T09:00:00Z"),
            ("24h", "2026-11-19T11:00:00Z"),
            ("7 days", "2026-11-13T11:00:00Z"),
            ("90m", "2026-11-20T09:30:00Z"),
        ] {
            let expected: Timestamp = expected.parse().unwrap();
            assert_eq!(Since::parse(text, &now).unwrap().unix_ns, expected.as_nanosecond(), "{text}");
        }
        for text in ["", "yesterday", "24", "-3h", "2026-13-01"] {
            assert!(Since::parse(text, &now).is_err(), "{text}");
        }
    }
}
