//! Branches of a tree as it is shown: one or more nodes of a call tree.

use rustc_hash::FxHashMap;

use crate::calltree::{Node, NodeTimes, SiteId};
use diytrace_profile::functions::FunctionId;
use diytrace_profile::time::Time;

/// A tree as it is shown.
#[derive(Clone, Debug, Default)]
pub struct Branches {
    /// All branches; a branch comes after the one above it.
    pub list: Vec<Branch>,
    /// Those with none above.
    pub tops: Vec<usize>,
    known: FxHashMap<Key, u32>,
    /// Numbers of the names of code that is not recorded.
    unrecorded: FxHashMap<Option<String>, u32>,
}

/// What tells a branch from others, in few bytes: the branch above, what it stands for, and of which kind that is, the site.
type Key = (u32, u32, u8, SiteId);

/// Stands for no branch above and for no site.
const NONE: u32 = u32::MAX;

/// Calls by where they were made. Most branches have one such place, and there may be millions of branches.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sites {
    first: Option<(SiteId, u64)>,
    /// Beyond the first, in their order.
    more: Vec<(SiteId, u64)>,
}

impl Sites {
    fn add(&mut self, site: SiteId, calls: u64) {
        let Some(first) = &mut self.first else {
            self.first = Some((site, calls));
            return;
        };
        if first.0 == site {
            first.1 = first.1.saturating_add(calls);
            return;
        }
        let mut added = (site, calls);
        if site < first.0 {
            std::mem::swap(first, &mut added);
        }
        match self.more.binary_search_by_key(&added.0, |(site, _)| *site) {
            Ok(at) => self.more[at].1 = self.more[at].1.saturating_add(added.1),
            Err(at) => self.more.insert(at, added),
        }
    }

    /// All of them, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (SiteId, u64)> {
        self.first.iter().chain(&self.more).copied()
    }
}

/// Nodes that are shown as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The branch above.
    pub above: Option<usize>,
    /// What it stands for.
    pub what: What,
    /// Where the calls between this branch and the one above were made, and how many.
    pub sites: Sites,
    /// Calls entered.
    pub calls: u64,
    /// Calls not yet returned.
    pub open: u64,
    /// Calls that have ended.
    pub ended: u64,
    /// Calls left without an exit.
    pub unwound: u64,
    /// Calls that were counted, and not timed.
    pub without_times: u64,
    /// Whether some calls lie inside others: the total has the time of these once.
    pub has_nested: bool,
    /// Times, corrected.
    pub corrected: NodeTimes,
    /// Times, as measured.
    pub raw: NodeTimes,
    /// How far off the corrected total may be.
    pub error: Time,
    /// How far off the corrected own time may be.
    pub own_error: Time,
    /// The branches below it.
    pub below: Vec<usize>,
}

/// What a branch stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    /// A function.
    Function(FunctionId),
    /// Recursive calls of a function, whose time and callees are at a branch of it above.
    Recursion(FunctionId),
    /// Code that called and is not recorded: the function it lies in, if that is known.
    Unrecorded(Option<String>),
}

impl What {
    /// The function, if it is a recorded one.
    pub fn function(&self) -> Option<FunctionId> {
        match self {
            Self::Function(id) | Self::Recursion(id) => Some(*id),
            Self::Unrecorded(_) => None,
        }
    }
}

impl Branches {
    /// The branch below another (or a top) that stands for this, found or made; `site` keeps it apart from others.
    pub fn at(&mut self, above: Option<usize>, what: What, site: Option<SiteId>) -> usize {
        let next = self.list.len();
        let (number, kind) = match &what {
            What::Function(id) => (*id, 0),
            What::Recursion(id) => (*id, 1),
            What::Unrecorded(name) => {
                let next = self.unrecorded.len() as u32;
                (*self.unrecorded.entry(name.clone()).or_insert(next), 2)
            }
        };
        let key = (above.map_or(NONE, |above| above as u32), number, kind, site.unwrap_or(NONE));
        let known = *self.known.entry(key).or_insert(next as u32) as usize;
        if known < next {
            return known;
        }
        self.list.push(Branch {
            above,
            what,
            sites: Sites::default(),
            calls: 0,
            open: 0,
            ended: 0,
            unwound: 0,
            without_times: 0,
            has_nested: false,
            corrected: NodeTimes::default(),
            raw: NodeTimes::default(),
            error: Time::ZERO,
            own_error: Time::ZERO,
            below: Vec::new(),
        });
        match above {
            Some(above) => self.list[above].below.push(next),
            None => self.tops.push(next),
        }
        next
    }
}

impl Branch {
    /// Adds the calls of a node, made at `site`.
    pub fn add_calls(&mut self, node: &Node, site: SiteId) {
        self.calls = self.calls.saturating_add(node.calls);
        self.open = self.open.saturating_add(node.open);
        self.ended = self.ended.saturating_add(node.ended);
        self.unwound = self.unwound.saturating_add(node.unwound);
        self.without_times = self.without_times.saturating_add(node.without_times);
        self.sites.add(site, node.calls);
    }

    /// Whether none of its calls was timed.
    pub fn are_only_counted(&self) -> bool {
        self.without_times > 0 && self.without_times >= self.calls
    }

    /// Its times, as they are asked for.
    pub fn times(&self, raw: bool) -> &NodeTimes {
        if raw { &self.raw } else { &self.corrected }
    }

    /// Mean time of the calls that have ended.
    pub fn mean(&self, raw: bool) -> Option<Time> {
        if self.ended == 0 || matches!(self.what, What::Recursion(_)) {
            return None; // recursive calls have their time elsewhere
        }
        let times = self.times(raw);
        let all = match (self.has_nested, self.open) {
            (true, _) => times.closed,
            (false, 0) => times.total,
            (false, _) => times.closed.min(times.total),
        };
        Some(Time::from_ns(all.ns() / self.ended as f64))
    }
}
