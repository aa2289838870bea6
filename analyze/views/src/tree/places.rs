//! Which call sites are one place.

use rustc_hash::FxHashMap;

use super::Options;
use crate::calltree::{CallTrees, Site, SiteId};
use crate::report::Format;

/// The place of each call site: people see lines, of which compilers make several sites.
#[derive(Clone, Debug, Default)]
pub struct Places {
    places: Option<Vec<SiteId>>,
}

impl Places {
    /// The places that the options ask for.
    pub fn of(trees: &CallTrees, options: &Options) -> Self {
        match options.sites {
            false => Self::default(),
            true => Self::apart(trees, !options.by_address && options.format != Format::Json),
        }
    }

    /// All sites; as one those of one line, if they are to be.
    pub fn apart(trees: &CallTrees, by_line: bool) -> Self {
        let mut first: FxHashMap<Site, SiteId> = FxHashMap::default();
        let place = |(site, id): (&Site, SiteId)| match (by_line, &site.file) {
            (true, Some(_)) => {
                *first.entry(Site { module: None, address: 0, into: None, ..site.clone() }).or_insert(id)
            }
            _ => id,
        };
        Self { places: Some(trees.sites.iter().zip(0..).map(place).collect()) }
    }

    /// The place of a site, if places are told apart.
    pub fn place(&self, site: SiteId) -> Option<SiteId> {
        self.places.as_ref().map(|places| places[site as usize])
    }

    /// Whether places are told apart.
    pub fn are_apart(&self) -> bool {
        self.places.is_some()
    }
}
