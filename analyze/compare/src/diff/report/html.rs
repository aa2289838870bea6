//! One page with everything: verdicts, runs, percentiles, timelines, flame graphs.
//!
//! Its parts lie in `page/` and are put together by [`diytrace_views::page`]; the data is the comparison's JSON, with the call paths of flame graphs.

use std::io;

use serde::Serialize;

use crate::diff::Comparison;
use crate::diff::flames::Columns;
use diytrace_views::page::Page;

/// The page's program, in the order in which its parts need each other.
const SCRIPTS: [&str; 7] = [
    include_str!("page/words.js"),
    include_str!("page/charts.js"),
    include_str!("page/overlay.js"),
    include_str!("page/tables.js"),
    include_str!("page/flames.js"),
    include_str!("page/sections.js"),
    include_str!("page/main.js"),
];

/// The page's data.
#[derive(Serialize)]
struct Data<'a> {
    comparison: &'a Comparison,
    /// Of each query.
    flames: Vec<Columns>,
}

/// The page.
pub fn page(comparison: &Comparison) -> io::Result<Vec<u8>> {
    let flames = comparison.queries.iter().map(|query| Columns::of(&query.folded)).collect();
    let title = format!("{} → {}", comparison.left.name, comparison.right.name);
    let page = Page {
        title: &title,
        kind: "diytrace diff",
        body: include_str!("page/page.html"),
        elsewhere: "are in report.json and the tables beside it",
        allowed: None,
        style: include_str!("page/page.css"),
        scripts: &SCRIPTS,
    };
    page.write(&Data { comparison, flames })
}
