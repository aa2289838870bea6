//! Function names as people write them: exact, or with `*` and `?`.
//!
//! Recorder and analyzer must agree on which functions `eval_*` or `Widget::draw` means, so the rule stands here.

/// Whether a name matches a pattern, in which `*` stands for any run of characters and `?` for one.
pub fn glob(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    let mut retry = None; // behind the latest star, and the place in the name that it has reached
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                p += 1;
                retry = Some((p, n));
            }
            Some(&c) if c == b'?' || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match retry {
                Some((after_star, reached)) => {
                    p = after_star;
                    n = reached + 1;
                    retry = Some((after_star, n));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == b'*')
}

/// Whether a pattern names the function with this demangled name, with or without its parameters, and the return type
/// and arguments that demangled templates have: `ns::Widget::draw` names `ns::Widget::draw(int) const`, and `ns::twice`
/// names `int ns::twice<int>(int)`; and with or without the tags of what a function returns, `[abi:cxx11]`.
pub fn matches_demangled(pattern: &str, demangled: &str) -> bool {
    let typed = without_parameters(demangled);
    let name = without_return_type(typed);
    glob(pattern, demangled)
        || glob(pattern, without_return_type(demangled))
        || glob(pattern, typed)
        || glob(pattern, name)
        || glob(pattern, without_arguments(name))
        || name.contains(TAG)
            && (glob(pattern, without_tags(name)) || glob(pattern, without_tags(without_arguments(name))))
}

/// How a tag begins; it goes on to the next `]`.
const TAG: &str = "[abi:";

/// A name without the tags at its end.
fn without_tags(name: &str) -> &str {
    let mut rest = name;
    while let Some(at) =
        rest.strip_suffix(']').and_then(|head| head.rfind('[')).filter(|&at| rest[at..].starts_with(TAG))
    {
        rest = &rest[..at];
    }
    rest
}

/// A demangled name without the return type in front, which only templates have.
fn without_return_type(demangled: &str) -> &str {
    let mut depth = 0usize;
    let mut start = 0;
    for (at, c) in demangled.bytes().enumerate() {
        let before = &demangled[start..at];
        match c {
            b'(' if depth == 0 && !before.is_empty() => break, // the parameters
            b'<' | b'(' if !before.ends_with("operator") && !before.ends_with("operator<") => depth += 1,
            b'>' | b')' if !before.ends_with("operator") && !before.ends_with("operator-") => {
                depth = depth.saturating_sub(1);
            }
            b' ' if depth == 0 && !before.ends_with("operator") && !before.ends_with("operator\"\"") => start = at + 1,
            _ => {}
        }
    }
    &demangled[start..]
}

/// A name without the template arguments at its end.
fn without_arguments(name: &str) -> &str {
    if !name.ends_with('>') || name.ends_with("operator>") || name.ends_with("operator->") {
        return name;
    }
    let mut depth = 0usize;
    for (at, c) in name.bytes().enumerate().rev() {
        match c {
            b'>' => depth += 1,
            b'<' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return &name[..at];
        }
    }
    name
}

/// A demangled C++ name without its parameter list and what follows.
pub fn without_parameters(demangled: &str) -> &str {
    // The list opens at the last bracket on the outermost level that is not `operator()` or `(anonymous namespace)`.
    // What is between braces is a name: `f()::{lambda(int)#1}`.
    let bytes = demangled.as_bytes();
    let (mut depth, mut closed) = (0usize, bytes.len());
    let mut at = bytes.len();
    while at > 0 {
        at -= 1;
        match bytes[at] {
            b')' | b'}' => {
                if depth == 0 {
                    closed = at;
                }
                depth += 1;
            }
            b'{' => depth = depth.saturating_sub(1),
            b'(' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    let head = &demangled[..at];
                    let inside_a_name = demangled[closed..].starts_with(")::");
                    if inside_a_name || head.is_empty() || head.ends_with("operator") {
                        return demangled;
                    }
                    return head;
                }
            }
            _ => {}
        }
    }
    demangled
}

