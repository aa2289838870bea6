//! An arena of a watched recording: what is held of it against its bytes in the file.

use std::mem::swap;
use std::ops::Range;

use diytrace_format::histogram::{OCTAVES, SUBS, bin};
use diytrace_format::node::mark;
use diytrace_format::reader::{File, Record, record_of};
use diytrace_format::{
    ARENA_NODES, Bins, Block, CHUNK_NODES, Extension, NodeRecord, OffCpu, Pending, Ref, Slot, Timeline, UNIT, kind,
};
use rustc_hash::FxHashMap;

use crate::load::arenas::LONGEST;
use crate::load::changes::{ArenaChanges, FunctionChanges, Octave};
use crate::load::damage::Damage;
use crate::load::family::{Arena, Family};
use crate::load::mapping::{Look, lies_at};
use crate::load::node::{Node, Off};
use crate::load::timed::{Timed, Timing};
use crate::timeline::Slices;

/// Bytes of a node.
const NODE: usize = size_of::<NodeRecord>();

/// Above a path that is below none.
const NOTHING: u32 = u32::MAX;

/// Where an arena lies, and what it had there. Of calls that are counted by function alone it has nothing: there are seldom any, and
/// those who read all find them.
#[derive(Default)]
pub struct Lying {
    blocks: Vec<Span>,
    /// Its nodes, in the order of their names.
    nodes: Vec<NodeRecord>,
    /// Of each path: its function's place in `records`, or [`NOTHING`] if its calls are in no histogram;
    functions: Vec<u32>,
    /// the one above, or [`NOTHING`];
    above: Vec<u32>,
    /// and whether calls may be made inside of it where nothing has changed.
    goes_on: Vec<bool>,
    /// Where the extension of a path is; 0 if it has none.
    extensions: Vec<Ref>,
    /// Nodes that were never finished.
    unfinished: Vec<Ref>,
    /// Where the records of its functions are.
    records: Vec<Ref>,
    /// The path of each record of time off the processor.
    off: FxHashMap<Ref, u32>,
    /// The latest moment that its paths tell of.
    pub last_mark: u64,
}

/// A block of an arena.
#[derive(Clone, Copy)]
pub struct Span {
    pub offset: usize,
    pub size: usize,
    pub kind: u32,
    pub nodes: u32,
}

impl Span {
    /// Where its nodes begin in it, and end.
    fn nodes(&self) -> (usize, usize) {
        let first = if self.kind == kind::ARENA { ARENA_NODES } else { CHUNK_NODES };
        let room = self.size.saturating_sub(first) / NODE;
        (first, first + room.min(self.nodes as usize) * NODE)
    }
}

impl Lying {
    /// Of an arena that was read from these bytes of a file. `None`: it must be read as a whole each time.
    pub fn of(file: &File, bytes: &[u8], arena: &Arena, blocks: Vec<Span>) -> Option<Self> {
        // What lies in the ring is counted among its paths, and would be once more when the recorder has counted it.
        if arena.is_before_reset || file.ring(arena.facts.ring).is_some() {
            return None;
        }
        let mut lying = Self { blocks, last_mark: arena.last_mark(), ..Self::default() };
        let mut of_function: FxHashMap<(u64, u32), u32> = FxHashMap::default();
        for (at, function) in (0..).zip(&arena.functions) {
            if of_function.insert((function.address, function.module), at).is_some() {
                return None; // which of them a path's record is, nobody can tell
            }
        }
        lying.records = vec![0; arena.functions.len()];
        lying.nodes.reserve_exact(arena.names.len());
        lying.functions.reserve_exact(arena.names.len());
        lying.above.reserve_exact(arena.names.len());
        lying.goes_on.reserve_exact(arena.names.len());
        lying.extensions.reserve_exact(arena.names.len());
        let mut names = arena.names.iter().zip(&arena.nodes);
        for name in lying.blocks.iter().flat_map(Span::names) {
            let Some(raw) = file.node(name).filter(|node| node.parent != 0) else {
                lying.unfinished.push(name);
                continue;
            };
            let (known, node) = names.next()?;
            if *known != name {
                return None;
            }
            let record: NodeRecord = record_of(bytes.get(name as usize * UNIT..)?)?;
            lying.extensions.push(if file.is_extension(record.more) { record.more } else { 0 });
            lying.nodes.push(record);
            lying.above.push(node.parent.unwrap_or(NOTHING));
            lying.goes_on.push(goes_on(&node));
            if !node.has_histogram {
                lying.functions.push(NOTHING);
                continue;
            }
            let function = *of_function.get(&(node.function, node.module))?;
            let known = &mut lying.records[function as usize];
            if ![0, raw.record].contains(known) {
                return None;
            }
            *known = raw.record;
            lying.functions.push(function);
        }
        if names.next().is_some() || lying.records.contains(&0) {
            return None;
        }
        let (mut next, mut left) = (arena.facts.off_cpu, arena.nodes.len());
        while next != 0 {
            let record = file.off_cpu(next)?;
            lying.off.insert(next, arena.names.binary_search(&record.node).ok()? as u32);
            left = left.checked_sub(1)?;
            next = record.next;
        }
        Some(lying)
    }

