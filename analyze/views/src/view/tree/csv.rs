//! A tree as CSV: a row for each node, which names the one above by its number.

use std::io::{self, Write};

use csv::Writer;

use crate::tree::{Document, Node};
use crate::view::csv::{identities, identity, number};

const HEADER: [&str; 21] = [
    "node",
    "parent",
    "depth",
    "name",
    "module",
    "address",
    "recursion",
    "call",
    "via",
    "inlined_into",
    "file",
    "line",
    "calls",
    "open",
    "total_ns",
    "self_ns",
    "total_error_ns",
    "total_raw_ns",
    "self_raw_ns",
    "mean_ns",
    "p99_ns",
];

/// Writes trees as CSV. `file` and `line` are where the call is written, if it is one place.
pub fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer::from_writer(out);
    let told_apart = identities(document.trees.iter().map(|tree| &tree.subject));
    writer.write_record(told_apart.into_iter().chain(HEADER))?;
    for tree in &document.trees {
        for (id, node) in tree.nodes.iter().enumerate() {
            writer.write_record(identity(&tree.subject).chain(record(id, node)))?;
        }
    }
    writer.flush()
}

fn record(id: usize, node: &Node) -> Vec<String> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let is_called = node.parent.is_some();
    let mut places = node.sites.iter().map(|site| (&site.file, site.line));
    let place = places.next().filter(|first| places.all(|place| place == *first));
    vec![
        id.to_string(),
        node.parent.map(|parent| parent.to_string()).unwrap_or_default(),
        node.depth.to_string(),
        node.name.clone(),
        text(&node.module),
        node.address.map(|address| address.to_string()).unwrap_or_default(),
        node.is_recursion.to_string(),
        if is_called { node.call.to_string() } else { String::new() },
        text(&node.via),
        text(&node.inlined_into),
        place.and_then(|(file, _)| file.clone()).unwrap_or_default(),
        place.and_then(|(_, line)| line).map(|line| line.to_string()).unwrap_or_default(),
        node.calls.to_string(),
        node.open.to_string(),
        number(node.total_ns),
        number(node.self_ns),
        number(node.total_error_ns),
        number(node.total_raw_ns),
        number(node.self_raw_ns),
        node.mean_ns.map(number).unwrap_or_default(),
        node.p99_ns.map(number).unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::golden;
    use crate::testing::tree_document;

    #[test]
    fn a_row_for_each_node() {
        let mut out = Vec::new();
        write(&tree_document(), &mut out).unwrap();
        golden("tree.csv", &String::from_utf8(out).unwrap());
    }
}
