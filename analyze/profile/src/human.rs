//! Numbers, moments and names as people read them.

use jiff::Timestamp;

/// A time in the unit that suits it, with three significant digits (seconds with four); a dash where it is not known.
pub fn time(ns: f64) -> String {
    const UNITS: [(f64, &str); 3] = [(1e3, "ns"), (1e6, "µs"), (1e9, "ms")];
    if ns.is_nan() {
        return "–".to_owned();
    }
    if ns <= 0.0 {
        return "0 ns".to_owned();
    }
    for (limit, unit) in UNITS {
        let value = ns / (limit / 1e3);
        let digits = decimals(value, 3);
        // 999.6 ns would be written as 1000 ns: it is 1.00 µs.
        if format!("{value:.digits$}").parse::<f64>().is_ok_and(|shown| shown < 1e3) {
            return format!("{value:.digits$} {unit}");
        }
    }
    let seconds = ns / 1e9;
    if seconds >= 1e3 {
        return format!("{} s", count(seconds.round() as u64));
    }
    format!("{seconds:.*} s", decimals(seconds, 4))
}

/// A time; or the most that it may be, if it is less than what its correction may be off by.
pub fn resolved(ns: f64, error_ns: f64) -> String {
    if ns < error_ns { format!("< {}", time(ns + error_ns)) } else { time(ns) }
}

fn decimals(value: f64, significant: usize) -> usize {
    let before = if value < 10.0 {
        1
    } else if value < 100.0 {
        2
    } else {
        3
    };
    significant.saturating_sub(before)
}

/// A count with thousands separators.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A part of a whole.
pub fn share(part: f64, whole: f64) -> String {
    if whole <= 0.0 || whole.is_nan() || part.is_nan() { String::new() } else { percent(part / whole) }
}

/// A part of one.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        _ if percent <= 0.0 => "0%".to_owned(),
        _ if percent < 0.05 => "<0.1%".to_owned(),
        _ => format!("{percent:.1}%"),
    }
}

/// A ratio of counts: exact where that is short.
pub fn ratio(part: u64, whole: u64) -> String {
    if whole == 0 {
        return String::new();
    }
    let ratio = part as f64 / whole as f64;
    match ratio {
        _ if part.is_multiple_of(whole) => count(part / whole),
        _ if ratio < 0.005 => "<0.01".to_owned(),
        _ if ratio < 1000.0 => format!("{ratio:.2}"),
        _ => count(ratio.round() as u64),
    }
}

/// Bytes in the unit that suits them, in powers of 1024.
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if number < 1024 {
        return counted(number, "byte", "bytes");
    }
    let (mut value, mut unit) = (number as f64 / 1024.0, 0);
    while value >= 1023.5 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1024.0, unit + 1);
    }
    format!("{value:.*} {}", decimals(value, 3), UNITS[unit])
}

/// A self time with how far off it may be, of what has that total: it is within the total, so it cannot be told better where that
/// cannot be told, and is no more than that.
pub fn resolved_self([own, own_error]: [f64; 2], [total, total_error]: [f64; 2]) -> String {
    let most = total + total_error;
    let error = if total < total_error { total_error } else { own_error.min(most) };
    if own < error { format!("< {}", time((own + error).min(most))) } else { time(own) }
}

/// "1 call", "2 calls".
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// A moment, to the second.
pub fn moment(unix_ns: u64) -> String {
    match Timestamp::from_nanosecond(unix_ns.into()) {
        Ok(moment) => moment.strftime("%F %T UTC").to_string(),
        Err(_) => counted(unix_ns, "nanosecond since 1970", "nanoseconds since 1970"),
    }
}

/// A name in that many columns: without the namespaces and classes that it is in, as far as that makes room; then without the
/// end of its parameters; and of what is left, what tells names apart is at both ends.
pub fn shorten(name: &str, width: usize) -> String {
    if columns(name) <= width {
        return name.to_owned();
    }
    let Parts { own, ends, parameters } = Parts::of(name);
    let parts = ends.iter().map(|&at| &own[at..]);
    if let Some(end) = parts.clone().find(|end| columns(end) + columns(parameters) < width) {
        return format!("…{end}{parameters}");
    }
    let last = parts.clone().next_back().map_or(own, |end| &end["::".len()..]);
    if columns(last) + columns(parameters) <= width {
        return format!("{last}{parameters}");
    }
    if !parameters.is_empty() && columns(last) + columns("(…)") <= width {
        let room = width - columns(last) - columns("…)");
        let front: String = parameters.chars().take(room).collect();
        return format!("{last}{}…)", front.trim_end_matches(['…', ' ', ',']));
    }
    if let Some(end) = parts.clone().find(|end| columns(end) < width) {
        return format!("…{end}");
    }
    if let Some(arguments) = last.find('<').filter(|&at| at > 0 && at + columns("<…>") <= width) {
        let front: String = last.chars().take(width - columns("…>")).collect();
        let front = if front.len() > arguments { front.trim_end_matches(['…', ' ', ',']) } else { &front };
        return format!("{front}…>");
    }
    let (length, kept) = (columns(last), width.saturating_sub(1));
    let (front, back) = (kept.div_ceil(2), kept / 2);
    let start: String = last.chars().take(front).collect();
    let end: String = last.chars().skip(length.saturating_sub(back)).collect();
    if length <= width { last.to_owned() } else { format!("{start}…{end}") }
}