    /// What has changed since. `None`: more than can be told so. `most_bins`: how many may be looked at.
    pub fn changes(&self, file: &Look, arena: &Arena, family: &Family, most_bins: &mut usize) -> Option<ArenaChanges> {
        for span in &self.blocks {
            let now: Block = file.get(span.offset)?;
            if (now.size as usize, now.kind, now.nodes) != (span.size, span.kind, span.nodes) {
                return None;
            }
        }
        for name in &self.unfinished {
            if file.get::<NodeRecord>(*name as usize * UNIT)?.parent != 0 {
                return None;
            }
        }
        let mut changes = ArenaChanges::none(arena.facts);
        self.changed_nodes(file, arena, family, &mut changes)?;
        self.changed_functions(file, arena, &mut changes, most_bins)?;
        if !is_same_owner(&changes.facts, &arena.facts) {
            return None;
        }
        self.changed_off(file, arena, &mut changes)?;
        Some(changes)
    }

    /// Makes changes in what is held against the file, or takes them back.
    pub fn swap(&mut self, changes: &mut ArenaChanges) {
        for ((at, node), raw) in changes.nodes.iter().zip(&mut changes.raw) {
            swap(&mut self.nodes[*at as usize], raw);
            self.goes_on[*at as usize] = goes_on(node);
        }
        self.off.extend(changes.new_off.drain(..));
        self.last_mark = self.last_mark.max(changes.last_mark());
    }

    /// Paths that have counted anything. None does inside of a call that has neither ended since nor is open: so below most paths
    /// nothing is looked at.
    fn changed_nodes(&self, file: &Look, arena: &Arena, family: &Family, changes: &mut ArenaChanges) -> Option<()> {
        // Without moments nothing tells that a call has ended.
        let all = family.timing == Timing::Off;
        let mut is_busy = vec![false; self.above.len()];
        for (at, above) in self.above.iter().enumerate() {
            if !all && *above != NOTHING && !is_busy[*above as usize] {
                continue;
            }
            let before = &self.nodes[at];
            let known = || arena.nodes.get(at);
            let extension = match self.extensions[at] {
                0 => None,
                extension => Some(self.record::<Extension>(file, extension)?),
            };
            let has_more = extension.is_some_and(|now| {
                let known = known();
                (now.slot, now.unwound) != (known.slots[1], known.unwound)
            });
            let now: NodeRecord = file.get(arena.names[at] as usize * UNIT)?;
            is_busy[at] = self.goes_on[at];
            if has_more || *before != now {
                let node = changed_node(&now, before, extension.as_ref(), &known(), family)?;
                changes.nodes.push((at as u32, node));
                changes.raw.push(now);
                is_busy[at] = true;
            }
        }
        Some(())
    }

    /// Paths that were off the processor for longer than they had been.
    fn changed_off(&self, file: &Look, arena: &Arena, changes: &mut ArenaChanges) -> Option<()> {
        let mut of_node: Vec<(u32, Off)> = Vec::new();
        let (mut next, mut left) = (changes.facts.off_cpu, arena.nodes.len());
        while next != 0 {
            left = left.checked_sub(1)?;
            let record: OffCpu = self.record(file, next)?;
            let at = match self.off.get(&next) {
                Some(at) => *at,
                None => {
                    let at = arena.names.binary_search(&record.node).ok()? as u32;
                    changes.new_off.push((next, at));
                    at
                }
            };
            let off = Off { wait_ns: record.wait_ns, preempted_ns: record.preempted_ns };
            let before = arena.nodes.get(at as usize).off;
            let is_less = off.wait_ns < before.wait_ns || off.preempted_ns < before.preempted_ns;
            if is_less || off.wait_ns.max(off.preempted_ns) >= LONGEST {
                return None;
            }
            if off != before {
                of_node.push((at, off));
            }
            next = record.next;
        }
        for (at, off) in of_node {
            match changes.nodes.binary_search_by_key(&at, |(at, _)| *at) {
                Ok(place) => changes.nodes[place].1.off = off,
                Err(place) => {
                    changes.nodes.insert(place, (at, Node { off, ..arena.nodes.get(at as usize) }));
                    changes.raw.insert(place, self.nodes[at as usize]);
                }
            }
        }
        Some(())
    }

