//! One page with everything: verdicts, runs, percentiles, timelines, flame graphs.
//!
//! Its parts lie in `page/` and are put together by [`diytrace_views::page`]; the data is the comparison's JSON, with flame graphs.

use std::io;

use serde::Serialize;

use crate::diff::flames::{Picture, draw};
use crate::diff::{Comparison, Query};
use diytrace_views::page::Page;

/// The page's program, in the order in which its parts need each other.
const SCRIPTS: [&str; 6] = [
    include_str!("page/words.js"),
    include_str!("page/charts.js"),
    include_str!("page/overlay.js"),
    include_str!("page/tables.js"),
    include_str!("page/sections.js"),
    include_str!("page/main.js"),
];

/// The page's data.
#[derive(Serialize)]
struct Data<'a> {
    comparison: &'a Comparison,
    /// Of each query.
    flames: Vec<Flames>,
}

/// Flame graphs, as SVG; none where there is no time to draw.
#[derive(Serialize)]
struct Flames {
    left: Option<String>,
    right: Option<String>,
    difference: Option<String>,
}

/// The page.
pub fn page(comparison: &Comparison) -> io::Result<Vec<u8>> {
    let flames = comparison.queries.iter().map(|query| flames(comparison, query)).collect::<io::Result<_>>()?;
    let title = format!("{} → {}", comparison.left.name, comparison.right.name);
    let page = Page {
        title: &title,
        kind: "diytrace diff",
        body: include_str!("page/page.html"),
        elsewhere: "are in report.json and the tables beside it",
        allowed: Some("frame-src blob:"),
        style: include_str!("page/page.css"),
        scripts: &SCRIPTS,
    };
    page.write(&Data { comparison, flames })
}

fn flames(comparison: &Comparison, query: &Query) -> io::Result<Flames> {
    let of = query.query.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
    let (left, right) = (&comparison.left.name, &comparison.right.name);
    let svg = |picture: Picture, title: String| -> io::Result<Option<String>> {
        let svg = draw(&query.folded, picture, &title)?;
        Ok(svg.map(|svg| String::from_utf8_lossy(&svg).into_owned()))
    };
    Ok(Flames {
        left: svg(Picture::Left, format!("{of}{left}"))?,
        right: svg(Picture::Right, format!("{of}{right}"))?,
        difference: svg(Picture::Difference, format!("{of}{left} → {right}"))?,
    })
}
