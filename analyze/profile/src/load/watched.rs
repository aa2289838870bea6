//! A running recording that is read several times a second: of its file only what usually changes, and of that what has.
//!
//! Most of a file stays as it is from one moment to the next, so what is known of it is held against its bytes as they lie in the
//! file, and only paths and functions that differ are made anew ([`Changes`]). Whatever is not the usual course of things (a
//! new path, thread or module, an arena that has come to somebody else, a process that has ended, damage) is left to those who read
//! all: [`Watched::look`] says nothing then.
//!
//! The file is read, not mapped: one that is cut short meanwhile would end a reader of the map.

use std::fs;
use std::path::Path;

use diytrace_format::histogram::{OCTAVES, SUBS, bin};
use diytrace_format::node::mark;
use diytrace_format::reader::{File, Record, record_of};
use diytrace_format::{
    ARENA_NODES, Bins, Block, CHUNK_NODES, Extension, Header, NodeRecord, OffCpu, Pending, Ref, Slot, Timeline, UNIT,
    kind,
};
use rustc_hash::FxHashMap;

use super::arenas::LONGEST;
use super::changes::{ArenaChanges, Changes, FunctionChanges, Octave};
use super::clock::Clock;
use super::damage::Damage;
use super::doubt::Doubt;
use super::family::{Arena, Family};
use super::holders::{self, Identity};
use super::lease::{self, Held};
use super::node::{Node, Off};
use super::off_cpu;
use super::pieces::Pieces;
use super::state::{Seen, is_alive, monotonic_ns};
use super::timed::{Timed, Timing};
use crate::process::State;
use crate::timeline::Slices;

/// Bytes of a node.
const NODE: usize = size_of::<NodeRecord>();

/// Above a path that is below none.
const NOTHING: u32 = u32::MAX;

/// A thread that has noted nothing for so long may be waiting: the kernel is asked. In nanoseconds.
const SILENT: f64 = 100e6;

/// What is known of a file that is watched.
pub struct Watched {
    file: fs::File,
    identity: Identity,
    own_namespace: u64,
    header: Header,
    /// Of each of the family's arenas.
    arenas: Vec<Lying>,
    /// Processes that run.
    running: Vec<Running>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Running {
    pid: u32,
    /// Whether it has that number here, too.
    is_here: bool,
}

/// Where an arena lies, and what it had there. Of calls that are counted by function alone it has nothing: there are seldom any, and
/// those who read all find them.
#[derive(Default)]
struct Lying {
    blocks: Vec<Span>,
    /// The bytes of its nodes, in the order of their names.
    nodes: Vec<u8>,
    /// Nodes that were never finished.
    unfinished: Vec<Ref>,
    /// Where the records of its functions are.
    records: Vec<Ref>,
    /// Of each path: the one above, or [`NOTHING`];
    above: Vec<u32>,
    /// and whether calls may be made inside of it where nothing has changed.
    goes_on: Vec<bool>,
    /// Where the extension of a path is; 0 if it has none.
    extensions: Vec<Ref>,
    /// The path of each record of time off the processor.
    off: FxHashMap<Ref, u32>,
    /// The latest moment that its paths tell of.
    last_mark: u64,
}

/// A block of an arena.
#[derive(Clone, Copy)]
struct Span {
    offset: usize,
    size: usize,
    kind: u32,
    nodes: u32,
}

impl Span {
    /// Where its nodes begin in it, and end.
    fn nodes(&self) -> (usize, usize) {
        let first = if self.kind == kind::ARENA { ARENA_NODES } else { CHUNK_NODES };
        let room = self.size.saturating_sub(first) / NODE;
        (first, first + room.min(self.nodes as usize) * NODE)
    }
}

impl Watched {
    /// Of a family that was read from these bytes of a file. `None`: it must be read as a whole each time.
    pub fn of(bytes: &[u8], path: &Path, family: &Family) -> Option<Self> {
        let file = File::open(bytes).ok()?;
        let header = *file.header();
        let is_damaged =
            family.warnings.iter().any(|doubt| matches!(doubt, Doubt::Damaged(_) | Doubt::Truncated { .. }));
        // Where paths give way to others, names of paths are others' soon.
        let is_recycled = header.recycled != [0; 2];
        if is_damaged
            || is_recycled
            || file.has_older_nodes()
            || family.missing_bytes > 0
            || family.snapshot.is_some()
            || family.resets != header.epoch
        {
            return None;
        }
        let mut blocks: FxHashMap<Ref, Vec<Span>> = FxHashMap::default();
        for block in file.blocks() {
            let name = match block.block.kind {
                kind::ARENA => (block.offset / UNIT) as Ref,
                kind::CHUNK => block.block.arena,
                _ => continue,
            };
            let (offset, size, nodes) = (block.offset, block.block.size as usize, block.block.nodes);
            blocks.entry(name).or_default().push(Span { offset, size, kind: block.block.kind, nodes });
        }
        let lying = |arena: &Arena| match arena.is_by_function() {
            true => Some(Lying::default()),
            false => Lying::of(&file, bytes, arena, blocks.remove(&arena.name)?),
        };
        let arenas = family.arenas.iter().map(lying).collect::<Option<Vec<_>>>()?;
        // An arena that counts for nothing any more could do so again.
        if !blocks.is_empty() {
            return None;
        }
        let own_namespace = holders::own_namespace();
        let runs = family.arenas.iter().filter(|arena| arena.state == State::Running).map(|arena| &arena.facts);
        let is_here = |namespace: u64| [0, own_namespace].contains(&namespace);
        let mut running: Vec<Running> =
            runs.map(|facts| Running { pid: facts.pid, is_here: is_here(facts.pid_namespace) }).collect();
        running.sort_unstable();
        running.dedup();
        if running.is_empty() {
            return None;
        }
        let file = fs::File::open(path).ok()?;
        Some(Self { file, identity: Identity::of(path), own_namespace, header, arenas, running })
    }

