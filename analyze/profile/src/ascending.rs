//! Maps of few keys, in one piece of memory: of histograms there are many, and most have three or four octaves.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// Values by key, as a list in the keys' order; written as a map is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Ascending<K, V>(Vec<(K, V)>);

impl<K, V> Default for Ascending<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Ord + Copy, V: Default> Ascending<K, V> {
    /// The value of a key, which is made if there is none.
    pub fn at(&mut self, key: K) -> &mut V {
        let place = match self.0.binary_search_by_key(&key, |(key, _)| *key) {
            Ok(place) => place,
            Err(place) => {
                self.0.insert(place, (key, V::default()));
                place
            }
        };
        &mut self.0[place].1
    }
}

impl<K: Ord, V> Ascending<K, V> {
    /// Makes room for so many more.
    pub fn reserve(&mut self, more: usize) {
        self.0.reserve_exact(more);
    }

    /// A list, if its keys ascend.
    pub fn of(list: Vec<(K, V)>) -> Option<Self> {
        list.is_sorted_by(|(a, _), (b, _)| a < b).then_some(Self(list))
    }
}

impl<K, V> Ascending<K, V> {
    /// All, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, (K, V)> {
        self.0.iter()
    }
}

impl<'a, K: Deserialize<'a> + Ord, V: Deserialize<'a>> Deserialize<'a> for Ascending<K, V> {
    fn deserialize<D: Deserializer<'a>>(from: D) -> Result<Self, D::Error> {
        let list = Vec::<(K, V)>::deserialize(from)?;
        Self::of(list).ok_or_else(|| D::Error::custom("keys do not ascend"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn its_bytes_are_those_of_a_map_and_damage_is_found() {
        let mut list = Ascending::<u8, [u64; 2]>::default();
        let mut map = BTreeMap::new();
        for key in [9, 3, 7, 3] {
            list.at(key)[0] += u64::from(key);
            map.entry(key).or_insert([0u64; 2])[0] += u64::from(key);
        }
        let bytes = postcard::to_stdvec(&map).unwrap();
        assert_eq!(postcard::to_stdvec(&list).unwrap(), bytes);
        assert_eq!(postcard::from_bytes::<Ascending<u8, [u64; 2]>>(&bytes).unwrap(), list);
        let unordered = postcard::to_stdvec(&vec![(7u8, [1u64; 2]), (3, [1; 2])]).unwrap();
        assert!(postcard::from_bytes::<Ascending<u8, [u64; 2]>>(&unordered).is_err());
    }
}
