//! Reads the arenas of a profile: call paths, with checked references to each other.

use std::cell::Cell;

use diytrace_format::node::{edge_kind, flag};
use diytrace_format::reader::{File, Located};
use diytrace_format::{NodeRecord, Pending, Ref, Slot, UNIT, kind, node};
use rustc_hash::FxHashMap;

use super::alike::Alike;
use super::damage::Damage;
use super::family::Arena;
use super::histograms::Records;
use super::node::{Node, Off};
use super::recycled::Recycled;
use super::timed::{Timed, Timing};
use crate::process::State;

/// Nobody waits longer than that, in nanoseconds: two centuries.
pub(super) const LONGEST: u64 = 1 << 62;

/// More records of time off the processor than that no arena has beyond its paths: of paths that gave way.
const MOST_RECORDS: usize = 1 << 22;

/// An arena on the way, with the function records that its nodes have named.
struct Reading {
    arena: Arena,
    /// Units that a node takes.
    node_units: usize,
    /// The name of the first node of each block, and its place.
    blocks: Vec<(Ref, usize)>,
    records: FxHashMap<Ref, Option<u32>>,
    /// The block that a path was found in last: nearly always the next one is there, too.
    latest_block: Cell<usize>,
    alike: Alike,
    /// If paths gave way to others: their nodes, which are read last,
    recycled: Option<Recycled>,
    /// and the place of each.
    places: FxHashMap<Ref, usize>,
}

/// Reads all arenas; `blocks` are theirs, and `bytes` is the size of the file.
pub fn read_arenas(file: &File, bytes: usize, timing: Timing, blocks: &[Located], damage: &mut Damage) -> Vec<Arena> {
    let mut arenas: Vec<Reading> = Vec::new();
    let mut by_reference: FxHashMap<Ref, usize> = FxHashMap::default();
    for block in blocks {
        let Some(facts) = file.arena(block) else { continue };
        let name = (block.offset / UNIT) as Ref;
        let is_before_reset = facts.epoch != file.header().epoch;
        by_reference.insert(name, arenas.len());
        let (names, nodes, functions) = Default::default();
        let state = State::Killed;
        let recycled = Recycled::of(file, &facts);
        let (recycling, by_name) = (recycled.as_ref().map(|recycled| recycled.sums), Vec::new());
        let arena = Arena { facts, name, state, is_before_reset, recycling, names, by_name, nodes, functions };
        arenas.push(Reading {
            arena,
            node_units: file.node_size() / UNIT,
            blocks: Vec::new(),
            records: FxHashMap::default(),
            latest_block: Cell::new(0),
            alike: Alike::default(),
            recycled,
            places: FxHashMap::default(),
        });
    }
    let mut records = Records::new(*file, bytes);
    for block in blocks {
        let name = if block.block.kind == kind::ARENA { (block.offset / UNIT) as Ref } else { block.block.arena };
        match by_reference.get(&name) {
            Some(&index) => arenas[index].read_nodes(file, timing, block, &mut records, damage),
            None => damage.chunks += 1,
        }
    }
    arenas.iter_mut().for_each(|reading| reading.read_recycled(file, timing, &mut records, damage));
    damage.records = records.damaged;
    arenas.iter_mut().for_each(|reading| reading.read_off_cpu(file, damage));
    arenas.into_iter().map(Reading::finish).collect()
}

impl Reading {
    fn read_nodes(&mut self, file: &File, timing: Timing, block: &Located, records: &mut Records, damage: &mut Damage) {
        let nodes = file.nodes(block);
        if let Some(recycled) = &mut self.recycled {
            return recycled.add(nodes);
        }
        let most = nodes.size_hint().1.unwrap_or(0);
        self.arena.names.reserve(most);
        self.arena.nodes.reserve(most);
        let mut is_first = true;
        let mut begin = |reading: &mut Self, reference| {
            if std::mem::take(&mut is_first) {
                reading.blocks.push((reference, reading.arena.names.len()));
            }
        };
        let Some(raw) = file.records(block) else {
            for (reference, raw) in nodes.filter(|(_, raw)| raw.parent != 0) {
                begin(self, reference);
                self.add(reference, &raw, timing, records, damage);
            }
            return;
        };
        for (reference, record) in raw.filter(|(_, record)| record.parent != 0) {
            begin(self, reference);
            if let Some(end) = self.alike.end(&record) {
                self.add_alike(reference, &record, end, timing, damage);
                continue;
            }
            let Some(raw) = file.node(reference) else { return };
            let damaged = records.damaged;
            self.add(reference, &raw, timing, records, damage);
            if records.damaged == damaged && !file.is_extension(record.more) {
                self.alike.add(&record, self.arena.nodes.end(self.arena.nodes.len() - 1));
            }
        }
    }

    /// Reads a node that leads to what another did, in the same way: nearly all do, and what they share is looked up once.
    fn add_alike(&mut self, reference: Ref, record: &NodeRecord, end: u32, timing: Timing, damage: &mut Damage) {
        let parent = self.position(record.parent, &mut damage.parents);
        let (_, [slot, _]) = damage.sound(0, [record.slot, Slot::default()]);
        let untimed = if timing == Timing::All { record.noted } else { 0 };
        self.arena.names.push(reference);
        self.arena.nodes.push_alike(end, parent, untimed, slot);
    }

