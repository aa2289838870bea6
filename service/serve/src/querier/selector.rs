//! Selectors of labels as Grafana writes them: `{service_name="api", host=~"db.*"}`.

use diytrace_store::exactly;

/// What Pyroscope calls the label that is `service` here.
pub const SERVICE_NAME: &str = "service_name";

/// A label's name here.
pub fn name_here(name: &str) -> &str {
    if name == SERVICE_NAME { "service" } else { name }
}

/// A label's name there.
pub fn name_there(name: &str) -> &str {
    if name == "service" { SERVICE_NAME } else { name }
}

/// As `--select` has it: labels and patterns with `*`, `?`, `|` and `!`. Labels of Pyroscope's own (`__profile_type__`) choose nothing here.
pub fn select(text: &str) -> Result<String, String> {
    let wrong = || format!("`{text}` is no selector: write {{service_name=\"api\", host=~\"db.*\"}}");
    let inside = text.trim();
    let inside = if inside.is_empty() { "{}" } else { inside };
    let inside = inside.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).ok_or_else(wrong)?;
    let mut rest = inside.trim();
    let mut all = Vec::new();
    while !rest.is_empty() {
        let end = rest.find(['=', '!']).ok_or_else(wrong)?;
        let (name, after) = rest.split_at(end);
        let operators = [("=~", true, ""), ("!~", true, "!"), ("!=", false, "!"), ("=", false, "")];
        let found = operators.iter().find_map(|(sign, is_regex, not)| Some((after.strip_prefix(sign)?, is_regex, not)));
        let (after, is_regex, not) = found.ok_or_else(wrong)?;
        let (value, after) = quoted(after.trim_start()).ok_or_else(wrong)?;
        let value = if *is_regex { glob_of(&value)? } else { exactly(&value) };
        let name = name.trim();
        if !name.starts_with("__") {
            all.push(format!("{}={not}{value}", name_here(name)));
        }
        rest = after.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    Ok(all.join(","))
}

/// A text in quotation marks, and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let rest = text.strip_prefix('"')?;
    let mut value = String::new();
    let mut letters = rest.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &rest[at + 1..])),
            '\\' => value.push(letters.next()?.1),
            letter => value.push(letter),
        }
    }
    None
}

/// The pattern that a regular expression stands for, of those that people write into selectors.
fn glob_of(regex: &str) -> Result<String, String> {
    let mut glob = String::new();
    let mut rest = regex.strip_prefix('^').unwrap_or(regex);
    rest = rest.strip_suffix('$').unwrap_or(rest);
    rest = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(rest); // as variables of several values are written
    while let Some(first) = rest.chars().next() {
        let (written, length) = match rest {
            _ if rest.starts_with(".*") => ("*", 2),
            _ if rest.starts_with(".+") => ("?*", 2),
            _ if first == '\\'
                && rest[1..].starts_with(|next: char| next.is_ascii_punctuation() && !"*?|".contains(next)) =>
            {
                (&rest[1..2], 2)
            }
            _ if first == '.' => ("?", 1),
            _ if "\\()[]{}*+?^$".contains(first) => {
                return Err(format!("`{regex}`: of regular expressions only . .* .+ and | are understood"));
            }
            _ => (&rest[..first.len_utf8()], first.len_utf8()),
        };
        glob.push_str(written);
        rest = &rest[length..];
    }
    Ok(glob)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_become_patterns() {
        for (text, wanted) in [
            ("", ""),
            ("{}", ""),
            ("{service_name=\"api\"}", "service=api"),
            ("{service_name=\"a\\\"b\", host=~\"db.*\",}", "service=\"a\\\"b\",host=db*"),
            ("{service_name=\"a, b*\", host!=\"!c\"}", "service=\"a, b*\",host=!\"!c\""),
            ("{ build =~ \"^1\\\\.2.+$\" , __profile_type__=\"x\" }", "build=1.2?*"),
            (
                "{host=~\"(db\\\\-1|db.*)\", build!=\"b\", service_name!~\"a|b.+\"}",
                "host=db-1|db*,build=!b,service=!a|b?*",
            ),
        ] {
            assert_eq!(select(text).as_deref(), Ok(wanted), "{text}");
        }
        for text in ["{", "service=\"a\"", "{a}", "{a=b}", "{a=\"b}", "{a<\"b\"}", "{a=~\"b(c|d)\"}", "{a=~\"b\\\\*\"}"]
        {
            assert!(select(text).is_err(), "{text}");
        }
    }
}
