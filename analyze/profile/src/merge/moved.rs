//! Call paths that are put below other ones than they were recorded below.

use super::call_path::{CallPath, PathId};
use super::group::Group;
use super::pairs::Pairs;
use super::part::Part;
use super::tree::Growing;

/// A path, and the one of those above it that it belongs directly below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The path, with all below it.
    pub path: PathId,
    /// The path above its parent, or further up.
    pub to: PathId,
}

impl Group {
    /// Does these moves, which are in the order of their paths. The time of what is moved, with the hook pairs in it, is taken off
    /// the paths that it is moved out of.
    pub fn do_moves(&mut self, moves: &[Move]) {
        let mut paths: Vec<CallPath> = std::mem::take(&mut self.tree.paths).iter().collect();
        let mut parents: Vec<Option<PathId>> = paths.iter().map(|path| path.key.parent).collect();
        for &Move { path, to } in moves {
            let between: Vec<PathId> = std::iter::successors(parents[path as usize], |&above| parents[above as usize])
                .take_while(|above| *above != to)
                .collect();
            let top = between.last().and_then(|&last| parents[last as usize]);
            if top == Some(to) && have_its_time(&paths, &between, path) {
                take_out(&mut paths, &between, path);
                self.parts.iter_mut().for_each(|part| part.take_out(&between, path, to));
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
        let (tree, order) = growing.finish(&places);
        let new_ids: Vec<PathId> = new_ids.iter().map(|id| order.new_ids[*id as usize]).collect();
        self.tree = tree;
        let parts = std::mem::take(&mut self.parts);
        self.parts = parts.into_iter().map(|part| part.renumbered(&new_ids)).collect();
    }
}

/// Whether all between a path and the one that it goes to have at least its time. They may not: of a call that was left, the
/// end is not known.
fn have_its_time(paths: &[CallPath], between: &[PathId], path: PathId) -> bool {
    let moved = paths[path as usize].counts.inclusive;
    let mut between = between.iter().map(|above| paths[*above as usize].counts.inclusive);
    between.all(|all| all[0] >= moved[0] && all[1] >= moved[1])
}

/// Takes a path's time off those between it and the one that it goes to.
fn take_out(paths: &mut [CallPath], between: &[PathId], path: PathId) {
    let moved = paths[path as usize].counts.inclusive;
    for above in between {
        let counts = &mut paths[*above as usize].counts;
        counts.inclusive = [counts.inclusive[0] - moved[0], counts.inclusive[1] - moved[1]];
        counts.closed_time = (counts.closed_time - moved[0] - moved[1]).at_least_zero();
    }
}

impl Part {
    /// The same for the hook pairs in the time: those inside the path's calls, and those of the calls themselves, of which the
    /// caller bears a part.
    fn take_out(&mut self, between: &[PathId], path: PathId, to: PathId) {
        let Some(moved) = self.pairs(path) else { return };
        let of_caller = Pairs { outer: moved.calls, ..Pairs::default() };
        for above in between {
            self.paths.change(*above, |pairs| {
                pairs.inclusive[0] = pairs.inclusive[0].without(&moved.inclusive[0].and(&of_caller));
                pairs.inclusive[1] = pairs.inclusive[1].without(&moved.inclusive[1]);
                pairs.closed =
                    pairs.closed.without(&moved.inclusive[0]).without(&moved.inclusive[1]).without(&of_caller);
            });
        }
        if let Some(parent) = between.first() {
            self.paths.change(*parent, |pairs| pairs.own = pairs.own.without(&of_caller));
        }
        self.paths.change(to, |pairs| pairs.own = pairs.own.and(&of_caller));
    }
}

fn places_of(path: &CallPath) -> u32 {
    let key = &path.key;
    [key.function, key.site, key.hook].into_iter().chain(path.target).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::correct::correct;
    use crate::load::Family;
    use crate::load::costs::{Costs, Evidence};
    use crate::merge::{By, merge};
    use crate::testing::{arena, family, node, slot};
    use crate::time::Time;

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
        let family = Family { evidence: Evidence::of_costs(costs), ..family(vec![arena(nodes)]) };
        let mut group = merge(&[family], By::All, None).groups.remove(0);
        let own = |group: &Group| correct(group).corrected.iter().map(|times| times.own).sum::<Time>();
        let all = own(&group);
        group.do_moves(&[Move { path: 3, to: 0 }]);
        let path =
            |path: CallPath| (path.key.parent, path.counts.calls, path.counts.inclusive[0].ns(), path.counts.own.ns());
        let paths: Vec<_> = group.tree.paths.iter().map(path).collect();
        let expected = [
            (None, 1, 1000.0, 250.0),
            (Some(0), 2, 400.0, 300.0),
            (Some(1), 2, 100.0, 100.0),
            (Some(0), 5, 350.0, 350.0),
        ];
        assert_eq!(paths, expected);
        assert_eq!(own(&group), all);
        // 100, less 2 calls' own cost: nothing is called there any more.
        let corrected = correct(&group).corrected.get(2);
        assert_eq!((corrected.inclusive.ns(), corrected.own.ns()), (96.0, 96.0));
    }
}
