//! The lines that lead from branches to those below them.

use crate::tree::{Document, Hidden, Tree};
use crate::view::Screen;

/// Columns that numbers, a name and a remark may need beside the lines of a tree.
const BESIDE_GUIDES: usize = 64;

/// Whether what is left out has a row of its own. What `--depth` cuts off has none, nor what would be left out itself.
pub(super) fn has_row(document: &Document, hidden: &Hidden) -> bool {
    !hidden.is_deeper && hidden.share.is_some_and(|share| share * 100.0 >= document.min_percent)
}

/// The lines that lead from branches to those below them. An only branch stands straight below the one above, unless that
/// is a top: most levels of most programs lead on to one other.
pub(super) struct Guides<'a> {
    tree: &'a Tree,
    /// Where the nodes below each node end.
    pub(super) ends: Vec<usize>,
    /// Whether it stands straight below the one above.
    is_only: Vec<bool>,
    /// Whether something comes after a node below the one above it.
    has_next: Vec<bool>,
    /// Lines before its name.
    levels: Vec<u32>,
    /// Most lines that are drawn.
    most: u32,
}

impl<'a> Guides<'a> {
    /// Of a tree whose only branches stand straight below others from that level on.
    pub(super) fn of(document: &Document, tree: &'a Tree, screen: &Screen, straight_from: u32) -> Self {
        let count = tree.nodes.len();
        let mut ends: Vec<usize> = (1..=count).collect();
        for (id, node) in tree.nodes.iter().enumerate().rev() {
            if let Some(parent) = node.parent {
                ends[parent] = ends[parent].max(ends[id]);
            }
        }
        let (mut is_only, mut has_next, mut levels) = (Vec::new(), Vec::new(), Vec::new());
        for (id, node) in tree.nodes.iter().enumerate() {
            let Some(parent) = node.parent else {
                is_only.push(false);
                has_next.push(false);
                levels.push(0);
                continue;
            };
            let has_rest = tree.nodes[parent].hidden.as_ref().is_some_and(|hidden| has_row(document, hidden));
            let is_last = ends[id] == ends[parent] && !has_rest;
            has_next.push(!is_last);
            is_only.push(is_last && id == parent + 1 && node.depth >= straight_from);
            levels.push(levels[parent] + u32::from(!is_only[id]));
        }
        let most = screen.width.map_or(u32::MAX, |width| (width.saturating_sub(BESIDE_GUIDES) / 2).max(6) as u32);
        Self { tree, ends, is_only, has_next, levels, most }
    }

    /// What is drawn before a node's name.
    pub(super) fn before(&self, id: usize) -> String {
        let Some(parent) = self.tree.nodes[id].parent else { return String::new() };
        match self.numbered(self.levels[id]) {
            Some(number) => number,
            None if self.is_only[id] => self.trunk(parent),
            None => self.trunk(parent) + if self.has_next[id] { "├ " } else { "└ " },
        }
    }

    /// The same without the lines from the top, where that is not in the same column.
    pub(super) fn below_top(&self, id: usize) -> String {
        self.before(id).chars().skip(2).collect()
    }

    /// What is drawn before the last line below a node.
    pub(super) fn last_below(&self, id: usize) -> String {
        self.numbered(self.levels[id] + 1).unwrap_or_else(|| self.trunk(id) + "└ ")
    }

    /// There is no room for so many lines: their number.
    fn numbered(&self, level: u32) -> Option<String> {
        (level > self.most).then(|| format!("{}⋯{level} ", "  ".repeat(self.most as usize - 2)))
    }

    /// What is drawn before all that is below a node.
    fn trunk(&self, id: usize) -> String {
        let parts = std::iter::successors(Some(id), |&id| self.tree.nodes[id].parent);
        let parts = parts.filter(|&id| self.tree.nodes[id].parent.is_some() && !self.is_only[id]);
        let mut parts: Vec<&str> = parts.map(|id| if self.has_next[id] { "│ " } else { "  " }).collect();
        parts.reverse();
        parts.concat()
    }
}
