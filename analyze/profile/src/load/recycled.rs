//! Arenas in which paths gave way to others, as there was no room for all: see [`diytrace_format::Recycling`].

use diytrace_format::reader::File;
use diytrace_format::{Arena, Node, OffCpu, Recycling, Ref};
use rustc_hash::FxHashMap;

/// What is known of paths that gave way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GaveWay {
    /// How many did.
    pub paths: u64,
    /// How many calls a path that came back may have had before, at most.
    pub most_calls: u64,
    /// How much time, in ticks.
    pub most_ticks: u64,
}

/// The nodes of an arena in which paths gave way.
pub struct Recycled {
    /// What is known of those.
    pub sums: GaveWay,
    /// What the recorder was about when this was read, or when its process was killed.
    journal: Recycling,
    /// The nodes, with the name of the one above each; in the order of the file.
    nodes: Vec<(Ref, Ref)>,
}

impl Recycled {
    /// Of an arena, if any of its paths gave way.
    pub fn of(file: &File, arena: &Arena) -> Option<Self> {
        let journal = file.recycling(arena.recycling)?;
        let Recycling { paths, most_calls, most_ticks, .. } = journal;
        Some(Self { sums: GaveWay { paths, most_calls, most_ticks }, journal, nodes: Vec::new() })
    }

    /// Adds the nodes of a block.
    pub fn add(&mut self, nodes: impl Iterator<Item = (Ref, Node)>) {
        for (name, mut node) in nodes {
            self.undo(name, &mut node);
            if node.parent != 0 {
                self.nodes.push((name, node.parent));
            }
        }
    }

    /// A node as it was before what the recorder was about.
    pub fn node(&self, file: &File, name: Ref) -> Option<Node> {
        let mut node = file.node(name)?;
        self.undo(name, &mut node);
        (node.parent != 0).then_some(node)
    }

    fn undo(&self, name: Ref, node: &mut Node) {
        let Recycling { node: from, parent, to, was, .. } = &self.journal;
        if *from == 0 {
            return;
        }
        if name == *from {
            node.parent = *parent;
        }
        if let Some(at) = [*from, to[0], to[1]].iter().position(|changed| *changed == name) {
            (node.slots, node.unwound, node.noted) = (was[at].slots, was[at].unwound, was[at].noted as u32);
        }
    }

    /// The same of a record of time off the processor.
    pub fn undo_off_cpu(&self, name: Ref, record: &mut OffCpu) {
        let Recycling { node: from, off_cpu, was, .. } = &self.journal;
        if let Some(at) = off_cpu.iter().position(|changed| *from != 0 && *changed == name) {
            [record.wait_ns, record.preempted_ns] = was[at].off_ns;
            if at == 0 {
                record.node = *from;
            }
        }
    }

    /// All nodes, each after the one above it. Those that lead in a circle, as nodes of a damaged file may, come last.
    pub fn order(&self) -> Vec<Ref> {
        const UNKNOWN: u32 = u32::MAX;
        let places: FxHashMap<Ref, usize> = self.nodes.iter().enumerate().map(|(at, (name, _))| (*name, at)).collect();
        let mut depths = vec![UNKNOWN; self.nodes.len()];
        let mut way = Vec::new();
        for at in 0..self.nodes.len() {
            let mut next = Some(at);
            let mut depth = 0;
            while let Some(at) = next {
                if depths[at] != UNKNOWN {
                    depth = depths[at].saturating_add(1);
                    break;
                }
                depths[at] = UNKNOWN - 1; // on the way: a circle ends here
                way.push(at);
                next = places.get(&self.nodes[at].1).copied();
            }
            for at in way.drain(..).rev() {
                depths[at] = depth.min(UNKNOWN - 1);
                depth = depth.saturating_add(1);
            }
        }
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by_key(|at| depths[*at]);
        order.into_iter().map(|at| self.nodes[at].0).collect()
    }
}
