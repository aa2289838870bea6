//! The options of `similar`.

use std::path::PathBuf;

use clap::ValueEnum;
use diytrace_compare::similar::{self, Cutoff, Document, Options, Patterns, Scheme as By, Since, Source};
use diytrace_profile::error::Error as Whole;
use diytrace_views::view;
use jiff::Zoned;

use super::Error;
use super::pager::Output;
use super::selection::patterns;
use super::shown::{Shown, warn};
use super::sides::Sides;
use super::stored::Compared;
use super::wanted::Kind;

const EXAMPLES: &str = "\
Examples:
  diytrace similar real/ simulated/          # two sets of profiles
  diytrace similar a/ b/ --metrics 'eval_*:p99,*:count' --cutoff '*:p99=10us'
  diytrace similar gce/ kubemark/ --last 20  # perf-dashboard JSON
  diytrace similar gce/ kubemark/ --scheme ks --significance 0.01 --since 24h
  diytrace similar a/ b/ --metrics 'benchmarks.*.real_time'  # any JSON
  diytrace similar --store runs.db host=db7 host=db8 --save
  diytrace similar --left mon.json tue.json --right fri.json sat.json --pass 95

A side is a folder of runs: profiles (a file or folder each, or what `diytrace bench` wrote), or JSON (a file or \
folder each). Metrics are FUNCTION:FIELD with count, mean, min, p50, p75, p90, p95, p99, p99.9, max, total or self; \
wall_ns and the like of `diytrace bench`; ITEM:FIELD of perf-dashboard, such as 'GET pods:Perc99'; or the path of a \
number. Without --metrics: what is usual for each kind. Values below a metric's cutoff are raised to it; without \
--cutoff that is 1us for functions' times, and as in Kubemark 50ms for API requests and 1s for the start of pods \
('*=0': none).

A metric that one side lacks counts as mismatched. Similarity is the smaller average over the larger, or 1 - D with \
ks; the total is the mean of all metrics'. A run in JSON began when the started.json in its folder says, or when it \
was written.

Exit status: 0 similar (PASS), 1 not (FAIL), 2 bad use or input.";

/// Tell whether two environments perform alike, from a series of runs in each
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The one environment's runs; with --store their labels: service=pg,host=ab*
    #[arg(value_name = "A", required_unless_present_any = ["left", "runs"])]
    a: Option<PathBuf>,

    /// The other's; with --store their labels
    #[arg(value_name = "B", required_unless_present_any = ["left", "runs"])]
    b: Option<PathBuf>,

    #[command(flatten)]
    sides: Sides,

    #[command(flatten)]
    stored: Compared,

    /// A's runs as a list of profiles, sets or JSON files, in place of A and B
    #[arg(long, value_name = "RUN", num_args = 1.., requires = "right", conflicts_with_all = ["a", "b", "runs", "store"])]
    left: Vec<PathBuf>,

    /// B's runs as a list
    #[arg(long, value_name = "RUN", num_args = 1.., requires = "left")]
    right: Vec<PathBuf>,

    /// Compare these metrics only: NAME:FIELD with * and ?, separated by commas (repeatable)
    #[arg(long, value_name = "PATTERNS")]
    metrics: Vec<String>,

    /// Raise smaller values of these metrics to this one: '*:p99=10us', '*=0' (repeatable, the last for a metric counts)
    #[arg(long = "cutoff", value_name = "PATTERN=VALUE", value_parser = cutoff)]
    cutoffs: Vec<Cutoff>,

    /// Compare only the last runs of each side, and of each query
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    last: Option<u32>,

    /// Compare only runs that began since, of a store those that ended since: 24h, 7d, 2026-11-20, 2026-11-20T10:00:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<Moment>,

    /// How the two series of a metric are compared
    #[arg(long, value_enum, value_name = "SCHEME", default_value_t)]
    scheme: Scheme,

    /// With avg: the ratios of averages, A's over B's, that match
    #[arg(long, value_name = "LOW..HIGH", default_value = "0.66..1.50", value_parser = ratio)]
    ratio: Ratio,

    /// With ks: the smallest p-value that matches
    #[arg(long, value_name = "P", default_value_t = 0.05, value_parser = significance)]
    significance: f64,

    /// Percentage of metrics that must match
    #[arg(long, value_name = "PERCENT", default_value_t = 90.0, value_parser = percent)]
    pass: f64,

    /// Most metrics to show in the table
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,

    #[command(flatten)]
    shown: Shown,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Scheme {
    /// The ratio of their averages
    #[default]
    Avg,
    /// Kolmogorov-Smirnov: whether they may come from one distribution
    Ks,
}

/// A moment as it was written, and what that is where no store is asked.
#[derive(Clone, Debug)]
struct Moment {
    text: String,
    since: Option<Since>,
}

#[derive(Clone, Copy, Debug)]
struct Ratio {
    low: f64,
    high: f64,
}

/// Most warnings that are printed; JSON has them all.
const MOST_WARNINGS: usize = 10;

impl Arguments {
    /// Runs the command and gives its exit status: 0 similar, 1 not.
    pub fn run(self, out: &mut Output) -> Result<u8, Error> {
        let (limit, shown, stored) = (self.limit, self.shown.clone(), self.stored.clone());
        let named = [self.a.clone(), self.b.clone()].map(Option::unwrap_or_default);
        let since = self.since.as_ref().map(|since| since.text.clone());
        let screen = shown.screen();
        let document = self.document()?;
        let warned = document.warnings.len().min(MOST_WARNINGS);
        let shown_document = (&document, &document.warnings[..warned]);
        shown.show::<Error>(
            out,
            shown_document,
            |out| similar::view::csv::write(&document, out),
            |out| similar::view::table::write(&document, limit, &screen, out),
        )?;
        if let more @ 1.. = document.warnings.len() - warned {
            warn(&[format!("… and {more} more; --format json has them all")]);
        }
        let status = if document.pass { 0 } else { 1 };
        stored.save((Kind::Similar, since.as_deref()), named.each_ref().map(PathBuf::as_path), || {
            let mut json = Vec::new();
            view::json::write(&document, &mut json)?;
            Ok((similar::view::table::answer(&document), status, json))
        })?;
        Ok(status)
    }

