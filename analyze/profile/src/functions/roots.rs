//! Which functions are roots.

use std::collections::BTreeSet;

use diytrace_format::node::flag;
use diytrace_format::pattern::glob;
use rustc_hash::FxHashSet;

use crate::demangle::{is_named, shown};
use crate::elf::symbols::base_name;
use crate::error::Error;
use crate::load::Summary;
use crate::merge::{Merged, Place, PlaceId};
use crate::nearest::nearest_names;
use crate::short_name::{short_name, short_names};
use crate::symbolize::Symbols;

/// Patterns of roots.
pub struct Roots {
    /// As they were written.
    pub patterns: Vec<String>,
    /// Whether they were asked for now, and not when the profile was recorded.
    pub are_asked_for: bool,
    /// Whether nothing was recorded but inside roots.
    pub are_recorded: bool,
}

impl Roots {
    /// Those asked for, or else those of the profiles.
    pub fn of(asked_for: &[String], profiles: &[Summary]) -> Self {
        if !asked_for.is_empty() {
            return Self::named(asked_for);
        }
        let recorded = profiles.iter().flat_map(|profile| &profile.roots);
        let mut patterns: Vec<String> = recorded.map(|root| root.pattern.clone()).collect();
        patterns.sort();
        patterns.dedup();
        let are_recorded = profiles.iter().all(|profile| !profile.roots.is_empty());
        Self { patterns, are_asked_for: false, are_recorded }
    }

    /// Those of these names.
    pub fn named(patterns: &[String]) -> Self {
        Self { patterns: patterns.to_vec(), are_asked_for: true, are_recorded: false }
    }

    /// The same, with whole names in place of those that tables show in short: `run::{lambda#2}::operator()`.
    pub fn in_full(mut self, symbols: &Symbols, functions: &[Place]) -> Self {
        let is_short = |pattern: &str| pattern.contains(['‹', '{']) || pattern.contains("(anonymous)");
        if !self.patterns.iter().any(|pattern| is_short(pattern)) {
            return self;
        }
        let names = functions.iter().flat_map(|&place| symbols.aliases(place));
        let names: BTreeSet<String> = names.map(|name| shown(name).into_owned()).collect();
        let short = short_names(names.iter().map(String::as_str));
        for pattern in self.patterns.iter_mut().filter(|pattern| is_short(pattern)) {
            let told_apart = short.iter().find(|(_, short)| *short == pattern).map(|(whole, _)| *whole);
            let alone = || names.iter().map(String::as_str).find(|whole| short_name(whole) == pattern.as_str());
            if let Some(whole) = told_apart.or_else(alone) {
                *pattern = whole.to_owned();
            }
        }
        self
    }

    /// Functions that the recorder took for roots, though they may have other names: implementations of one with several
    /// (IFUNC). It records their calls without a caller.
    pub fn outermost(&self, merged: &Merged) -> FxHashSet<PlaceId> {
        let trees = merged.groups.iter().filter(|_| self.are_recorded).map(|group| &group.tree);
        let tops = trees.flat_map(|tree| tree.tops().map(|top| tree.paths.key(top)));
        tops.filter(|top| top.flags & flag::FOLDED == 0).map(|top| top.function).collect()
    }

    /// Whether the function at a place is one of them.
    pub fn contain(&self, symbols: &Symbols, place: Place) -> bool {
        let names = if self.patterns.is_empty() { Vec::new() } else { symbols.aliases(place) };
        self.patterns.iter().any(|pattern| names.iter().any(|name| matches(pattern, name)) || is_at(pattern, place))
    }

    /// An error for the first pattern that was asked for and matches none of the functions.
    pub fn check(&self, symbols: &Symbols, functions: &[Place]) -> Result<(), Error> {
        let names: Vec<&str> = functions.iter().flat_map(|&place| symbols.aliases(place)).collect();
        for pattern in self.patterns.iter().filter(|_| self.are_asked_for) {
            let is_there = names.iter().any(|name| matches(pattern, name));
            if !is_there && !functions.iter().any(|&place| is_at(pattern, place)) {
                let shown: Vec<_> = names.iter().map(|name| shown(name)).collect();
                let nearest = nearest_names(pattern, shown.iter().map(|name| &**name));
                let nearest = nearest.into_iter().map(str::to_owned).collect();
                let has_names = !names.is_empty();
                return Err(Error::UnknownFunction { pattern: pattern.clone(), nearest, has_names });
            }
        }
        Ok(())
    }
}

/// Whether a pattern is the address of a function: what one without a name is shown by.
fn is_at(pattern: &str, place: Place) -> bool {
    pattern.strip_prefix("0x").is_some_and(|digits| u64::from_str_radix(digits, 16) == Ok(place.address))
}

/// Whether a pattern means this function, or a part or a copy of it. What it is shown as means it, whatever that is like:
/// `TLS init function for state` is no name with a return type in front.
fn matches(pattern: &str, symbol: &str) -> bool {
    is_named(pattern, symbol) || glob(pattern, base_name(symbol)) || shown(symbol) == pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_function_is_shown_as_means_it() {
        for symbol in ["_ZTH3tls", "_ZTW3tls", "_Z1fi", "main"] {
            assert!(matches(&shown(symbol), symbol), "{}", shown(symbol));
        }
        assert!(!matches("TLS init function for tls", "_ZTW3tls"));
    }
}