    /// What has changed since. `None`: more than can be told so. `bytes`: memory to read into, for one after the other.
    pub fn look(&self, family: &Family, seen: &Seen, bytes: &mut Vec<u8>) -> Option<Changes> {
        let at_ns = monotonic_ns();
        if !self.all_run(seen) {
            return None;
        }
        let used = usize::try_from(self.header.used).ok()?;
        let mut pieces = Pieces::of(&self.file, bytes, used);
        let header: Header = record_of(pieces.get(0, size_of::<Header>())?)?;
        let clock = Clock::of(&header)?;
        if !self.is_same(&header) {
            return None;
        }
        let read_ticks = clock.ticks_at(at_ns);
        // No more bins than the file has room for, whatever its records say.
        let mut most_bins = used / size_of::<Bins>();
        let mut arenas = Vec::with_capacity(self.arenas.len());
        for (lying, arena) in self.arenas.iter().zip(&family.arenas) {
            let mut changes = match arena.is_by_function() {
                true => ArenaChanges::none(arena.facts),
                false => lying.changes(&mut pieces, arena, family, &mut most_bins)?,
            };
            if arena.state == State::Running && !arena.is_unseen() {
                let known = changes.last_mark().max(lying.last_mark).max(changes.facts.away_until);
                if read_ticks.saturating_sub(known) as f64 * clock.ns_per_tick() > SILENT {
                    off_cpu::ask_after(&mut changes.facts, read_ticks, self.own_namespace);
                }
            }
            arenas.push(changes);
        }
        let (last_anchor_ticks, lost_calls) = (header.last_anchor().ticks, header.lost_calls);
        Some(Changes { clock, read_ticks, last_anchor_ticks, lost_calls, arenas, are_made: false })
    }

    /// Makes changes, in what is held against the file from now on, too; or takes them back, if they were made.
    pub fn swap(&mut self, changes: &mut Changes, family: &mut Family) {
        for (lying, changes) in self.arenas.iter_mut().zip(&mut changes.arenas) {
            for ((at, node), raw) in changes.nodes.iter().zip(changes.raw.chunks_exact_mut(NODE)) {
                lying.nodes[*at as usize * NODE..][..NODE].swap_with_slice(raw);
                lying.goes_on[*at as usize] = goes_on(node);
            }
            lying.off.extend(changes.new_off.drain(..));
            lying.last_mark = lying.last_mark.max(changes.last_mark());
        }
        changes.swap(family);
        if !changes.are_made {
            let all = self.arenas.iter_mut().zip(&family.arenas);
            all.for_each(|(lying, arena)| lying.last_mark = arena.last_mark());
        }
    }

    /// Whether all that ran go on; where that takes looking at many maps, as it was a moment ago.
    fn all_run(&self, seen: &Seen) -> bool {
        match (lease::ask_of(&self.file), &self.running[..]) {
            (Held::ByNobody, _) => false,
            (Held::BySomebody, [one]) => !one.is_here || is_alive(one.pid),
            (_, all) => all.iter().all(|one| one.is_here && seen.has_mapped(one.pid, &self.identity)),
        }
    }

