//! Labels: what a series is told from others by.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::quoted::exactly;

/// Labels of a series.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Labels(BTreeMap<String, String>);

impl Labels {
    /// Most labels of a series.
    pub const MOST: usize = 64;

    /// How long a label's name or value may be, in bytes.
    pub const MOST_BYTES: usize = 256;

    /// From `NAME=VALUE`.
    pub fn parse(text: &str) -> Result<(String, String), Error> {
        let wrong = || Error::Label { text: text.to_owned(), most: Self::MOST_BYTES };
        let (name, value) = text.split_once('=').ok_or_else(wrong)?;
        let is_name = |name: &str| {
            let mut letters = name.chars();
            let starts = letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
            starts && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        };
        let fits = |text: &str| (1..=Self::MOST_BYTES).contains(&text.len()) && !text.contains(char::is_control);
        (is_name(name) && fits(name) && fits(value)).then(|| (name.to_owned(), value.to_owned())).ok_or_else(wrong)
    }

    /// Whether all of them could have been written as `NAME=VALUE`, and they are not too many.
    pub fn are_sound(&self) -> bool {
        self.0.len() <= Self::MOST && self.iter().all(|(name, value)| Self::parse(&format!("{name}={value}")).is_ok())
    }

    /// Sets one.
    pub fn set(&mut self, name: &str, value: String) {
        self.0.insert(name.to_owned(), value);
    }

    /// A label's value.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// All, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// As people read them, and may select them by: those that all have first.
    pub fn named(&self) -> String {
        const USUAL: [&str; 3] = ["service", "host", "build"];
        let usual = USUAL.iter().filter_map(|name| Some((*name, self.get(name)?)));
        let others = self.iter().filter(|(name, _)| !USUAL.contains(name));
        usual.chain(others).map(|(name, value)| format!("{name}={}", exactly(value))).collect::<Vec<_>>().join(",")
    }

    /// As a JSON object, names in order.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default() // of text only
    }

    /// From that.
    pub fn of_json(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_a_name_and_a_value() {
        assert_eq!(Labels::parse("commit=a=b").unwrap(), ("commit".to_owned(), "a=b".to_owned()));
        for text in ["commit", "=b", "a=", "1a=b", "a-b=c", "a=\n"] {
            assert!(Labels::parse(text).is_err(), "{text}");
        }
        assert!(Labels::parse(&format!("a={}", "x".repeat(257))).is_err());
        let so_many = |most: usize| Labels((0..most).map(|number| (format!("a{number}"), "b".to_owned())).collect());
        assert_eq!([Labels::MOST, Labels::MOST + 1].map(|most| so_many(most).are_sound()), [true, false]);
    }
}
