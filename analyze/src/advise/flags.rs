//! Functions as gcc's exclude lists name them.
//!
//! `-finstrument-functions-exclude-function-list` and `-exclude-file-list` take substrings: of the qualified name without
//! parameters, as gcc prints it in messages, and of the file's path, as it was given to the compiler. So each is looked for in
//! all other functions that were met. clang has no such lists.

use std::collections::{BTreeMap, BTreeSet};

use diytrace_format::pattern::without_parameters;
use diytrace_views::report::Function;
use serde::Serialize;

use super::Advised;

/// An option for gcc.
#[derive(Clone, Debug, Serialize)]
pub struct Flag {
    /// As it is written on a command line.
    pub option: String,
    /// What it leaves out beside what was meant: a part of a name, and the functions that were met with it in theirs.
    pub also: BTreeMap<String, Vec<String>>,
}

/// Options that leave functions out, and those that none can name.
pub fn flags(advised: &[Advised], met: &[Function]) -> (Vec<Flag>, Vec<String>) {
    let symbols: BTreeSet<&str> = advised.iter().map(|function| &*function.symbol).collect();
    let is_advised = |function: &&Function| function.symbol.as_deref().is_some_and(|symbol| symbols.contains(symbol));
    let stays: Vec<&Function> = met.iter().filter(|function| !is_advised(function)).collect();
    let files = whole_files(advised, &stays);
    let (mut names, mut unnamed) = (BTreeSet::new(), Vec::new());
    for function in
        advised.iter().filter(|function| !file_name(function.file.as_deref()).is_some_and(|file| files.contains(file)))
    {
        match name(&function.name) {
            Some(name) => drop(names.insert(name)),
            None => unnamed.push(function.name.clone()),
        }
    }
    let of_name = |part: &str| -> Vec<String> {
        let has = |function: &&&Function| without_parameters(&function.name).contains(part);
        named(stays.iter().filter(has))
    };
    let of_file = |part: &str| -> Vec<String> {
        let has = |function: &&&Function| function.file.as_deref().is_some_and(|file| file.contains(part));
        named(stays.iter().filter(has))
    };
    let flag = |list: &str, parts: Vec<String>, also: &dyn Fn(&str) -> Vec<String>| {
        let others = parts.iter().map(|part| (part.clone(), also(part))).filter(|(_, others)| !others.is_empty());
        let also = others.collect();
        (!parts.is_empty())
            .then(|| Flag { option: format!("-finstrument-functions-exclude-{list}-list={}", parts.join(",")), also })
    };
    let files = flag("file", files.into_iter().map(str::to_owned).collect(), &of_file);
    (files.into_iter().chain(flag("function", names.into_iter().collect(), &of_name)).collect(), unnamed)
}

/// Files of which all functions that were met go, and more than one.
fn whole_files<'a>(advised: &'a [Advised], stays: &[&Function]) -> BTreeSet<&'a str> {
    let mut files: BTreeMap<&str, u32> = BTreeMap::new();
    for file in advised.iter().filter_map(|function| file_name(function.file.as_deref())) {
        *files.entry(file).or_default() += 1;
    }
    files.retain(|file, functions| {
        *functions > 1
            && !file.contains(',')
            && !stays.iter().any(|other| file_name(other.file.as_deref()) == Some(file))
    });
    files.into_keys().collect()
}

fn file_name(path: Option<&str>) -> Option<&str> {
    path?.rsplit('/').next()
}

fn named<'a, 'b: 'a>(functions: impl Iterator<Item = &'a &'b Function>) -> Vec<String> {
    functions.map(|function| function.name.clone()).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The part of a name that gcc would find in its own: all without parameters; of templates and what has no name for gcc, the last
/// part, as arguments are printed otherwise there.
pub fn name(demangled: &str) -> Option<String> {
    let whole = demangled.split(" [clone").next()?;
    let name = without_parameters(whole).split("[abi:").next()?; // a part is enough
    let is_plain = |part: &str| !part.is_empty() && !part.contains(['<', '>', ',', ' ', '{', '(', '[']);
    let name =
        name.strip_suffix(|c: char| c.is_ascii_digit()).and_then(|name| name.strip_suffix('.')).map_or(name, plain_c);
    if is_plain(name) {
        return Some(name.to_owned());
    }
    if name.contains("operator") {
        return None;
    }
    let last = outside_brackets(name);
    is_plain(&last).then_some(last)
}

/// A name of C without what the compiler appends to copies of a function: `parse.constprop.0`.
fn plain_c(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// The last part of a qualified name, without template arguments and the return type in front of it.
fn outside_brackets(name: &str) -> String {
    let (mut depth, mut text) = (0usize, String::new());
    for c in name.chars() {
        match c {
            '<' | '(' | '{' => depth += 1,
            '>' | ')' | '}' => depth = depth.saturating_sub(1),
            c if depth == 0 => text.push(c),
            _ => {}
        }
    }
    let last = text.rsplit("::").next().unwrap_or_default();
    last.rsplit(' ').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_gcc_finds_them() {
        for (demangled, expected) in [
            ("next_word", Some("next_word")),
            ("parse.constprop.0", Some("parse")),
            ("Token::str[abi:cxx11]() const", Some("Token::str")),
            ("ns::Widget::draw(int, char) const", Some("ns::Widget::draw")),
            ("int ns::twice<int>(int)", Some("twice")),
            ("std::vector<int, std::allocator<int> >::push_back(int&&)", Some("push_back")),
            ("(anonymous namespace)::hidden(int)", Some("hidden")),
            ("ns::Widget::operator+(ns::Widget const&)", Some("ns::Widget::operator+")),
            ("bool std::operator==<char>(std::string const&, char const*)", None),
            ("main::{lambda(int)#1}::operator()(int) const", None),
        ] {
            assert_eq!(name(demangled).as_deref(), expected, "{demangled}");
        }
    }
}
