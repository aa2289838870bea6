//! Differences in words.

use crate::diff::{CauseKind, Edge, Function, Query, Relation, Test, Why};
use crate::observed::code::CodeState;
use diytrace_profile::human::{bytes, count, time};

/// "+12.3%"; a part of nothing is none, which does not make what it is of new.
pub fn percent(difference: Option<f64>) -> String {
    match difference {
        Some(part) => signed(part),
        None => "from 0".to_owned(),
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

/// "+1.2 ms".
pub fn signed_time(ns: f64) -> String {
    format!("{}{}", if ns < 0.0 { '−' } else { '+' }, time(ns.abs()))
}

/// Why a function changed, as far as anybody can tell.
pub fn because(query: &Query, function: &Function) -> String {
    let Some(cause) = &function.cause else { return why(function) };
    let by = cause.by.join(", ");
    let index = || query.functions.iter().position(|other| std::ptr::eq(other, function)).unwrap_or(usize::MAX);
    let calls = || callers(query, index()).join("; ");
    match cause.kind {
        CauseKind::Code => "its code changed".to_owned(),
        CauseKind::Inlining => format!("its code changed, and {by} with it: inlined on one side, called on the other"),
        CauseKind::Calls if cause.by.is_empty() => "no recorded caller alone explains it".to_owned(),
        CauseKind::Calls => calls(),
        CauseKind::Callers => format!("follows {by}"),
        CauseKind::Moved => moved(function, &by),
        CauseKind::AskedForMore => {
            let more = if function.self_ns.difference_ns() < 0.0 { "less" } else { "more" };
            format!("asked for {more}: {}", asked(query, index(), &cause.by))
        }
        CauseKind::Waits => {
            let (before, after) = function.wait_ns.unwrap_or_default();
            format!("it waits {} → {}", time(before), time(after))
        }
        CauseKind::Memory => {
            let relation = match cause.relation {
                Some(Relation::Caller) => "its caller ",
                Some(Relation::Callee) => "its callee ",
                Some(Relation::Sibling) => "beside it, ",
                Some(Relation::Path) | None => "on its path, ",
            };
            format!("memory, as {relation}{by} changed")
        }
        CauseKind::Layout => "layout, as its code lies elsewhere".to_owned(),
        CauseKind::Surroundings => "both sides are one build: what it is given, or what runs it".to_owned(),
        CauseKind::Unknown if function.code == CodeState::Unknown => {
            "nobody can tell whether its code changed".to_owned()
        }
        CauseKind::Unknown => "nobody can tell why".to_owned(),
    }
}

/// Where a function's cost went to, or came from.
fn moved(function: &Function, by: &str) -> String {
    match function.self_ns.difference_ns() {
        _ if by.is_empty() => "its calls moved".to_owned(),
        ns if ns < 0.0 => format!("its cost moved to {by}"),
        _ => format!("its cost moved here from {by}"),
    }
}

/// What a function makes more or fewer calls of.
fn asked(query: &Query, index: usize, callees: &[String]) -> String {
    let said = query
        .edges
        .iter()
        .filter(|edge| edge.ends.0 == index && edge.is_per_call_changed && callees.contains(&edge.callee));
    let said = said.map(|edge| {
        let [before, after] = ratios(edge.per_call);
        format!("it makes {before} → {after} calls of {} a call", edge.callee)
    });
    said.collect::<Vec<_>>().join("; ")
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
        assert_eq!((signed(0.00001), percent(None)), ("+0.0%".into(), "from 0".into()));
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
