//! Calls that were recorded below an inlined body that had been left.
//!
//! An exception that leaves a body calls no exit hook of it where clang is the compiler, and an inlined body has no stack frame
//! of its own, by which it would be missed. So what the function around it calls next is recorded below the body. But debug
//! information knows which bodies a call is written in: if the one that it was recorded below is not among them, the call
//! is the nearest one's that is.
//!
//! Only below bodies that were left without an exit is looked, and only where all that is asked is known.

use std::collections::BTreeMap;

use crate::elf::symbols::base_name;
use crate::functions::Calls;
use crate::merge::{CallPath, Merged, ModuleId, Move, PathId, Place, Tree};
use crate::symbolize::{Inlined, Symbol, Symbols};

/// Puts such calls where they belong.
pub fn settle(merged: &mut Merged, symbols: &Symbols) {
    if !merged.groups.iter().any(|group| has_left(&group.tree)) {
        return;
    }
    let mut code = Code { symbols, calls: Calls::new(merged, symbols), merged, modules: BTreeMap::new() };
    let moves: Vec<Vec<Move>> = merged.groups.iter().map(|group| code.moves(&group.tree)).collect();
    for (group, moves) in merged.groups.iter_mut().zip(moves).filter(|(_, moves)| !moves.is_empty()) {
        group.do_moves(&moves);
    }
}

/// Paths directly below one that was left without an exit: few programs have any.
fn candidates(tree: &Tree) -> impl Iterator<Item = (PathId, CallPath)> {
    let paths = &tree.paths;
    let was_left = |path: PathId| paths.unusual(path).is_some_and(|counts| counts.unwound > 0);
    let all = 0..if has_left(tree) { paths.len() as PathId } else { 0 };
    all.filter(move |id| paths.parent(*id).is_some_and(was_left)).map(|id| (id, paths.get(id)))
}

/// Whether any path was left without an exit.
fn has_left(tree: &Tree) -> bool {
    tree.paths.all_unusual().any(|counts| counts.unwound > 0)
}

struct Code<'a, 'f> {
    symbols: &'a Symbols<'f>,
    calls: Calls<'a, 'f>,
    merged: &'a Merged,
    modules: BTreeMap<ModuleId, Inlined<'f>>,
}

impl Code<'_, '_> {
    fn moves(&mut self, tree: &Tree) -> Vec<Move> {
        let is_folded = |path: &CallPath| path.key.folded_into.is_some() || path.key.flags != 0;
        let candidates = candidates(tree).filter(|(_, path)| !is_folded(path));
        candidates.filter_map(|(id, path)| self.belongs_below(tree, &path).map(|to| Move { path: id, to })).collect()
    }

    /// Which of the paths above its parent a path belongs below, if it does not belong where it is.
    fn belongs_below(&mut self, tree: &Tree, path: &CallPath) -> Option<PathId> {
        let parent = path.key.parent?;
        if !self.calls.is_inlined(&tree.paths.get(parent)) {
            return None;
        }
        let is_body = self.calls.is_inlined(path);
        let site = self.place(if is_body { path.key.hook } else { path.key.site });
        let physical = self.symbols.enclosing(site)?;
        let mut around = self.around(site)?;
        // Of an inlined body's enter hook, the first is that body.
        if is_body && !self.names(path, &around.remove(0)) {
            return None;
        }
        let outermost = around.last()?;
        if outermost != base_name(physical.name) {
            return None;
        }
        let mut next = Some(parent);
        while let Some(id) = next {
            let above = &tree.paths.get(id);
            // Within the one physical function, whose frame all these share.
            let is_inside = self.symbols.enclosing(self.place(above.key.hook)).map(start) == Some(start(physical));
            if !is_inside || above.key.folded_into.is_some() || above.key.flags != 0 {
                return None;
            }
            let is_inlined = self.calls.is_inlined(above);
            if is_inlined && around[..around.len() - 1].iter().any(|name| self.names(above, name)) {
                return (id != parent).then_some(id);
            }
            if !is_inlined {
                return self.names(above, outermost).then_some(id);
            }
            next = above.key.parent;
        }
        None
    }

    fn place(&self, id: u32) -> Place {
        self.merged.places[id as usize]
    }

    fn around(&mut self, site: Place) -> Option<Vec<String>> {
        let module = site.module?;
        let inlined = self.modules.entry(module).or_insert_with(|| self.symbols.inlined(module));
        inlined.around(site.address)
    }

    /// Whether a path is of the function that the linker knows by this name.
    fn names(&self, path: &CallPath, name: &str) -> bool {
        self.symbols.aliases(self.place(path.key.function)).iter().any(|alias| base_name(alias) == name)
    }
}

fn start(symbol: Symbol) -> u64 {
    symbol.address
}
