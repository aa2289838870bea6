//! Checked access to a profile's bytes: whatever they are, an answer or an error, never a panic.
//!
//! The bytes may be cut short, be written to while they are read, or come from an enemy. Every record is copied out of
//! them, every offset and length is held against them, and a reference that leads nowhere is `None`.

use crate::block::BLOCK_MAGIC;
use crate::node::SKIPPED;
use crate::older::{self, OlderExtension, OlderRecord};
use crate::ring::SLOTS;
use crate::{
    ARENA_NODES, Arena, BLOCKS_START, Bins, Block, CHUNK_NODES, Calibration, CallSite, Extension, Facts, Function,
    FunctionCount, GRANULE, Header, MAGIC, Module, More, Node, NodeRecord, OLDEST, OffCpu, Recycling, Ref, Ring,
    RingSlot, Timeline, UNIT, VERSION, kind,
};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// Why bytes are no profile that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotReadable {
    /// Fewer bytes than a header has.
    Truncated,
    /// The bytes do not start with [`MAGIC`].
    Foreign,
    /// Written by a version of the recorder that this reader does not know.
    Version(u32),
    /// The recorder died while it made the file.
    Unfinished,
}

/// A profile's bytes.
#[derive(Clone, Copy)]
pub struct File<'a> {
    bytes: &'a [u8],
    header: Header,
}

/// A block and where it lies.
#[derive(Clone, Copy, Debug)]
pub struct Located {
    /// Offset of the block in the file.
    pub offset: usize,
    /// Its header.
    pub block: Block,
}

impl<'a> File<'a> {
    /// Checks the header.
    pub fn open(bytes: &'a [u8]) -> Result<Self, NotReadable> {
        let magic = bytes.get(..MAGIC.len()).ok_or(NotReadable::Truncated)?;
        if magic != MAGIC {
            return Err(NotReadable::Foreign);
        }
        let header: Header = copy(bytes, 0).ok_or(NotReadable::Truncated)?;
        if !(OLDEST..=VERSION).contains(&header.version) {
            return Err(NotReadable::Version(header.version));
        }
        if header.ready == 0 {
            return Err(NotReadable::Unfinished);
        }
        Ok(Self { bytes, header })
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How many bytes the recorder has handed out beyond the end of these: not 0 for a truncated file.
    pub fn missing_bytes(&self) -> u64 {
        self.header.used.saturating_sub(self.bytes.len() as u64)
    }

    /// All blocks, in the order of the file. Space that was handed out and never written is stepped over.
    pub fn blocks(&self) -> impl Iterator<Item = Located> + use<'a> {
        let bytes = self.bytes;
        let end = (self.header.used).min(bytes.len() as u64) as usize;
        let mut next = BLOCKS_START;
        core::iter::from_fn(move || {
            while next < end {
                let offset = next;
                let block: Block = copy(bytes, offset)?;
                let size = block.size as usize;
                let sound = block.magic == BLOCK_MAGIC && size > 0 && size.is_multiple_of(GRANULE);
                if sound && size <= end - offset {
                    next += size;
                    return Some(Located { offset, block });
                }
                next += GRANULE;
            }
            None
        })
    }

    /// The arena that starts in a block of [`kind::ARENA`].
    pub fn arena(&self, at: &Located) -> Option<Arena> {
        (at.block.kind == kind::ARENA).then(|| copy(self.bytes, at.offset + UNIT)).flatten()
    }

