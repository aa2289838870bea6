//! From a profile's bytes to a [`Family`]: the readable part of whatever they are, and what is wrong with the rest.

use std::path::PathBuf;

use diytrace::node::flag;
use diytrace::reader::{File, Located, NotReadable};
use diytrace::{Ref, UNIT, header, kind, module, node, pattern, text};
use rustc_hash::FxHashMap;

use super::clock::{Clock, Costs};
use super::family::{Arena, Family, Module, Node, Root, State};
use super::histograms::Records;

/// The kernel's longest path; a longer one is damage.
const LONGEST_PATH: usize = 4096;

/// Reads a profile. Its path and the states of its processes are not in the bytes.
pub fn parse(bytes: &[u8]) -> Result<Family, NotReadable> {
    let file = File::open(bytes)?;
    let header = file.header();
    let mut damage = Damage::default();

    let (mut modules, mut texts, mut arena_blocks) = (Vec::new(), Texts::default(), Vec::new());
    for block in file.blocks() {
        match block.block.kind {
            kind::MODULES => modules.extend(file.modules(&block).filter_map(|(raw, path)| to_module(&raw, path))),
            kind::TEXT => texts.add(file.text(&block)),
            kind::ARENA | kind::CHUNK => arena_blocks.push(block),
            _ => {}
        }
    }
    modules.sort_by_key(|module| module.generation);
    let clock = Clock::of(header).unwrap_or_else(|| {
        damage.clock = true;
        Clock { source: super::clock::Source::Tsc, hz: 1e9 }
    });
    let costs = Costs::of(header).unwrap_or_else(|| {
        damage.clock = true;
        Costs::default()
    });
    let arenas = read_arenas(&file, bytes.len(), &arena_blocks, &mut damage);

    let mut warnings = texts.warnings;
    damage.truncated = file.missing_bytes();
    warnings.extend(damage.describe());
    let counted = header.roots as usize;
    let roots = texts.roots.iter().flat_map(|list| pattern::split(list)).enumerate().map(|(index, pattern)| Root {
        pattern: pattern.to_owned(),
        matches: header.root_matches.get(index).copied().filter(|_| index < counted.min(header::ROOT_PATTERNS)),
    });
    Ok(Family {
        path: PathBuf::new(),
        clock,
        costs,
        pid: header.pid,
        ppid: header.ppid,
        processes: header.processes,
        started_unix_ns: header.started_unix_ns,
        first_ticks: header.first_anchor.ticks,
        lost_calls: header.lost_calls,
        boot_id: header.boot_id,
        exe: texts.exe.unwrap_or_default(),
        cmdline: texts.cmdline,
        roots: roots.collect(),
        modules,
        arenas,
        warnings,
    })
}

fn to_module(raw: &diytrace::Module, path: &[u8]) -> Option<Module> {
    (raw.start < raw.end && path.len() <= LONGEST_PATH).then(|| Module {
        path: lossy(path),
        build_id: raw.build_id[..(raw.build_id_len as usize).min(module::BUILD_ID_MAX)].to_vec(),
        bias: raw.bias,
        start: raw.start,
        end: raw.end,
        generation: raw.generation,
        is_instrumented: raw.flags & module::flag::INSTRUMENTED != 0,
        is_program: raw.flags & module::flag::PROGRAM != 0,
        modified_unix_ns: raw.modified_unix_ns,
        file_size: raw.file_size,
    })
}

#[derive(Default)]
struct Texts {
    exe: Option<String>,
    cmdline: Vec<String>,
    roots: Option<String>,
    warnings: Vec<String>,
}

