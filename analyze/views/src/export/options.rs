//! What to export, and how.

use super::limit::MOST;
use super::prune::Wanted;
use crate::names::Names;
use diytrace_profile::merge::By;
use diytrace_profile::spent::Kind;

/// What to export, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// In which format.
    pub format: Format,
    /// Patterns of functions: only what happened inside them. Empty: everything.
    pub roots: Vec<String>,
    /// Patterns of functions: only paths that one of them is on. Empty: all.
    pub functions: Vec<String>,
    /// Least share of all time that a path has, in percent. `None`: none, but no more paths than the format's readers can open.
    pub min_percent: Option<f64>,
    /// Most levels below where paths begin.
    pub depth: Option<u32>,
    /// How functions are named. `None`: as suits the format.
    pub names: Option<Names>,
    /// Times as measured, without correction.
    pub raw: bool,
    /// Which time is told.
    pub time: Kind,
}

impl Options {
    /// Everything, as suits a format.
    pub fn of(format: Format) -> Self {
        let (roots, functions, min_percent, depth, names, raw, time) = Default::default();
        Self { format, roots, functions, min_percent, depth, names, raw, time }
    }

    /// How many call paths there may be.
    pub fn most(&self) -> Option<usize> {
        if self.min_percent.is_none() { self.format.most() } else { None }
    }

    /// What of call paths is wanted.
    pub fn wanted(&self) -> Wanted {
        let Self { min_percent, depth, functions, .. } = self;
        Wanted { min_percent: min_percent.unwrap_or(0.0), depth: *depth, only_named: !functions.is_empty() }
    }
}

/// A format that other tools read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// An interactive SVG.
    Flamegraph,
    /// Stacks, one a line.
    Folded,
    /// `profile.proto`, gzipped.
    Pprof,
    /// Callgrind's format.
    Callgrind,
    /// Speedscope's format.
    Speedscope,
    /// The Firefox Profiler's processed format.
    Firefox,
    /// A graph for Graphviz.
    Dot,
    /// A page.
    Html,
}

impl Format {
    /// How functions are named if nobody says so: short in pictures.
    pub fn names(self) -> Names {
        match self {
            Self::Flamegraph | Self::Dot | Self::Html => Names::Short,
            Self::Folded | Self::Pprof | Self::Callgrind | Self::Speedscope | Self::Firefox => Names::Full,
        }
    }

    /// How many call paths those who look at it can open: a browser draws it.
    fn most(self) -> Option<usize> {
        match self {
            Self::Flamegraph | Self::Pprof | Self::Speedscope | Self::Firefox | Self::Html => Some(MOST),
            Self::Folded | Self::Callgrind | Self::Dot => None,
        }
    }

    /// Whether its bytes are no text.
    pub fn is_binary(self) -> bool {
        self == Self::Pprof
    }

    /// What is exported apart if nothing was asked for.
    pub fn by(self) -> By {
        match self {
            Self::Pprof => By::Thread, // its labels tell whose a sample is
            _ => By::All,
        }
    }
}
