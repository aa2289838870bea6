//! Names of C++ and Rust functions as people write them. The recorder, which is told roots by such names, and the reports, which show
//! them, have the same.

#![no_std]

extern crate alloc;

mod literals;
mod packs;
mod rewritten;

use alloc::format;
use alloc::string::String;

use rewritten::Rewritten;

/// The demangled form of a C++ or Rust symbol, or `None` if the name is not mangled.
pub fn demangle(symbol: &str) -> Option<String> {
    if !symbol.starts_with('_') {
        return None; // most names in C programs
    }
    // A Rust name of the older kind is a valid C++ name, with a hash as its last part.
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        return Some(format!("{name:#}"));
    }
    if !symbol.starts_with("_Z") {
        return None;
    }
    let demangled = |symbol: &str| cpp_demangle::Symbol::new(symbol).ok()?.demangle().ok();
    match Rewritten::of(symbol) {
        Some(rewritten) => {
            demangled(&rewritten.symbol).map(|name| rewritten.restore(&name)).filter(|name| packs::are_restored(name))
        }
        None => None,
    }
    .or_else(|| demangled(symbol))
    .map(packs::without_empty)
    .map(literals::restored)
}

/// Whether a symbol is mangled at all: demangling is slow, this is not.
pub fn is_mangled(symbol: &str) -> bool {
    symbol.starts_with("_Z") || symbol.starts_with("_R")
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
}
