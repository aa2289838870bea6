//! What was found out about the addresses of one module, in this report or an earlier one.

use std::hash::Hash;
use std::sync::OnceLock;

use dashmap::DashMap;
use rustc_hash::FxBuildHasher;

use super::answers::{CallForm, Location, Probe, Symbol};
use super::portable::Portable;

/// All that was found out about a module. It depends on nothing but the module's files.
#[derive(Default)]
pub struct Known<'a> {
    /// Whether only what the module exports has names.
    pub is_stripped: OnceLock<bool>,
    /// The symbols that start at an address, the one to show first.
    pub starting: Facts<u64, Box<[Symbol<'a>]>>,
    /// The symbol that an address lies in.
    pub enclosing: Facts<u64, Option<Symbol<'a>>>,
    /// The call that returns to an address.
    pub calls: Facts<u64, CallForm>,
    /// The line of an address.
    pub lines: Facts<(u64, Probe), Option<Location>>,
    /// How much of it was known before this report.
    pub kept: usize,
}

impl Known<'_> {
    /// What goes with a profile.
    pub fn of(portable: &Portable) -> Self {
        Self {
            calls: portable.calls.iter().map(|(&address, &form)| (address, form)).collect(),
            lines: portable.lines.iter().map(|(&query, line)| (query, line.clone())).collect(),
            ..Self::default()
        }
    }

    /// How much is known.
    pub fn len(&self) -> usize {
        let facts = self.starting.len() + self.enclosing.len() + self.calls.len() + self.lines.len();
        facts + usize::from(self.is_stripped.get().is_some())
    }

    /// Whether this report has found out anything.
    pub fn has_news(&self) -> bool {
        self.len() > self.kept
    }
}

/// Answers that never change; many threads may ask.
pub struct Facts<K, V>(DashMap<K, V, FxBuildHasher>);

impl<K: Eq + Hash, V> Default for Facts<K, V> {
    fn default() -> Self {
        Self(DashMap::default())
    }
}

impl<K: Copy + Ord + Hash, V: Clone> Facts<K, V> {
    /// What `read` makes of the answer, which is looked for if nobody has asked before.
    pub fn get_or_find<R>(&self, key: K, find: impl FnOnce() -> V, read: impl FnOnce(&V) -> R) -> R {
        if let Some(known) = self.0.get(&key) {
            return read(&known);
        }
        let found = find();
        let answer = read(&found);
        self.insert(key, found);
        answer
    }

    /// The answer, if it is known.
    pub fn get(&self, key: K) -> Option<V> {
        self.0.get(&key).map(|known| known.clone())
    }

    /// Whether the answer is known.
    pub fn has(&self, key: K) -> bool {
        self.0.contains_key(&key)
    }

    /// Keeps an answer.
    pub fn insert(&self, key: K, answer: V) {
        self.0.insert(key, answer);
    }

    /// All of them, in the order of their questions.
    pub fn sorted(&self) -> Vec<(K, V)> {
        let mut all: Vec<_> = self.0.iter().map(|fact| (*fact.key(), fact.value().clone())).collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

impl<K: Eq + Hash, V> FromIterator<(K, V)> for Facts<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(facts: I) -> Self {
        Self(facts.into_iter().collect())
    }
}
