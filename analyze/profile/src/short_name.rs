//! Names of C++ functions as people call them: without parameters, and without what templates were instantiated with.
//!
//! | demangled | short |
//! |---|---|
//! | `void std::sort<int*, Less>(int*, int*, Less)` | `std::sort‹…›` |
//! | `std::__cxx11::basic_string<char, …>::find(char, unsigned long) const` | `std::string::find` |
//! | `Token::match(Token const*, char const*, int)` | `Token::match` |
//! | `run()::{lambda(int)#2}::operator()(int) const` | `run::{lambda#2}::operator()` |
//!
//! Functions that would have one name are told apart, by their parameters if those do, else by all that there is.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// What a name is made of that is longer than people say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kept {
    parameters: bool,
    arguments: bool,
}

/// From the shortest to the whole.
const STEPS: [Kept; 3] = [
    Kept { parameters: false, arguments: false },
    Kept { parameters: true, arguments: false },
    Kept { parameters: true, arguments: true },
];

/// What stands for template arguments.
const ARGUMENTS: &str = "‹…›";

/// Operators, of which a longer one comes before one that it begins with.
const OPERATORS: [&str; 45] = [
    " new[]",
    " delete[]",
    " new",
    " delete",
    " co_await",
    "()",
    "[]",
    "->*",
    "<=>",
    "<<=",
    ">>=",
    "->",
    "<<",
    ">>",
    "<=",
    ">=",
    "==",
    "!=",
    "&&",
    "||",
    "++",
    "--",
    "+=",
    "-=",
    "*=",
    "/=",
    "%=",
    "^=",
    "&=",
    "|=",
    "\"\"",
    ",",
    "<",
    ">",
    "+",
    "-",
    "*",
    "/",
    "%",
    "^",
    "&",
    "|",
    "~",
    "!",
    "=",
];

/// The short name of each of these, which are demangled.
pub fn short_names<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, String> {
    let mut names: BTreeSet<&str> = names.collect();
    let mut short = BTreeMap::new();
    for step in STEPS {
        let mut alike: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for name in std::mem::take(&mut names) {
            alike.entry(reduced(name, step).into_owned()).or_default().push(name);
        }
        for (reduced, alike) in alike {
            match alike[..] {
                [name] => drop(short.insert(name, reduced)),
                _ => names.extend(alike),
            }
        }
    }
    short.extend(names.into_iter().map(|name| (name, name.to_owned())));
    short
}

/// The short name of a function that need not be told from others.
pub fn short_name(name: &str) -> Cow<'_, str> {
    reduced(name, STEPS[0])
}

/// A name without what is not kept.
fn reduced(name: &str, kept: Kept) -> Cow<'_, str> {
    // Rust's `<T as Trait>::f` is as short as it gets, and most names of C have nothing to lose.
    if name.starts_with('<') || !name.contains(['(', '<', ' ', '[']) {
        return Cow::Borrowed(name);
    }
    let mut scanner = Scanner { rest: name, kept, out: String::with_capacity(name.len()) };
    scanner.name();
    if scanner.out.is_empty() { Cow::Borrowed(name) } else { Cow::Owned(scanner.out) }
}

/// Reads a demangled name from left to right.
struct Scanner<'a> {
    rest: &'a str,
    kept: Kept,
    out: String,
}

