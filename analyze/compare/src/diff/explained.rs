//! How much of the whole the functions explain that are named.

use super::comparison::{Explained, Query, Verdict};
use crate::runs::metric;

impl Query {
    /// Whether a function is one of those of which only the sum tells whether they take longer, confirmed or not.
    pub fn is_together(&self, place: usize) -> bool {
        self.together.iter().flat_map(|group| &group.functions).any(|one| *one == place)
    }

    /// Adds up what is named; what was named and is no longer counts as left.
    pub fn explain(&mut self) {
        let sum = |is_of: fn(Verdict) -> bool| {
            let named = self.functions.iter().filter(|function| is_of(function.verdict));
            named.map(|function| function.self_ns.difference_ns()).sum::<f64>()
        };
        let difference_ns = self.total.self_ns.difference_ns();
        let changed_ns =
            sum(|verdict| matches!(verdict, Verdict::Changed | Verdict::Calls | Verdict::Follows | Verdict::OneSided));
        let same_code_ns = sum(|verdict| verdict == Verdict::SameCode);
        let moved_ns = sum(|verdict| verdict == Verdict::Moved);
        let wall = self.metrics.iter().find(|one| one.name == metric::WALL);
        self.explained = Explained {
            difference_ns,
            changed_ns,
            same_code_ns,
            moved_ns,
            rest_ns: difference_ns - changed_ns - same_code_ns - moved_ns,
            wall_ns: wall.map(|wall| wall.values.difference_ns()),
        };
    }
}
