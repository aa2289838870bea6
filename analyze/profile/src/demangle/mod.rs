//! Names as people write them.

mod rewritten;

use std::borrow::Cow;

use rewritten::Rewritten;

use diytrace_format::pattern::{glob, mangled_hint, matches_demangled};

/// The demangled form of a C++ or Rust symbol, or `None` if the name is not mangled.
pub fn demangle(symbol: &str) -> Option<String> {
    if !symbol.starts_with('_') {
        return None; // most names in C programs
    }
    // A Rust name of the older kind is a valid C++ name, with a hash as its last part.
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        return Some(format!("{name:#}"));
    }
    if !is_cxx(symbol) {
        return None;
    }
    let demangled = |symbol: &str| cpp_demangle::Symbol::new(symbol).ok()?.demangle().ok();
    match Rewritten::of(symbol) {
        Some(rewritten) => demangled(&rewritten.symbol).map(|name| rewritten.restore(&name)),
        None => None,
    }
    .or_else(|| demangled(symbol))
}

/// The name to show for a symbol. An assembler takes any bytes for one: a terminal's commands, or what no XML may hold, are not passed on.
pub fn shown(symbol: &str) -> Cow<'_, str> {
    let name = demangle(symbol).map_or(Cow::Borrowed(symbol), Cow::Owned);
    if name.contains(char::is_control) { Cow::Owned(name.replace(char::is_control, "·")) } else { name }
}

/// Whether a pattern means the function of this symbol, as the recorder sees it.
pub fn is_named(pattern: &str, symbol: &str) -> bool {
    let may_be = || is_mangled(symbol) && symbol.contains(mangled_hint(pattern));
    glob(pattern, symbol) || may_be() && demangle(symbol).is_some_and(|name| matches_demangled(pattern, &name))
}

/// Whether a symbol is mangled at all: demangling is slow, this is not.
fn is_mangled(symbol: &str) -> bool {
    is_cxx(symbol) || symbol.starts_with("_R")
}

fn is_cxx(symbol: &str) -> bool {
    symbol.starts_with("_Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_people_write_them() {
        for (symbol, expected) in [
            ("main", None),
            ("_start", None),
            ("__cyg_profile_func_enter", None),
            ("_ZNK2ns6Widget4drawEi", Some("ns::Widget::draw(int) const")),
            ("_ZN4core3fmt5write17h0123456789abcdefE", Some("core::fmt::write")),
            ("_RNvCs1234_7mycrate3foo", Some("mycrate::foo")),
            ("_Znonsense", None),
        ] {
            assert_eq!(demangle(symbol).as_deref(), expected, "{symbol}");
        }
    }

    #[test]
    fn a_terminals_commands_are_no_part_of_a_name() {
        assert_eq!(shown("\x1b[31mred\ttext"), "·[31mred·text");
        assert_eq!(shown("main"), "main");
    }
}
