//! The page: files that are part of the program.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;

use crate::answer;

/// Its scripts, which are ES modules, and styles. What exported pages have, too, is theirs.
const FILES: [(&str, &str); 44] = [
    ("aligned.js", include_str!("../page/aligned.js")),
    ("amount.js", include_str!("../page/amount.js")),
    ("ask.js", include_str!("../page/ask.js")),
    ("brush.js", include_str!("../page/brush.js")),
    ("callpaths.js", include_str!("../page/callpaths.js")),
    ("calltree.css", diytrace_views::page::CALLTREE_STYLE),
    ("calltree.js", diytrace_views::page::CALLTREE),
    ("chart.js", include_str!("../page/chart.js")),
    ("choice.js", include_str!("../page/choice.js")),
    ("compare.js", include_str!("../page/compare.js")),
    ("explore.js", include_str!("../page/explore.js")),
    ("filters.js", include_str!("../page/filters.js")),
    ("flame.js", include_str!("../page/flame.js")),
    ("flamegraph.js", diytrace_views::page::FLAMEGRAPH),
    ("function.js", include_str!("../page/function.js")),
    ("functions.js", include_str!("../page/functions.js")),
    ("heatmap.js", include_str!("../page/heatmap.js")),
    ("history.js", include_str!("../page/history.js")),
    ("late.js", include_str!("../page/late.js")),
    ("lately.js", include_str!("../page/lately.js")),
    ("listed.js", include_str!("../page/listed.js")),
    ("live.js", include_str!("../page/live.js")),
    ("load.js", include_str!("../page/load.js")),
    ("load_costs.js", include_str!("../page/load_costs.js")),
    ("main.js", include_str!("../page/main.js")),
    ("page.css", include_str!("../page/page.css")),
    ("palette.css", diytrace_views::page::PALETTE),
    ("paths.js", diytrace_views::page::PATHS),
    ("place.js", include_str!("../page/place.js")),
    ("rows.js", diytrace_views::page::ROWS),
    ("sampled_compare.js", include_str!("../page/sampled_compare.js")),
    ("sampled_history.js", include_str!("../page/sampled_history.js")),
    ("samples.js", include_str!("../page/samples.js")),
    ("save.js", include_str!("../page/save.js")),
    ("search.js", include_str!("../page/search.js")),
    ("series.js", include_str!("../page/series.js")),
    ("services.js", include_str!("../page/services.js")),
    ("sight.js", diytrace_views::page::SIGHT),
    ("table.js", include_str!("../page/table.js")),
    ("text.js", diytrace_views::page::TEXT),
    ("tree.js", include_str!("../page/tree.js")),
    ("uplot.css", include_str!("../vendor/uplot/uplot.css")),
    ("uplot.js", include_str!("../vendor/uplot/uplot.js")),
    ("verdicts.js", include_str!("../page/verdicts.js")),
];

/// That an answer is of the page itself.
#[derive(Clone, Copy)]
pub struct Own;

/// What comes with the first that needs it.
const LATER: &str = "uplot.js";

/// The frame of the page, which tells of every script: a browser need not read one to ask for those that it imports.
static INDEX: LazyLock<String> = LazyLock::new(|| {
    let scripts = FILES.iter().filter(|(name, _)| name.ends_with(".js") && *name != LATER);
    let links = scripts.map(|(name, _)| format!("<link rel=\"modulepreload\" href=\"/page/{name}\">\n"));
    include_str!("../page/index.html").replace("</head>", &format!("{}</head>", links.collect::<String>()))
});

/// `GET /`.
pub async fn index() -> Response {
    let mut page = answer::of(StatusCode::OK, "text/html; charset=utf-8", INDEX.as_str());
    page.extensions_mut().insert(Own);
    page
}

/// `GET /page/FILE`.
pub async fn file(Path(name): Path<String>) -> Response {
    match FILES.iter().find(|(known, _)| *known == name) {
        Some((_, text)) if name.ends_with(".css") => answer::of(StatusCode::OK, "text/css; charset=utf-8", *text),
        Some((_, text)) => answer::of(StatusCode::OK, "text/javascript; charset=utf-8", *text),
        None => answer::error(StatusCode::NOT_FOUND, "there is no such file"),
    }
}
