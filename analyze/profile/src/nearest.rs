//! "Did you mean": the functions whose names are nearest to what someone typed.

use diytrace_format::pattern::without_parameters;

/// How many names are suggested.
const MOST: usize = 3;
/// What a name must score to be worth suggesting: one wrong character in three.
const LEAST: f64 = 0.65;
/// How far below the best name the others may be.
const MARGIN: f64 = 0.15;

/// The names nearest to a pattern, best first, at most three, or none if none is near.
///
/// Names may be demangled, with or without their parameters; they are compared without, and with and without scopes.
pub fn nearest_names<'a>(pattern: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = Wanted::new(pattern);
    let scores = names.into_iter().map(|name| (wanted.score(name), name));
    let mut scored: Vec<_> = scores.filter(|&(score, _)| score >= LEAST).collect();
    scored.sort_by(|(a, left), (b, right)| b.total_cmp(a).then(left.len().cmp(&right.len())).then(left.cmp(right)));
    scored.dedup_by_key(|&mut (_, name)| name);
    let best = scored.first().map_or(0.0, |&(score, _)| score);
    scored.into_iter().take(MOST).take_while(|&(score, _)| score >= best - MARGIN).map(|(_, name)| name).collect()
}

/// What was typed, made comparable.
struct Wanted {
    name: String,
    parts: usize,
    has_open_start: bool,
    has_open_end: bool,
}

impl Wanted {
    fn new(pattern: &str) -> Self {
        let name = comparable(&pattern.replace(['*', '?'], ""));
        let (has_open_start, has_open_end) = (pattern.starts_with('*'), pattern.ends_with('*'));
        Self { parts: parts(&name).count(), name, has_open_start, has_open_end }
    }

    fn score(&self, name: &str) -> f64 {
        let name = comparable(name);
        let name = self.within_stars(&name);
        // A name with more scopes than were typed is a little less near, one in other scopes a little more so.
        let all = similarity(&self.name, name);
        let as_many_parts = 0.95 * similarity(&self.name, tail(name, self.parts));
        let last_parts = 0.8 * similarity(tail(&self.name, 1), tail(name, 1));
        all.max(as_many_parts).max(last_parts)
    }

    /// As much of a name as a pattern with a star at one end must be like.
    fn within_stars<'n>(&self, name: &'n str) -> &'n str {
        let length = self.name.len();
        let part = match (self.has_open_start, self.has_open_end) {
            (false, true) => name.get(..length),
            (true, false) => name.len().checked_sub(length).and_then(|start| name.get(start..)),
            _ => None,
        };
        part.unwrap_or(name)
    }
}

/// Case, parameters and the suffix of a copy (`f.constprop.0`) are not what one mistypes a name for.
fn comparable(name: &str) -> String {
    let name = without_parameters(name);
    let end = name.find('.').filter(|&at| at > 0).unwrap_or(name.len());
    name[..end].to_ascii_lowercase()
}

/// The last parts of a scoped name: one of `ns::Widget::draw` is `draw`.
fn tail(name: &str, count: usize) -> &str {
    let start = parts(name).take(count).last();
    start.map_or(name, |start| &name[start..])
}

/// Where the parts of a scoped name start, from the last one on. A `::` inside template arguments separates nothing.
fn parts(name: &str) -> impl Iterator<Item = usize> {
    let bytes = name.as_bytes();
    let mut depth = 0usize;
    let separators = (1..bytes.len()).rev().filter(move |&at| {
        match bytes[at] {
            b'>' => depth += 1,
            b'<' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && bytes[at] == b':' && bytes[at - 1] == b':'
    });
    separators.map(|at| at + 1).chain([0])
}

/// 1 for equal names, less for each change; a name that continues what was typed counts as near.
fn similarity(typed: &str, name: &str) -> f64 {
    let (short, long) = (typed.len().min(name.len()), typed.len().max(name.len()));
    if short == 0 {
        return 0.0;
    }
    let covered = short as f64 / long as f64;
    let contained = match () {
        () if typed == name => 1.0,
        () if short >= 3 && name.starts_with(typed) => 0.75 + 0.25 * covered,
        () if short >= 4 && (name.contains(typed) || typed.contains(name)) => 0.6 + 0.3 * covered,
        () => 0.0,
    };
    // The distance is at least the difference of the lengths: most names need no look at their characters.
    if covered < LEAST {
        return contained;
    }
    // Transposed neighbours are one change (optimal string alignment). People get the first characters right.
    let changes = strsim::osa_distance(typed, name) as f64;
    let prefix = typed.bytes().zip(name.bytes()).take(4).take_while(|(a, b)| a == b).count() as f64;
    let edited = 1.0 - changes / long as f64;
    contained.max(edited + 0.02 * prefix * (1.0 - edited))
}

/// "; did you mean `a` or `b`?", or what to say if there are no such names.
pub fn nearest_sentence(names: &[String], none: &str) -> String {
    match names {
        [] => none.to_owned(),
        [one] => format!("; did you mean `{one}`?"),
        [first @ .., last] => {
            let first: Vec<_> = first.iter().map(|name| format!("`{name}`")).collect();
            format!("; did you mean {} or `{last}`?", first.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 12] = [
        "eval_windowaggregates",
        "eval_windowfunction",
        "advance_windowaggregate",
        "finalize_windowaggregate",
        "ExecutorRun",
        "standard_ExecutorRun",
        "main",
        "ns::Widget::draw(int) const",
        "ns::Widget::draw(long)",
        "ns::Widget::redraw()",
        "std::vector<ns::Widget>::push_back(ns::Widget const&)",
        "spool_tuples.constprop.0",
    ];

    #[test]
    fn one_wrong_letter() {
        assert_eq!(nearest_names("evil_windowaggregates", NAMES), ["eval_windowaggregates"]);
        assert_eq!(nearest_names("eval_windowagregates", NAMES), ["eval_windowaggregates"]);
        assert_eq!(nearest_names("mian", NAMES), ["main"]);
    }

    #[test]
    fn case_scope_and_beginning() {
        assert_eq!(nearest_names("executorrun", NAMES)[0], "ExecutorRun");
        assert_eq!(nearest_names("eval_window", NAMES), ["eval_windowfunction", "eval_windowaggregates"]);
        assert_eq!(
            nearest_names("Widget::drew", NAMES)[..2],
            ["ns::Widget::draw(long)", "ns::Widget::draw(int) const"]
        );
        assert_eq!(nearest_names("Gadget::redraw", NAMES)[0], "ns::Widget::redraw()");
        assert_eq!(nearest_names("push_bakc", NAMES), ["std::vector<ns::Widget>::push_back(ns::Widget const&)"]);
        assert_eq!(nearest_names("spol_tuples", NAMES), ["spool_tuples.constprop.0"]);
        assert_eq!(nearest_names("evil_window*", NAMES)[0], "eval_windowfunction");
    }

    #[test]
    fn nothing_is_near() {
        assert_eq!(nearest_names("zzz", NAMES), [""; 0]);
        assert_eq!(nearest_names("*", NAMES), [""; 0]);
        assert_eq!(nearest_names("", NAMES), [""; 0]);
        assert_eq!(nearest_names("free", NAMES), [""; 0]);
    }
}
