//! Limits how many call paths are exported, where nobody has said which: no browser opens millions of them.

use super::profile::Profile;
use super::prune::{LeftOut, Wanted, totals_of_paths, without_unused_sites};
use diytrace_profile::human::counted;

/// Call paths that a browser opens in a moment.
pub const MOST: usize = 50_000;

/// Least shares of the time that are tried, in percent.
const SHARES: [f64; 4] = [0.001, 0.01, 0.1, 1.0];

/// Leaves out the call paths with the least time, as few as leave at most so many: below each path, all that is left out becomes
/// one frame. What is told of functions stays that of all calls. Whether there was anything to leave out.
pub fn limit(profile: &mut Profile, most: usize, left_out: LeftOut) -> bool {
    let all: usize = profile.parts.iter().map(|part| part.frames.len()).sum();
    if all <= most {
        return false;
    }
    let parts: Vec<(f64, Vec<u64>)> =
        profile.parts.iter().map(|part| (part.total_ns() as f64, totals_of_paths(&part.frames))).collect();
    // How many frames lie on a path that has at least this share of their part's time.
    let left = |share: f64| -> usize {
        let is_thick = |whole: f64, total: u64| total as f64 * 100.0 >= whole * share;
        parts.iter().map(|(whole, totals)| totals.iter().filter(|total| is_thick(*whole, **total)).count()).sum()
    };
    let share = SHARES.into_iter().find(|share| left(*share) <= most).unwrap_or(SHARES[SHARES.len() - 1]);
    let rest = (all - left(share)) as u64;
    let wanted = Wanted { min_percent: share, ..Wanted::default() };
    for part in &mut profile.parts {
        let is_named = vec![false; part.frames.len()];
        part.frames = wanted.of(&part.frames, &is_named, left_out);
    }
    without_unused_sites(profile);
    profile.warnings.push(format!(
        "{} took less than {share}% of all time each: they are left out, below each path as one frame with their calls and time; \
         --min-percent 0 exports all",
        counted(rest, "call path", "call paths"),
    ));
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::profile::{Frame, Function, Site, Sums};
    use crate::export::sample::server;

    fn limited(most: usize) -> (Profile, Profile) {
        let mut whole = server();
        whole.functions.push(Function { label: "(left out)".to_owned(), ..Function::default() });
        whole.sites.push(Site::default());
        whole.parts.iter_mut().for_each(|part| part.sums.push(Sums::default()));
        let left_out = LeftOut { function: whole.functions.len() - 1, site: whole.sites.len() - 1 };
        // A hundred more paths that take next to nothing.
        let part = &mut whole.parts[0];
        let top = part.frames.iter().rposition(|frame| frame.parent.is_none()).unwrap();
        for _ in 0..100 {
            let end = part.frames.len() + 1;
            let frame = Frame { parent: Some(top), end, calls: 3, self_ns: 1, total_ns: 1, ..part.frames[top].clone() };
            part.frames.push(frame);
            part.frames[top].end = end;
            part.frames[top].total_ns += 1;
        }
        let mut some = whole.clone();
        limit(&mut some, most, left_out);
        (whole, some)
    }

    #[test]
    fn where_there_are_not_too_many_all_are_there() {
        let (whole, all) = limited(1000);
        assert_eq!(all, whole);
    }

    #[test]
    fn of_too_many_those_with_the_least_time_are_one_frame_and_sums_stay() {
        let (whole, some) = limited(50);
        let sum = |profile: &Profile, value: fn(&Frame) -> u64| -> u64 {
            profile.parts.iter().flat_map(|part| &part.frames).map(value).sum()
        };
        assert!(some.parts[0].frames.len() < whole.parts[0].frames.len() - 90);
        assert_eq!(sum(&some, |frame| frame.self_ns), sum(&whole, |frame| frame.self_ns));
        assert_eq!(sum(&some, |frame| frame.calls), sum(&whole, |frame| frame.calls));
        assert_eq!(some.parts[0].sums, whole.parts[0].sums);
        let left_out = whole.functions.len() - 1;
        let rest: Vec<_> = some.parts[0].frames.iter().filter(|frame| frame.function == left_out).collect();
        assert_eq!((rest.len(), rest[0].calls, rest[0].self_ns), (1, 300, 100));
        let said = some.warnings.last().unwrap();
        assert!(said.starts_with("100 call paths took less than 0.01% of all time each"), "{said}");
    }
}
