//! Call trees as plain data: every call path of the profiles, with names, lines and times. What shows paths starts here.
//!
//! ```text
//! [`Opened`](diytrace_profile::opened::Opened) ──correct, symbolize──▶ [`CallTrees`] ──▶ `tree`, `callers`, exports
//! ```
//!
//! Nodes lie in preorder: each directly before all below it, which end at [`Node::end`]. `own` times add up: the total
//! of a node is its own time and the totals of the nodes below it, to the last bit, corrected as well as raw.
//!
//! Folded recursion: where the recorder did not tell the levels of a recursion apart, a [`Fold::Recursion`] node has the
//! calls, and the node of the same function above it, which it names, has their time and all that they called. Below that
//! node, times are those of all levels together.

mod build;
mod open;

use std::collections::BTreeMap;

use crate::subject::{Clock, Subject};
use diytrace_profile::functions::CallKind;
use diytrace_profile::functions::{self, FunctionId};
use diytrace_profile::merge::{Module, ModuleId};
use diytrace_profile::spent::Kind;
use diytrace_profile::time::Time;
use diytrace_profile::warnings::Warning;

pub use build::{Lines, Options, build};

/// A node's place in [`CallTree::nodes`].
pub type NodeId = u32;

/// A call site's place in [`CallTrees::sites`].
pub type SiteId = u32;

/// The call trees of some profiles, and what their numbers stand for.
#[derive(Clone, Debug)]
pub struct CallTrees {
    /// The recorder's clock.
    pub clock: Clock,
    /// What the reader should know.
    pub warnings: Vec<Warning>,
    /// How many runs are added up.
    pub runs: usize,
    /// Patterns of functions: asked for, or else those that the recording was limited to; empty: there are none.
    pub roots: Vec<String>,
    /// Which time this is.
    pub time: Kind,
    /// Programs and libraries.
    pub modules: Vec<Module>,
    /// All functions that were called.
    pub functions: BTreeMap<FunctionId, Function>,
    /// All places and ways in which they were called.
    pub sites: Vec<Site>,
    /// One, or one for each process or thread.
    pub trees: Vec<CallTree>,
}

/// A function's name and place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name as people write it; its address where it has none.
    pub name: String,
    /// Its name as the linker knows it.
    pub symbol: Option<String>,
    /// Its module; `None` for code in no file.
    pub module: Option<ModuleId>,
    /// ELF virtual address; of several the first.
    pub address: u64,
    /// Addresses that are shown as this one function.
    pub addresses: usize,
    /// Where it is written, if that was looked up and found.
    pub file: Option<String>,
    /// The line there.
    pub line: Option<u32>,
    /// Whether it is one of the roots.
    pub is_root: bool,
    /// Whether somebody has asked for functions of its name.
    pub is_named: bool,
}

/// Where and how a call was made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The module of the code that calls; `None` for code in no file.
    pub module: Option<ModuleId>,
    /// Return address of the call; of an inlined body, of its enter hook.
    pub address: u64,
    /// Where the call is written, if that was looked up and found.
    pub file: Option<String>,
    /// The line there.
    pub line: Option<u32>,
    /// How it was made.
    pub kind: CallKind,
    /// Code without hooks between caller and callee.
    pub via: Option<String>,
    /// Of an inlined body: the function whose code it has become a part of.
    pub into: Option<String>,
    /// Of a call whose caller is not recorded: the function that it is written in.
    pub unrecorded: Option<String>,
}

/// The call tree of everything, a process or a thread.
#[derive(Clone, Debug)]
pub struct CallTree {
    /// Whose calls these are.
    pub subject: Subject,
    /// Whether only what is inside some functions is here; `functions` tell of all calls nevertheless.
    pub is_narrowed: bool,
    /// Call paths, in preorder.
    pub nodes: Vec<Node>,
    /// Calls on paths that gave way to others.
    pub aside: Vec<Aside>,
    /// Sums by function, with histograms; recursion is counted once.
    pub functions: BTreeMap<FunctionId, functions::Function>,
}

/// A call path: a function, called from a place, by the path above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The path above: always before this one.
    pub parent: Option<NodeId>,
    /// Where the nodes below it end.
    pub end: NodeId,
    /// Nodes above it.
    pub depth: u32,
    /// The function.
    pub function: FunctionId,
    /// From where it was called.
    pub site: SiteId,
    /// Whether it is a path of its own.
    pub fold: Fold,
    /// Calls entered. None, where a forked child inherited the call.
    pub calls: u64,
    /// Calls not yet returned, as far as paths tell: of calls in a folded recursion, one.
    pub open: u64,
    /// Calls that have ended.
    pub ended: u64,
    /// Calls left without an exit.
    pub unwound: u64,
    /// Calls that were counted, and not timed, as there was no room for their path.
    pub without_times: u64,
    /// Times, corrected.
    pub corrected: NodeTimes,
    /// Times, as measured.
    pub raw: NodeTimes,
    /// How far off the corrected total may be.
    pub error: Time,
    /// How far off the corrected own time may be.
    pub own_error: Time,
    /// What of its own time was waited, where that is known.
    pub wait: Option<Time>,
}

/// Times of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeTimes {
    /// Without what was called.
    pub own: Time,
    /// With it: the sum of the own times of this node and all below it.
    pub total: Time,
    /// Of the calls that have ended, with what they called, each as it was timed: what their mean is made of.
    pub closed: Time,
}

/// Whether a node is a path of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fold {
    /// It is.
    #[default]
    No,
    /// Recursive calls, which are not told apart from those of this node above, of the same function: it has their time and
    /// callees.
    Recursion(NodeId),
    /// Calls on many paths, for which the profile had no room.
    Paths,
    /// Calls from the node above on paths that gave way to others, whatever was called.
    Others,
}

/// Calls of one function by another on paths that gave way to others: no part of the tree, which has their time in nodes of
/// [`Fold::Others`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aside {
    /// Their sums, as of a path without one above it; the total is that of the outermost calls.
    pub node: Node,
    /// The function that made them.
    pub caller: Option<FunctionId>,
    /// Whether they lie in no other call of their function.
    pub is_outermost: bool,
}
