//! What a profile says, as plain data: addresses and ticks as the recorder saw them.

use std::path::PathBuf;

use diytrace_format::histogram::{SUBS, bin};
use diytrace_format::{Ref, arena, node};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::clock::Clock;
use super::costs::Evidence;
use super::doubt::Doubt;
use super::moment::Moment;
use super::node::Node;
use super::nodes::Nodes;
use super::recycled::GaveWay;
use super::timed::{Timed, Timing};
use crate::process::State;
use crate::timeline::Slices;

/// Paths that are worth being shared by the cores.
const WORTH_ANOTHER_CORE: usize = 1 << 16;

/// What one program and the processes it forked have recorded.
#[derive(Clone, Debug)]
pub struct Family {
    /// The profile's file.
    pub path: PathBuf,
    /// How ticks become nanoseconds.
    pub clock: Clock,
    /// What tells what a hook pair costs, in ticks.
    pub evidence: Evidence,
    /// Which calls are timed.
    pub timing: Timing,
    /// Process that made the file.
    pub pid: u32,
    /// Its parent.
    pub ppid: u32,
    /// Processes that have recorded.
    pub processes: u32,
    /// When recording began, in nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// The same moment in ticks.
    pub first_ticks: u64,
    /// When the profile was read, in ticks, if some of its processes are running: their open calls last until then.
    pub read_ticks: u64,
    /// The last moment that any of its processes has noted in the header, in ticks.
    pub last_anchor_ticks: u64,
    /// When the process that made the file was seen to end without a word, in ticks; 0 if nobody saw it.
    pub end_ticks: u64,
    /// If it is a snapshot: of which moment.
    pub snapshot: Option<Moment>,
    /// How often its counters were reset: what was counted before is not here.
    pub resets: u32,
    /// When they last were, in ticks, as well as the clock on the wall tells; 0 if they never were.
    pub reset_ticks: u64,
    /// Calls that no arena could count.
    pub lost_calls: u64,
    /// The kernel's boot identifier.
    pub boot_id: [u8; 16],
    /// Path of the program's file.
    pub exe: String,
    /// Its arguments, the program's name first.
    pub cmdline: Vec<String>,
    /// What `DIYTRACE_ROOT` asked for.
    pub roots: Vec<Root>,
    /// The program and its libraries, in the order in which they were seen.
    pub modules: Vec<Module>,
    /// What each thread counted.
    pub arenas: Vec<Arena>,
    /// Bytes that are missing at the end of the file.
    pub missing_bytes: u64,
    /// What the recorder had to say, and what is wrong with the file.
    pub warnings: Vec<Doubt>,
}

/// A pattern of `DIYTRACE_ROOT`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// As it was written.
    pub pattern: String,
    /// Functions it has matched; `None` past the patterns that are counted.
    pub matches: Option<u32>,
}

/// A program or library in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Path of the file.
    pub path: String,
    /// Build ID; empty if it has none.
    pub build_id: Vec<u8>,
    /// Address in memory minus ELF virtual address.
    pub bias: u64,
    /// First address of its mappings.
    pub start: u64,
    /// End of its mappings.
    pub end: u64,
    /// Its number in the profile.
    pub number: u32,
    /// Whether it refers to the hooks.
    pub is_instrumented: bool,
    /// Whether it is the program.
    pub is_program: bool,
    /// Modification time of the file in nanoseconds since 1970; 0 if unknown.
    pub modified_unix_ns: u64,
    /// Size of the file; 0 if unknown.
    pub file_size: u64,
}

/// What the threads that used one arena have counted.
#[derive(Clone, Debug)]
pub struct Arena {
    /// Identity and counters.
    pub facts: diytrace_format::Arena,
    /// Its name in the file, which it keeps as long as there is the file.
    pub name: Ref,
    /// What became of its process.
    pub state: State,
    /// Its owner has made no call since the counters were reset: what is here are the calls that were open then, as that
    /// owner will inherit them.
    pub is_before_reset: bool,
    /// What is known of its paths that gave way to others, if any did.
    pub recycling: Option<GaveWay>,
    /// The paths' names in the file: ascending, or else `by_name` is not empty.
    pub names: Vec<Ref>,
    /// Places of paths in the order of their names.
    pub by_name: Vec<u32>,
    /// Call paths; a path comes after the one above it.
    pub nodes: Nodes,
    /// Times of each function's calls.
    pub functions: Vec<Function>,
}