    /// Reads the nodes of an arena whose paths gave way to others: a path may lie anywhere there, also before the one above it.
    fn read_recycled(&mut self, file: &File, timing: Timing, records: &mut Records, damage: &mut Damage) {
        let Some(recycled) = self.recycled.take() else { return };
        for reference in recycled.order() {
            if let Some(raw) = recycled.node(file, reference) {
                self.places.insert(reference, self.arena.names.len());
                self.add(reference, &raw, timing, records, damage);
            }
        }
        self.arena.sort_names();
        self.recycled = Some(recycled);
    }

    fn add(
        &mut self,
        reference: Ref,
        raw: &diytrace_format::Node,
        timing: Timing,
        records: &mut Records,
        damage: &mut Damage,
    ) {
        let place = (raw.function, raw.module);
        let is_timed = raw.flags & flag::UNTIMED == 0;
        let function = (is_timed && raw.record != 0)
            .then(|| records.find_or_read(raw.record, place, &mut self.records, &mut self.arena.functions))
            .flatten();
        let parent = self.position(raw.parent, &mut damage.parents);
        let folded_into = (raw.flags & flag::RECURSION != 0 && is_timed)
            .then(|| self.position(raw.position, &mut damage.positions))
            .flatten();
        let (unwound, slots) = damage.sound(raw.unwound, raw.slots);
        self.arena.names.push(reference);
        self.arena.nodes.push(Node {
            function: raw.function,
            site: raw.site,
            hook: if raw.flags & flag::EDGE == 0 {
                raw.hook
            } else {
                raw.hook.wrapping_sub(edge_kind(raw.flags).into())
            },
            target: raw.target,
            module: raw.module,
            site_module: raw.site_module,
            flags: raw.flags & !flag::ROOT,
            parent,
            folded_into,
            is_root: raw.flags & flag::ROOT != 0,
            has_histogram: function.is_some(),
            is_open_since_reset: false,
            unwound,
            timed: Timed::of(raw.noted, timing),
            slots,
            off: Off::default(),
        });
    }

    /// Finds what paths were off the processor: records that lead to each other, of each path one.
    fn read_off_cpu(&mut self, file: &File, damage: &mut Damage) {
        let mut next = self.arena.facts.off_cpu;
        let mut left = self.arena.nodes.len() + usize::from(self.recycled.is_some()) * MOST_RECORDS;
        while next != 0 {
            let found = file.off_cpu(next).filter(|_| left > 0);
            let Some(mut record) = found else { return damage.off_cpu += 1 }; // a circle, or nowhere
            if let Some(recycled) = &self.recycled {
                recycled.undo_off_cpu(next, &mut record);
            }
            if record.node == 0 && record.wait_ns == 0 && record.preempted_ns == 0 {
                (next, left) = (record.next, left - 1); // of a path that gave way
                continue;
            }
            let node = self.find(record.node);
            let off = Off { wait_ns: record.wait_ns, preempted_ns: record.preempted_ns };
            match node {
                Some(node) if off.wait_ns.max(off.preempted_ns) < LONGEST => {
                    self.arena.nodes.change(node, |node| node.off = off)
                }
                _ => damage.off_cpu += 1,
            }
            (next, left) = (record.next, left - 1);
        }
    }

    /// Files the time that the recorder had noted but not filed yet.
    fn finish(mut self) -> Arena {
        let Pending { record, value } = Pending::of(self.arena.facts.pending);
        if let Some(&Some(place)) = self.records.get(&record) {
            self.arena.functions[place as usize].file(value);
        }
        self.arena
    }

    /// The node of a name: in a block they mostly follow each other without a gap, and there are millions.
    fn find(&self, name: Ref) -> Option<usize> {
        if self.blocks.is_empty() {
            return self.places.get(&name).copied();
        }
        let names = &self.arena.names;
        let begins = |block: usize| self.blocks.get(block).is_some_and(|(first, _)| *first <= name);
        let latest = self.latest_block.get();
        let block = match begins(latest) && !begins(latest + 1) {
            true => latest,
            false => self.blocks.partition_point(|(first, _)| *first <= name).checked_sub(1)?,
        };
        self.latest_block.set(block);
        let (first, place) = self.blocks[block];
        let place = place + (name - first) as usize / self.node_units;
        if names.get(place) == Some(&name) { Some(place) } else { names.binary_search(&name).ok() }
    }

    /// The earlier node of this arena that has a name in the file, and under which calls can be counted.
    fn position(&self, reference: Ref, damaged: &mut usize) -> Option<u32> {
        if matches!(reference, node::ROOT | node::SKIPPED) {
            return None;
        }
        let mut found = self.find(reference);
        if let Some(usual) = found.filter(|found| self.arena.nodes.is_above_others(*found)) {
            return Some(usual as u32);
        }
        *damaged += usize::from(found.is_none());
        // Nothing is counted under calls that are not recorded or whose recursion is folded; where a damaged file
        // says so, the next above that can have calls takes them. Each step leads to an earlier node.
        while let Some(node) = found.map(|index| self.arena.nodes.get(index)) {
            let elsewhere = match node.folded_into {
                Some(position) => Some(position),
                None if node.is_untimed() => node.parent,
                None => break,
            };
            *damaged += 1;
            found = elsewhere.map(|index| index as usize);
        }
        found.map(|index| index as u32)
    }
}
