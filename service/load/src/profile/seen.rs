//! What a server recorded in a step, wherever that is read.

use std::time::Duration;

use super::cost::Costs;
use crate::Error;

/// A step is cut into so many slices, for tests.
pub const SLICES: usize = 12;

/// After the last answer, a server is still on its way out of the functions that made it.
pub const REST: Duration = Duration::from_millis(20);

/// What was recorded in some time, to be read when it is asked for.
pub trait Counted {
    /// What so many requests cost in it.
    fn costs(&self, requests: u64) -> Result<Costs, Error>;
}

/// What a server recorded in a step.
pub struct Seen {
    /// Between two moments when nothing was on its way.
    pub whole: Part,
    /// In parts of it, one after the other.
    pub slices: Vec<Part>,
    /// And in moments of it, which are short.
    pub moments: Vec<Moment>,
}

/// A moment of a step.
pub struct Moment {
    /// When it began, in nanoseconds since the step did.
    pub from_ns: u64,
    /// And ended.
    pub to_ns: u64,
    /// What was recorded in it.
    pub part: Part,
}

/// A moment is no shorter.
pub const MOMENT: Duration = Duration::from_millis(250);

/// Most moments of a step; where there would be more, each two become one.
pub const MOMENTS: usize = 100;

/// What it recorded in some time.
pub struct Part {
    /// Requests that it has had.
    pub requests: u64,
    /// What it has counted.
    pub counted: Box<dyn Counted>,
}

impl Part {
    /// What a request cost.
    pub fn costs(&self) -> Result<Costs, Error> {
        self.counted.costs(self.requests)
    }
}
