//! Paths that give way to others, as the recorder has them do.

use diytrace_format::node::{OTHERS, flag};
use diytrace_format::{Ref, Slot};

use crate::load::{Arena, GaveWay, Node};

/// Has the paths of an arena give way, one after the other: of those that may, the one that each turn chooses.
pub fn give_way(arena: &mut Arena, turns: &[usize]) {
    for turn in turns {
        let nodes: Vec<Node> = arena.nodes.iter().collect();
        let may = |path: &usize| {
            let is_above = |node: &Node| node.parent == Some(*path as u32) && !node.is_others();
            let Node { flags, parent, slots, .. } = &nodes[*path];
            *flags == 0 && parent.is_some() && slots.iter().all(|slot| slot.mark == 0) && !nodes.iter().any(is_above)
        };
        let paths: Vec<usize> = (0..nodes.len()).filter(may).collect();
        if !paths.is_empty() {
            give_way_one(arena, paths[turn % paths.len()]);
        }
    }
    arena.sort_names();
}

fn give_way_one(arena: &mut Arena, path: usize) {
    let parent = arena.nodes.get(path).parent.expect("it lies below another") as usize;
    let kind = |nested: bool, bit: u32| if nested { bit } else { 0 };
    let kind = kind(is_inside(arena, path), flag::NESTED) | kind(is_inside(arena, parent), flag::BY_NESTED);
    let Node { function, hook, .. } = arena.nodes.get(path);
    let caller = arena.nodes.get(parent).function;
    let is_edge = |node: Node| {
        let is_of_kind = node.flags == flag::FOLDED | flag::EDGE | kind;
        is_of_kind && (node.function, node.hook, node.site) == (function, hook, caller)
    };
    let edge = arena.nodes.iter().position(is_edge).unwrap_or_else(|| {
        let flags = flag::FOLDED | flag::EDGE | kind;
        add(arena, Node { parent: None, site: caller, flags, ..empty(&arena.nodes.get(path)) })
    });
    let others = others_of(arena, parent);
    add_sums(arena, path, edge);
    add_sums(arena, path, others);
    let own = find_others(arena, path);
    if let Some(own) = own {
        let of_edge = others_of(arena, edge);
        add_sums(arena, own, of_edge);
    }
    let mut gone: Vec<usize> = own.into_iter().chain([path]).collect();
    gone.sort_unstable();
    gone.into_iter().rev().for_each(|gone| remove(arena, gone));
    let GaveWay { paths, most_calls, most_ticks } = arena.recycling.unwrap_or_default();
    arena.recycling = Some(GaveWay { paths: paths + 1, most_calls, most_ticks });
}

fn is_inside(arena: &Arena, path: usize) -> bool {
    let function = arena.nodes.get(path).function;
    let above = |path: Option<u32>| path.and_then(|path| arena.nodes.get(path as usize).parent);
    std::iter::successors(above(Some(path as u32)), |path| above(Some(*path)))
        .any(|path| arena.nodes.get(path as usize).function == function)
}

fn find_others(arena: &Arena, parent: usize) -> Option<usize> {
    arena.nodes.iter().position(|node| node.is_others() && node.parent == Some(parent as u32))
}

fn others_of(arena: &mut Arena, parent: usize) -> usize {
    find_others(arena, parent).unwrap_or_else(|| {
        let like = empty(&arena.nodes.get(parent));
        let none = Node { function: OTHERS, site: 0, hook: 0, module: 0, site_module: 0, flags: flag::OTHERS, ..like };
        add(arena, Node { parent: Some(parent as u32), has_histogram: false, ..none })
    })
}

fn empty(node: &Node) -> Node {
    Node { slots: [Slot::default(); 2], unwound: 0, is_root: false, folded_into: None, ..*node }
}

/// Under the name of a path that gave way, if there is one.
fn add(arena: &mut Arena, node: Node) -> usize {
    let free = (0..).find(|name: &Ref| !arena.names.contains(name)).expect("there are more names than paths");
    arena.names.push(free);
    arena.nodes.push(node);
    arena.nodes.len() - 1
}

fn add_sums(arena: &mut Arena, from: usize, to: usize) {
    let Node { slots, unwound, .. } = arena.nodes.get(from);
    arena.nodes.change(to, |to| {
        for (to, more) in to.slots.iter_mut().zip(slots) {
            to.calls += more.calls;
            to.ticks += more.ticks;
            to.descendants += more.descendants;
        }
        to.unwound += unwound;
    });
}

/// What lies behind it moves up.
fn remove(arena: &mut Arena, path: usize) {
    arena.names.remove(path);
    let stay = arena.nodes.iter().enumerate().filter(|(at, _)| *at != path);
    let moved_up = |above: u32| above - u32::from(above as usize > path);
    let moved_up = |(_, node): (usize, Node)| Node {
        parent: node.parent.map(moved_up),
        folded_into: node.folded_into.map(moved_up),
        ..node
    };
    arena.nodes = stay.map(moved_up).collect();
}
