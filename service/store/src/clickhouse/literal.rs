//! Values as queries have them.

/// Numbers, as a query lists them.
pub fn listed(ids: impl IntoIterator<Item = u64>) -> String {
    let ids: Vec<String> = ids.into_iter().map(|id| id.to_string()).collect();
    if ids.is_empty() { "(0)".to_owned() } else { format!("({})", ids.join(",")) }
}

/// A text, as a query has it.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');
    for letter in text.chars() {
        match letter {
            '\\' | '\'' => quoted.extend(['\\', letter]),
            '\0' => quoted.push_str("\\0"),
            letter => quoted.push(letter),
        }
    }
    quoted.push('\'');
    quoted
}