    /// The nodes in a block of an arena, each with the name that others have for it. Those without a parent are not complete.
    pub fn nodes(&self, at: &Located) -> impl Iterator<Item = (Ref, Node)> + use<'a> {
        let (bytes, version) = (self.bytes, self.header.version);
        let names = self.names(at);
        names.map_while(move |name| Some((name, node_of(bytes, name, version)?)))
    }

    /// The same as they lie there: `None` of [`OlderRecord`]s. What a record leaves out is told by [`Self::node`].
    pub fn records(&self, at: &Located) -> Option<impl Iterator<Item = (Ref, NodeRecord)> + use<'a>> {
        let bytes = self.bytes;
        let names = (!self.has_older_nodes()).then(|| self.names(at))?;
        Some(names.map_while(move |name| Some((name, by_reference(bytes, name)?))))
    }

    fn names(&self, at: &Located) -> impl Iterator<Item = Ref> + use<'a> {
        let first = match at.block.kind {
            kind::ARENA => ARENA_NODES,
            kind::CHUNK => CHUNK_NODES,
            _ => at.block.size as usize,
        };
        let size = self.node_size();
        let room = (at.block.size as usize).saturating_sub(first) / size;
        let start = (at.offset + first) / UNIT;
        (0..room.min(at.block.nodes as usize)).map(move |index| (start + index * (size / UNIT)) as Ref)
    }

    /// What an arena says of its paths that gave way to others.
    pub fn recycling(&self, reference: Ref) -> Option<Recycling> {
        self.by_reference(reference)
    }

    /// The node of a name; one without a parent is not complete.
    pub fn node(&self, name: Ref) -> Option<Node> {
        node_of(self.bytes, name, self.header.version)
    }

    /// Bytes of a node.
    pub fn node_size(&self) -> usize {
        if self.has_older_nodes() { size_of::<OlderRecord>() } else { size_of::<NodeRecord>() }
    }

    /// Whether its nodes are [`OlderRecord`]s.
    pub fn has_older_nodes(&self) -> bool {
        self.header.version < older::SINCE
    }

    /// Whether call sites and extensions lie as those of the present version do.
    pub fn has_older_sites(&self) -> bool {
        self.header.version < older::SINCE_SITES
    }

    /// Whether what [`NodeRecord::more`] names is an extension.
    pub fn is_extension(&self, more: Ref) -> bool {
        let is_older = self.has_older_sites();
        more_of(self.bytes, more, is_older).is_some_and(|more| more.position != 0)
    }

    /// The calls by function in a block of [`kind::COUNTS`], each with its place in the block.
    pub fn counts(&self, at: &Located) -> impl Iterator<Item = (u32, FunctionCount)> + use<'a> {
        let bytes = self.bytes;
        let start = at.offset + UNIT;
        let end = if at.block.kind == kind::COUNTS { at.offset + at.block.size as usize } else { start };
        let counts = (start..end).step_by(size_of::<FunctionCount>()).zip(0..);
        let counts = counts.map_while(move |(offset, index)| Some((index, copy::<FunctionCount>(bytes, offset)?)));
        counts.filter(|(_, count)| count.key != 0 && count.calls != 0)
    }

    /// The function record that a node names.
    pub fn function(&self, record: Ref) -> Option<Function> {
        self.by_reference(record)
    }

    /// The bins that a function record names.
    pub fn bins(&self, bins: Ref) -> Option<Bins> {
        self.by_reference(bins)
    }

    /// The record of time off the processor that an arena, or another such record, names.
    pub fn off_cpu(&self, record: Ref) -> Option<OffCpu> {
        self.by_reference(record)
    }

    /// The results of calibration windows that an arena names.
    pub fn calibration(&self, reference: Ref) -> Option<Calibration> {
        self.by_reference(reference)
    }

    /// An arena's ring and its slots; `None` if it has none, or nothing is in it.
    pub fn ring(&self, ring: Ref) -> Option<(Ring, impl Iterator<Item = RingSlot> + use<'a>)> {
        let bytes = self.bytes;
        self.by_reference::<Block>(ring).filter(|block| block.kind == kind::RING && ring != 0)?;
        let start = (ring as usize).checked_add(1)?.checked_mul(UNIT)?;
        let offset = move |slot: usize| start + size_of::<Ring>() + slot * size_of::<RingSlot>();
        let slots = (0..SLOTS).map_while(move |slot| copy::<RingSlot>(bytes, offset(slot)));
        let ring: Ring = copy(bytes, start)?;
        (!ring.sequence.is_multiple_of(2)).then_some((ring, slots))
    }

    /// Whether nothing but roots is recorded inside the calls of a path.
    pub fn is_skipped(&self, node: Ref) -> bool {
        self.node(node).is_some_and(|node| node.position == SKIPPED)
    }

    /// The timeline that a function record names.
    pub fn timeline(&self, timeline: Ref) -> Option<Timeline> {
        self.by_reference(timeline)
    }

    /// The modules in a block of [`kind::MODULES`], each with its path.
    pub fn modules(&self, at: &Located) -> impl Iterator<Item = (Module, &'a [u8])> + use<'a> {
        let bytes = self.bytes;
        let used = match at.block.kind {
            kind::MODULES => (at.block.nodes as usize).min(at.block.size as usize - UNIT),
            _ => 0,
        };
        let mut next = at.offset + UNIT;
        let end = next + used;
        core::iter::from_fn(move || {
            let module: Module = (next + size_of::<Module>() <= end).then(|| copy(bytes, next)).flatten()?;
            let path = next + size_of::<Module>();
            let path = bytes.get(path..path.checked_add(module.path_len as usize)?)?;
            next += Module::total_size(path.len());
            Some((module, path))
        })
    }

    /// The text in a block of [`kind::TEXT`] and its kind ([`crate::text::kind`]).
    pub fn text(&self, at: &Located) -> Option<(u32, &'a [u8])> {
        if at.block.kind != kind::TEXT {
            return None;
        }
        let start = at.offset + UNIT;
        let len = (at.block.nodes as usize).min(at.block.size as usize - UNIT);
        Some((at.block.back, self.bytes.get(start..start + len)?))
    }

    fn by_reference<T: FromBytes + KnownLayout + Immutable>(&self, reference: Ref) -> Option<T> {
        by_reference(self.bytes, reference)
    }
}

