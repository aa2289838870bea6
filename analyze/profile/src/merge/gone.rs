//! Paths of an earlier reading that have given way to others since: what they had counted is in other sums now.

use diytrace_format::node::flag;
use rustc_hash::FxHashMap;

use super::measure::Measured;
use super::pairs::PathPairs;
use crate::load::{Arena, Node};
use crate::time::Time;

/// An arena at two readings.
pub struct Gone<'a> {
    before: &'a Arena,
    /// Where the earlier one's paths are in the later one, if they are there.
    places: Vec<Option<u32>>,
    /// In the later one, edges by what tells them apart,
    edges: FxHashMap<EdgeKey, u32>,
    /// and what stands for others, by the path above it.
    others: FxHashMap<u32, u32>,
}

/// Function, enter hook, and the function that made the calls; and which of these lay in calls of the same.
type EdgeKey = (u64, u64, u64, u32);

const KIND: u32 = flag::NESTED | flag::BY_NESTED;

impl<'a> Gone<'a> {
    pub fn of(before: &'a Arena, now: &Arena) -> Self {
        let mut places: Vec<Option<u32>> = Vec::with_capacity(before.nodes.len());
        for (name, node) in before.names.iter().zip(&before.nodes) {
            let above = node.parent.map(|above| places[above as usize]);
            // A name may be another path's by now.
            let is_it = |place: &usize| {
                let found = now.nodes.get(*place);
                let place_of = |node: &Node| (node.function, node.site, node.hook, node.module, node.site_module);
                place_of(&found) == place_of(&node) && above.is_none_or(|above| above == found.parent)
            };
            places.push(now.place_of(*name).filter(is_it).map(|place| place as u32));
        }
        let (mut edges, mut others) = (FxHashMap::default(), FxHashMap::default());
        if now.recycling.is_some() {
            for (place, node) in (0..).zip(&now.nodes) {
                if node.flags & flag::EDGE != 0 {
                    edges.insert((node.function, node.hook, node.site, node.flags & KIND), place);
                } else if let Some(above) = node.parent.filter(|_| node.is_others()) {
                    others.insert(above, place);
                }
            }
        }
        Self { before, places, edges, others }
    }

    /// Where a path is in the later reading.
    pub fn place(&self, path: usize) -> Option<usize> {
        self.places[path].map(|place| place as usize)
    }

    /// The sums that have those of a path that is gone: of calls of its function by another, and of others from the path above.
    pub fn heirs(&self, path: usize) -> [Option<usize>; 2] {
        let edge = (!self.before.nodes.get(path).is_others()).then(|| self.edge(path)).flatten();
        let above = self.before.nodes.get(path).parent.map(|above| above as usize);
        let above = above.and_then(|above| self.places[above].or_else(|| self.edge(above)));
        let others = above.and_then(|above| self.others.get(&above).copied());
        [edge, others].map(|heir| heir.map(|heir| heir as usize))
    }

    fn edge(&self, path: usize) -> Option<u32> {
        let node = self.before.nodes.get(path);
        let above = self.before.nodes.get(node.parent? as usize);
        let nested = if self.is_inside(node.parent, node.function) { flag::NESTED } else { 0 };
        let by_nested = if self.is_inside(above.parent, above.function) { flag::BY_NESTED } else { 0 };
        self.edges.get(&(node.function, node.hook, above.function, nested | by_nested)).copied()
    }

    fn is_inside(&self, mut above: Option<u32>, function: u64) -> bool {
        while let Some(node) = above.map(|above| self.before.nodes.get(above as usize)) {
            if node.function == function {
                return true;
            }
            above = node.parent;
        }
        false
    }
}

/// Sums of a path as those of others have them: what it called is in them.
pub fn as_others(measured: &Measured) -> Measured {
    let mut sums = *measured;
    sums.counts.own = sums.counts.inclusive.iter().copied().sum::<Time>();
    let PathPairs { inclusive, .. } = sums.pairs;
    sums.pairs.own = inclusive[0].and(&inclusive[1]);
    sums
}
