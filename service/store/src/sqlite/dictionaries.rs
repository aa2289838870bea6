//! Dictionaries that are in memory: those of builds that are being sent. Those that were not asked for the longest make room for others.

use rustc_hash::FxHashMap;

use crate::dictionary::Dictionary;

/// Most bytes, unless told.
const MOST: usize = 256 << 20;

/// Dictionaries, by the numbers of builds.
pub struct Dictionaries {
    known: FxHashMap<i64, Known>,
    /// How many transactions have begun.
    turn: u64,
    pub most: usize,
}

#[derive(Default)]
struct Known {
    dictionary: Dictionary,
    /// In which transaction it was asked for last.
    used: u64,
}

impl Default for Dictionaries {
    fn default() -> Self {
        Self { known: FxHashMap::default(), turn: 0, most: MOST }
    }
}

impl Dictionaries {
    /// What was read of a build's.
    pub fn of(&mut self, build: i64) -> &mut Dictionary {
        let known = self.known.entry(build).or_default();
        known.used = self.turn;
        &mut known.dictionary
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.known.clear();
    }

    /// A transaction begins: what it asks for stays until the next.
    pub fn begin(&mut self) {
        self.turn += 1;
    }

    /// Forgets what was not asked for the longest, as long as all take too much: which builds'.
    pub fn make_room(&mut self) -> Vec<i64> {
        let bytes = |known: &Known| size_of::<Known>() + known.dictionary.bytes();
        let mut all: usize = self.known.values().map(bytes).sum();
        let mut gone = Vec::new();
        if all <= self.most {
            return gone;
        }
        let is_old = |known: &&(u64, i64)| known.0 < self.turn;
        let mut oldest: Vec<(u64, i64)> = self.known.iter().map(|(build, known)| (known.used, *build)).collect();
        oldest.sort_unstable();
        for (_, build) in oldest.iter().take_while(is_old) {
            if all <= self.most {
                break;
            }
            all -= self.known.remove(build).map_or(0, |known| bytes(&known));
            gone.push(*build);
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_make_room_and_those_in_use_stay() {
        let mut all = Dictionaries::default();
        let mut ask = |build: i64, most: usize| {
            all.begin();
            (0..1000).for_each(|address| all.of(build).push_place((None, address)));
            all.most = most;
            all.make_room()
        };
        assert!((1..4).all(|build| ask(build, MOST).is_empty()));
        assert!(ask(1, MOST).is_empty(), "asked for again");
        assert_eq!(ask(4, 1), [2, 3, 1]);
        assert_eq!(all.of(4).places().len(), 1000);
        assert_eq!(all.of(2).places().len(), 0, "to be read once more");
    }
}
