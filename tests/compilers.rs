//! The compilers that every other story is told with.

mod common;

use common::builds;
use needs::needs;

/// Where clang is missing, this one is ignored for all of them.
#[needs(clang)]
#[test]
fn every_fixture_is_compiled_by_clang_as_well() {
    let all: Vec<_> = builds().iter().map(|build| build.to_string()).collect();
    assert_eq!(all, ["gcc -O0", "gcc -O2", "clang -O0", "clang -O2"]);
}
