//! Differences in words.

use crate::diff::{Edge, Function, Query, Test, Why};
use diytrace_profile::human::{bytes, count, time};

/// "+12.3%", or what it was from nothing.
pub fn percent(difference: Option<f64>) -> String {
    match difference {
        Some(part) => signed(part),
        None => "new".to_owned(),
    }
}

/// "+12.3%".
pub fn signed(part: f64) -> String {
    digits(part, 1)
}

/// The same of counts, which are exact, with as many digits as it takes.
pub fn exactly(difference: Option<f64>) -> String {
    let Some(part) = difference else { return percent(None) };
    match part.abs() * 100.0 {
        size if size >= 0.1 || size == 0.0 => digits(part, 1),
        size if size >= 0.001 => digits(part, 3),
        _ => digits(part, 5),
    }
}

fn digits(part: f64, digits: usize) -> String {
    let percent = part * 100.0;
    let digits = if percent.abs() >= 1000.0 { 0 } else { digits };
    format!("{}{:.digits$}%", if percent < 0.0 { '−' } else { '+' }, percent.abs())
}

/// "± 1.2%": how far off the difference may be.
pub fn plus_minus(test: &Test) -> String {
    test.plus_minus.map(|plus_minus| format!("± {:.1}%", plus_minus * 100.0)).unwrap_or_default()
}

/// A median count: whole, unless it lies between two.
pub fn counted(median: f64) -> String {
    if median.fract() == 0.0 { count(median as u64) } else { format!("{median:.1}") }
}

/// Two ratios, with as many digits as it takes to tell them apart.
pub fn ratios((before, after): (f64, f64)) -> [String; 2] {
    let texts = |digits| [before, after].map(|value| ratio(value, digits));
    (2..=9).map(texts).find(|[before, after]| before != after).unwrap_or_else(|| texts(2))
}

fn ratio(ratio: f64, digits: usize) -> String {
    match ratio {
        _ if ratio.fract() == 0.0 => count(ratio as u64),
        _ if ratio < 0.01 => format!("{ratio:.digits$e}"),
        _ if ratio < 1000.0 => format!("{ratio:.digits$}"),
        _ if digits > 2 => format!("{ratio:.0$}", digits - 2),
        _ => count(ratio.round() as u64),
    }
}

/// Why a function's time changed.
pub fn why(function: &Function) -> String {
    let cost = percent(function.cost_ns.difference);
    let calls = exactly(function.calls.difference);
    match function.split.why {
        Why::Cost => format!("each call {cost}"),
        Why::Calls => format!("calls {calls}"),
        Why::Both => {
            let whole = function.split.calls_ns.abs() + function.split.cost_ns.abs();
            let part = function.split.calls_ns.abs() / whole.max(f64::MIN_POSITIVE) * 100.0;
            format!("calls {calls} ({part:.0}%), each {cost} ({:.0}%)", 100.0 - part)
        }
    }
}

/// Who calls a function more or less often than before, for each call of their own.
pub fn callers(query: &Query, index: usize) -> Vec<String> {
    let changed = |edge: &&Edge| edge.ends.1 == index && edge.is_per_call_changed;
    let said = |edge: &Edge| {
        let [before, after] = ratios(edge.per_call);
        format!("{} makes {before} → {after} a call", edge.caller)
    };
    query.edges.iter().filter(changed).map(said).collect()
}

/// A value of a metric in the unit that its name ends with.
pub fn metric(name: &str, value: f64) -> String {
    match name {
        _ if name.ends_with("_ns") => time(value),
        _ if name.ends_with("_bytes") => bytes(value.max(0.0) as u64),
        // A median of whole numbers may lie between two: of large ones nobody wants to know that.
        _ if value >= 0.0 && (value.fract() == 0.0 || value >= 1e4) => count(value.round() as u64),
        _ => format!("{value:.4}"),
    }
}

/// A metric's name without its unit and underscores.
pub fn metric_name(name: &str) -> String {
    name.trim_end_matches("_ns").trim_end_matches("_bytes").replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_keep_their_sign_and_what_they_can_tell() {
        for (part, expected) in [
            (0.123, "+12.3%"),
            (-0.5, "−50.0%"),
            (0.0, "+0.0%"),
            (0.00001, "+0.001%"),
            (41.0, "+4100%"),
            (0.01, "+1.0%"),
        ] {
            assert_eq!(exactly(Some(part)), expected);
        }
        assert_eq!((signed(0.00001), percent(None)), ("+0.0%".into(), "new".into()));
        assert_eq!(ratios((2.0, 1.5)), ["2", "1.50"]);
        assert_eq!(ratios((0.001, 25_251.5)), ["1.00e-3", "25,252"]);
        assert_eq!(ratios((0.9981, 0.9984)), ["0.9981", "0.9984"]);
        assert_eq!(ratios((25_251.5, 25_251.75)), ["25251.5", "25251.8"]);
        let counts = [198_865_597.5, 12.0, 12.5, 0.25].map(|value| metric("instructions", value));
        assert_eq!(counts, ["198,865,598", "12", "12.5000", "0.2500"]);
        assert_eq!(
            (metric("wall_ns", 1.5e6), metric_name("peak_memory_bytes")),
            ("1.50 ms".into(), "peak memory".into())
        );
    }
}
