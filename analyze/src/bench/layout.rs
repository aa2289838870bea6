//! Where things lie: a run's part of the chance that decides it.
//!
//! Code that lies elsewhere is another's neighbour in the processor's caches and predictors, and so is a stack that begins
//! elsewhere (T. Mytkowicz et al.: *Producing wrong data without doing anything obviously wrong*, 2009). What differs from run to
//! run on both sides is no difference of the sides.

use super::step::Environment;

/// Bytes by which the environment, which lies above the stack, grows from round to round: no multiple of a page or a
/// cache's line divides it but by many rounds.
const STEP: u32 = 592;

/// Beyond it, it begins anew.
const PAGE: u32 = 4096;

/// The variables of a round: of so many layouts that come after so many others, which; and the padding.
pub fn variables(round: u32, layouts: Option<(u32, u32)>) -> Environment {
    let padding = "x".repeat((round * STEP % PAGE) as usize);
    let layout =
        layouts.map(|(before, count)| ("DIYTRACE_LAYOUT".to_owned(), (before + round % count + 1).to_string()));
    let layout = layout.into_iter().map(|(name, value)| (name, value.into()));
    layout.chain([("DIYTRACE_PADDING".to_owned(), padding.into())]).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn layouts_take_turns_and_stacks_begin_at_many_places() {
        let layout = |round| variables(round, Some((10, 3)))[0].1.clone();
        assert_eq!([0, 1, 2, 3].map(layout), ["11", "12", "13", "11"]);
        let places: BTreeSet<usize> = (0..256).map(|round| variables(round, None)[0].1.len()).collect();
        assert_eq!(places.len(), 256, "all multiples of sixteen in a page");
    }
}
