//! A demangled name, read from left to right and written without what is not kept of it.

/// How much of template arguments is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Levels of arguments inside arguments.
    levels: u32,
    /// Of a list that is longer than people read, how many.
    most: usize,
    /// Parameters of lambdas.
    lambdas: bool,
}

impl Kept {
    /// None of them.
    pub const LEAST: Self = Self { levels: 0, most: 0, lambdas: false };

    /// All.
    pub const ALL: Self = Self { levels: u32::MAX, most: usize::MAX, lambdas: true };

    /// So many levels of them, and of each list so many.
    pub const fn levels(levels: u32, most: usize) -> Self {
        Self { levels, most, lambdas: false }
    }

    fn inside(self) -> Self {
        Self { levels: self.levels.saturating_sub(1), ..self }
    }
}

/// A list of parameters or arguments that is not longer than this is read at a glance.
pub const GLANCE: usize = 28;

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
    "\"\" ",
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

/// Arguments that nobody writes: the library's own choice where nobody has chosen.
const USUAL: [&str; 6] =
    ["std::allocator<", "std::char_traits<", "std::less<", "std::hash<", "std::equal_to<", "std::default_delete<"];

/// A name, without what is not kept of it.
#[derive(Debug, Default)]
pub struct Written<'a> {
    /// All before the parameters.
    name: String,
    /// The parameters, between their brackets, if it has any list of them.
    parameters: Option<&'a str>,
    /// `const`, `&` and the like.
    pub qualifiers: &'a str,
    /// Which copy it is, if the compiler has made any.
    copy: &'a str,
}

impl<'a> Written<'a> {
    /// Reads a name; none if it is none of C++.
    pub fn of(name: &'a str, kept: Kept) -> Option<Self> {
        // Rust's `<T as Trait>::f` is as short as it gets.
        if name.starts_with('<') {
            return None;
        }
        let mut reader = Reader { rest: name, kept, out: Written::default() };
        reader.name();
        (!reader.out.name.is_empty()).then_some(reader.out)
    }

    /// The name alone.
    pub fn without_parameters(self) -> String {
        self.name + self.copy
    }

    /// The name with these parameters.
    pub fn with(&self, parameters: &str, qualifiers: &str) -> String {
        match self.parameters {
            Some(_) => format!("{}({parameters}){qualifiers}{}", self.name, self.copy),
            None => format!("{}{}", self.name, self.copy), // a function of C
        }
    }

    /// Each parameter.
    pub fn parameters(&self, kept: Kept) -> Vec<String> {
        self.parameters.map(|list| each(list).map(|one| types(one.trim(), kept)).collect()).unwrap_or_default()
    }
}

struct Reader<'a> {
    rest: &'a str,
    kept: Kept,
    out: Written<'a>,
}

