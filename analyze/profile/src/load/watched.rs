//! A running recording that is read several times a second: of its file only what usually changes, and of that what has.
//!
//! Most of a file stays as it is from one moment to the next, so what is known of it is held against its bytes as they lie in the
//! file, and only paths and functions that differ are made anew ([`Changes`]). Whatever is not the usual course of things (a
//! new path, thread or module, an arena that has come to somebody else, a process that has ended, damage) is left to those who read
//! all: [`Watched::look`] says nothing then.
//!
//! What is held against it is read where it lies ([`Mapping`]): records here and there, of which most pages have some.

mod arena;

use std::fs;
use std::path::Path;

use diytrace_format::reader::File;
use diytrace_format::{Bins, Header, Ref, UNIT, kind};
use rustc_hash::FxHashMap;

use super::changes::{ArenaChanges, Changes};
use super::clock::Clock;
use super::doubt::Doubt;
use super::family::{Arena, Family};
use super::holders::{self, Identity};
use super::lease::{self, Held};
use super::mapping::Mapping;
use super::off_cpu;
use super::state::{Seen, is_alive, monotonic_ns};
use crate::process::State;
use arena::{Lying, Span};

/// A thread that has noted nothing for so long may be waiting: the kernel is asked. In nanoseconds.
const SILENT: f64 = 100e6;

/// What is known of a file that is watched.
pub struct Watched {
    file: fs::File,
    mapping: Mapping,
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
            || file.has_older_sites()
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
        let mapping = Mapping::of(&file, usize::try_from(header.used).ok()?)?;
        Some(Self { file, mapping, identity: Identity::of(path), own_namespace, header, arenas, running })
    }

    /// What has changed since. `None`: more than can be told so.
    pub fn look(&self, family: &Family, seen: &Seen) -> Option<Changes> {
        let at_ns = monotonic_ns();
        if !self.all_run(seen) {
            return None;
        }
        let file = self.mapping.look(&self.file)?;
        let header: Header = file.get(0)?;
        let clock = Clock::of(&header)?;
        if !self.is_same(&header) {
            return None;
        }
        let read_ticks = clock.ticks_at(at_ns);
        // No more bins than the file has room for, whatever its records say.
        let mut most_bins = usize::try_from(header.used).ok()? / size_of::<Bins>();
        let mut arenas = Vec::with_capacity(self.arenas.len());
        for (lying, arena) in self.arenas.iter().zip(&family.arenas) {
            let mut changes = match arena.is_by_function() {
                true => ArenaChanges::none(arena.facts),
                false => lying.changes(&file, arena, family, &mut most_bins)?,
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
        file.is_whole().then_some(Changes { clock, read_ticks, last_anchor_ticks, lost_calls, arenas, are_made: false })
    }

    /// Makes changes, in what is held against the file from now on, too; or takes them back, if they were made.
    pub fn swap(&mut self, changes: &mut Changes, family: &mut Family) {
        for (lying, changes) in self.arenas.iter_mut().zip(&mut changes.arenas) {
            lying.swap(changes);
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