/// Times of a function's calls in one arena, in ticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its address.
    pub address: u64,
    /// The number of its module; 0 if it is not known.
    pub module: u32,
    /// Shortest and longest call that returned, if any did.
    pub extremes: Option<(u64, u64)>,
    /// Calls that returned but are in no bin.
    pub unbinned: u64,
    /// Octaves of the histogram that are not empty.
    pub octaves: Vec<(u8, [u64; SUBS])>,
    /// When its calls as a root ran, if any has ended.
    pub timeline: Option<Slices>,
}

impl Function {
    /// Adds the time of one call.
    pub fn file(&mut self, ticks: u64) {
        let (shortest, longest) = self.extremes.unwrap_or((ticks, ticks));
        self.extremes = Some((shortest.min(ticks), longest.max(ticks)));
        let (octave, sub) = bin(ticks);
        let place = self.octaves.partition_point(|&(other, _)| usize::from(other) < octave);
        if self.octaves.get(place).is_none_or(|&(other, _)| usize::from(other) != octave) {
            self.octaves.insert(place, (octave as u8, [0; SUBS]));
        }
        self.octaves[place].1[sub] += 1;
    }
}

impl Family {
    /// Gives back memory that was made ready for more than there was: for whoever keeps it.
    pub fn shrink(&mut self) {
        for arena in &mut self.arenas {
            arena.names.shrink_to_fit();
            arena.nodes.shrink_to_fit();
            arena.functions.shrink_to_fit();
            arena.functions.iter_mut().for_each(|function| function.octaves.shrink_to_fit());
        }
    }

    /// A moment of its clock in nanoseconds since 1970.
    pub fn unix_ns(&self, ticks: u64) -> u64 {
        let since = ticks.saturating_sub(self.first_ticks) as f64 * self.clock.ns_per_tick();
        self.started_unix_ns.saturating_add(since as u64)
    }
}

impl Arena {
    /// The place of the path that has a name.
    pub fn place_of(&self, name: Ref) -> Option<usize> {
        match self.by_name.is_empty() {
            true => self.names.binary_search(&name).ok(),
            false => {
                let found = self.by_name.binary_search_by_key(&name, |place| self.names[*place as usize]);
                found.ok().map(|at| self.by_name[at] as usize)
            }
        }
    }

    /// Makes paths be found by their names, where these do not ascend.
    pub fn sort_names(&mut self) {
        self.by_name.clear();
        if !self.names.is_sorted() {
            self.by_name = (0..self.names.len() as u32).collect();
            let names = &self.names;
            self.by_name.sort_unstable_by_key(|place| names[*place as usize]);
        }
    }

    /// Whether more than one process has counted in it.
    pub fn is_merged(&self) -> bool {
        self.facts.flags & arena::flag::MERGED != 0
    }

    /// Whether this is what was counted by function only, by whichever process.
    pub fn is_by_function(&self) -> bool {
        self.facts.processes == 0 && self.is_merged()
    }

    /// Whether nothing is known of when its threads were on a processor: the recorder says so, or has never asked.
    pub fn is_unseen(&self) -> bool {
        self.is_refused() || self.facts.away_ns == 0
    }

    /// Whether the recorder says that it could not be known, or not always.
    pub fn is_refused(&self) -> bool {
        self.facts.flags & arena::flag::UNSEEN != 0
    }

    /// What a value of its paths comes to: their sum, or the largest. Of many, all cores find it.
    pub fn of_all(&self, value: impl Fn(&Node) -> u64 + Sync + Send, both: fn(u64, u64) -> u64) -> u64 {
        match self.nodes.len() < WORTH_ANOTHER_CORE {
            true => self.nodes.iter().map(|node| value(&node)).fold(0, both),
            false => (0..self.nodes.len()).into_par_iter().map(|at| value(&self.nodes.get(at))).reduce(|| 0, both),
        }
    }

    /// The latest moment, in ticks, that its paths tell of.
    pub fn last_mark(&self) -> u64 {
        let latest = |node: &Node| node.slots.iter().map(|slot| slot.mark & !node::mark::BITS).max().unwrap_or(0);
        self.of_all(latest, u64::max)
    }

    /// Calls that windows have left untimed.
    pub fn left_out(&self) -> u64 {
        let left_out = |node: &Node| match node.timed {
            Timed::AllBut(left_out) if !node.is_untimed() && !node.is_others() => left_out,
            _ => 0,
        };
        self.of_all(left_out, u64::saturating_add)
    }

    /// The thread's name.
    pub fn thread_name(&self) -> String {
        let name = &self.facts.name;
        let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
        String::from_utf8_lossy(&name[..end]).into_owned()
    }
}

impl Function {
    /// Calls that returned.
    pub fn returned(&self) -> u64 {
        let binned = self.octaves.iter().flat_map(|(_, counts)| counts);
        binned.fold(self.unbinned, |sum, &count| sum.saturating_add(count))
    }
}
