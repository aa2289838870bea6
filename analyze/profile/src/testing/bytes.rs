//! Profiles as bytes: a recorder with a pencil.

use std::mem::offset_of;

use diytrace_format::node::{ROOT, flag};
use diytrace_format::older::{OlderExtension, SINCE_SITES};
use diytrace_format::{
    ARENA_NODES, Arena, BLOCKS_START, Bins, Block, CHUNK_NODES, CallSite, Extension, Facts, Function, GRANULE, Header,
    MAGIC, Module, Node, NodeRecord, Ref, Slot, UNIT, VERSION, block, kind, module, text,
};
use zerocopy::{FromZeros, Immutable, IntoBytes};

/// A profile in the making.
pub struct Profile {
    /// The header, written when the profile is finished.
    pub header: Header,
    bytes: Vec<u8>,
}

impl Default for Profile {
    /// A profile without blocks.
    fn default() -> Self {
        let mut header = Header::new_zeroed();
        header.magic = MAGIC;
        header.version = VERSION;
        header.ready = 1;
        header.clock = diytrace_format::header::clock::TSC;
        header.ticks_per_second = 1_000_000_000;
        header.processes = 1;
        Self { header, bytes: vec![0; BLOCKS_START] }
    }
}

impl Profile {
    /// The finished bytes.
    pub fn finish(mut self) -> Vec<u8> {
        self.header.used = self.bytes.len() as u64;
        self.write(0, &self.header.clone());
        self.bytes
    }

    /// Adds a block of one granule and gives its offset.
    fn block(&mut self, kind: u32, change: impl FnOnce(&mut Block)) -> usize {
        let offset = self.bytes.len();
        self.bytes.resize(offset + GRANULE, 0);
        let mut block = Block::new_zeroed();
        (block.magic, block.kind, block.size) = (block::BLOCK_MAGIC, kind, GRANULE as u32);
        change(&mut block);
        self.write(offset, &block);
        offset
    }

