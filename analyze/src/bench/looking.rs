//! Whether more runs may decide something: as many are made as a look needs, and then all so far are compared.

use std::collections::BTreeMap;

use super::{Error, say};
use diytrace_compare::diff;
use diytrace_compare::runs::Runs;
use diytrace_compare::statistics::Looks;

/// What the looks at each query's runs have come to.
pub struct Looking {
    looks: Looks,
    /// After how many runs of a query the next look is; none, where it is over.
    next: BTreeMap<Option<String>, Option<usize>>,
}

impl Looking {
    /// Nothing yet.
    pub fn new(looks: Looks) -> Self {
        Self { looks, next: BTreeMap::new() }
    }

    /// Whether there are enough runs of a query of both sides. It looks where it is time to.
    pub fn is_enough(&mut self, query: Option<&str>, sides: &[Runs], options: &diff::Options) -> Result<bool, Error> {
        let runs = sides.iter().map(|side| side.of(query).count()).min().unwrap_or(0);
        let next = self.next.entry(query.map(str::to_owned)).or_insert(Some(self.looks.first));
        let Some(look) = *next else { return Ok(true) };
        if runs < look {
            return Ok(false);
        }
        *next = None;
        let [left, right] = sides else { return Ok(true) };
        if runs < self.looks.most && pays([left, right], query, self.looks, options)? {
            *next = Some(self.looks.next(runs));
            let of = query.map_or_else(String::new, |query| format!(" of {query}"));
            say(&format!("{runs} runs{of} do not decide all that more may: adding some, {} at most", self.looks.most));
        }
        Ok(next.is_none())
    }

    /// Whether no more runs of a query are made.
    pub fn is_over(&self, query: Option<&str>) -> bool {
        self.next.get(&query.map(str::to_owned)) == Some(&None)
    }
}

fn pays(sides: [&Runs; 2], query: Option<&str>, looks: Looks, options: &diff::Options) -> Result<bool, Error> {
    let [left, right] = sides.map(|side| {
        let runs = side.of(query).cloned().collect();
        Runs { runs, ..side.clone() }
    });
    let comparison = diff::compare(&left, &right, options)?;
    Ok(comparison.queries.iter().any(|query| diff::pays(query, looks, options)))
}
