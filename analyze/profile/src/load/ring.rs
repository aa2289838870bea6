//! Calls that the recorder has noted and not counted yet: its process runs, or was killed in the middle. They are counted here
//! as the recorder would.

use diytrace_format::node::{ROOT, SKIPPED, flag, mark};
use diytrace_format::noted::{self, Left};
use diytrace_format::reader::File;
use diytrace_format::ring::{Event, Note, Place};
use diytrace_format::{Ref, Ring, Slot};
use rustc_hash::FxHashMap;

use super::family::{Arena, Module};
use super::node::{Node, Off};
use super::timed::Timed;

/// Where calls are made from.
#[derive(Clone, Copy)]
struct From {
    /// The path, by its place; `None` outside of all.
    path: Option<u32>,
    /// Where calls from there are counted under: another one if the path's own are not recorded, or folded.
    position: Option<u32>,
    inside: u8,
    /// Nothing but what is known is recorded there.
    is_skipped: bool,
}

type Key = (Option<u32>, u64, u64, u64);

/// Counts what lies in an arena's ring.
pub fn count(file: &File, arena: &mut Arena, modules: &[Module]) {
    let Some((ring, slots)) = file.ring(arena.facts.ring) else { return };
    let notes: Vec<Note> = slots.map(|slot| slot.note()).collect();
    if !notes.iter().any(|note| matches!(note, Note::Enter(_))) {
        return;
    }
    let key = |node: Node| (node.parent, node.function, node.site, node.hook & HOOK);
    let paths = arena.nodes.iter().zip(0..).map(|(node, index)| (key(node), index)).collect();
    let base = From { path: None, position: None, inside: 0, is_skipped: false };
    let done = done(&ring, arena);
    let base_call = Event { function: 0, site: 0, hook: 0, sp: u64::MAX };
    let mut replay = Replay { file, arena, modules, paths, base, base_call, open: Vec::new(), done };
    for (at, note) in notes.iter().enumerate() {
        // Made after the paths were read, of a program that runs: what is noted from there on is of a later moment.
        if matches!(note, Note::Base(place, _) if place.node > ROOT && replay.path(place.node).is_none()) {
            break;
        }
        replay.take(at as u64, note);
    }
    for open in replay.open {
        // It has not returned, and nobody knows since when.
        let Some((path, own)) = open.slot else { continue };
        if replay.arena.nodes.get(path as usize).slots[own].mark & mark::OPEN == 0 {
            replay.arena.nodes.change(path as usize, |node| node.slots[own].mark = mark::OPEN);
        }
    }
}

/// How many slots are counted already: also the one that the recorder was about, if its counter says so.
fn done(ring: &Ring, arena: &Arena) -> u64 {
    let is_it = ring.counting == ring.done.wrapping_add(1);
    let path = arena.place_of(ring.node);
    let calls = path.and_then(|path| arena.nodes.get(path).slots.get(ring.own as usize).map(|slot| slot.calls));
    if is_it && calls.is_some_and(|calls| calls >= ring.calls) { ring.counting } else { ring.done }
}

/// A hook is told by its low half.
const HOOK: u64 = u32::MAX as u64;

/// A call in the ring.
struct Open {
    entry: Event,
    from: From,
    /// The counters that it is in, if it is in any, and may be seen to be open.
    slot: Option<(u32, usize)>,
}

impl noted::Open for Open {
    fn entry(&self) -> Event {
        self.entry
    }
}

struct Replay<'a> {
    file: &'a File<'a>,
    arena: &'a mut Arena,
    modules: &'a [Module],
    paths: FxHashMap<Key, u32>,
    base: From,
    /// How that call was entered.
    base_call: Event,
    open: Vec<Open>,
    /// How many slots are counted already.
    done: u64,
}