    fn write<T: IntoBytes + Immutable>(&mut self, offset: usize, record: &T) {
        let bytes = record.as_bytes();
        self.bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    /// Adds a text.
    pub fn text(&mut self, kind: u32, text: &str) {
        let offset = self.block(kind::TEXT, |block| (block.nodes, block.back) = (text.len() as u32, kind));
        self.bytes[offset + UNIT..offset + UNIT + text.len()].copy_from_slice(text.as_bytes());
    }

    /// Adds modules.
    pub fn modules(&mut self, modules: &[(Module, &str)]) {
        let used: usize = modules.iter().map(|(_, path)| Module::total_size(path.len())).sum();
        let mut next = self.block(kind::MODULES, |block| block.nodes = used as u32) + UNIT;
        for (module, path) in modules {
            self.write(next, &Module { path_len: path.len() as u32, ..*module });
            let start = next + size_of::<Module>();
            self.bytes[start..start + path.len()].copy_from_slice(path.as_bytes());
            next += Module::total_size(path.len());
        }
    }

    /// Adds an arena whose nodes are made knowing the name of the first one, and gives the arena's own name.
    pub fn arena(&mut self, arena: &Arena, nodes: impl FnOnce(Ref) -> Vec<Node>) -> Ref {
        let name = (self.bytes.len() / UNIT) as Ref;
        let nodes = nodes(name + (ARENA_NODES / UNIT) as Ref);
        let offset = self.block(kind::ARENA, |block| (block.arena, block.nodes) = (name, nodes.len() as u32));
        self.write(offset + UNIT, arena);
        self.nodes(name, offset + ARENA_NODES, &nodes);
        name
    }

    /// Adds a further block of an arena.
    pub fn chunk(&mut self, arena: Ref, nodes: impl FnOnce(Ref) -> Vec<Node>) {
        let name = (self.bytes.len() / UNIT) as Ref;
        let nodes = nodes(name + (CHUNK_NODES / UNIT) as Ref);
        let offset = self.block(kind::CHUNK, |block| (block.arena, block.nodes) = (arena, nodes.len() as u32));
        self.nodes(arena, offset + CHUNK_NODES, &nodes);
    }

    /// Each with a call site and an extension, as the header's version has them: behind the middle of the block, where no records are.
    fn nodes(&mut self, arena: Ref, mut offset: usize, nodes: &[Node]) {
        let latest = arena as usize * UNIT + offset_of!(Block, call_sites);
        let mut next = Ref::from_le_bytes(self.bytes[latest..latest + size_of::<Ref>()].try_into().unwrap());
        let mut more = self.bytes.len() - GRANULE / 2;
        for node in nodes {
            let (facts, Node { position, record, unwound, .. }) = (Facts::of(node), *node);
            let slot = node.slots[1];
            let (site, extension) = ((more / UNIT) as Ref, more + size_of::<CallSite>());
            if self.header.version < SINCE_SITES {
                self.write(extension, &OlderExtension { facts, position, unwound, slot });
            } else {
                self.write(more, &CallSite { facts, next, ..CallSite::default() });
                next = site;
                self.write(extension, &Extension { site, position, record, unwound, slot, ..Extension::default() });
            }
            self.write(offset, &NodeRecord::of(node, (extension / UNIT) as Ref));
            offset += size_of::<NodeRecord>();
            more = extension + size_of::<Extension>();
        }
        self.write(latest, &next);
    }

    /// Puts a function's record and one octave of bins at the end of the latest block and gives the record's name.
    pub fn function(&mut self, mut function: Function, octave: usize, bins: Bins) -> Ref {
        let record = self.bytes.len() - size_of::<Function>();
        let at = record - size_of::<Bins>();
        function.octaves[octave] = (at / UNIT) as Ref;
        self.write(at, &bins);
        self.write(record, &function);
        (record / UNIT) as Ref
    }
}

/// The name that [`Profile::function`] will give the next record of a block that is being added.
fn next_record(profile: &Profile) -> Ref {
    ((profile.bytes.len() + GRANULE - size_of::<Function>()) / UNIT) as Ref
}

/// A node of a test.
pub fn raw_node(function: u64, parent: Ref, position: Ref, slot: Slot) -> Node {
    Node {
        function,
        site: 0x40_0800 + (function & 0xff),
        hook: function + 8,
        parent,
        position,
        record: 0,
        flags: 0,
        noted: 0,
        target: 0,
        module: 1,
        site_module: 1,
        unwound: 0,
        slots: [slot, Slot::default()],
    }
}

/// A profile with one of everything: two threads, a further block, recursion folded and not, an open call, an
/// excluded function, a histogram, texts and modules.
pub fn sample() -> Vec<u8> {
    let mut profile = Profile::default();
    profile.text(text::kind::EXE, "/nonexistent/program");
    profile.text(text::kind::CMDLINE, "program\0--flag\0");
    profile.text(text::kind::ROOT, "main,nothing");
    profile.header.roots = 2;
    profile.header.root_matches[0] = 1;
    profile.text(text::kind::WARNING, "DIYTRACE_DEPTH: `x` is no number");
    let mut program = Module::new_zeroed();
    (program.bias, program.start, program.end) = (0x40_0000, 0x40_0000, 0x41_0000);
    program.number = 1;
    (program.flags, program.build_id_len) = (module::flag::INSTRUMENTED | module::flag::PROGRAM, 4);
    let mut library = Module::new_zeroed();
    (library.bias, library.start, library.end, library.number) = (0x7f00_0000, 0x7f00_0000, 0x7f01_0000, 2);
    profile.modules(&[(program, "/nonexistent/program"), (library, "/nonexistent/library.so")]);

    let mut thread = Arena::new_zeroed();
    (thread.pid, thread.tid, thread.process, thread.owners, thread.processes) = (7, 7, 1, 1, 1);
    thread.name[..4].copy_from_slice(b"main");
    let record = next_record(&profile);
    let slot = |calls, ticks, descendants| Slot { calls, ticks, descendants, mark: ticks << 2 };
    let main = profile.arena(&thread, |first| {
        let step = (size_of::<NodeRecord>() / UNIT) as Ref;
        let name = |index: Ref| first + index * step;
        let mut nodes = vec![
            raw_node(0x40_0100, ROOT, name(0), Slot { calls: 1, ticks: 0, descendants: 0, mark: 4 | 1 }),
            raw_node(0x40_0200, name(0), name(1), slot(10, 5000, 40)),
            raw_node(0x40_0300, name(1), name(2), slot(10, 4000, 30)),
            raw_node(0x40_0200, name(2), name(1), slot(20, 3000, 10)),
            raw_node(0x40_0400, name(0), name(0), slot(3, 0, 0)),
            raw_node(0x7f00_0100, name(0), name(5), slot(1, 100, 0)),
        ];
        nodes[1].record = record;
        nodes[2].slots[1] = slot(10, 1000, 0);
        (nodes[3].flags, nodes[3].record) = (flag::RECURSION, record);
        nodes[4].flags = flag::UNTIMED;
        nodes[5].module = 2;
        nodes
    });
    let mut function = Function::new_zeroed();
    (function.address, function.min, function.max) = (0x40_0200, 256, 500);
    let mut bins = Bins::new_zeroed();
    bins.counts[0] = 30;
    assert_eq!(profile.function(function, 8, bins), record);

    let first = main + (ARENA_NODES / UNIT) as Ref;
    profile.chunk(main, |_| vec![raw_node(0x40_0500, first, first, slot(2, 20, 0))]);
    (thread.tid, thread.owners) = (8, 2);
    profile.arena(&thread, |first| vec![raw_node(0x40_0600, ROOT, first, slot(1, 900, 0))]);
    profile.finish()
}
