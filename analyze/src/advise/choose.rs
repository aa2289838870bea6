//! Which functions cost more to record than they tell.

use std::collections::BTreeMap;

use diytrace_profile::units::nanoseconds;
use diytrace_views::report::Function;
use serde::Serialize;

/// A function that a recording does better without.
#[derive(Clone, Debug, Serialize)]
pub struct Advised {
    /// Its name as people write it.
    pub name: String,
    /// Its name as the linker knows it.
    pub symbol: String,
    /// Path of its module.
    pub module: String,
    /// Where it is written.
    pub file: Option<String>,
    /// The line there.
    pub line: Option<u32>,
    /// Calls of it.
    pub calls: u64,
    /// What recording them takes, in nanoseconds.
    #[serde(serialize_with = "nanoseconds")]
    pub recording_ns: f64,
    /// What they take themselves, in nanoseconds.
    #[serde(serialize_with = "nanoseconds")]
    pub self_ns: f64,
    /// How far off that may be.
    #[serde(serialize_with = "nanoseconds")]
    pub self_error_ns: f64,
}

/// Functions whose calls take more to record than by themselves, and at least this much; the most expensive first. Functions of
/// one symbol are left out together, and roots are what somebody wants to see.
pub fn choose(functions: &[Function], call_ns: f64, least_ns: f64) -> Vec<Advised> {
    let mut by_symbol: BTreeMap<&str, (Advised, bool)> = BTreeMap::new();
    for function in functions {
        let Some(symbol) = function.symbol.as_deref().filter(|symbol| !symbol.is_empty()) else { continue };
        let (advised, is_root) = by_symbol.entry(symbol).or_insert_with(|| (of(function, symbol), false));
        advised.calls += function.calls;
        advised.self_ns += function.self_ns;
        advised.self_error_ns += function.self_error_ns;
        *is_root |= function.root;
    }
    let mut chosen: Vec<Advised> = Vec::new();
    for (mut advised, is_root) in by_symbol.into_values() {
        advised.recording_ns = advised.calls as f64 * call_ns;
        let is_worth_it = advised.recording_ns > advised.self_ns && advised.recording_ns >= least_ns;
        if !is_root && advised.calls > 0 && is_worth_it {
            chosen.push(advised);
        }
    }
    chosen.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.symbol.cmp(&b.symbol)));
    chosen
}

fn of(function: &Function, symbol: &str) -> Advised {
    Advised {
        name: function.name.clone(),
        symbol: symbol.to_owned(),
        module: function.module.clone(),
        file: function.file.clone(),
        line: function.line,
        calls: 0,
        recording_ns: 0.0,
        self_ns: 0.0,
        self_error_ns: 0.0,
    }
}
