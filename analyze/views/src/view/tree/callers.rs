//! Functions with their callers, for people: from where, how, how often and for how long.

use std::io::{self, Write};

use super::error_of_call;
use super::guides::Guides;
use super::table::{kind_of_time, of_call, place};
use crate::tree::{Document, Node, Tree};
use crate::view::Screen;
use crate::view::table::grid::{Column, Grid, LEAST_NAME, Row, Style};
use crate::view::table::{dim, footer, of_build, resolved, short, strong, sums, title, together, wrapped};
use diytrace_profile::human::{count, counted, percent, time};

const COLUMNS: [Column<'static>; 6] = [
    Column::number("calls", 0),
    Column::number("total", 0),
    Column::number("mean", 3),
    Column::number("share", 4),
    Column::text("call", 2),
    Column::text("from", 0),
];

/// A caller with this share stands out.
const HOT: f64 = 0.25;

/// Writes functions and their callers.
pub fn write(document: &Document, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    together(document.runs, screen, out)?;
    for (index, tree) in document.trees.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", strong(&title(&tree.subject), screen))?;
        let guides = Guides::of(document, tree, screen, 3);
        let tops = tree.nodes.iter().enumerate().filter(|(_, node)| node.parent.is_none());
        let mut lines = Vec::new();
        for (top, node) in tops {
            lines.push(String::new());
            lines.extend(heading(document, tree, node, screen));
            lines.push(String::new());
            let mut rows: Vec<Row> = (top + 1..guides.ends[top]).map(|id| row(document, tree, id, &guides)).collect();
            rows.extend(rest(node));
            let grid = Grid { columns: COLUMNS.to_vec(), name_title: "caller", least_name: LEAST_NAME, rows };
            lines.extend(grid.lines(screen));
        }
        if lines.is_empty() {
            lines.push("  it was not called".to_owned());
        }
        for line in &lines {
            writeln!(out, "{line}")?;
        }
        let notes = kind_of_time(document, tree, "mean is");
        for line in footer(&tree.subject, document.raw, &lines).into_iter().chain(notes) {
            writeln!(out, "{}", dim(&line, screen))?;
        }
    }
    Ok(())
}

fn heading(document: &Document, tree: &Tree, top: &Node, screen: &Screen) -> Vec<String> {
    let line = top.file.as_ref().zip(top.line).map(|(file, line)| format!("{}:{line}", short(file)));
    let address = top.address.map(|address| address.to_string()).unwrap_or_default();
    let module = of_build(top.build.as_deref(), short(top.module.as_deref().unwrap_or_default()));
    let source = format!("{module} {}", line.unwrap_or(address));
    let bound = tree.subject.open_bounds.last().copied();
    let error = |ns: f64| if document.raw { 0.0 } else { ns };
    let total = [top.total_ns, error(top.total_error_ns)];
    let sums = sums(top.calls, (top.open, bound), total, [top.self_ns, error(top.self_error_ns)]);
    let mut lines = vec![format!("{}  {}", strong(&top.name, screen), dim(&source, screen))];
    lines.extend(wrapped(&sums, screen));
    lines
}

fn row(document: &Document, tree: &Tree, id: usize, guides: &Guides) -> Row {
    let node = &tree.nodes[id];
    let error = if document.raw { 0.0 } else { node.total_error_ns };
    // Calls by the function itself: their time is within that of the outermost calls.
    let is_nested = node.total_ns == 0.0 && node.self_ns > 0.0 || node.is_recursion;
    // Of calls that are counted by function only nothing was measured.
    let is_unmeasured = node.total_raw_ns == 0.0 && node.self_raw_ns == 0.0;
    let timed = |text: String| if is_nested || is_unmeasured { String::new() } else { text };
    let mut remarks = of_call(tree, node);
    if node
        .parent
        .is_some_and(|parent| (&tree.nodes[parent].name, tree.nodes[parent].address) == (&node.name, node.address))
    {
        remarks.insert(0, "recursion".to_owned());
    }
    Row {
        numbers: vec![
            count(node.calls),
            timed(resolved(node.total_ns, error)),
            timed(node.mean_ns.map(|ns| resolved(ns, error_of_call(document, tree, node))).unwrap_or_default()),
            timed(node.share.map(percent).unwrap_or_default()),
            node.call.to_string(),
            node.sites.first().map(place).unwrap_or_default(),
        ],
        prefix: guides.below_top(id),
        name: node.name.clone(),
        remark: remarks.join(" · "),
        detail: String::new(),
        style: match node.share {
            _ if !node.is_recorded => Style::Dim,
            Some(share) if share >= HOT => Style::Strong,
            _ => Style::Plain,
        },
    }
}

fn rest(top: &Node) -> Option<Row> {
    let hidden = top.hidden?;
    Some(Row {
        numbers: vec![
            count(hidden.calls),
            time(hidden.total_ns),
            String::new(),
            hidden.share.map(percent).unwrap_or_default(),
            String::new(),
            String::new(),
        ],
        name: format!("… {}", counted(hidden.nodes, "other", "others")),
        style: Style::Dim,
        ..Row::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::callers_document;
    use crate::testing::golden;

    #[test]
    fn callers_at_several_widths() {
        for width in [120, 80] {
            let mut out = Vec::new();
            write(&callers_document(), &Screen { width: Some(width), color: false }, &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            golden(&format!("callers-{width}.txt"), &text);
        }
    }
}
