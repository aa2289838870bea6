//! Documents for tests.

mod annotate;
mod document;
mod tree;
mod trees;

use std::path::Path;

pub use annotate::annotated;
pub use document::document;
pub use tree::{callers_document, tree_document};
pub use trees::trees;

/// Holds a view's output against the one that is kept.
pub fn golden(name: &str, output: &str) {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/view/golden").join(name);
    diytrace_profile::testing::golden_at(&kept, output);
}
