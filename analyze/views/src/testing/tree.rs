//! Trees as data, made by hand.

use super::document;
use crate::subject::Clock;
use crate::tree::{Document, Hidden, Node, Site, Tree};
use diytrace_profile::functions::CallKind;
use diytrace_profile::units::Address;

/// A server's tree.
pub fn tree_document() -> Document {
    let long = "std::vector<int, std::allocator<int> >::operator[](unsigned long)";
    let nodes = vec![
        Node { p99_ns: Some(3_000_000.0), hidden: Some(hidden(2, 0.001)), ..node(None, 0, "main", 1, 4_000_000.0) },
        Node { open: 1, hidden: Some(hidden(12, 0.01)), ..node(Some(0), 1, "serve", 1, 3_900_000.0) },
        node(Some(1), 2, "handle", 100_000, 3_000_000.0),
        Node { via: Some("qsort".to_owned()), ..node(Some(2), 3, "compare", 100_000, 1_200_000.0) },
        Node { call: CallKind::Inlined, ..node(Some(3), 4, long, 199_999, 20_000.0) },
        Node { is_recursion: true, share: None, ..node(Some(2), 3, "handle", 5, 0.0) },
        Node { module: Some("/lib/libparse.so".to_owned()), ..node(Some(0), 1, "parse", 7, 90_000.0) },
    ];
    let report = document(&[]).reports.remove(0);
    Document {
        schema: "diytrace-tree/1",
        clock: Clock { source: "tsc", hz: 2e9 },
        runs: 1,
        warnings: Vec::new(),
        roots: Vec::new(),
        raw: false,
        time: "wall",
        callers: false,
        sites: false,
        by_own: false,
        min_percent: 0.5,
        trees: vec![Tree { subject: report.subject, nodes, hidden: None }],
    }
}

/// A function with its callers.
pub fn callers_document() -> Document {
    let mut document = tree_document();
    let of = |parent: usize, depth, name: &str, calls, total_ns| Node {
        depth,
        ..node(Some(parent), depth, name, calls, total_ns)
    };
    document.trees[0].nodes = vec![
        Node { file: Some("/src/parse.c".to_owned()), line: Some(40), ..node(None, 0, "parse", 10_000, 4_000_000.0) },
        of(0, 1, "handle", 9_000, 3_000_000.0),
        Node { call: CallKind::Inlined, ..of(1, 2, "serve", 8_000, 2_000_000.0) },
        of(1, 2, "retry", 1_000, 1_000_000.0),
        Node {
            call: CallKind::Indirect,
            via: Some("qsort".to_owned()),
            ..of(0, 1, "ns::Sorter<int>::run(int*, int*)", 900, 90_000.0)
        },
        of(4, 2, "main", 900, 90_000.0),
        Node { total_ns: 0.0, ..of(0, 1, "parse", 90, 10.0) },
        Node { is_recorded: false, address: None, module: None, ..of(0, 1, "start_thread", 10, 800_000.0) },
    ];
    Document { roots: vec!["parse".to_owned()], callers: true, sites: true, min_percent: 0.0, ..document }
}

fn hidden(nodes: u64, share: f64) -> Hidden {
    Hidden { nodes, calls: 1000, total_ns: 40_000.0, self_ns: 1.0, share: Some(share), is_deeper: false }
}

fn node(parent: Option<usize>, depth: u32, name: &str, calls: u64, total_ns: f64) -> Node {
    let site = Site {
        address: Address(0x1250),
        file: Some("/src/server.c".to_owned()),
        line: Some(12),
        calls,
        call: CallKind::Direct,
        via: None,
    };
    Node {
        parent,
        depth,
        name: name.to_owned(),
        module: Some("/srv/server".to_owned()),
        build: None,
        address: Some(Address(0x1200)),
        file: None,
        line: None,
        is_recorded: true,
        is_recursion: false,
        call: CallKind::Direct,
        via: None,
        inlined_into: None,
        sites: vec![site],
        calls,
        open: 0,
        unwound: 0,
        total_ns,
        self_ns: total_ns / 4.0,
        total_error_ns: 25_000.0,
        self_error_ns: 1_000.0,
        total_raw_ns: total_ns * 2.0,
        self_raw_ns: total_ns / 2.0,
        mean_ns: Some(total_ns / calls as f64),
        p99_ns: None,
        function_p99_ns: Some(3_000_000.0),
        share: Some(total_ns / 4e6),
        hidden: None,
    }
}
