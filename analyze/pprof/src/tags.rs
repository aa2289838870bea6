//! What samples are marked with: labels and numeric labels, as pprof names them.

use std::collections::BTreeMap;

use crate::Profile;
use crate::profile::Mark;

/// A mark's value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// A number, and its unit, empty if there is none.
    Number(i64, String),
    /// A text.
    Text(String),
}

/// A mark, and what the samples that have it add up to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Its name.
    pub key: String,
    /// Its value.
    pub value: Value,
    /// The sum.
    pub total: i64,
}

/// All marks of a profile, by name, the largest sum first.
pub fn tags(profile: &Profile, of: usize) -> Vec<Tag> {
    let text = |number: u32| profile.strings.text(number).to_owned();
    let mut sums: BTreeMap<(String, Value), i64> = BTreeMap::new();
    for (stack, sample) in profile.stacks.all.iter().zip(&profile.values[of]) {
        for mark in &stack.marks {
            let named = match *mark {
                Mark::Text(key, value) => (text(key), Value::Text(text(value))),
                Mark::Number(key, value, unit) => {
                    let key = text(key);
                    let unit = if text(unit).is_empty() { usual_unit(&key).to_owned() } else { text(unit) };
                    (key, Value::Number(value, unit))
                }
            };
            let sum = sums.entry(named).or_default();
            *sum = sum.saturating_add(*sample);
        }
    }
    let mut tags: Vec<Tag> = sums.into_iter().map(|((key, value), total)| Tag { key, value, total }).collect();
    tags.retain(|tag| tag.total != 0);
    tags.sort_by(|a, b| a.key.cmp(&b.key).then(b.total.cmp(&a.total)));
    tags
}

/// What a number is whose makers have left out its unit, as pprof has it.
fn usual_unit(key: &str) -> &'static str {
    if matches!(key, "bytes" | "request" | "alignment") { "bytes" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::server;

    #[test]
    fn numbers_and_their_units_are_kept() {
        let mut profile = Profile::default();
        profile.add(&server()).unwrap();
        let tags = tags(&profile, 1);
        let tag = |key: &str, value: Value, total| Tag { key: key.to_owned(), value, total };
        assert_eq!(
            tags,
            [
                tag("bytes", Value::Number(4096, "bytes".to_owned()), 40),
                tag("client", Value::Text("web".to_owned()), 40)
            ]
        );
    }
}
