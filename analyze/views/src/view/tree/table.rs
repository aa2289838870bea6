//! A tree for people: numbers to the left, and the tree to the right of them.

use std::io::{self, Write};

use super::error_of_call;
use super::guides::{Guides, has_row};
use crate::tree::{Document, Hidden, Node, Site, Tree};
use crate::view::Screen;
use crate::view::table::grid::{Column, Grid, Row, Style};
use crate::view::table::{dim, disturbed, footer, of_build, open, resolved, short, strong, title, together};
use diytrace_profile::functions::{CallKind, OTHER_CALLS};
use diytrace_profile::human::{count, counted, percent, resolved_self, time};

const COLUMNS: [Column<'static>; 6] = [
    Column::number("total", 0),
    Column::number("self", 2),
    SHARE,
    Column::number("calls", 0),
    Column::number("mean", 3),
    Column::number("p99", 4),
];

const SHARE: Column<'static> = Column::number("share", 0);

/// The same where it is of self times.
const SELF_SHARE: Column<'static> = Column::number("self %", 0);

/// A branch with this share stands out.
const HOT: f64 = 0.25;

/// A tree has at least this many columns, if it is that wide, before numbers are left out.
const LEAST_TREE: usize = 36;

/// Writes trees.
pub fn write(document: &Document, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    together(document.runs, screen, out)?;
    for (index, tree) in document.trees.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", strong(&title(&tree.subject), screen))?;
        let lines = lines(document, tree, screen);
        for line in &lines {
            writeln!(out, "{line}")?;
        }
        let has_p99 = lines.get(1).is_some_and(|header| header.contains("p99"));
        for line in footer(&tree.subject, document.raw, &lines).into_iter().chain(notes(document, tree, has_p99)) {
            writeln!(out, "{}", dim(&line, screen))?;
        }
    }
    Ok(())
}

fn lines(document: &Document, tree: &Tree, screen: &Screen) -> Vec<String> {
    let rows = rows(document, tree, screen);
    if rows.is_empty() {
        let nothing = if document.roots.is_empty() { "  no functions" } else { "  none of the roots was called" };
        return vec![String::new(), nothing.to_owned()];
    }
    let name_title = if document.callers { "function ← callers" } else { "function" };
    let share = if document.by_own { SELF_SHARE } else { SHARE };
    let columns = COLUMNS.iter().map(|column| if column.title == SHARE.title { share } else { *column }).collect();
    let mut lines = vec![String::new()];
    lines.extend(Grid { columns, name_title, least_name: LEAST_TREE, rows }.lines(screen));
    lines
}

fn rows(document: &Document, tree: &Tree, screen: &Screen) -> Vec<Row> {
    let mut rows = Vec::new();
    let guides = Guides::of(document, tree, screen, 2);
    for (id, node) in tree.nodes.iter().enumerate() {
        rows.push(row(document, tree, node, guides.before(id)));
        // What is left out below a node comes after all that is shown there.
        let mut ended = Some(id);
        while let Some(above) = ended.filter(|&above| guides.ends[above] == id + 1) {
            if let Some(hidden) = tree.nodes[above].hidden.as_ref().filter(|hidden| has_row(document, hidden)) {
                rows.push(rest(document, hidden, guides.last_below(above)));
            }
            ended = tree.nodes[above].parent;
        }
    }
    let hidden = tree.hidden.iter().filter(|hidden| has_row(document, hidden));
    rows.extend(hidden.map(|hidden| rest(document, hidden, String::new())));
    rows
}

