//! Tests that need something which not every machine has.
//!
//! ```text
//! #[needs(clang)]
//! #[test]
//! fn a_story() { … }
//! ```
//!
//! Where it is missing, `cargo test` says so: `test a_story ... ignored, needs clang (Debian: clang)`. Where `CI` is set,
//! whatever can be installed must be, or the tests are not even built. `build.rs` is the list of all that can be asked for,
//! and looks for it.

use proc_macro::{Delimiter, Group, Punct, Spacing, TokenStream, TokenTree};

/// Everything that can be asked for, one a line: its name, and after a tab why tests that need it are ignored, if they are.
const THINGS: &str = include_str!(concat!(env!("OUT_DIR"), "/things"));

/// Ignores a test where something that it names is missing. It stands above `#[test]`.
#[proc_macro_attribute]
pub fn needs(names: TokenStream, test: TokenStream) -> TokenStream {
    let (attributes, item) = split(test);
    if !attributes.iter().any(|attribute| is_called(attribute, "test")) {
        return error("`needs` stands above `#[test]`");
    }
    let mut reasons = Vec::new();
    for name in names.to_string().split(',').map(str::trim) {
        let mut things = THINGS.lines().filter_map(|line| line.split_once('\t'));
        match things.find(|(thing, _)| *thing == name) {
            Some((_, "")) => {}
            Some((_, reason)) => reasons.push(reason),
            None => return error(&format!("tests/needs/build.rs knows no `{name}`")),
        }
    }
    let mut result = TokenStream::new();
    if !reasons.is_empty() {
        let ignore = format!("ignore = {:?}", reasons.join("; "));
        result.extend(attribute(ignore.parse().expect("an attribute")));
    }
    // One reason is enough: a test that takes long and cannot be run cannot be run.
    let kept = attributes.into_iter().filter(|attribute| reasons.is_empty() || !is_called(attribute, "ignore"));
    kept.for_each(|one| result.extend(attribute(one.stream())));
    result.extend(item);
    result
}

/// The attributes of an item, and the rest of it.
fn split(item: TokenStream) -> (Vec<Group>, TokenStream) {
    let mut attributes = Vec::new();
    let mut tokens = item.into_iter().peekable();
    while matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == '#') {
        tokens.next();
        if let Some(TokenTree::Group(group)) = tokens.next() {
            attributes.push(group);
        }
    }
    (attributes, tokens.collect())
}

fn is_called(attribute: &Group, name: &str) -> bool {
    matches!(attribute.stream().into_iter().next(), Some(TokenTree::Ident(ident)) if ident.to_string() == name)
}

fn attribute(inside: TokenStream) -> [TokenTree; 2] {
    [Punct::new('#', Spacing::Alone).into(), Group::new(Delimiter::Bracket, inside).into()]
}

fn error(what: &str) -> TokenStream {
    format!("compile_error!({what:?});").parse().expect("a macro call")
}