impl Replay<'_> {
    fn take(&mut self, at: u64, note: &Note) {
        match note {
            Note::Base(place, sp) => {
                self.base = self.place(place);
                self.base_call = self.call_of(&self.base, *sp);
                self.leave_down_to(0, at < self.done);
            }
            Note::Enter(entry) => {
                self.leave_down_to(noted::staying(&self.open, &self.base_call, entry), at < self.done);
                self.enter(entry, at < self.done);
            }
            // Code is not asked here: in a ring an exit below the latest open call of its function, whose entry would be in it, is that call's, by a
            // part of it that was split off.
            Note::Exit(exit) => match noted::returning(&self.open, &self.base_call, exit, |_| true) {
                Left::Returns(index) => {
                    self.leave_down_to(index + 1, at < self.done);
                    self.open.truncate(index);
                }
                Left::Stray(depth) => self.leave_down_to(depth, at < self.done),
            },
            Note::Nothing => {}
        }
    }

    /// So many calls stay open; the others were left without an exit.
    fn leave_down_to(&mut self, depth: usize, is_done: bool) {
        for left in self.open.drain(depth.min(self.open.len())..) {
            if let Some((path, _)) = left.slot.filter(|_| !is_done) {
                self.arena.nodes.change(path as usize, |node| node.unwound = node.unwound.saturating_add(1));
                let unwound = &mut self.arena.facts.unwound;
                *unwound = unwound.saturating_add(1);
            }
        }
    }

    fn path(&self, name: Ref) -> Option<u32> {
        self.arena.place_of(name).map(|place| place as u32)
    }

    fn place(&self, place: &Place) -> From {
        From {
            path: self.path(place.node),
            position: if place.position > ROOT { self.path(place.position) } else { None },
            inside: place.inside,
            is_skipped: place.position == SKIPPED,
        }
    }

    fn call_of(&self, base: &From, sp: u64) -> Event {
        let node = base.path.map(|path| self.arena.nodes.get(path as usize));
        let of = |part: fn(&Node) -> u64| node.as_ref().map_or(0, part);
        Event { function: of(|node| node.function), site: of(|node| node.site), hook: of(|node| node.hook), sp }
    }

    fn latest(&self) -> From {
        self.open.last().map_or(self.base, |open| open.from)
    }

    fn inside_of(&self, path: u32, inside: u8, is_skipped: bool) -> From {
        let node = self.arena.nodes.get(path as usize);
        let position = match node.folded_into {
            Some(position) => Some(position),
            None if node.is_untimed() => node.parent,
            None => Some(path),
        };
        From { path: Some(path), position, inside, is_skipped }
    }

    /// A call is entered, and counted unless that was done.
    fn enter(&mut self, call: &Event, is_done: bool) {
        let from = self.latest();
        let calls = u64::from(!is_done);
        if from.is_skipped && !self.is_root(call) {
            // Below the limit of depth: it counts with the call there.
            if let Some(path) = from.path {
                self.arena.nodes.change(path as usize, |node| {
                    let slot = &mut node.slots[usize::from(from.inside & 1)];
                    slot.calls = slot.calls.saturating_add(calls);
                });
            }
            return self.open.push(Open { entry: *call, from, slot: None });
        }
        let key = (from.position, call.function, call.site, call.hook & HOOK);
        let path = match self.paths.get(&key) {
            Some(&path) => path,
            // Where the recorder has had no room, it has counted by function.
            None if is_done => return self.open.push(Open { entry: *call, from, slot: None }),
            None => self.make(from.position, call),
        };
        let node = self.arena.nodes.get(path as usize);
        let own = from.inside | (node.flags & flag::FOLDED != 0) as u8;
        let inside = own | (node.flags & flag::RECURSION != 0) as u8;
        self.arena.nodes.change(path as usize, |node| {
            let slot = &mut node.slots[usize::from(own & 1)];
            slot.calls = slot.calls.saturating_add(calls);
            if !node.is_untimed() && !is_done {
                node.timed = match node.timed {
                    Timed::All => Timed::AllBut(1),
                    Timed::AllBut(calls) => Timed::AllBut(calls.saturating_add(1)),
                    other => other,
                };
            }
        });
        let is_seen = !node.is_untimed();
        let is_skipped = self.file.is_skipped(self.arena.names[path as usize]);
        let from = self.inside_of(path, inside, is_skipped);
        self.open.push(Open { entry: *call, from, slot: is_seen.then_some((path, usize::from(own & 1))) });
    }

    /// Whether a call is one of a root, which is recorded wherever it is: as far as one is known already.
    fn is_root(&self, call: &Event) -> bool {
        self.arena.nodes.iter().any(|node| node.function == call.function && node.is_root)
    }

    /// A path that the recorder has not met before.
    fn make(&mut self, parent: Option<u32>, call: &Event) -> u32 {
        let place = self.arena.nodes.len() as u32;
        let module = |address: u64| {
            let holds = |module: &&Module| (module.start..module.end).contains(&address);
            // What was loaded last lies there now.
            self.modules.iter().rev().find(holds).map_or(0, |module| module.number)
        };
        let node = Node {
            function: call.function,
            site: call.site,
            hook: call.hook,
            target: 0,
            module: module(call.function),
            site_module: module(call.site),
            flags: 0,
            parent,
            folded_into: None,
            is_root: false,
            is_open_since_reset: false,
            has_histogram: false,
            unwound: 0,
            timed: Timed::All,
            slots: [Slot::default(); 2],
            off: Off::default(),
        };
        self.arena.names.push(Ref::MAX);
        self.arena.nodes.push(node);
        self.paths.insert((parent, call.function, call.site, call.hook & HOOK), place);
        place
    }
}