fn row(document: &Document, tree: &Tree, node: &Node, prefix: String) -> Row {
    let error = if document.raw { 0.0 } else { node.total_error_ns };
    let has_time = !node.is_recursion && (node.total_ns > 0.0 || node.calls > 0);
    // Nested calls that a recursive function's callers made have their time in the outermost one's.
    let is_nested = document.callers && node.total_ns == 0.0 && node.self_ns > 0.0;
    let own_error = if document.raw { 0.0 } else { node.self_error_ns };
    let of_call = error_of_call(document, tree, node);
    let optional = |ns: Option<f64>| ns.map(|ns| resolved(ns, of_call)).unwrap_or_default();
    let shown = |text: String, is_shown: bool| if is_shown { text } else { String::new() };
    Row {
        numbers: vec![
            shown(resolved(node.total_ns, error), has_time && !is_nested),
            shown(resolved_self([node.self_ns, own_error], [node.total_ns, error]), has_time),
            shown(node.share.map(percent).unwrap_or_default(), has_time),
            if node.calls > 0 { count(node.calls) } else { String::new() },
            shown(optional(node.mean_ns), has_time && !is_nested),
            if document.raw { String::new() } else { node.p99_ns.map(time).unwrap_or_default() },
        ],
        prefix,
        name: node.name.clone(),
        remark: remark(document, tree, node),
        detail: String::new(),
        style: match node.share {
            _ if node.is_recursion || !node.is_recorded => Style::Dim,
            Some(share) if share >= HOT => Style::Strong,
            _ => Style::Plain,
        },
    }
}

fn rest(document: &Document, hidden: &Hidden, prefix: String) -> Row {
    // Functions' totals lie in each other.
    let [total, own] = match document.by_own {
        true => [String::new(), time(hidden.self_ns)],
        false => [time(hidden.total_ns), String::new()],
    };
    Row {
        numbers: vec![
            total,
            own,
            hidden.share.map(percent).unwrap_or_default(),
            count(hidden.calls),
            String::new(),
            String::new(),
        ],
        prefix,
        name: format!("… {} more", count(hidden.nodes)),
        remark: String::new(),
        detail: String::new(),
        style: Style::Dim,
    }
}

fn remark(document: &Document, tree: &Tree, node: &Node) -> String {
    let mut remarks = Vec::new();
    if node.is_recursion {
        remarks.push("recursion".to_owned());
    }
    if node.call == CallKind::Inlined && node.parent.is_some() {
        remarks.push(if document.callers { "inlined here" } else { "inlined" }.to_owned());
    }
    remarks.extend(of_call(tree, node));
    if let (true, Some(_), [site]) = (document.sites, node.parent, &node.sites[..]) {
        remarks.push(place(site));
    }
    let open = |calls| open::remark(calls, tree.subject.open_bounds.last().copied());
    match (node.calls, node.open) {
        // In the process that has forked; before the counters were reset; before the first of two readings.
        (0, 0) if !node.is_recursion && !document.callers => remarks.push("entered before".to_owned()),
        (_, 0) => {}
        (0, since_before) => remarks.push(format!("{} since before", open(since_before))),
        (_, some) => remarks.push(open(some)),
    }
    remarks.join(" · ")
}

/// What is between a node and the one above.
pub(super) fn of_call(tree: &Tree, node: &Node) -> Vec<String> {
    let mut remarks = Vec::new();
    if !node.is_recorded {
        remarks.push("not recorded".to_owned());
    }
    let Some(above) = node.parent.map(|parent| &tree.nodes[parent]) else {
        // Tops of several builds would be alike.
        let build = node.module.as_deref().filter(|_| node.build.is_some());
        remarks.extend(build.map(|module| of_build(node.build.as_deref(), short(module))));
        return remarks;
    };
    remarks.extend(node.via.iter().map(|via| format!("via {via}")));
    if let (Some(module), Some(above_module)) = (&node.module, &above.module)
        && (module != above_module || node.build != above.build)
    {
        remarks.push(of_build(node.build.as_deref(), short(module)));
    }
    remarks
}

/// Where a call is written.
pub(super) fn place(site: &Site) -> String {
    if site.address.0 == 0 {
        return String::new(); // of calls that are counted by function alone nobody knows where they were made
    }
    let line = site.file.as_ref().zip(site.line);
    line.map_or(site.address.to_string(), |(file, line)| format!("{}:{line}", short(file)))
}