/// What lies in a profile, and may be made of any bytes.
pub trait Record: FromBytes + KnownLayout + Immutable {}

impl<T: FromBytes + KnownLayout + Immutable> Record for T {}

/// The record that these bytes begin with.
#[inline]
pub fn record_of<T: Record>(bytes: &[u8]) -> Option<T> {
    copy(bytes, 0)
}

fn by_reference<T: FromBytes + KnownLayout + Immutable>(bytes: &[u8], reference: Ref) -> Option<T> {
    let offset = reference as usize * UNIT;
    (offset >= BLOCKS_START).then(|| copy(bytes, offset)).flatten()
}

fn node_of(bytes: &[u8], name: Ref, version: u32) -> Option<Node> {
    if version < older::SINCE {
        return by_reference::<OlderRecord>(bytes, name).map(Node::from);
    }
    let record: NodeRecord = by_reference(bytes, name)?;
    // Of one that leads nowhere its function's record is missing, too, and that is noticed.
    let nothing = || More { facts: Facts { record: record.more, ..Facts::default() }, ..More::default() };
    Some(record.node(name, &more_of(bytes, record.more, version < older::SINCE_SITES).unwrap_or_else(nothing)))
}

/// What a node has beside its record.
fn more_of(bytes: &[u8], more: Ref, is_older: bool) -> Option<More> {
    if is_older {
        return by_reference::<OlderExtension>(bytes, more).map(More::from);
    }
    let site: CallSite = by_reference(bytes, more)?;
    if site.position == 0 {
        return Some(More { facts: site.facts, ..More::default() });
    }
    let Extension { site, unwound, position, slot, .. } = by_reference(bytes, more)?;
    let CallSite { facts, .. } = by_reference(bytes, site)?;
    Some(More { facts, position, unwound, slot })
}

fn copy<T: FromBytes + KnownLayout + Immutable>(bytes: &[u8], offset: usize) -> Option<T> {
    T::read_from_prefix(bytes.get(offset..)?).ok().map(|(value, _)| value)
}
