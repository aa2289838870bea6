//! Names in documents: whole, or as short as people say them.

use diytrace_profile::functions::Spelling;
use diytrace_profile::short_name::short_names;

use crate::calltree::CallTrees;
use crate::{annotate, report, tree};

/// How functions are named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// Demangled, with parameters and template arguments.
    #[default]
    Full,
    /// Without them, as far as that tells functions apart.
    Short,
    /// As the linker knows them.
    Mangled,
}

/// A document with names of functions in it.
pub trait Named {
    /// Hands over each name.
    fn names(&mut self) -> Vec<&mut String>;

    /// Those that are shown, if not all are: the others need not be told from them.
    fn shown(&self) -> Option<Vec<&str>> {
        None
    }
}

impl Names {
    /// How a document's names are to be written before that.
    pub fn spelling(self) -> Spelling {
        match self {
            Self::Full | Self::Short => Spelling::Demangled,
            Self::Mangled => Spelling::Mangled,
        }
    }

    /// Shortens a document's names if that is asked for.
    pub fn apply(self, document: &mut impl Named) {
        if self == Self::Short {
            shorten(document);
        }
    }
}

/// Shortens the names in a document, so that no two that are shown and different become the same.
pub fn shorten(document: &mut impl Named) {
    let shown: Option<Vec<String>> = document.shown().map(|names| names.into_iter().map(str::to_owned).collect());
    let mut names = document.names();
    let shown = shown.unwrap_or_else(|| names.iter().map(|name| (*name).clone()).collect());
    let short = short_names(shown.iter().map(String::as_str));
    for name in &mut names {
        if let Some(short) = short.get(name.as_str()) {
            name.clone_from(short);
        }
    }
}

impl Named for CallTrees {
    fn names(&mut self) -> Vec<&mut String> {
        let sites = self
            .sites
            .iter_mut()
            .flat_map(|site| site.via.iter_mut().chain(&mut site.into).chain(&mut site.unrecorded));
        self.functions.values_mut().map(|function| &mut function.name).chain(sites).collect()
    }
}

impl Named for report::Document {
    fn names(&mut self) -> Vec<&mut String> {
        let mut names = Vec::new();
        for function in self.reports.iter_mut().flat_map(|report| &mut report.functions) {
            names.push(&mut function.name);
            names.extend(function.inlined_into.iter_mut().map(|into| &mut into.name));
            for callee in &mut function.callees {
                names.push(&mut callee.name);
                names.extend(&mut callee.via);
            }
        }
        names
    }

    fn shown(&self) -> Option<Vec<&str>> {
        if self.format != report::Format::Table || !matches!(self.layout, report::Layout::Functions(_)) {
            return None;
        }
        let listed = self.reports.iter().flat_map(|report| report.called().take(self.limit.unwrap_or(usize::MAX)));
        // Of those that it is inlined into, a table names one.
        let names = listed.flat_map(|function| {
            std::iter::once(&function.name).chain(function.inlined_into.first().map(|into| &into.name))
        });
        Some(names.map(String::as_str).collect())
    }
}

impl Named for tree::Document {
    fn names(&mut self) -> Vec<&mut String> {
        let mut names = Vec::new();
        for node in self.trees.iter_mut().flat_map(|tree| &mut tree.nodes) {
            names.push(&mut node.name);
            names.extend(&mut node.via);
            names.extend(&mut node.inlined_into);
            names.extend(node.sites.iter_mut().filter_map(|site| site.via.as_mut()));
        }
        names
    }
}

impl Named for annotate::Document {
    fn names(&mut self) -> Vec<&mut String> {
        let mut names = Vec::new();
        for function in self.reports.iter_mut().flat_map(|report| &mut report.functions) {
            names.push(&mut function.name);
            let lines = function.lines.iter_mut().flat_map(|line| &mut line.calls);
            let instructions = function.instructions.iter_mut().flat_map(|instruction| &mut instruction.calls);
            for call in lines.chain(instructions) {
                names.push(&mut call.name);
                names.extend(&mut call.via);
            }
        }
        names
    }
}