fn columns(text: &str) -> usize {
    text.chars().count()
}

/// What a name is made of.
struct Parts<'a> {
    /// All before its parameters.
    own: &'a str,
    /// Where the parts of that begin which `::` separates, but for the first: not those of names in brackets.
    ends: Vec<usize>,
    /// The parameters, in their brackets, and what follows.
    parameters: &'a str,
}

impl<'a> Parts<'a> {
    fn of(name: &'a str) -> Self {
        let (mut depth, mut ends) = (0u32, Vec::new());
        for (at, letter) in name.char_indices() {
            let (before, rest) = name.split_at(at);
            match letter {
                _ if is_in_operator(before) => {}
                '(' if depth == 0 && !rest.starts_with("(anonymous") => {
                    return Self { own: before, ends, parameters: rest };
                }
                '<' | '‹' | '{' | '(' | '[' => depth += 1,
                '>' | '›' | '}' | ')' | ']' => depth = depth.saturating_sub(1),
                ':' if depth == 0 && rest.starts_with("::") => ends.push(at),
                _ => {}
            }
        }
        Self { own: name, ends, parameters: "" }
    }
}

/// Whether what comes next is part of an operator's name.
fn is_in_operator(before: &str) -> bool {
    let sign = before.rfind("operator").map(|at| &before[at + "operator".len()..]);
    sign.is_some_and(|sign| matches!(sign, "" | "<" | ">" | "-" | "(" | "[" | "<=" | "->"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn self_times_are_no_more_than_totals() {
        assert_eq!(resolved_self([20e6, 3e6], [206e6, 4e6]), "20.0 ms");
        assert_eq!(resolved_self([2e6, 3e6], [206e6, 4e6]), "< 5.00 ms");
        assert_eq!(resolved_self([2e6, 9e9], [206e6, 4e6]), "< 210 ms");
        assert_eq!(resolved_self([2e6, 3e6], [3e6, 4e6]), "< 6.00 ms");
    }

    #[test]
    fn times() {
        for (ns, expected) in [
            (0.0, "0 ns"),
            (-1.0, "0 ns"),
            (0.1234, "0.12 ns"),
            (1.0, "1.00 ns"),
            (12.34, "12.3 ns"),
            (999.4, "999 ns"),
            (999.6, "1.00 µs"),
            (45_678.0, "45.7 µs"),
            (999_960.0, "1.00 ms"),
            (123_456_789.0, "123 ms"),
            (1_234_567_890.0, "1.235 s"),
            (98_765_432_100.0, "98.77 s"),
            (4_321e9, "4,321 s"),
        ] {
            assert_eq!(time(ns), expected);
        }
    }

    #[test]
    fn moments() {
        assert_eq!(moment(1_700_000_000_999_999_999), "2023-11-14 22:13:20 UTC");
        assert!(moment(u64::MAX).ends_with(" UTC"));
    }

    #[test]
    fn counts_shares_and_ratios() {
        assert_eq!(count(7), "7");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(share(1.0, 3.0), "33.3%");
        assert_eq!(share(1.0, 1e9), "<0.1%");
        assert_eq!(share(1.0, 0.0), "");
        assert_eq!(ratio(200_000, 100_000), "2");
        assert_eq!(ratio(199_999, 100_000), "2.00");
        assert_eq!(ratio(1, 100_000), "<0.01");
    }

    #[test]
    fn long_names_lose_where_they_are_and_then_their_middle() {
        assert_eq!(shorten("short", 5), "short");
        assert_eq!(shorten("ns::Widget::draw", 15), "…::Widget::draw");
        assert_eq!(shorten("ns::Widget::draw", 9), "…::draw");
        assert_eq!(shorten("ns::Widget::draw_in_colour", 11), "draw_…olour");
        assert_eq!(shorten("MemoryContextSwitchTo", 11), "Memor…tchTo");
        assert_eq!(shorten("abc", 1), "…");
    }

    #[test]
    fn of_long_names_parameters_go_before_what_they_are_given_to() {
        for (width, expected) in [
            (60, "std::string::_M_construct‹…›(char const*, …)"),
            (40, "…::_M_construct‹…›(char const*, …)"),
            (30, "_M_construct‹…›(char const*…)"),
            (20, "_M_construct‹…›(ch…)"),
            (15, "_M_construct‹…›"),
            (8, "_M_c…‹…›"),
        ] {
            assert_eq!(shorten("std::string::_M_construct‹…›(char const*, …)", width), expected);
        }
        assert_eq!(shorten("Token::multiCompare(Token const*, char const*, int)", 22), "multiCompare(Token c…)");
        assert_eq!(shorten("(anonymous)::Functor::operator()(int)", 22), "…::operator()(int)");
        assert_eq!(shorten("std::vector<int>::operator[](int)", 15), "operator[](int)");
        assert_eq!(shorten("std::list<A::B, C::D>::push_back", 20), "…::push_back");
        assert_eq!(shorten("visit<Token const, Second, …>(int)", 20), "visit<Token const…>");
    }
}
