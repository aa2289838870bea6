//! Call paths that are put below other ones than they were recorded below.

use super::tree::{CallPath, Growing, PathId, Tree};
use crate::time::Time;

/// A path, and the one of those above it that it belongs directly below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The path, with all below it.
    pub path: PathId,
    /// The path above its parent, or further up.
    pub to: PathId,
}

impl Tree {
    /// The tree with these moves done, which are in the order of their paths. The time of what is moved is taken off the paths
    /// that it is moved out of. `outer` is what a call's hooks cost the one that makes it.
    pub fn moved(self, moves: &[Move], outer: Time) -> Self {
        let mut paths = self.paths;
        let mut parents: Vec<Option<PathId>> = paths.iter().map(|path| path.key.parent).collect();
        for &Move { path, to } in moves {
            let mut above = std::iter::successors(parents[path as usize], |&above| parents[above as usize]);
            if above.any(|above| above == to) && has_its_time(&paths, &parents, path, to) {
                take_out(&mut paths, &parents, path, to, outer);
                parents[path as usize] = Some(to);
            }
        }
        let places: Vec<u32> = (0..paths.iter().map(places_of).max().map_or(0, |most| most + 1)).collect();
        let mut growing = Growing::default();
        let mut new_ids: Vec<PathId> = Vec::with_capacity(paths.len());
        for (path, parent) in paths.iter().zip(parents) {
            // What is above a path comes before it, wherever it is moved to.
            let new_id = |old: PathId| new_ids[old as usize];
            let mut key = path.key;
            (key.parent, key.folded_into) = (parent.map(new_id), key.folded_into.map(new_id));
            new_ids.push(growing.add(key, path.target, &path.counts));
        }
        growing.finish(&places)
    }
}

/// Whether all between a path and the one that it goes to have at least its time. They may not: of a call that was left, the
/// end is not known.
fn has_its_time(paths: &[CallPath], parents: &[Option<PathId>], path: PathId, to: PathId) -> bool {
    let moved = paths[path as usize].counts.inclusive_raw;
    let above = std::iter::successors(parents[path as usize], |&above| parents[above as usize]);
    let mut between = above.take_while(|above| *above != to).map(|above| paths[above as usize].counts.inclusive_raw);
    between.all(|all| all[0] >= moved[0] && all[1] >= moved[1])
}

/// Takes what a path has cost off those between it and the one that it goes to.
fn take_out(paths: &mut [CallPath], parents: &[Option<PathId>], path: PathId, to: PathId, outer: Time) {
    let moved = paths[path as usize].counts;
    let pairs = outer.times(moved.closed);
    let parent = parents[path as usize];
    let mut above = parent.filter(|parent| *parent != to);
    while let Some(id) = above {
        let counts = &mut paths[id as usize].counts;
        for slot in 0..2 {
            counts.inclusive_raw[slot] = counts.inclusive_raw[slot] - moved.inclusive_raw[slot];
            counts.inclusive_corrected[slot] = counts.inclusive_corrected[slot] - moved.inclusive_corrected[slot];
        }
        // Its hooks' cost was taken off there, too.
        counts.inclusive_corrected[0] += pairs;
        let [raw, corrected] = [moved.inclusive_raw, moved.inclusive_corrected].map(|both| both[0] + both[1]);
        counts.closed_raw = (counts.closed_raw - raw).at_least_zero();
        counts.closed_corrected = counts.closed_corrected - corrected + pairs;
        above = parents[id as usize].filter(|parent| *parent != to);
    }
    if let Some(parent) = parent {
        paths[parent as usize].counts.self_corrected += pairs;
        let to = &mut paths[to as usize].counts;
        to.self_corrected = to.self_corrected - pairs;
    }
}

fn places_of(path: &CallPath) -> u32 {
    let key = &path.key;
    [key.function, key.site, key.hook].into_iter().chain(path.target).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Family;
    use crate::load::costs::Costs;
    use crate::merge::{By, merge};
    use crate::testing::{arena, family, node, slot};

    #[test]
    fn what_is_moved_takes_its_time_with_it_and_joins_what_is_there() {
        // main → left → inner → after, of which the last belongs below main, where it has been called, too.
        let nodes = vec![
            node(0x1000, None, slot(1, 1000, 9)),
            node(0x1100, Some(0), slot(2, 700, 5)),
            node(0x1200, Some(1), slot(2, 400, 3)),
            node(0x1300, Some(2), slot(3, 300, 0)),
            node(0x1300, Some(0), slot(2, 50, 0)),
        ];
        let costs = Costs { inner: 2.0, outer: 3.0, ..Costs::default() };
        let family = Family { costs, ..family(vec![arena(nodes)]) };
        let tree = merge(&[family], By::All, None).groups.remove(0).tree;
        let own = |tree: &Tree| tree.paths.iter().map(|path| path.counts.self_corrected).sum::<Time>();
        let all = own(&tree);
        let moved = tree.moved(&[Move { path: 3, to: 0 }], Time::from_ns(3.0));
        let paths: Vec<_> = moved
            .paths
            .iter()
            .map(|path| {
                (path.key.parent, path.counts.calls, path.counts.inclusive_raw[0].ns(), path.counts.self_raw.ns())
            })
            .collect();
        let expected = [
            (None, 1, 1000.0, 250.0),
            (Some(0), 2, 400.0, 300.0),
            (Some(1), 2, 100.0, 100.0),
            (Some(0), 5, 350.0, 350.0),
        ];
        assert_eq!(paths, expected);
        assert_eq!(own(&moved), all);
        // 100, less 2 calls' own cost: nothing is called there any more.
        let corrected = moved.paths[2].counts;
        assert_eq!((corrected.inclusive_corrected[0].ns(), corrected.self_corrected.ns()), (96.0, 96.0));
    }
}
