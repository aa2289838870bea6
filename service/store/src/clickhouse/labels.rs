//! Labels as a query has them.
//!
//! Series are chosen by this program, as for every engine; ClickHouse only leaves out what cannot be among them. It looks at the JSON of
//! labels as text: every program writes the same.

use super::literal::quoted;
use crate::quoted::literal;

/// Names of labels, and patterns that their values match.
pub type Patterns = [(String, String)];

/// Of how many a query asks: more are most series.
const MOST: usize = 64;

/// A condition on the table of series that all meet which any of these select, and few others.
pub fn narrowed(any: &[&Patterns]) -> String {
    if any.len() > MOST || any.iter().any(|labels| labels.is_empty()) {
        return "1".to_owned();
    }
    let all_of = |labels: &&Patterns| labels.iter().map(like).collect::<Vec<_>>().join(" AND ");
    any.iter().map(all_of).collect::<Vec<_>>().join(" OR ")
}

/// A label whose value may match a pattern: one of its alternatives, or the pattern itself, which means that very value. What a pattern
/// does not mean is any other value, or none.
fn like((name, pattern): &(String, String)) -> String {
    if let Some(value) = literal(pattern) {
        return like_one(name, &value);
    }
    if pattern.starts_with('!') {
        return "1".to_owned();
    }
    let alternatives = pattern.split('|').chain(pattern.contains('|').then_some(pattern.as_str()));
    let any: Vec<String> = alternatives.map(|one| like_one(name, one)).collect();
    if any.len() == 1 { any.concat() } else { format!("({})", any.join(" OR ")) }
}

/// What is in between the `*` and `?` of one alternative stands in the text as it is; how many bytes that has of which one `?` stands
/// for is not told.
fn like_one(name: &str, pattern: &str) -> String {
    let pieces: Vec<String> = pattern.split(['*', '?']).map(|piece| literally(&in_json(piece))).collect();
    let like = format!("%\"{}\":\"{}\"%", literally(&in_json(name)), pieces.join("%"));
    format!("labels LIKE {}", quoted(&like))
}

/// A part of a text as it stands in JSON.
fn in_json(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap_or_default(); // it cannot fail
    text.get(1..text.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

/// A text that a pattern of `LIKE` means literally.
fn literally(text: &str) -> String {
    let mut literal = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '%' | '_' | '\\') {
            literal.push('\\');
        }
        literal.push(letter);
    }
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn narrowed_by(any: &[&[(&str, &str)]]) -> String {
        let owned = |labels: &&[(&str, &str)]| -> Vec<(String, String)> {
            labels.iter().map(|(name, pattern)| ((*name).to_owned(), (*pattern).to_owned())).collect()
        };
        let any: Vec<_> = any.iter().map(owned).collect();
        narrowed(&any.iter().map(|labels| &labels[..]).collect::<Vec<_>>())
    }

    #[test]
    fn labels_are_looked_for_in_the_text_of_json() {
        assert_eq!(narrowed_by(&[&[], &[("a", "b")]]), "1");
        assert_eq!(narrowed_by(&[&[("a", "b")][..]; MOST + 1]), "1");
        assert_eq!(narrowed_by(&[&[("a", "b*c?")]]), r#"labels LIKE '%"a":"b%c%"%'"#);
        assert_eq!(
            narrowed_by(&[&[("a", "1"), ("b", "2")], &[("a_", "3")]]),
            r#"labels LIKE '%"a":"1"%' AND labels LIKE '%"b":"2"%' OR labels LIKE '%"a\\_":"3"%'"#
        );
        assert_eq!(
            narrowed_by(&[&[("a", "1|2*"), ("b", "!3"), ("c", "\"4|5\"")]]),
            r#"(labels LIKE '%"a":"1"%' OR labels LIKE '%"a":"2%"%' OR labels LIKE '%"a":"1|2%"%') AND 1 AND labels LIKE '%"c":"4|5"%'"#
        );
        // A quote is \" in JSON, \\" in the pattern, and each of these is written once more in a query.
        assert_eq!(narrowed_by(&[&[("a", "\"'%")]]), r#"labels LIKE '%"a":"\\\\"\'\\%"%'"#);
    }
}