    /// The comparison.
    pub fn document(self) -> Result<Document, Error> {
        Ok(similar::document(&self.options()?)?)
    }
}

impl Arguments {
    fn options(self) -> Result<Options, Error> {
        let Self { a, b, sides, stored, left, right, metrics, cutoffs, last, since, .. } = self;
        let Self { scheme, ratio, significance, pass, .. } = self;
        let at = |paths, wanted| Source::At { paths, wanted };
        let (left, right) = match (left.is_empty(), stored.is_asked()) {
            (false, _) => (at(left, None), at(right, None)),
            (true, false) => {
                let [(a, of_a), (b, of_b)] = sides.of(a, b)?;
                (at(vec![a], of_a), at(vec![b], of_b))
            }
            (true, true) => {
                let since = since.as_ref().map(|since| since.text.as_str());
                let [a, b] = [a, b].map(Option::unwrap_or_default);
                let [left, right] = stored.runs([&a, &b], since)?;
                (Source::Of(left), Source::Of(right))
            }
        };
        let since = match since {
            Some(Moment { since: None, text }) if !stored.is_asked() => {
                return Err(
                    Whole::Usage(format!("--since {text}: only what is in a store (--store) is chosen so")).into()
                );
            }
            Some(Moment { since, .. }) if !stored.is_asked() => since,
            _ => None, // the store has left out what is older
        };
        Ok(Options {
            left,
            right,
            metrics: Patterns(patterns(&metrics)),
            cutoffs,
            last: last.map(|last| last as usize),
            since,
            scheme: match scheme {
                Scheme::Avg => By::Avg { low: ratio.low, high: ratio.high },
                Scheme::Ks => By::Ks { significance },
            },
            pass,
        })
    }
}

fn cutoff(text: &str) -> Result<Cutoff, &'static str> {
    const WRONG: &str = "it must be PATTERN=VALUE with a number or a time, such as '*:p99=10us' or '*:count=100'";
    let (metrics, value) = text.rsplit_once('=').ok_or(WRONG)?;
    let metrics = Patterns(patterns(&[metrics.to_owned()]));
    let digits = value.trim_end_matches(|letter: char| letter.is_alphabetic());
    let unit = match value[digits.len()..].trim() {
        "" => None,
        "ns" => Some("ns"),
        "us" | "µs" | "μs" => Some("us"),
        "ms" => Some("ms"),
        "s" => Some("s"),
        _ => return Err(WRONG),
    };
    match digits.trim().parse() {
        Ok(value) if f64::is_finite(value) && !metrics.is_empty() => Ok(Cutoff { metrics, value, unit }),
        _ => Err(WRONG),
    }
}

fn moment(text: &str) -> Result<Moment, String> {
    // A store takes moments that nobody else does.
    let since = if text == "now" || text.starts_with('@') { None } else { Some(Since::parse(text, &Zoned::now())?) };
    Ok(Moment { text: text.to_owned(), since })
}

fn ratio(text: &str) -> Result<Ratio, &'static str> {
    let bounds = text.split_once("..").and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    match bounds {
        Some((low, high)) if 0.0 < low && low <= 1.0 && 1.0 <= high && f64::is_finite(high) => Ok(Ratio { low, high }),
        _ => Err("it must be LOW..HIGH with 1 between them, such as 0.66..1.50"),
    }
}

fn significance(text: &str) -> Result<f64, &'static str> {
    let number = text.parse().ok().filter(|&number: &f64| 0.0 < number && number < 1.0);
    number.ok_or("it must be between 0 and 1, such as 0.05")
}

fn percent(text: &str) -> Result<f64, &'static str> {
    let number = text.trim_end_matches('%').parse().ok().filter(|&number: &f64| 0.0 < number && number <= 100.0);
    number.ok_or("it must be above 0 and at most 100, such as 90")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutoffs_have_a_pattern_and_a_number() {
        let parsed = |text| cutoff(text).map(|cutoff| (cutoff.metrics.0, cutoff.value, cutoff.unit));
        assert_eq!(parsed("*:p99=10us"), Ok((vec!["*:p99".to_owned()], 10.0, Some("us"))));
        assert_eq!(
            parsed("GET pods Scope=cluster:Perc99=50"),
            Ok((vec!["GET pods Scope=cluster:Perc99".into()], 50.0, None))
        );
        assert_eq!(parsed("*=0"), Ok((vec!["*".into()], 0.0, None)));
        for text in ["", "*", "=1", "*=", "*=fast", "*=1h", "*=nan", "*=inf"] {
            assert!(cutoff(text).is_err(), "{text}");
        }
    }

    #[test]
    fn bounds_have_1_between_them() {
        assert!(ratio("0.66..1.50").is_ok_and(|ratio| (ratio.low, ratio.high) == (0.66, 1.5)));
        for text in ["", "0.66", "1.1..1.5", "0..2", "0.5..inf", "nan..2"] {
            assert!(ratio(text).is_err(), "{text}");
        }
        assert!(significance("0.8").is_ok() && significance("0").is_err() && significance("1").is_err());
        assert!(percent("90%").is_ok() && percent("0").is_err() && percent("101").is_err());
    }
}
