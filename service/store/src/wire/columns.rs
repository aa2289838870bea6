//! The paths of a frame, column by column: numbers that are like each other lie together, and get small when they are deflated.

use diytrace_profile::merge::{CallPath, Group, Key, PathId, PlaceId, Row, Tree};
use serde::{Deserialize, Serialize};

use crate::codec::{self, Below};

/// The paths of a group, and the hook pairs in them.
#[derive(Default, Serialize, Deserialize)]
pub struct PathColumns {
    /// How far up in the list the path above is; 0 if there is none.
    parents: Vec<u32>,
    functions: Vec<PlaceId>,
    sites: Vec<PlaceId>,
    hooks: Vec<PlaceId>,
    flags: Vec<u32>,
    folded_into: Vec<Option<PathId>>,
    targets: Vec<Option<PlaceId>>,
    /// As [`codec`] writes them.
    rows: Vec<u8>,
}

impl PathColumns {
    /// Takes them out of a group that has one part, or none.
    pub fn take(group: &mut Group) -> Self {
        let paths = std::mem::take(&mut group.tree.paths);
        let part = group.parts.first();
        let pairs = |path: PathId| part.and_then(|part| part.pairs(path)).unwrap_or_default();
        let rows = (0..).zip(&paths).map(|(number, path)| (number, Row { counts: path.counts, pairs: pairs(number) }));
        let rows = codec::encode(&rows.collect::<Vec<_>>(), |path| paths.parent(path));
        if let Some(part) = group.parts.first_mut() {
            part.paths = Default::default();
        }
        let column = |of: fn(CallPath) -> u32| paths.iter().map(of).collect::<Vec<u32>>();
        let up = |(number, path): (u32, CallPath)| path.key.parent.map_or(0, |parent| number - parent);
        Self {
            parents: (0..).zip(&paths).map(up).collect(),
            functions: column(|path| path.key.function),
            sites: column(|path| path.key.site),
            hooks: column(|path| path.key.hook),
            flags: column(|path| path.key.flags),
            folded_into: paths.iter().map(|path| path.key.folded_into).collect(),
            targets: paths.iter().map(|path| path.target).collect(),
            rows,
        }
    }

    /// Puts them back. `None` if they cannot be what was taken.
    pub fn put_back(self, group: &mut Group) -> Option<()> {
        let Self { parents, functions, sites, hooks, flags, folded_into, targets, rows } = self;
        let count = parents.len();
        let others = [functions.len(), sites.len(), hooks.len(), flags.len(), folded_into.len(), targets.len()];
        if others.iter().any(|other| *other != count) {
            return None;
        }
        if count == 0 {
            return Some(());
        }
        let mut paths: Vec<CallPath> = Vec::with_capacity(count);
        for (at, up) in (0u32..).zip(&parents) {
            let parent = if *up == 0 { None } else { Some(at.checked_sub(*up)?) };
            let number = at as usize;
            let [function, site, hook] = [functions[number], sites[number], hooks[number]];
            let key = Key { parent, function, site, hook, flags: flags[number], folded_into: folded_into[number] };
            paths.push(CallPath { key, end: 0, target: targets[number], counts: Default::default() });
        }
        let mut pairs = vec![Default::default(); count];
        let (mut met, mut is_sound) = (0, true);
        let parent = |path: u32| paths.get(path as usize).and_then(|path| path.key.parent);
        let mut counts = vec![Default::default(); count];
        let take = |path: u32, numbers: &codec::Numbers| match codec::row(numbers) {
            Some(row) => {
                (counts[path as usize], pairs[path as usize]) = (row.counts, row.pairs);
                met += 1;
            }
            None => is_sound = false,
        };
        codec::decode(&rows, parent, u32::try_from(count).ok()?, &mut Below::default(), take).ok()?;
        if !is_sound || met != count {
            return None;
        }
        paths.iter_mut().zip(counts).for_each(|(path, counts)| path.counts = counts);
        if let Some(part) = group.parts.first_mut() {
            part.paths = (0..).zip(pairs).collect();
        }
        group.tree = Tree::of(paths.into_iter().collect());
        Some(())
    }
}
