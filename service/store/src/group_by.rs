//! What of a selection is told together.

use crate::Query;

/// What of a selection is told together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum GroupBy {
    /// All of it.
    #[default]
    All,
    /// What has the same value of a label.
    Label(String),
    /// Parts of it, such as slices of its time: what each is called, and what is asked for it. A part in which nothing was
    /// counted has no group.
    Parts(Vec<(String, Query)>),
}

impl GroupBy {
    /// The label, if it is by one.
    pub fn label(&self) -> Option<&str> {
        match self {
            Self::Label(label) => Some(label),
            Self::All | Self::Parts(_) => None,
        }
    }
}