/// The patterns of a comma-separated list. Commas inside brackets belong to the pattern: `f(int, int)`.
pub fn split(list: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(list);
    core::iter::from_fn(move || {
        let text = rest?;
        let mut depth = 0usize;
        let end = text.bytes().enumerate().position(|(at, c)| {
            // (What these bytes are in front of, is a letter's beginning.)
            if matches!(c, b',' | b'<' | b'>') && is_of_operator(&text[..at], c) {
                return false;
            }
            match c {
                b'(' | b'<' => depth += 1,
                b')' | b'>' => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == b',' && depth == 0
        });
        rest = end.map(|end| &text[end + 1..]);
        Some(end.map_or(text, |end| &text[..end]).trim())
    })
    .filter(|pattern| !pattern.is_empty())
}

/// Whether a character is a part of an operator's name, whose keyword stands before: `operator,`, `operator<<`, `operator->`. (In `operator()`
/// brackets are paired.)
fn is_of_operator(before: &str, c: u8) -> bool {
    let symbol = before.trim_end_matches(['<', '>', '-']);
    let Some(head) = symbol.strip_suffix("operator") else { return false };
    let is_word = !head.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let is_first = symbol.len() == before.len();
    is_word
        && (is_first && matches!(c, b',' | b'<' | b'>')
            || matches!((&before[symbol.len()..], c), ("<", b'<') | (">" | "-", b'>')))
}

/// What demangled names say in words, and mangled ones do not: of lambdas, of what has no name, of ABI tags and copies.
const ONLY_DEMANGLED: [&str; 9] =
    ["lambda", "unnamed", "type", "anonymous", "namespace", "default", "arg", "abi", "clone"];

/// The longest run of identifier characters that the mangled form of every name matched by the pattern must contain.
///
/// Demangling a large program's symbols takes far longer than looking for a few bytes in each.
pub fn mangled_hint(pattern: &str) -> &str {
    let name = pattern.find('(').map_or(pattern, |end| &pattern[..end]);
    let last = name.rfind("::").map_or(name, |at| &name[at + 2..]);
    if last.contains("operator") || last.starts_with('~') || last.contains(['<', '{']) {
        return "";
    }
    if let Some(scope) = name.strip_suffix(last).and_then(|head| head.strip_suffix("::")) {
        let class = scope.rfind("::").map_or(scope, |at| &scope[at + 2..]);
        if class.split('<').next() == Some(last) {
            return ""; // a constructor is mangled without its name
        }
    }
    let runs = last.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let hint = runs.max_by_key(|run| run.len()).unwrap_or("");
    if ONLY_DEMANGLED.iter().any(|word| word.contains(hint)) { "" } else { hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        for (pattern, name, expected) in [
            ("eval_windowaggregates", "eval_windowaggregates", true),
            ("eval_windowaggregates", "eval_windowaggregate", false),
            ("eval_*", "eval_windowaggregates", true),
            ("*aggregates", "eval_windowaggregates", true),
            ("*a*a*s", "eval_windowaggregates", true),
            ("e?al*", "eval", true),
            ("*", "", true),
            ("?", "", false),
            ("", "", true),
            ("a*b", "ab", true),
            ("a*b", "abc", false),
        ] {
            assert_eq!(glob(pattern, name), expected, "{pattern} on {name}");
        }
    }

    #[test]
    fn cxx_names_match_with_or_without_their_parameters() {
        for (pattern, name, expected) in [
            ("ns::Widget::draw", "ns::Widget::draw(int) const", true),
            ("ns::Widget::draw(int) const", "ns::Widget::draw(int) const", true),
            ("ns::Widget::draw(long)", "ns::Widget::draw(int) const", false),
            ("operator\"\" _km", "operator\"\" _km(unsigned long long)", true),
            ("ns::operator\"\" _km", "int ns::operator\"\" _km<char>()", true),
            ("Fix<3ul>::put", "Fix<3ul>::put(int)", true),
            ("*::draw", "ns::Widget::draw(void (*)(int))", true),
            ("(anonymous namespace)::f", "(anonymous namespace)::f(int)", true),
            ("Call::operator()", "Call::operator()(int) const", true),
            ("main", "main", true),
            ("ns::twice", "int ns::twice<int>(int)", true),
            ("ns::twice*", "int ns::twice<int>(int)", true),
            ("ns::twice<int>", "int ns::twice<int>(int)", true),
            ("ns::twice<int>(int)", "int ns::twice<int>(int)", true),
            ("int", "int ns::twice<int>(int)", false),
            ("get", "std::map<int, char> get<int, char>(std::pair<int, char> const&)", true),
            ("A::operator->", "A::operator->()", true),
            ("ns::V<int, 3>::at", "ns::V<int, 3>::at(unsigned long)", true),
            ("ns::f", "unsigned long ns::f<char>(char)", true),
            ("n::R::create", "n::R::create[abi:cxx11](int)", true),
            ("n::R::create[abi:cxx11]", "n::R::create[abi:cxx11](int)", true),
            ("n::R::create(int)", "n::R::create[abi:cxx11](int)", false), // one tag is not like another
            ("make", "std::string make[abi:cxx11][abi:v2]<int>(int)", true),
            ("T<1>::call", "void T<1>::call<turn()::{lambda()#1}>(turn()::{lambda()#1})", true),
            ("T<1>::call<*>", "void T<1>::call<turn()::{lambda()#1}>(turn()::{lambda()#1})", true),
            ("T<1>", "void T<1>::call<turn()::{lambda()#1}>(turn()::{lambda()#1})", false),
            ("turn()::{lambda()#3}::operator()", "turn()::{lambda()#3}::operator()() const", true),
            ("turn(int)::{lambda(int)#1}::operator()", "turn(int)::{lambda(int)#1}::operator()<int>(int)", true),
            ("turn()::{lambda()#1}", "turn()::{lambda()#1}", true),
            ("turn", "turn()::{lambda()#1}", false),
            ("S::operator,", "S::operator,(S const&)", true),
            ("R::operator[]", "R::operator[](int)", true),
            ("R::operator", "R::operator[](int)", false),
        ] {
            assert_eq!(matches_demangled(pattern, name), expected, "{pattern} on {name}");
        }
    }

    #[test]
    fn lists_keep_the_commas_of_parameters() {
        let mut list = split("main, f(int, int),,g<a,b>::h ,*");
        for expected in ["main", "f(int, int)", "g<a,b>::h", "*"] {
            assert_eq!(list.next(), Some(expected));
        }
        assert_eq!(list.next(), None);
        let mut operators = split(
            "S::operator,,operator,(S const&, int),S::operator<<,S::operator->,operator<,co_operator,S::operator()",
        );
        for expected in [
            "S::operator,",
            "operator,(S const&, int)",
            "S::operator<<",
            "S::operator->",
            "operator<",
            "co_operator",
            "S::operator()",
        ] {
            assert_eq!(operators.next(), Some(expected));
        }
        assert!(split("ä<é,ü>,ö").eq(["ä<é,ü>", "ö"]));
        assert!(split("f<operator, g>,h").eq(["f<operator, g>", "h"]));
    }

    #[test]
    fn the_hint_is_part_of_the_mangled_name_or_empty() {
        for (pattern, mangled) in [
            ("ns::Widget::draw", "_ZNK2ns6Widget4drawEi"),
            ("*::dr*w(int)", "_ZNK2ns6Widget4drawEi"),
            ("ns::Widget::Widget", "_ZN2ns6WidgetC1Ev"),
            ("~Widget", "_ZN2ns6WidgetD1Ev"),
            ("Call::operator()", "_ZN4CallclEi"),
            ("main::{lambda(*)#1}::operator()*", "_ZZ4mainENKUliE_clEi"),
            ("*lambda*", "_ZZ4mainENKUliE_clEi"),
            ("*anonymous*", "_ZN12_GLOBAL__N_16hiddenEv"),
        ] {
            assert!(mangled.contains(mangled_hint(pattern)), "{pattern}: {:?}", mangled_hint(pattern));
        }
        assert_eq!(mangled_hint("ns::Widget::draw"), "draw");
    }
}