impl<'a> Scanner<'a> {
    fn name(&mut self) {
        while let Some(first) = self.rest.chars().next() {
            match first {
                'o' if self.is_at_a_word() && self.operator() => {}
                '(' if self.take("(anonymous namespace)") => self.out.push_str("(anonymous)"),
                '(' if self.out == "decltype" => {
                    self.group();
                    self.out.clear();
                }
                '(' => {
                    let parameters = self.group();
                    if self.kept.parameters {
                        let types = types(parameters, self.kept);
                        self.out.push_str(&types);
                    }
                    // ` const`, `&&` and the like make no other name. What is in a function goes on, as do copies of one.
                    match self.rest.trim_start_matches(" const") {
                        rest if rest.starts_with("::") => self.rest = rest,
                        rest => {
                            let copy = rest.find(" [clone ").map_or("", |at| &rest[at..]);
                            return self.out.push_str(copy);
                        }
                    }
                }
                '{' => {
                    let group = self.group();
                    let lambda = group.strip_prefix("{lambda(").filter(|_| !self.kept.parameters);
                    match lambda.and_then(|_| group.rfind('#')) {
                        Some(number) => self.out.extend(["{lambda", &group[number..]]),
                        None => self.out.push_str(&types(group, self.kept)),
                    }
                }
                '<' => {
                    let group = self.group();
                    arguments(&mut self.out, group, self.kept);
                }
                '[' => drop(self.group()), // [abi:cxx11]
                ' ' if self.out == "decltype" => self.skip(' '),
                // What comes before the name is what the function returns: a template's says so.
                ' ' => {
                    self.skip(' ');
                    self.out.clear();
                }
                _ => {
                    self.skip(first);
                    push(&mut self.out, first);
                }
            }
        }
    }

    fn skip(&mut self, letter: char) {
        self.rest = &self.rest[letter.len_utf8()..];
    }

    fn take(&mut self, text: &str) -> bool {
        self.rest.strip_prefix(text).map(|rest| self.rest = rest).is_some()
    }

    fn is_at_a_word(&self) -> bool {
        !self.out.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_')
    }

    /// `operator` and which it is.
    fn operator(&mut self) -> bool {
        let Some(rest) = self.rest.strip_prefix("operator") else { return false };
        let (end, which) = match OPERATORS.iter().find(|operator| rest.starts_with(**operator)) {
            Some(operator) => (operator.len(), (*operator).to_owned()),
            // A conversion: its type, up to its parameters, of which it has none.
            None if rest.starts_with(' ') => {
                let end = rest.rfind("()").unwrap_or(rest.len());
                (end, types(&rest[..end], self.kept))
            }
            None => return false, // of a name that only begins so
        };
        self.out.extend(["operator", &which]);
        let rest = &rest[end..];
        self.rest = rest.strip_prefix(' ').filter(|rest| rest.starts_with('<')).unwrap_or(rest); // `operator< <int>`
        true
    }

    /// What is between a bracket and its other half, with both.
    fn group(&mut self) -> &'a str {
        let (group, rest) = self.rest.split_at(end_of_group(self.rest));
        self.rest = rest;
        group
    }
}

/// Adds a letter; the namespace of one version of the library's names is none that people say.
fn push(out: &mut String, letter: char) {
    const VERSION: &str = "__cxx11::";
    out.push(letter);
    if letter == ':' && out.ends_with(VERSION) && out[..out.len() - VERSION.len()].ends_with("std::") {
        out.truncate(out.len() - VERSION.len());
    }
}

/// Adds the arguments of a template, whose name is there already.
fn arguments(out: &mut String, group: &str, kept: Kept) {
    if out.ends_with("std::basic_string") && (group.starts_with("<char,") || group.starts_with("<char>")) {
        out.truncate(out.len() - "basic_string".len());
        out.push_str("string");
    } else if kept.arguments {
        let inside = group.get(1..group.len() - 1).unwrap_or_default();
        out.extend(["<", &types(inside, kept), ">"]);
    } else {
        out.push_str(ARGUMENTS);
    }
}

