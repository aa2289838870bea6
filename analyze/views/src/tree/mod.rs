//! The command `tree`: call trees as people look at them, downwards or, inverted, from functions up to their callers.
//!
//! ```text
//! [`CallTrees`](crate::calltree::CallTrees) ──[downward] or [upward]──▶ [`Branches`] ──[select]──▶ [`Document`] ──▶ a view
//! ```
//!
//! Branches are nodes that are shown as one: calls of a function by the same callers from several places, and levels of
//! recursion past those that tell something.

mod branches;
mod document;
mod downward;
mod places;
mod rows;
mod select;
mod upward;

use crate::calltree::{self, CallTree, CallTrees, Lines};
use crate::report::Format;
pub use branches::{Branch, Branches, What};
use diytrace_profile::error::Error;
use diytrace_profile::functions::Spelling;
use diytrace_profile::memory::give_back;
use diytrace_profile::opened::Opened;
use diytrace_profile::spent::Kind;
use diytrace_profile::warnings::sentences;
pub use document::{Document, Hidden, Node, Site, Tree};
pub use downward::{Recursion, downward};
pub use places::Places;
pub use rows::Rows;
pub use select::Thresholds;
pub use upward::upward;

/// What to show and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Patterns of the functions that trees begin at. Empty: those it was recorded with, or where recording began.
    pub roots: Vec<String>,
    /// Patterns of functions: only branches that one of them is on. Empty: all.
    pub functions: Vec<String>,
    /// Patterns of functions: only calls inside these. Empty: all.
    pub inside: Vec<String>,
    /// Whether trees lead from functions to their callers.
    pub callers: bool,
    /// Whether calls from several places stay apart.
    pub sites: bool,
    /// Whether functions of one name but several addresses stay apart.
    pub by_address: bool,
    /// How names are written.
    pub spelling: Spelling,
    /// Levels of a recursion that are shown before the others are folded into them.
    pub recursion: Recursion,
    /// Least share of the tree's time, in percent, that a branch must have to be shown; by default one that suits the
    /// format.
    pub min_percent: Option<f64>,
    /// Most levels to show.
    pub depth: Option<u32>,
    /// Most branches to show of each tree.
    pub limit: Option<usize>,
    /// Order of the branches below one.
    pub sort: Sort,
    /// Times as measured, without correction.
    pub raw: bool,
    /// Which time is told.
    pub time: Kind,
    /// How it is written.
    pub format: Format,
}

/// Order of branches: by name, or the largest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are columns")]
pub enum Sort {
    #[default]
    Total,
    Self_,
    Calls,
    Name,
}

/// Callers of callers of callers are rarely the question.
const LEVELS_OF_CALLERS: u32 = 5;

/// People see at a glance what has at least this share.
const LEAST_PERCENT_OF_TABLE: f64 = 0.5;

/// The trees as data. What was merged may be large, and goes once it is not needed any more.
pub fn document(options: &Options, opened: Opened) -> Result<Document, Error> {
    let is_table = options.format == Format::Table;
    let tree_options = calltree::Options {
        roots: options.roots.clone(),
        inside: options.inside.clone(),
        functions: options.functions.clone(),
        by_address: options.by_address || options.format == Format::Json,
        spelling: options.spelling,
        lines: if is_table && !options.sites { Lines::None } else { Lines::All },
        time: options.time,
    };
    let trees = calltree::build(&opened, &opened.symbols(), &tree_options)?;
    give_back(opened.merged);
    let document = of_trees(options, &trees);
    give_back(trees);
    Ok(document)
}

/// The trees as data, of call trees that are there already.
pub fn of_trees(options: &Options, trees: &CallTrees) -> Document {
    let is_table = options.format == Format::Table;
    let min_percent = if is_table { LEAST_PERCENT_OF_TABLE } else { 0.0 };
    let depth = options.depth.or(options.callers.then_some(LEVELS_OF_CALLERS));
    let thresholds = Thresholds {
        min_percent: options.min_percent.unwrap_or(min_percent),
        depth,
        limit: options.limit,
        sort: options.sort,
        raw: options.raw,
        only_named: !options.functions.is_empty(),
        // Without a function that was asked for, the question is where time is spent.
        by_own: options.callers && options.roots.is_empty(),
        tops_are_wholes: !trees.roots.is_empty() && (!options.callers || !options.roots.is_empty()),
    };
    let places = Places::of(trees, options);
    let branches = |tree: &CallTree| -> Branches {
        match options.callers {
            false => downward(trees, tree, !options.roots.is_empty(), &places, options.recursion),
            true => upward(
                trees,
                tree,
                &places,
                &upward::Wanted {
                    from_roots: !options.roots.is_empty(),
                    least_own: thresholds.least_own(tree),
                    raw: options.raw,
                    depth,
                },
            ),
        }
    };
    let shown = trees
        .trees
        .iter()
        .map(|tree| document::tree(trees, tree, &branches(tree), &thresholds, options.callers))
        .collect();
    Document {
        schema: document::SCHEMA,
        clock: trees.clock,
        warnings: sentences(&trees.warnings),
        runs: trees.runs,
        roots: trees.roots.clone(),
        raw: options.raw,
        time: trees.time.name(),
        callers: options.callers,
        sites: options.sites,
        by_own: thresholds.by_own,
        min_percent: thresholds.min_percent,
        trees: shown,
    }
}