/// Which time is told, if it is not all that passed; what is known of calls only is. If it is, whether others had the processor for much
/// of it.
pub(super) fn kind_of_time(document: &Document, tree: &Tree, of_calls: &str) -> Option<String> {
    let kind = match document.time {
        "cpu" => "times on the processor",
        "wait" => "times spent waiting",
        _ => return disturbed(&tree.subject).map(|what| format!("{what}: see --time cpu")),
    };
    Some(format!("total and self are {kind}; {of_calls} of all that passed"))
}

fn notes(document: &Document, tree: &Tree, has_p99: bool) -> Vec<String> {
    let mut notes: Vec<String> = kind_of_time(document, tree, "mean and p99 are").into_iter().collect();
    if has_p99 && tree.nodes.iter().any(|node| node.p99_ns.is_none() && node.function_p99_ns.is_some()) {
        notes.push("p99 is kept by function: it is shown where all calls of one are on one branch".to_owned());
    }
    if !document.callers && tree.nodes.iter().any(|node| node.is_recursion) {
        notes.push(
            "a recursion's time and callees are those of the same function above it, all levels together".to_owned(),
        );
    }
    if tree.subject.folded_calls > 0 {
        notes.push("folded calls are at the top, as nobody knows who made them".to_owned());
    }
    if !document.callers && tree.nodes.iter().any(|node| node.name == OTHER_CALLS) {
        notes.push(format!(
            "{OTHER_CALLS} are on paths that gave way to others, as there was no room for all: `diytrace report` tells whose they are"
        ));
    }
    let hidden = || tree.nodes.iter().filter_map(|node| node.hidden).chain(tree.hidden);
    for (is_deeper, options) in [(false, "--min-percent, --function, --limit"), (true, "--depth")] {
        let of_kind = || hidden().filter(|hidden| hidden.is_deeper == is_deeper);
        let branches: u64 = of_kind().map(|hidden| hidden.nodes).sum();
        if branches > 0 {
            notes.push(match document.by_own {
                true => {
                    let functions = tree.hidden.filter(|hidden| hidden.is_deeper == is_deeper);
                    let of_callers = branches - functions.map_or(0, |hidden| hidden.nodes);
                    let functions = functions.map(|Hidden { nodes, self_ns, .. }| {
                        format!("{} (self {})", counted(nodes, "function", "functions"), time(self_ns))
                    });
                    let of_callers =
                        (of_callers > 0).then(|| counted(of_callers, "branch of callers", "branches of callers"));
                    let both = functions.into_iter().chain(of_callers).collect::<Vec<_>>().join(" and ");
                    format!("left out: {both} ({options})")
                }
                false => {
                    let total: f64 = of_kind().map(|hidden| hidden.total_ns).sum();
                    let branches = counted(branches, "branch is", "branches are");
                    format!("{branches} left out, with all below: {} ({options})", time(total))
                }
            });
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::golden;
    use crate::testing::tree_document;

    fn written(document: &Document, width: usize) -> String {
        let mut out = Vec::new();
        write(document, &Screen { width: Some(width), color: false }, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn trees_at_several_widths() {
        for width in [120, 80] {
            golden(&format!("tree-{width}.txt"), &written(&tree_document(), width));
        }
    }

    #[test]
    fn with_the_lines_that_call() {
        golden("tree-sites.txt", &written(&Document { sites: true, ..tree_document() }, 120));
    }

    #[test]
    fn very_deep_trees_stay_within_the_screen() {
        let mut document = tree_document();
        let tree = &mut document.trees[0];
        let pattern = tree.nodes[3].clone();
        for _ in 0..60 {
            let parent = tree.nodes.len() - 1;
            let depth = tree.nodes[parent].depth + 1;
            let hidden = tree.nodes[1].hidden;
            tree.nodes.push(Node { parent: Some(parent), depth, hidden, via: None, ..pattern.clone() });
        }
        let text = written(&document, 80);
        let rows = text.lines().filter(|line| line.contains("⋯"));
        assert!(rows.clone().count() > 60 && rows.into_iter().all(|line| line.chars().count() <= 80), "{text}");
    }
}
