//! Names of C++ functions as people call them: without parameters, and without what templates were instantiated with.
//!
//! | demangled | short |
//! |---|---|
//! | `void std::sort<int*, Less>(int*, int*, Less)` | `std::sort‹…›` |
//! | `std::__cxx11::basic_string<char, …>::find(char, unsigned long) const` | `std::string::find` |
//! | `Token::match(Token const*, char const*, int)` | `Token::match` |
//! | `run()::{lambda(int)#2}::operator()(int) const` | `run::{lambda#2}::operator()` |
//!
//! Functions that would have one name are told apart by what differs between them, and by all that there is where less does
//! not tell.

mod apart;
mod written;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use apart::tell_apart;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use rustc_hash::FxHashMap;
use written::{Kept, Written};

/// The short name of each of these, which are demangled.
pub fn short_names<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, String> {
    let names: BTreeSet<&str> = names.collect();
    let reduced: Vec<(&str, Cow<str>)> = names.into_par_iter().map(|name| (name, short_name(name))).collect();
    let mut alike: FxHashMap<Cow<str>, Vec<&str>> = FxHashMap::default();
    for (name, reduced) in reduced {
        alike.entry(reduced).or_default().push(name);
    }
    let told = alike.into_par_iter().flat_map_iter(|(reduced, alike)| match alike[..] {
        [name] => vec![(name, reduced.into_owned())],
        _ => tell_apart(&alike),
    });
    let mut short: BTreeMap<&str, String> = told.collect();
    // What tells the functions of one name apart may be another's name.
    let mut taken: FxHashMap<String, u32> = FxHashMap::default();
    short.values().for_each(|name| *taken.entry(name.clone()).or_default() += 1);
    for (whole, name) in short.iter_mut().filter(|(_, name)| taken[*name] > 1) {
        *name = (*whole).to_owned();
    }
    short
}

/// The short name of a function that need not be told from others.
pub fn short_name(name: &str) -> Cow<'_, str> {
    // Most names of C have nothing to lose.
    if !name.contains(['(', '<', ' ', '[']) {
        return Cow::Borrowed(name);
    }
    Written::of(name, Kept::LEAST).map_or(Cow::Borrowed(name), |written| Cow::Owned(written.without_parameters()))
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
            ("ns::operator\"\" _km(unsigned long long)", "ns::operator\"\" _km"),
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
        assert_eq!(shown, ["f(int)", "f(A‹…›)", "g", "h<int>", "h<long>", "thunk to k()", "k()"]);
    }

    #[test]
    fn what_differs_is_told_and_no_more() {
        let list = |of: &str| format!("std::__cxx11::list<{of}, std::allocator<{of} > >");
        let string = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";
        let pair = format!("std::pair<Token const*, {string} >");
        let copied = |of: &str| format!("{0}::list({0} const&)", list(of));
        let visit = |number: u32| {
            format!(
                "void visit<Check::run()::{{lambda(Token const*)#{number}}}>(Token const*, Check::run()::{{lambda(Token const*)#{number}}} const&)"
            )
        };
        let construct = |of: &str| format!("void {string}::_M_construct<{of}>({of}, {of}, std::forward_iterator_tag)");
        for (names, expected) in [
            ([copied(&pair), copied("Value")], ["std::list<std::pair‹…›>::list", "std::list<Value>::list"]),
            (
                [copied(&pair), copied("std::pair<Token const*, Value>")],
                [
                    "std::list<std::pair<Token const*, std::string>>::list",
                    "std::list<std::pair<Token const*, Value>>::list",
                ],
            ),
            (
                [visit(1), visit(2)],
                ["visit‹…›(…, Check::run::{lambda#1} const&)", "visit‹…›(…, Check::run::{lambda#2} const&)"],
            ),
            (
                [construct("char*"), construct("char const*")],
                ["std::string::_M_construct‹…›(char*, …)", "std::string::_M_construct‹…›(char const*, …)"],
            ),
            (["Token::next()".into(), "Token::next() const".into()], ["Token::next()", "Token::next() const"]),
            (
                ["f(Settings const*, Token const*, int)".into(), "f(Settings const*, Token const*, int) const".into()],
                ["f(…)", "f(…) const"],
            ),
        ] {
            let short = short_names(names.iter().map(String::as_str));
            assert_eq!([&short[names[0].as_str()], &short[names[1].as_str()]], expected);
        }
    }

    proptest! {
        #[test]
        fn no_name_is_too_strange(name in "[a-z:<>(){}\\[\\]&~*-> ]{0,40}|operator[<>()-]{0,4}[a-z<>()]{0,9}") {
            let short = short_names([name.as_str()].into_iter());
            prop_assert_eq!(short.len(), 1);
            prop_assert!(name.is_empty() || !short[name.as_str()].is_empty());
        }

        #[test]
        fn no_two_become_one(names in proptest::collection::btree_set("(a|b<(int|A<int>|A<B<int>, C>)>)(::(c|d))?\\((int|A<int>|A<B<int>, C>)?(, (int|A<D>))?\\)( const)?", 1..40)) {
            let short = short_names(names.iter().map(String::as_str));
            let different: BTreeSet<&String> = short.values().collect();
            prop_assert_eq!(different.len(), names.len());
        }
    }
}
