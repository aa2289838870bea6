//! What each group of a profile says of its functions.

use std::collections::{BTreeMap, BTreeSet};

use diytrace_profile::error::Error;
use diytrace_profile::functions::Roots;
use diytrace_profile::merge::Group;
use diytrace_profile::opened::Opened;
use diytrace_profile::warnings::Warning;
use rayon::prelude::*;

use super::identity::Identity;
use super::{Measured, Observed};

/// What each group says of functions, which have the same numbers in all.
#[derive(Clone, Debug, Default)]
pub struct Apart {
    /// Functions, by their numbers.
    pub functions: Vec<Identity>,
    /// Groups, by their labels.
    pub parts: BTreeMap<String, Part>,
    /// What the reader should know.
    pub warnings: Vec<Warning>,
}

/// What a group says.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// The functions that have counted something, of those that are asked for.
    pub functions: BTreeMap<usize, Measured>,
    /// All that have counted something.
    pub all: Vec<usize>,
    /// Which calls which, of those.
    pub calls: BTreeSet<(usize, usize)>,
    /// Whether calls were timed.
    pub is_timed: bool,
}

impl Apart {
    /// Of a profile's groups, the functions of these names: patterns of symbols or demangled names. None: all functions.
    pub fn of(opened: &Opened, patterns: &[String]) -> Result<Self, Error> {
        let (none, known) = Observed::none(opened, Roots::named(patterns))?;
        let is_wanted = |number: &usize| patterns.is_empty() || known.asked_for.contains(number);
        let mut apart = Self {
            functions: none.functions.iter().map(|(identity, _)| identity.clone()).collect(),
            warnings: none.warnings.clone(),
            ..Self::default()
        };
        let part = |group: &Group| {
            // One group as a whole at a time, on each core: there may be a hundred of many functions.
            let mut observed = none.clone();
            observed.add(&opened.merged, group, &known.ids);
            let functions = observed.functions.into_iter().map(|(_, measured)| measured).enumerate();
            let is_there = |measured: &Measured| measured.calls > 0 || measured.total > 0.0;
            let functions: Vec<(usize, Measured)> = functions.filter(|(_, measured)| is_there(measured)).collect();
            let all = functions.iter().map(|(number, _)| *number).collect();
            let functions = functions.into_iter().filter(|(number, _)| is_wanted(number));
            let calls = observed.edges.into_keys().filter(|(caller, callee)| is_wanted(caller) && is_wanted(callee));
            let part =
                Part { functions: functions.collect(), all, calls: calls.collect(), is_timed: observed.is_timed };
            (group.label.clone().unwrap_or_default(), part)
        };
        apart.parts = opened.merged.groups.par_iter().map(part).collect();
        Ok(apart)
    }
}

#[cfg(test)]
mod tests {
    use diytrace_profile::load::Loaded;
    use diytrace_profile::merge::{By, Merging, merge};
    use diytrace_profile::testing::{arena, family, module, node, slot};

    use super::*;

    /// A selection of two builds, of which `old` calls two functions and `new` the first of them.
    fn two_builds() -> Opened {
        let mut merging = Merging::new(By::All, None);
        for (label, build, functions) in [("old", 1, 2), ("new", 2, 1)] {
            let nodes = (0..functions).map(|function| node(0x1100 + 0x100 * function, None, slot(3, 30, 0)));
            let mut family = family(vec![arena(nodes.collect())]);
            family.modules = vec![module("/bin/program", build, 0x1000)];
            merging.add_merged(&merge(&[family], By::All, None), Some(label));
        }
        Opened::of(Loaded::default(), merging.finish())
    }

    #[test]
    fn a_function_is_of_the_builds_that_its_part_ran() {
        let apart = Apart::of(&two_builds(), &[]).unwrap();
        for (label, count) in [("old", 2), ("new", 1)] {
            let part = &apart.parts[label];
            assert_eq!(part.functions.len(), count, "{label}");
            for measured in part.functions.values() {
                assert_eq!((measured.calls, measured.builds.len()), (3, 1), "{label}");
            }
        }
        let builds = |label: &str| apart.parts[label].functions.values().next().unwrap().builds.clone();
        assert_ne!(builds("old"), builds("new"), "what the hooks cost may differ between them");
    }

    #[test]
    fn what_is_asked_for_must_be_there() {
        assert!(Apart::of(&two_builds(), &["nobody".to_owned()]).is_err());
    }
}
