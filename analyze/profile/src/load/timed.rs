//! Which of a path's calls were timed.

use diytrace_format::header;
use serde::{Deserialize, Serialize};

/// Which calls of a program are timed (`DIYTRACE_TIMING`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timing {
    /// All, but for those of windows.
    #[default]
    All,
    /// None.
    Off,
}

impl Timing {
    /// The timing of a profile.
    pub fn of(header: &diytrace_format::Header) -> Self {
        match header.timing {
            header::timing::OFF => Self::Off,
            _ => Self::All,
        }
    }
}

/// Which calls of a path were timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timed {
    /// All.
    #[default]
    All,
    /// All but that many.
    AllBut(u64),
    /// None.
    None,
}

impl Timed {
    /// Those of a path of which so many were noted.
    pub fn of(noted: u32, timing: Timing) -> Self {
        match (timing, noted) {
            (Timing::Off, _) => Self::None,
            (Timing::All, 0) => Self::All,
            (Timing::All, noted) => Self::AllBut(noted.into()),
        }
    }
}