    /// Whether there is nothing that was not there, and nothing that counts otherwise.
    fn is_same(&self, now: &Header) -> bool {
        let of = |header: &Header| {
            let Header { used, epoch, clock, timing, processes, modules, last_module, .. } = *header;
            let whole = (header.counts, header.refusals, header.recycled);
            (used, epoch, clock, timing, processes, modules, last_module, whole)
        };
        of(now) == of(&self.header) && now.root_matches == self.header.root_matches
    }
}

impl Lying {
    fn of(file: &File, bytes: &[u8], arena: &Arena, blocks: Vec<Span>) -> Option<Self> {
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
        lying.nodes.reserve_exact(arena.names.len() * NODE);
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
            let record = bytes.get(name as usize * UNIT..)?.get(..NODE)?;
            let more = record_of::<NodeRecord>(record)?.more;
            lying.extensions.push(if file.extension(more).is_some() { more } else { 0 });
            lying.nodes.extend(record);
            lying.above.push(node.parent.unwrap_or(NOTHING));
            lying.goes_on.push(goes_on(&node));
            if node.has_histogram {
                let at = *of_function.get(&(node.function, node.module))? as usize;
                if ![0, raw.record].contains(&lying.records[at]) {
                    return None;
                }
                lying.records[at] = raw.record;
            }
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

    fn changes(
        &self,
        pieces: &mut Pieces,
        arena: &Arena,
        family: &Family,
        most_bins: &mut usize,
    ) -> Option<ArenaChanges> {
        let mut backs = Vec::with_capacity(self.blocks.len());
        for span in &self.blocks {
            let now: Block = record_of(pieces.get(span.offset, size_of::<Block>())?)?;
            if (now.size as usize, now.kind, now.nodes) != (span.size, span.kind, span.nodes) {
                return None;
            }
            backs.push((span.offset + span.size, (now.back as usize).min(span.size)));
        }
        for name in &self.unfinished {
            if record_of::<NodeRecord>(pieces.get(*name as usize * UNIT, NODE)?)?.parent != 0 {
                return None;
            }
        }
        let facts_at = self.blocks.first()?.offset + UNIT;
        let mut changes = ArenaChanges::none(arena.facts);
        self.changed_nodes(pieces, arena, family, &mut changes)?;
        for (end, len) in backs {
            pieces.get(end - len, len)?;
        }
        // Behind the bins: a time that is noted here may be in its bin a moment later, and would count twice the other way round.
        changes.facts = record_of(pieces.now(facts_at, size_of::<diytrace_format::Arena>())?)?;
        if !is_same_owner(&changes.facts, &arena.facts) {
            return None;
        }
        self.changed_off(pieces, arena, &mut changes)?;
        self.changed_functions(pieces, arena, &mut changes, most_bins)?;
        Some(changes)
    }

    /// Paths that have counted anything. None does inside of a call that has neither ended since nor is open: so below most paths
    /// nothing is looked at.
    fn changed_nodes(
        &self,
        pieces: &mut Pieces,
        arena: &Arena,
        family: &Family,
        changes: &mut ArenaChanges,
    ) -> Option<()> {
        // Without moments nothing tells that a call has ended.
        let all = family.timing == Timing::Off;
        let mut is_busy = vec![false; self.above.len()];
        for (at, above) in self.above.iter().enumerate() {
            if !all && *above != NOTHING && !is_busy[*above as usize] {
                continue;
            }
            let before = &self.nodes[at * NODE..][..NODE];
            let known = || arena.nodes.get(at);
            let extension = match self.extensions[at] {
                0 => None,
                extension => Some(self.record::<Extension>(pieces, extension)?),
            };
            let has_more = extension.is_some_and(|now| {
                let known = known();
                (now.slot, now.unwound) != (known.slots[1], known.unwound)
            });
            let now = pieces.get(arena.names[at] as usize * UNIT, NODE)?;
            is_busy[at] = self.goes_on[at];
            if has_more || before != now {
                let node = changed_node(now, before, extension.as_ref(), &known(), family)?;
                changes.nodes.push((at as u32, node));
                changes.raw.extend(now);
                is_busy[at] = true;
            }
        }
        Some(())
    }

    /// Paths that were off the processor for longer than they had been.
    fn changed_off(&self, pieces: &mut Pieces, arena: &Arena, changes: &mut ArenaChanges) -> Option<()> {
        let mut of_node: Vec<(u32, Off)> = Vec::new();
        let (mut next, mut left) = (changes.facts.off_cpu, arena.nodes.len());
        while next != 0 {
            left = left.checked_sub(1)?;
            let record: OffCpu = self.record(pieces, next)?;
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
                    let raw = self.nodes[at as usize * NODE..][..NODE].to_vec();
                    changes.raw.splice(place * NODE..place * NODE, raw);
                }
            }
        }
        Some(())
    }

