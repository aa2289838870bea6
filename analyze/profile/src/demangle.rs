//! Names as people write them.

use std::borrow::Cow;

pub use diytrace_demangle::demangle;
use diytrace_demangle::is_mangled;
use diytrace_format::pattern::{glob, mangled_hint, matches_demangled};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminals_commands_are_no_part_of_a_name() {
        assert_eq!(shown("\x1b[31mred\ttext"), "·[31mred·text");
        assert_eq!(shown("main"), "main");
    }
}
