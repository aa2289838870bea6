//! What a run must keep to, or its exit status says that it did not.

use std::fmt;
use std::str::FromStr;

use diytrace_profile::human;

use crate::Error;
use crate::load::Load;

/// A limit that fails a run: `p99>50ms`.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    metric: Metric,
    is_above: bool,
    value: Value,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Metric {
    Percentile(&'static str),
    Mean,
    Max,
    Errors,
    NotSent,
    Rate,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Ns(f64),
    Share(f64),
    Number(f64),
}

const PERCENTILES: [&str; 6] = ["p50", "p75", "p90", "p95", "p99", "p999"];

impl FromStr for Limit {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text).ok_or_else(|| Error::Limit { text: text.to_owned() })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn parse(text: &str) -> Option<Limit> {
    let at = text.find(['>', '<'])?;
    let (name, value) = (text[..at].trim(), text[at + 1..].trim());
    let is_above = text[at..].starts_with('>');
    let metric = match name {
        "mean" => Metric::Mean,
        "max" => Metric::Max,
        "errors" => Metric::Errors,
        "not_sent" => Metric::NotSent,
        "rate" => Metric::Rate,
        "p99.9" => Metric::Percentile("p999"),
        _ => Metric::Percentile(PERCENTILES.into_iter().find(|known| *known == name)?),
    };
    let value = match metric {
        Metric::Percentile(_) | Metric::Mean | Metric::Max => Value::Ns(time_ns(value)?),
        Metric::Errors | Metric::NotSent => match value.strip_suffix('%') {
            Some(percent) => Value::Share(number(percent)? / 100.0),
            None => Value::Number(number(value)?),
        },
        Metric::Rate => Value::Number(number(value.trim_end_matches("/s"))?),
    };
    Some(Limit { metric, is_above, value, text: text.to_owned() })
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

/// A time with its unit, in nanoseconds.
fn time_ns(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 5] = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    let (digits, factor) = UNITS.into_iter().find_map(|(unit, ns)| Some((text.strip_suffix(unit)?, ns)))?;
    Some(number(digits)? * factor)
}

impl Limit {
    /// What a step has of it, as a sentence, if that is beyond it.
    pub fn broken(&self, step: &Load) -> Option<String> {
        let latency = &step.latency_ns;
        let share = |count: u64| count as f64 / (step.planned.max(1)) as f64;
        let (found, shown) = match (self.metric, self.value) {
            (Metric::Errors, Value::Share(_)) => (share(step.errors), human::percent(share(step.errors))),
            (Metric::NotSent, Value::Share(_)) => (share(step.not_sent), human::percent(share(step.not_sent))),
            (Metric::Errors, _) => (step.errors as f64, human::count(step.errors)),
            (Metric::NotSent, _) => (step.not_sent as f64, human::count(step.not_sent)),
            (Metric::Rate, _) => (step.achieved_per_s, format!("{:.1}/s", step.achieved_per_s)),
            (Metric::Mean, _) => timed(latency.mean),
            (Metric::Max, _) => timed(latency.max),
            (Metric::Percentile(name), _) => timed(latency.percentile(name)),
        };
        let (Value::Ns(limit) | Value::Share(limit) | Value::Number(limit)) = self.value;
        let is_broken = if self.is_above { found > limit } else { found < limit };
        let name = self.text.split(['>', '<']).next().unwrap_or_default().trim();
        is_broken.then(|| format!("{}: {name} is {shown} (--fail-if '{self}')", step.title()))
    }
}

/// Where no request was answered, no time is short enough.
fn timed(ns: Option<f64>) -> (f64, String) {
    ns.map_or((f64::INFINITY, "not known, as nothing was answered".to_owned()), |ns| (ns, human::time(ns)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_people_write_them() {
        for text in [
            "p99>50ms",
            "p99.9 > 1.5s",
            "mean>20us",
            "max<1ns",
            "errors>0",
            "errors>0.1%",
            "not_sent>1%",
            "rate<1000/s",
        ] {
            assert_eq!(text.parse::<Limit>().unwrap().to_string(), text);
        }
        for text in ["", "p99", "p99>50", "p98>1ms", "errors>1ms", "rate<-1", "p50>nanms", ">1"] {
            assert!(text.parse::<Limit>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_step_beyond_a_limit_is_told() {
        let mut step =
            Load { offered_per_s: Some(400.0), planned: 1000, errors: 20, achieved_per_s: 391.0, ..Load::default() };
        step.latency_ns.p99 = Some(61.2e6);
        let broken = |text: &str| text.parse::<Limit>().unwrap().broken(&step);
        assert_eq!(broken("p99>50ms").unwrap(), "400/s: p99 is 61.2 ms (--fail-if 'p99>50ms')");
        assert_eq!(broken("errors>1%").unwrap(), "400/s: errors is 2.0% (--fail-if 'errors>1%')");
        assert!(broken("rate<392").is_some() && broken("mean>1s").unwrap().contains("not known"));
        for text in ["p99>62ms", "errors>20", "errors>2%", "not_sent>0", "rate<391"] {
            assert_eq!(broken(text), None, "{text}");
        }
    }
}