    fn changed_functions(
        &self,
        pieces: &mut Pieces,
        arena: &Arena,
        changes: &mut ArenaChanges,
        most_bins: &mut usize,
    ) -> Option<()> {
        let pending = Pending::of(changes.facts.pending);
        for (at, (record, known)) in (0u32..).zip(self.records.iter().zip(&arena.functions)) {
            let raw: diytrace_format::Function = self.record(pieces, *record)?;
            if raw.address != known.address {
                return None;
            }
            // What is noted and not filed yet.
            let noted = Some(pending.value).filter(|_| pending.record == *record);
            let timeline = match raw.timeline {
                0 => None,
                timeline => {
                    let raw: Timeline = self.record(pieces, timeline)?;
                    Some(Slices::of(&raw)?)
                }
            };
            let first = changes.octaves.len();
            self.more_in_bins(pieces, &raw.octaves, noted, &known.octaves, &mut changes.octaves, most_bins)?;
            let octaves = first..changes.octaves.len();
            let extremes = (raw.min <= raw.max).then_some((raw.min, raw.max));
            let extremes = match (extremes, noted) {
                (Some((min, max)), Some(noted)) => Some((min.min(noted), max.max(noted))),
                (extremes, noted) => extremes.or(noted.map(|noted| (noted, noted))),
            };
            let unbinned = raw.unbinned.checked_sub(known.unbinned)?;
            if !octaves.is_empty() || unbinned > 0 || extremes != known.extremes || timeline != known.timeline {
                changes.functions.push((at, FunctionChanges { extremes, unbinned, octaves, timeline }));
            }
        }
        Some(())
    }

    /// What has come to a function's bins. `None`: one has fewer calls than it had, so another has come to its place.
    fn more_in_bins(
        &self,
        pieces: &mut Pieces,
        octaves: &[Ref; OCTAVES],
        noted: Option<u64>,
        known: &[Octave],
        more: &mut Vec<Octave>,
        most_bins: &mut usize,
    ) -> Option<()> {
        let noted = noted.map(bin);
        let mut known = known.iter().peekable();
        for (octave, &bins) in octaves.iter().enumerate() {
            let noted = noted.filter(|(at, _)| *at == octave).map(|(_, sub)| sub);
            if bins == 0 && noted.is_none() {
                continue;
            }
            let mut counts = [0; SUBS];
            if bins != 0 {
                *most_bins = most_bins.checked_sub(1)?;
                counts = self.record::<Bins>(pieces, bins)?.counts;
            }
            if let Some(sub) = noted {
                counts[sub] = counts[sub].saturating_add(1);
            }
            let before = known.next_if(|(at, _)| usize::from(*at) == octave).map_or(&[0; SUBS], |(_, counts)| counts);
            if counts != *before {
                for (count, before) in counts.iter_mut().zip(before) {
                    *count = count.checked_sub(*before)?;
                }
                more.push((octave as u8, counts));
            }
        }
        known.next().is_none().then_some(())
    }

    /// A record of the arena; `None` if it does not lie there.
    fn record<T: Record>(&self, pieces: &mut Pieces, record: Ref) -> Option<T> {
        let (start, len) = (record as usize * UNIT, size_of::<T>());
        let lies_in = |span: &Span| start >= span.offset && start + len <= span.offset + span.size;
        self.blocks.iter().any(lies_in).then(|| record_of(pieces.get(start, len)?))?
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

/// A path that has changed. `None`: its place is another's now, or it has less than it had, or what cannot be.
///
/// This is the one place that decides whether what lies where a path was is that path.
fn changed_node(
    now: &[u8],
    before: &[u8],
    extension: Option<&Extension>,
    known: &Node,
    family: &Family,
) -> Option<Node> {
    let (now, before): (NodeRecord, NodeRecord) = (record_of(now)?, record_of(before)?);
    let who = |node: &NodeRecord| (node.key, node.parent, node.more, node.flags);
    let has_less = |now: &Slot, before: &Slot| {
        now.calls < before.calls || now.ticks < before.ticks || now.descendants < before.descendants
    };
    let (slot, unwound) = extension.map_or_else(Default::default, |extension| (extension.slot, extension.unwound));
    let slots = [now.slot, slot];
    let is_less = slots.iter().zip(&known.slots).any(|(now, before)| has_less(now, before));
    if who(&now) != who(&before) || is_less || unwound < known.unwound || now.noted < before.noted {
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
