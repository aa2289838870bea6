//! Leaves out what counts nothing: of what has come since an earlier reading, most paths do not.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Merged;
use super::call_path::{CallPath, Counts, Key, PathId};
use super::group::{FunctionTimes, Group};
use super::modules::{Place, PlaceId};
use super::pairs::PathPairs;
use super::part::{Filed, Part};
use super::paths::Paths;
use super::tree::Tree;

impl Merged {
    /// The same without paths, functions and places that count nothing. Modules stay: they tell which program it is.
    pub fn without_idle(self) -> Self {
        let Self { modules, places, groups } = self;
        let mut used = Used { known: &places, numbers: FxHashMap::default(), list: Vec::new() };
        let groups = groups.into_iter().map(|group| without_idle(group, &mut used)).collect();
        Self { modules, places: used.list, groups }
    }
}

/// Places that something needs, numbered as they come.
struct Used<'a> {
    known: &'a [Place],
    numbers: FxHashMap<PlaceId, PlaceId>,
    list: Vec<Place>,
}

impl Used<'_> {
    fn number(&mut self, place: PlaceId) -> PlaceId {
        *self.numbers.entry(place).or_insert_with(|| {
            self.list.push(self.known[place as usize]);
            self.list.len() as PlaceId - 1
        })
    }
}

fn without_idle(group: Group, places: &mut Used) -> Group {
    let Group { tree, parts, functions, .. } = group;
    let mut is_kept: Vec<bool> = tree.paths.iter().map(|path| counts_anything(&path.counts)).collect();
    for part in &parts {
        let busy = part.paths.iter().filter(|(_, pairs)| *pairs != PathPairs::default());
        busy.for_each(|(path, _)| is_kept[path as usize] = true);
    }
    // A path comes after those that it is below.
    for (path, CallPath { key, .. }) in tree.paths.iter().enumerate().rev() {
        if is_kept[path] {
            key.parent.into_iter().chain(key.folded_into).for_each(|above| is_kept[above as usize] = true);
        }
    }
    let mut numbers = vec![PathId::MAX; tree.paths.len()];
    let mut paths = Paths::default();
    for (old, path) in tree.paths.iter().enumerate().filter(|(old, _)| is_kept[*old]) {
        let new = paths.len() as PathId;
        numbers[old] = new;
        let above = |path: PathId| numbers[path as usize];
        let Key { parent, function, site, hook, flags, folded_into } = path.key;
        let (parent, folded_into) = (parent.map(above), folded_into.map(above));
        let [function, site, hook] = [function, site, hook].map(|place| places.number(place));
        let key = Key { parent, function, site, hook, flags, folded_into };
        let target = path.target.map(|target| places.number(target));
        paths.push(&CallPath { key, end: 0, target, counts: path.counts });
    }
    let parts = parts.into_iter().map(|part| {
        let kept = part.paths.iter().filter(|(path, _)| is_kept[*path as usize]);
        let busy = part.filed.iter().filter(|(_, filed)| **filed != Filed::default());
        Part {
            paths: kept.map(|(path, pairs)| (numbers[path as usize], pairs)).collect(),
            filed: Arc::new(busy.map(|(place, filed)| (places.number(*place), *filed)).collect()),
            ..part
        }
    });
    let parts = parts.collect();
    let functions = functions.into_iter().filter(|(_, times)| tells_anything(times));
    let functions = functions.map(|(place, times)| (places.number(place), times)).collect();
    Group { tree: Tree::of(paths), parts, functions, ..group }
}

/// Whether sums are any.
pub(super) fn counts_anything(counts: &Counts) -> bool {
    Counts { is_between: false, ..*counts } != Counts::default()
}

/// Whether there is anything of a function.
pub(super) fn tells_anything(times: &FunctionTimes) -> bool {
    let FunctionTimes { histogram, returned, open_before, processes, timelines } = times;
    histogram.returned() + returned + processes > 0 || *open_before != 0 || timelines.finish().is_some()
}

#[cfg(test)]
mod tests {
    use crate::merge::{By, Merging};
    use crate::testing::{arena, family, node, slot};

    #[test]
    fn what_is_above_something_stays_and_the_sums_are_the_same() {
        let nodes = |calls: u64| {
            vec![
                node(0x1100, None, slot(1, 50, 0)),
                node(0x1200, Some(0), slot(2, 20, 0)),
                node(0x1300, Some(0), slot(3, 10, 0)),
                node(0x1400, Some(2), slot(calls, 10 * calls, 0)),
            ]
        };
        let (before, after) = (family(vec![arena(nodes(4))]), family(vec![arena(nodes(9))]));
        let mut merging = Merging::new(By::All, None);
        merging.add_since(Some(&before), &after);
        let all = merging.finish();
        let busy = all.clone().without_idle();
        assert!(busy.is_sound());
        let addresses = |merged: &crate::merge::Merged| {
            let paths = merged.groups[0].tree.paths.iter();
            paths.map(|path| merged.places[path.key.function as usize].address).collect::<Vec<_>>()
        };
        let sums = |merged: &crate::merge::Merged| {
            let paths = &merged.groups[0].tree.paths;
            let own = paths.iter().map(|path| path.counts.own.ns()).sum::<f64>();
            (merged.groups[0].calls, paths.iter().map(|path| path.counts.calls).sum::<u64>(), own)
        };
        assert_eq!((addresses(&all).len(), addresses(&busy).len()), (4, 3), "{:x?}", addresses(&busy));
        assert_eq!(sums(&all), sums(&busy));
    }
}