impl Texts {
    fn add(&mut self, text: Option<(u32, &[u8])>) {
        match text {
            Some((text::kind::EXE, bytes)) => self.exe = Some(lossy(bytes)),
            Some((text::kind::CMDLINE, bytes)) => {
                let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
                self.cmdline = bytes.split(|&byte| byte == 0).map(lossy).collect();
            }
            Some((text::kind::ROOT, bytes)) => self.roots = Some(lossy(bytes)),
            Some((text::kind::WARNING, bytes)) => self.warnings.push(lossy(bytes)),
            _ => {}
        }
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// An arena on the way: the names that its nodes have for each other are still those of the file.
struct Reading {
    arena: Arena,
    references: Vec<Ref>,
    records: FxHashMap<Ref, Option<u32>>,
}

fn read_arenas(file: &File, bytes: usize, blocks: &[Located], damage: &mut Damage) -> Vec<Arena> {
    let mut arenas: Vec<Reading> = Vec::new();
    let mut by_reference: FxHashMap<Ref, usize> = FxHashMap::default();
    for block in blocks {
        let Some(facts) = file.arena(block) else { continue };
        by_reference.insert((block.offset / UNIT) as Ref, arenas.len());
        let arena = Arena { facts, state: State::Killed, nodes: Vec::new(), functions: Vec::new() };
        arenas.push(Reading { arena, references: Vec::new(), records: FxHashMap::default() });
    }
    let mut records = Records::new(*file, bytes);
    for block in blocks {
        let name = if block.block.kind == kind::ARENA { (block.offset / UNIT) as Ref } else { block.block.arena };
        match by_reference.get(&name) {
            Some(&index) => arenas[index].read_nodes(file, block, &mut records, damage),
            None => damage.chunks += 1,
        }
    }
    damage.records = records.damaged;
    arenas.into_iter().map(|reading| reading.arena).collect()
}

impl Reading {
    fn read_nodes(&mut self, file: &File, block: &Located, records: &mut Records, damage: &mut Damage) {
        for (reference, raw) in file.nodes(block) {
            let place = (raw.function, raw.generation);
            let is_timed = raw.flags & flag::UNTIMED == 0;
            let function = (is_timed && raw.record != 0)
                .then(|| records.find_or_read(raw.record, place, &mut self.records, &mut self.arena.functions))
                .flatten();
            let parent = self.position(raw.parent, &mut damage.parents);
            let folded_into = (raw.flags & flag::RECURSION != 0 && is_timed)
                .then(|| self.position(raw.position, &mut damage.positions))
                .flatten();
            self.references.push(reference);
            self.arena.nodes.push(Node {
                function: raw.function,
                site: raw.site,
                hook: raw.hook,
                target: raw.target,
                generation: raw.generation,
                flags: raw.flags,
                parent,
                folded_into,
                has_histogram: function.is_some(),
                unwound: raw.unwound,
                slots: raw.slots,
            });
        }
    }

    /// The earlier node of this arena that has a name in the file, and under which calls can be counted.
    fn position(&self, reference: Ref, damaged: &mut usize) -> Option<u32> {
        if matches!(reference, node::ROOT | node::SKIPPED) {
            return None;
        }
        let mut found = self.references.binary_search(&reference).ok();
        *damaged += usize::from(found.is_none());
        // Nothing is counted under calls that are not recorded or whose recursion is folded; where a damaged file
        // says so, the next above that can have calls takes them. Each step leads to an earlier node.
        while let Some(node) = found.map(|index| &self.arena.nodes[index]) {
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

/// What is wrong with a file.
#[derive(Default)]
struct Damage {
    truncated: u64,
    clock: bool,
    parents: usize,
    positions: usize,
    records: usize,
    chunks: usize,
}

impl Damage {
    fn describe(&self) -> Vec<String> {
        let mut said = Vec::new();
        if self.truncated > 0 {
            said.push(format!("the file is truncated: its last {} bytes are missing", self.truncated));
        }
        if self.clock {
            said.push("the file is damaged: it has no sound clock, so times are in an unknown unit".to_owned());
        }
        let nodes = self.parents + self.positions;
        if nodes > 0 {
            said.push(format!("the file is damaged: the callers of {nodes} call paths are lost"));
        }
        if self.records > 0 {
            said.push(format!("the file is damaged: the percentiles of {} functions are lost", self.records));
        }
        if self.chunks > 0 {
            said.push(format!("the file is damaged: {} blocks belong to no thread", self.chunks));
        }
        said
    }
}
