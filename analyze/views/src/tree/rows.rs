//! Trees as rows of numbers (`diytrace-paths/1`): a tenth of the whole document, for tens of thousands of call paths.

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::document::{Document, Hidden, Node, Tree};
use crate::subject::{Clock, Subject};
use diytrace_profile::units::nanoseconds;

const SCHEMA: &str = "diytrace-paths/1";

/// What the values of a row are, in their order: those of the same names in a tree; `function` is a place in `functions`.
const COLUMNS: [&str; 7] = ["parent", "function", "is_recursion", "calls", "total_ns", "self_ns", "total_error_ns"];

/// What the values of a row of `hidden` are: the node that they are below, by its place; null: none.
const HIDDEN: [&str; 4] = ["parent", "nodes", "calls", "total_ns"];

/// The trees of some profiles.
#[derive(Debug, Serialize)]
pub struct Rows<'a> {
    schema: &'static str,
    clock: Clock,
    warnings: &'a [String],
    runs: usize,
    roots: &'a [String],
    raw: bool,
    time: &'static str,
    callers: bool,
    min_percent: f64,
    columns: [&'static str; COLUMNS.len()],
    hidden_columns: [&'static str; HIDDEN.len()],
    /// Names with the paths of their modules.
    functions: Vec<(&'a str, Option<&'a str>)>,
    trees: Vec<Group<'a>>,
}

/// A tree.
#[derive(Debug, Serialize)]
struct Group<'a> {
    #[serde(flatten)]
    subject: &'a Subject,
    nodes: Vec<Row>,
    hidden: Vec<HiddenRow>,
}

/// The values of [`COLUMNS`].
#[derive(Debug, Serialize)]
struct Row(
    Option<usize>,
    usize,
    u8,
    u64,
    #[serde(serialize_with = "nanoseconds")] f64,
    #[serde(serialize_with = "nanoseconds")] f64,
    #[serde(serialize_with = "nanoseconds")] f64,
);

/// The values of [`HIDDEN`].
#[derive(Debug, Serialize)]
struct HiddenRow(Option<usize>, u64, u64, #[serde(serialize_with = "nanoseconds")] f64);

/// The place of each function that was met.
type Places<'a> = FxHashMap<(&'a str, Option<&'a str>), usize>;

impl<'a> Rows<'a> {
    /// Of trees.
    pub fn of(document: &'a Document) -> Self {
        let (mut functions, mut places) = (Vec::new(), Places::default());
        let mut place = |node: &'a Node| {
            let function = (node.name.as_str(), node.module.as_deref());
            *places.entry(function).or_insert_with(|| {
                functions.push(function);
                functions.len() - 1
            })
        };
        let trees = document.trees.iter().map(|tree| Group::of(tree, &mut place)).collect();
        Self {
            schema: SCHEMA,
            clock: document.clock,
            warnings: &document.warnings,
            runs: document.runs,
            roots: &document.roots,
            raw: document.raw,
            time: document.time,
            callers: document.callers,
            min_percent: document.min_percent,
            columns: COLUMNS,
            hidden_columns: HIDDEN,
            functions,
            trees,
        }
    }
}

impl<'a> Group<'a> {
    fn of(tree: &'a Tree, place: &mut impl FnMut(&'a Node) -> usize) -> Self {
        let row = |node| {
            let function = place(node);
            let Node { parent, is_recursion, calls, total_ns, self_ns, total_error_ns, .. } = *node;
            Row(parent, function, is_recursion.into(), calls, total_ns, self_ns, total_error_ns)
        };
        let nodes = tree.nodes.iter().map(row).collect();
        let below = tree.nodes.iter().enumerate().map(|(at, node)| (Some(at), node.hidden));
        let hidden = below.chain([(None, tree.hidden)]).filter_map(|(parent, hidden)| {
            let Hidden { nodes, calls, total_ns, .. } = hidden?;
            Some(HiddenRow(parent, nodes, calls, total_ns))
        });
        Self { subject: &tree.subject, nodes, hidden: hidden.collect() }
    }
}
