//! Values in quotes, as a selection has them: what is in between is no pattern.

/// The value that a pattern in quotes means, which is no pattern then: `\"` stands for a quote in it, and `\\` for a backslash.
pub(crate) fn literal(pattern: &str) -> Option<String> {
    let quoted = pattern.strip_prefix('"')?.strip_suffix('"')?;
    let (mut value, mut letters) = (String::with_capacity(quoted.len()), quoted.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return None,
            '\\' => value.push(letters.next()?),
            _ => value.push(letter),
        }
    }
    Some(value)
}

/// A pattern that means this value and no other.
pub fn exactly(value: &str) -> String {
    let is_plain = !value.contains([',', '*', '?', '|', '"', '\\']) && !value.starts_with('!') && value.trim() == value;
    if is_plain { value.to_owned() } else { format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")) }
}