    /// Functions of which calls have returned, and what the arena's head tells then. A function's record changes only when a call
    /// returns, which is told by its path; and the last time that was noted comes into its bin later. (A look between the two writes of one return
    /// may miss it; the function's next call, or the next reading of the whole, has it.)
    fn changed_functions(
        &self,
        file: &Look,
        arena: &Arena,
        changes: &mut ArenaChanges,
        most_bins: &mut usize,
    ) -> Option<()> {
        let noted_before = Pending::of(arena.facts.pending).record;
        let noted_before = self.records.iter().position(|record| *record == noted_before).map(|at| at as u32);
        let of_paths = changes.nodes.iter().map(|(at, _)| self.functions[*at as usize]);
        let mut functions: Vec<u32> = of_paths.filter(|at| *at != NOTHING).chain(noted_before).collect();
        functions.sort_unstable();
        functions.dedup();
        functions.iter().for_each(|at| file.expect::<diytrace_format::Function>(lies_at(self.records[*at as usize])));
        let mut records: Vec<diytrace_format::Function> = Vec::with_capacity(functions.len());
        for at in &functions {
            let function: diytrace_format::Function = self.record(file, self.records[*at as usize])?;
            let bins = function.octaves.into_iter().filter(|bins| *bins != 0);
            bins.for_each(|bins| file.expect::<Bins>(lies_at(bins)));
            records.push(function);
        }
        let mut read = Vec::with_capacity(functions.len());
        let mut differences = Vec::new();
        for (at, function) in functions.iter().zip(records) {
            let (record, known) = (self.records[*at as usize], &arena.functions[*at as usize]);
            if function.address != known.address {
                return None;
            }
            let timeline = match function.timeline {
                0 => None,
                timeline => Some(Slices::of(&self.record::<Timeline>(file, timeline)?)?),
            };
            let bins = self.bins_since(file, &function.octaves, &known.octaves, &mut differences, most_bins)?;
            read.push((record, function, timeline, bins));
        }
        // Behind the bins: a time that is noted here may be in its bin a moment later, and would count twice the other way round.
        changes.facts = file.get(self.blocks.first()?.offset + UNIT)?;
        let noted = Pending::of(changes.facts.pending);
        changes.octaves.reserve(differences.len() + 1);
        for (at, (record, function, timeline, bins)) in functions.into_iter().zip(read) {
            let known = &arena.functions[at as usize];
            let noted = Some(noted.value).filter(|_| noted.record == record);
            let octaves = with_noted(&differences[bins], noted, &mut changes.octaves)?;
            let extremes = (function.min <= function.max).then_some((function.min, function.max));
            let extremes = match (extremes, noted) {
                (Some((min, max)), Some(noted)) => Some((min.min(noted), max.max(noted))),
                (extremes, noted) => extremes.or(noted.map(|noted| (noted, noted))),
            };
            let unbinned = function.unbinned.checked_sub(known.unbinned)?;
            if !octaves.is_empty() || unbinned > 0 || extremes != known.extremes || timeline != known.timeline {
                changes.functions.push((at, FunctionChanges { extremes, unbinned, octaves, timeline }));
            }
        }
        Some(())
    }

    /// By how much a function's bins have more calls than they had, which may be one less where that one is noted still.
    fn bins_since(
        &self,
        file: &Look,
        octaves: &[Ref; OCTAVES],
        known: &[Octave],
        differences: &mut Vec<Octave>,
        most_bins: &mut usize,
    ) -> Option<Range<usize>> {
        let first = differences.len();
        let mut known = known.iter().peekable();
        for (octave, &bins) in (0u8..).zip(octaves) {
            let before = known.next_if(|(at, _)| *at == octave).map(|(_, counts)| counts);
            if bins == 0 && before.is_none() {
                continue;
            }
            let mut counts = [0; SUBS];
            if bins != 0 {
                *most_bins = most_bins.checked_sub(1)?;
                counts = self.record::<Bins>(file, bins)?.counts;
            }
            let before = before.unwrap_or(&[0; SUBS]);
            if counts != *before {
                counts.iter_mut().zip(before).for_each(|(count, before)| *count = count.wrapping_sub(*before));
                differences.push((octave, counts));
            }
        }
        known.next().is_none().then_some(first..differences.len())
    }

