//! Stacks as a flame graph of levels.

use std::collections::HashMap;

use super::messages::{FlameGraph, Level};

/// What stands for what is too little to be told apart.
const OTHER: &str = "other";

#[derive(Default)]
struct Node {
    name: usize,
    own: i64,
    total: i64,
    parent: usize,
    kids: Vec<usize>,
}

/// Stacks that are put together. Node 0 stands for all.
pub struct Flame {
    names: Vec<String>,
    by_name: HashMap<String, usize>,
    nodes: Vec<Node>,
    by_place: HashMap<(usize, usize), usize>,
}

impl Default for Flame {
    fn default() -> Self {
        let names = vec!["total".to_owned()];
        Self { names, by_name: HashMap::new(), nodes: vec![Node::default()], by_place: HashMap::new() }
    }
}

impl Flame {
    fn number(&mut self, name: &str) -> usize {
        if let Some(&known) = self.by_name.get(name) {
            return known;
        }
        self.names.push(name.to_owned());
        self.by_name.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }

    /// A frame below another, made if it is new.
    pub fn below(&mut self, parent: usize, name: &str) -> usize {
        let name = self.number(name);
        let next = self.nodes.len();
        let node = *self.by_place.entry((parent, name)).or_insert(next);
        if node == next {
            self.nodes.push(Node { name, parent, ..Node::default() });
            self.nodes[parent].kids.push(node);
        }
        node
    }

    /// Adds to what a frame takes by itself.
    pub fn add(&mut self, node: usize, own: i64) {
        let own = own.max(0);
        self.nodes[node].own = self.nodes[node].own.saturating_add(own);
        let mut above = node;
        loop {
            self.nodes[above].total = self.nodes[above].total.saturating_add(own);
            if above == 0 {
                break;
            }
            above = self.nodes[above].parent;
        }
    }

    /// All of it in at most so many bars; what is left out of each is one beside the others.
    pub fn graph(mut self, most: usize) -> FlameGraph {
        let least = self.least(most);
        let total = self.nodes[0].total;
        let mut levels = Vec::new();
        let mut max_own = 0;
        // Frames of a level, and where each begins.
        let mut level: Vec<(usize, i64)> = vec![(0, 0)];
        while !level.is_empty() {
            let (mut values, mut end, mut next) = (Vec::new(), 0, Vec::new());
            for (node, start) in level {
                let Node { name, own, total, .. } = self.nodes[node];
                values.extend([start - end, total, own, name as i64]);
                max_own = max_own.max(own);
                end = start + total;
                let kids = std::mem::take(&mut self.nodes[node].kids);
                let (mut shown, small): (Vec<usize>, Vec<usize>) =
                    kids.into_iter().partition(|kid| self.nodes[*kid].total >= least);
                let rest: i64 = small.iter().map(|kid| self.nodes[*kid].total).sum();
                if rest > 0 {
                    let name = self.number(OTHER);
                    shown.push(self.nodes.len());
                    self.nodes.push(Node { name, own: rest, total: rest, parent: node, kids: Vec::new() });
                }
                let mut at = start;
                for kid in shown {
                    if self.nodes[kid].total > 0 {
                        next.push((kid, at));
                        at += self.nodes[kid].total;
                    }
                }
            }
            levels.push(Level { values });
            level = next;
        }
        FlameGraph { names: self.names, levels, total, max_self: max_own }
    }

    /// What a frame must take to be among those that are told.
    fn least(&self, most: usize) -> i64 {
        if most == 0 || self.nodes.len() <= most {
            return 1;
        }
        let mut totals: Vec<i64> = self.nodes.iter().map(|node| node.total).collect();
        let (_, least, _) = totals.select_nth_unstable_by(most - 1, |a, b| b.cmp(a));
        (*least + 1).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flame() -> Flame {
        let mut flame = Flame::default();
        for (stack, own) in
            [("main", 1), ("main;a", 5), ("main;a;x", 3), ("main;b", 2), ("main;c", 1), ("main;c;nothing", 0)]
        {
            let node = stack.split(';').fold(0, |node, name| flame.below(node, name));
            flame.add(node, own);
        }
        flame
    }

    #[test]
    fn bars_lie_side_by_side_and_those_of_no_width_are_not_told() {
        let graph = flame().graph(0);
        assert_eq!((graph.total, graph.max_self), (12, 5));
        let level = |at: usize| graph.levels[at].values.clone();
        let name = |name: &str| graph.names.iter().position(|known| known == name).unwrap() as i64;
        assert_eq!(graph.levels.len(), 4);
        assert_eq!((level(0), level(1)), (vec![0, 12, 0, 0], vec![0, 12, 1, name("main")]));
        assert_eq!(level(2), [0, 8, 5, name("a"), 0, 2, 2, name("b"), 0, 1, 1, name("c")]);
        assert_eq!(level(3), [0, 3, 3, name("x")]);
    }

    #[test]
    fn what_is_left_out_is_a_bar_of_its_own() {
        let graph = flame().graph(4);
        let name = |name: &str| graph.names.iter().position(|known| known == name).unwrap() as i64;
        assert_eq!(graph.levels[2].values, [0, 8, 5, name("a"), 0, 3, 3, name(OTHER)]);
        let widths: i64 = graph.levels[2].values.chunks(4).map(|bar| bar[1]).sum();
        assert_eq!(widths, 12 - 1, "less what main takes by itself");
    }
}