impl<'a> Reader<'a> {
    fn name(&mut self) {
        while let Some(first) = self.rest.chars().next() {
            match first {
                'o' if self.is_at_a_word() && self.operator() => {}
                '(' if self.take("(anonymous namespace)") => self.out.name.push_str("(anonymous)"),
                '(' if self.out.name == "decltype" => {
                    self.group();
                    self.out.name.clear();
                }
                '(' => {
                    let parameters = self.group();
                    // What is in a function goes on, as do copies of one.
                    match self.rest.trim_start_matches(" const") {
                        rest if rest.starts_with("::") => self.rest = rest,
                        _ => {
                            let copy = self.rest.find(" [clone ").unwrap_or(self.rest.len());
                            let (qualifiers, copy) = self.rest.split_at(copy);
                            (self.out.qualifiers, self.out.copy) = (qualifiers, copy);
                            self.out.parameters = Some(inside(parameters));
                            return;
                        }
                    }
                }
                '{' => {
                    let group = self.group();
                    self.out.name.push_str(&braced(group, self.kept));
                }
                '<' => {
                    let group = self.group();
                    arguments(&mut self.out.name, group, self.kept);
                }
                '[' => drop(self.group()), // [abi:cxx11]
                ' ' if self.out.name == "decltype" => self.skip(' '),
                // What comes before the name is what the function returns: a template's says so.
                ' ' => {
                    self.skip(' ');
                    self.out.name.clear();
                }
                _ => {
                    self.skip(first);
                    push(&mut self.out.name, first);
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
        !self.out.name.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_')
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
        self.out.name.extend(["operator", &which]);
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
        return out.push_str("string");
    }
    if kept.levels == 0 {
        return out.push_str(ARGUMENTS);
    }
    let all: Vec<&str> = each(inside(group)).map(str::trim).filter(|argument| !argument.is_empty()).collect();
    let is_usual = |argument: &&str| kept != Kept::ALL && USUAL.iter().any(|usual| argument.starts_with(usual));
    let chosen = all.len() - all.iter().skip(1).rev().take_while(|argument| is_usual(argument)).count();
    let written: Vec<String> = all[..chosen].iter().map(|argument| types(argument, kept.inside())).collect();
    let list = written.join(", ");
    if list.chars().count() <= GLANCE || written.len() <= kept.most {
        out.extend(["<", &list, ">"]);
    } else {
        out.extend(["<", &written[..kept.most].join(", "), ", …>"]);
    }
}

/// A lambda, or another thing that has no name.
fn braced(group: &str, kept: Kept) -> String {
    let lambda = group.strip_prefix("{lambda(").filter(|_| !kept.lambdas);
    match lambda.and_then(|_| group.rfind('#')) {
        Some(number) => format!("{{lambda{}", &group[number..]),
        None => types(group, kept),
    }
}

/// Types, without what is not kept of them.
fn types(text: &str, kept: Kept) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while !rest.is_empty() {
        let (plain, from) = rest.split_at(rest.find(['<', '(', '{', ':']).unwrap_or(rest.len()));
        out.push_str(plain);
        let Some(first) = from.chars().next() else { break };
        let (group, after) = from.split_at(if first == ':' { first.len_utf8() } else { end_of_group(from) });
        rest = after;
        match first {
            '<' if !is_operator(&out) => arguments(&mut out, group, kept),
            '(' if group == "(anonymous namespace)" => out.push_str("(anonymous)"),
            // What is in a function is named by the function's name.
            '(' if kept != Kept::ALL && after.trim_start_matches(" const").starts_with("::") => {
                rest = after.trim_start_matches(" const");
            }
            '{' if group.len() < text.len() => out.push_str(&braced(group, kept)),
            _ => {
                push(&mut out, first);
                rest = &from[first.len_utf8()..];
            }
        }
    }
    out
}

/// Whether what comes next belongs to an operator's name.
fn is_operator(before: &str) -> bool {
    before.ends_with("operator") || before.ends_with("operator<") || before.ends_with('-')
}

/// What is between two brackets.
fn inside(group: &str) -> &str {
    group.get(1..group.len() - 1).unwrap_or_default()
}

/// The parts of a list that commas separate.
fn each(list: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(list).filter(|list| !list.is_empty());
    std::iter::from_fn(move || {
        let text = rest?;
        let end = end_of_part(text);
        rest = text.get(end + 1..);
        Some(&text[..end])
    })
}

/// Where the first comma is that is in no brackets.
fn end_of_part(text: &str) -> usize {
    let mut at = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        at += match byte {
            b',' => return at,
            b'<' | b'(' | b'{' | b'[' => end_of_group(&text[at..]),
            _ => 1,
        };
    }
    text.len()
}

/// Where the bracket that a text begins with is closed.
fn end_of_group(text: &str) -> usize {
    // Which of the open brackets are `<`, the innermost last: no name has as many as are remembered.
    let (mut depth, mut angles) = (0u32, 0u128);
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let is_angle = depth > 0 && angles & 1 == 1;
        match bytes[at] {
            b'-' if bytes.get(at + 1) == Some(&b'>') => at += 1,
            // Between other brackets these compare.
            b'<' if depth == 0 || is_angle => (depth, angles) = (depth + 1, angles << 1 | 1),
            b'>' if is_angle => (depth, angles) = (depth - 1, angles >> 1),
            b'(' | b'{' | b'[' => (depth, angles) = (depth + 1, angles << 1),
            b')' | b'}' | b']' if !is_angle => (depth, angles) = (depth.saturating_sub(1), angles >> 1),
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return at;
        }
    }
    bytes.len()
}