/// Types, without what is not kept of them.
fn types(text: &str, kept: Kept) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(first) = rest.chars().next() {
        let is_operator = out.ends_with("operator") || out.ends_with("operator<") || out.ends_with('-');
        match first {
            '<' if !is_operator => {
                let (group, after) = rest.split_at(end_of_group(rest));
                arguments(&mut out, group, kept);
                rest = after;
            }
            _ => {
                push(&mut out, first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    out
}

/// Where the bracket that a text begins with is closed.
fn end_of_group(text: &str) -> usize {
    let mut open: Vec<u8> = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let is_angle = open.last() == Some(&b'<');
        match bytes[at] {
            b'-' if bytes.get(at + 1) == Some(&b'>') => at += 1,
            // Between other brackets these compare.
            b'<' if open.is_empty() || is_angle => open.push(b'<'),
            b'>' if is_angle => drop(open.pop()),
            bracket @ (b'(' | b'{' | b'[') => open.push(bracket),
            b')' | b'}' | b']' if !is_angle => drop(open.pop()),
            _ => {}
        }
        at += 1;
        if open.is_empty() {
            return at;
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_as_people_call_them() {
        for (name, expected) in [
            ("main", "main"),
            ("Token::match(Token const*, char const*, int)", "Token::match"),
            ("ns::Widget::draw(int) const", "ns::Widget::draw"),
            ("void std::sort<int*, Less>(int*, int*, Less)", "std::sort‹…›"),
            ("std::vector<int, std::allocator<int> > f<3>(int)", "f‹…›"),
            (
                "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::find(char, unsigned long) const",
                "std::string::find",
            ),
            ("std::__cxx11::basic_string<wchar_t, T>::find(wchar_t)", "std::basic_string‹…›::find"),
            ("std::__cxx11::list<int>::clear()", "std::list‹…›::clear"),
            ("std::vector<int, std::allocator<int> >::operator[](unsigned long)", "std::vector‹…›::operator[]"),
            ("bool operator< <int>(A<int> const&, A<int> const&)", "operator<‹…›"),
            ("std::ostream& operator<<(std::ostream&, Token const&)", "operator<<"),
            ("Pointer<T>::operator->() const", "Pointer‹…›::operator->"),
            ("Functor::operator()(int) const", "Functor::operator()"),
            ("operator new(unsigned long)", "operator new"),
            ("operator delete[](void*)", "operator delete[]"),
            ("Value::operator bool() const", "Value::operator bool"),
            ("Value::operator std::vector<int> const&() const", "Value::operator std::vector‹…› const&"),
            ("operator_name(int)", "operator_name"),
            ("(anonymous namespace)::step(int)", "(anonymous)::step"),
            ("run(int)::{lambda(int, A<B>)#2}::operator()(int, A<B>) const", "run::{lambda#2}::operator()"),
            ("Outer::f() const::Local::g()", "Outer::f::Local::g"),
            ("f[abi:cxx11](int)", "f"),
            ("step(int) [clone .part.0]", "step [clone .part.0]"),
            ("std::enable_if<(1>2), int>::type g<int>(int)", "g‹…›"),
            ("decltype (a->b) h<int>(int)", "h‹…›"),
            ("A::~A()", "A::~A"),
            ("<alloc::vec::Vec<T> as Drop>::drop", "<alloc::vec::Vec<T> as Drop>::drop"),
        ] {
            assert_eq!(short_name(name), expected, "{name}");
        }
    }

    #[test]
    fn functions_of_one_short_name_are_told_apart() {
        let names = ["f(int)", "f(A<int>)", "g(int)", "h<int>(int)", "h<long>(int)", "thunk to k()", "k()"];
        let short = short_names(names.into_iter());
        let shown = names.map(|name| short[name].as_str());
        assert_eq!(shown, ["f(int)", "f(A‹…›)", "g", "h<int>(int)", "h<long>(int)", "thunk to k()", "k()"]);
    }

    proptest! {
        #[test]
        fn no_name_is_too_strange(name in "[a-z:<>(){}\\[\\]&~*-> ]{0,40}|operator[<>()-]{0,4}[a-z<>()]{0,9}") {
            let short = short_names([name.as_str()].into_iter());
            prop_assert_eq!(short.len(), 1);
            prop_assert!(name.is_empty() || !short[name.as_str()].is_empty());
        }
    }
}
