//! Parameters that are a pack: what cpp_demangle has made of them, and what they are.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A pack of parameters: `T&&...`, `T const&...`.
pub struct Pack {
    /// How many there are.
    pub count: usize,
    /// What stands behind each one's type.
    is_of: &'static str,
    /// What it is written as before its type, `Dp` and what [`BEHIND`] has.
    written: &'static str,
}

/// What types may have behind them, as a mangled name has it in front.
const BEHIND: [(&str, &str); 6] =
    [("DpO", "&&"), ("DpR", "&"), ("DpRK", " const&"), ("DpOK", " const&&"), ("DpP", "*"), ("DpPK", " const*")];

/// No name has it.
const MARK: &str = "diytrace_pack";

impl Pack {
    /// Which of the template's arguments a type is a pack of, from 0, and that pack but for its size; of a type as it is mangled.
    pub fn parse(mangled: &[u8]) -> Option<(usize, Self)> {
        let text = core::str::from_utf8(mangled).ok()?;
        let at = text.find('T')?;
        let (written, is_of) = BEHIND.into_iter().find(|(written, _)| *written == &text[..at])?;
        let parameter = match text[at + 1..].strip_suffix('_')? {
            "" => 0,
            number => usize::from_str_radix(number, 36).ok()?.checked_add(1)?,
        };
        Some((parameter, Self { count: 0, is_of, written }))
    }

    /// How much of its type is to be replaced.
    pub fn length(&self) -> usize {
        self.written.len()
    }

    /// What the pack of that number is marked by.
    fn mark(number: usize) -> String {
        format!("{MARK}{number}_")
    }

    /// What a mangled name has in its place: for each step to its type one, as later ones are found by their number.
    pub fn marked(&self, number: usize) -> String {
        let mark = Self::mark(number);
        format!("U{}{mark}", mark.len()).repeat(self.written.len() - 1)
    }

    /// The text with that pack's parameters as they are.
    pub fn restore(&self, number: usize, text: String) -> String {
        let mark = format!(" {}", Self::mark(number)).repeat(self.written.len() - 1);
        let Some(end) = text.find(&mark) else { return text };
        let (before, after) = (&text[..end], &text[end + mark.len()..]);
        if self.count == 0 {
            return match before.strip_suffix(", ") {
                Some(before) => format!("{before}{after}"),
                None => format!("{before}{}", after.strip_prefix(", ").unwrap_or(after)),
            };
        }
        let begin = begin_of(before, self.count);
        let parameters: Vec<String> =
            split(&before[begin..]).into_iter().map(|one| with(one.trim(), self.is_of)).collect();
        format!("{}{}{after}", &before[..begin], parameters.join(", "))
    }
}

/// The text without what it has for template arguments that are packs of none: `<int, >`.
pub fn without_empty(mut text: String) -> String {
    for (written, meant) in [(", , ", ", "), ("<, ", "<"), (", >", ">")] {
        while text.contains(written) {
            text = text.replace(written, meant);
        }
    }
    text
}

/// Whether all packs were found again: a later type may be made of what one was.
pub fn are_restored(text: &str) -> bool {
    !text.contains(MARK)
}

/// Where the last so many parameters of a list begin.
fn begin_of(list: &str, count: usize) -> usize {
    let (mut depth, mut left) = (0usize, count);
    for (at, letter) in list.char_indices().rev() {
        match letter {
            ')' | ']' | '}' | '>' => depth += 1,
            '(' | '[' | '{' | '<' if depth == 0 => return at + 1,
            '(' | '[' | '{' | '<' => depth -= 1,
            ',' if depth == 0 => {
                left -= 1;
                if left == 0 {
                    let begin = at + 1;
                    return begin + usize::from(list[begin..].starts_with(' '));
                }
            }
            _ => {}
        }
    }
    0
}

/// The parameters of a list.
fn split(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut all) = (0usize, 0, Vec::new());
    for (at, letter) in list.char_indices() {
        match letter {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                all.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    all.push(&list[start..]);
    all
}

/// A type with what stands behind it; that of a function or of an array stands inside.
fn with(of: &str, behind: &str) -> String {
    // A reference to a reference is one; to what can be changed, if either is.
    if behind.ends_with('&') && of.ends_with('&') {
        let is_moved = behind.ends_with("&&") && of.ends_with("&&");
        return format!("{}{}", of.trim_end_matches('&'), if is_moved { "&&" } else { "&" });
    }
    if let Some((before, after)) = of.split_once("(*)") {
        return format!("{before}(*{}){after}", behind.trim_start());
    }
    match of.strip_suffix(']').and_then(|open| open.rfind('[')) {
        Some(at) => format!("{} ({}) {}", of[..at].trim_end(), behind.trim_start(), &of[at..]),
        None => format!("{of}{behind}"),
    }
}

#[cfg(test)]
mod tests {
    use crate::demangle;

    /// `&&` stood behind the last alone.
    #[test]
    fn all_parameters_of_a_pack_are_of_its_kind() {
        for (symbol, expected) in [
            ("_Z3allIJiiEEvDpOT_", "void all<int, int>(int&&, int&&)"),
            ("_Z3allIJEEvDpOT_", "void all<>()"),
            ("_Z3allIJEEvPKcDpOT_", "void all<>(char const*)"),
            ("_Z3allIJEEvDpOT_i", "void all<>(int)"),
            ("_Z3allIJiRcEEvDpOT_", "void all<int, char&>(int&&, char&)"),
            ("_Z3allIJRciEEvDpOT_", "void all<char&, int>(char&, int&&)"),
            ("_Z3allIJiiEEvDpRKT_", "void all<int, int>(int const&, int const&)"),
            (
                "_Z3allIcJSt4pairIiiEiEEvT_DpOT0_",
                "void all<char, std::pair<int, int>, int>(char, std::pair<int, int>&&, int&&)",
            ),
            ("_Z3allIJPFvvEiEEvDpOT_", "void all<void (*)(), int>(void (*&&)(), int&&)"),
            ("_Z3allIJA3_iiEEvDpOT_", "void all<int [3], int>(int (&&) [3], int&&)"),
            ("_Z3allIJiiEEvDpT_", "void all<int, int>(int, int)"),
            ("_ZN4PackIJEE3mixIJiiEEEvDpOT_", "void Pack<>::mix<int, int>(int&&, int&&)"),
            ("_ZZ3allIJiiEEvDpOT_ENKUlvE_clEv", "void all<int, int>(int&&, int&&)::{lambda()#1}::operator()() const"),
        ] {
            assert_eq!(demangle(symbol).as_deref().unwrap_or(symbol), expected);
        }
    }

    #[test]
    fn packs_of_none_leave_no_comma() {
        for (symbol, expected) in [
            ("_ZN2AmI6ModuleJEE3runEv", "Am<Module>::run()"),
            ("_Z3getILm0EPK1FJEERT0_", "F const*& get<0ul, F const*>()"),
            ("_Z3twoIJEJEiJEEvT1_", "void two<int>(int)"),
            ("_ZN1ScmIiEEvT_", "void S::operator,<int>(int)"),
        ] {
            assert_eq!(demangle(symbol).as_deref().unwrap_or(symbol), expected);
        }
    }
}