    /// A record of the arena; `None` if it does not lie there.
    fn record<T: Record>(&self, file: &Look, record: Ref) -> Option<T> {
        let (start, len) = (lies_at(record), size_of::<T>());
        let lies_in = |span: &Span| start >= span.offset && start + len <= span.offset + span.size;
        self.blocks.iter().any(lies_in).then(|| file.get(start))?
    }
}

impl Span {
    /// The names of its nodes.
    fn names(&self) -> impl Iterator<Item = Ref> + use<> {
        let (first, end) = self.nodes();
        let offset = self.offset;
        (first..end).step_by(NODE).map(move |at| ((offset + at) / UNIT) as Ref)
    }
}

/// Whether an arena is still the one that was read as a whole: nobody else counts in it, and nothing has ended.
fn is_same_owner(now: &diytrace_format::Arena, before: &diytrace_format::Arena) -> bool {
    let of = |facts: &diytrace_format::Arena| {
        let diytrace_format::Arena { pid, tid, ppid, process, owners, processes, flags, epoch, .. } = *facts;
        let whose = (pid, tid, ppid, process, facts.pid_namespace, facts.token, facts.name);
        (whose, owners, processes, flags, epoch, facts.process_started, facts.started, facts.left_at)
    };
    // Calls that ended before they began are told as a warning, and what others have asked of the owner at its end is its end.
    let is_told = now.backward_calls != before.backward_calls || now.end_until != 0 || now.token == 0;
    let was_seen = |facts: &diytrace_format::Arena| facts.away_ns != 0;
    of(now) == of(before) && !is_told && was_seen(now) == was_seen(before)
}

/// Whether calls may be made inside of a call of it that had begun before.
fn goes_on(node: &Node) -> bool {
    node.is_untimed() || node.slots.iter().any(|slot| slot.mark & mark::OPEN != 0)
}

/// What has come to a function's bins, with a time that is noted and not filed yet. `None`: one has fewer calls than it had, so another
/// has come to its place.
fn with_noted(differences: &[Octave], noted: Option<u64>, more: &mut Vec<Octave>) -> Option<Range<usize>> {
    let first = more.len();
    more.extend(differences);
    if let Some((octave, sub)) = noted.map(bin) {
        let of_function = &more[first..];
        let at = first + of_function.partition_point(|(other, _)| usize::from(*other) < octave);
        if more.get(at).is_none_or(|(other, _)| usize::from(*other) != octave) {
            more.insert(at, (octave as u8, [0; SUBS]));
        }
        let count = &mut more[at].1[sub];
        *count = count.wrapping_add(1);
    }
    let has_less = |(_, counts): &Octave| counts.iter().any(|count| count.cast_signed() < 0);
    if more[first..].iter().any(has_less) {
        return None;
    }
    let mut at = first;
    while let Some((_, counts)) = more.get(at) {
        if *counts == [0; SUBS] {
            more.remove(at);
        } else {
            at += 1;
        }
    }
    Some(first..more.len())
}

/// A path that has changed. `None`: its place is another's now, or it has less than it had, or what cannot be.
///
/// This is the one place that decides whether what lies where a path was is that path.
fn changed_node(
    now: &NodeRecord,
    before: &NodeRecord,
    extension: Option<&Extension>,
    known: &Node,
    family: &Family,
) -> Option<Node> {
    let who = |node: &NodeRecord| (node.key, node.parent, node.more, node.flags);
    let has_less = |now: &Slot, before: &Slot| {
        now.calls < before.calls || now.ticks < before.ticks || now.descendants < before.descendants
    };
    let (slot, unwound) = extension.map_or_else(Default::default, |extension| (extension.slot, extension.unwound));
    let slots = [now.slot, slot];
    let is_less = slots.iter().zip(&known.slots).any(|(now, before)| has_less(now, before));
    if who(now) != who(before) || is_less || unwound < known.unwound || now.noted < before.noted {
        return None;
    }
    // Who has inherited an open call over a reset is told from who has over a fork by all that the family has.
    if family.resets > 0 && slots.iter().any(|slot| slot.mark & mark::INHERITED != 0) {
        return None;
    }
    let mut damage = Damage::default();
    let (unwound, slots) = damage.sound(unwound, slots);
    let timed = Timed::of(now.noted, family.timing);
    (damage.counters == 0).then_some(Node { unwound, slots, timed, ..*known })
}
