//! Leaves out of exported call paths what is not wanted: of each path, all of that becomes one frame, so that sums stay.

use rustc_hash::FxHashMap;

use super::profile::{Frame, Profile, Sums};

/// What is wanted of call paths.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wanted {
    /// Least share of its top's time that a path has, in percent.
    pub min_percent: f64,
    /// Most levels below a top.
    pub depth: Option<u32>,
    /// Whether only paths are wanted that some named function is on.
    pub only_named: bool,
}

/// What stands for paths that are left out.
#[derive(Clone, Copy, Debug)]
pub struct LeftOut {
    /// Its place among the functions.
    pub function: usize,
    /// Its place among the sites.
    pub site: usize,
}

impl Wanted {
    /// Whether it is everything.
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// The frames that are wanted, and one below each of them for all those that are not. `is_named` says which frames'
    /// functions are named.
    pub fn of(&self, frames: &[Frame], is_named: &[bool], left_out: LeftOut) -> Vec<Frame> {
        let is_kept = self.kept(frames, is_named);
        let mut ids: Vec<Option<usize>> = vec![None; frames.len()];
        let mut kept: Vec<Frame> = Vec::new();
        // The frames that are open, by their old numbers, each with what is left out below it.
        let mut open: Vec<(Option<usize>, Frame)> = vec![(None, Frame::default())];
        let mut skipped_to = 0;
        for (id, frame) in frames.iter().enumerate() {
            while open.last().is_some_and(|(above, _)| above.is_some_and(|above| frames[above].end <= id)) {
                close(&mut open, &mut kept, &ids, left_out);
            }
            if id < skipped_to {
                if let Some((_, rest)) = open.last_mut() {
                    rest.calls = rest.calls.saturating_add(frame.calls);
                    rest.self_wait_ns += frame.self_wait_ns;
                }
                continue;
            }
            if !is_kept[id] {
                skipped_to = frame.end;
                if let Some((_, rest)) = open.last_mut() {
                    rest.calls = rest.calls.saturating_add(frame.calls);
                    rest.self_ns += frame.total_ns;
                    rest.self_wait_ns += frame.self_wait_ns;
                    rest.error_ns += frame.error_ns;
                    rest.self_error_ns += frame.error_ns;
                }
                continue;
            }
            ids[id] = Some(kept.len());
            kept.push(Frame { parent: frame.parent.and_then(|parent| ids[parent]), ..frame.clone() });
            open.push((Some(id), Frame::default()));
        }
        while !open.is_empty() {
            close(&mut open, &mut kept, &ids, left_out);
        }
        kept
    }

    fn kept(&self, frames: &[Frame], is_named: &[bool]) -> Vec<bool> {
        let mut levels: Vec<u32> = Vec::with_capacity(frames.len());
        let all: u64 = frames.iter().filter(|frame| frame.parent.is_none()).map(|frame| frame.total_ns).sum();
        let totals = if self.min_percent > 0.0 { totals_of_paths(frames) } else { Vec::new() };
        let is_thick =
            |id: usize| totals.get(id).is_none_or(|total| *total as f64 * 100.0 >= all as f64 * self.min_percent);
        // Whether a named function is on the way to a frame, or beyond it.
        let mut is_on_way: Vec<bool> = Vec::with_capacity(frames.len());
        for (id, frame) in frames.iter().enumerate() {
            levels.push(frame.parent.map_or(0, |parent| levels[parent] + 1));
            is_on_way.push(is_named[id] || frame.parent.is_some_and(|parent| is_on_way[parent]));
        }
        let mut leads_there = is_named.to_vec();
        for (id, frame) in frames.iter().enumerate().rev() {
            if let Some(parent) = frame.parent {
                leads_there[parent] |= leads_there[id];
            }
        }
        let is_kept = |id: usize| {
            is_thick(id)
                && self.depth.is_none_or(|depth| levels[id] <= depth)
                && (!self.only_named || is_on_way[id] || leads_there[id])
        };
        (0..frames.len()).map(is_kept).collect()
    }
}

/// Of each frame, the time of its path: of all frames with the same functions above, from whatever call sites they were called.
pub fn totals_of_paths(frames: &[Frame]) -> Vec<u64> {
    let mut numbers: FxHashMap<(Option<u32>, u32), u32> = FxHashMap::default();
    let mut totals: Vec<u64> = Vec::new();
    let mut paths: Vec<u32> = Vec::with_capacity(frames.len());
    for frame in frames {
        let above = frame.parent.map(|parent| paths[parent]);
        let path = *numbers.entry((above, frame.function as u32)).or_insert(totals.len() as u32);
        if path as usize == totals.len() {
            totals.push(0);
        }
        totals[path as usize] = totals[path as usize].saturating_add(frame.total_ns);
        paths.push(path);
    }
    paths.into_iter().map(|path| totals[path as usize]).collect()
}

/// Takes functions and sites out of a profile that no frame has any more: they would be most of it.
pub fn without_unused(mut profile: Profile) -> Profile {
    let frames = || profile.parts.iter().flat_map(|part| &part.frames);
    let functions = numbers(profile.functions.len(), frames().map(|frame| frame.function));
    let sites = numbers(profile.sites.len(), frames().map(|frame| frame.site));
    for part in &mut profile.parts {
        for frame in &mut part.frames {
            frame.function = functions[frame.function].unwrap_or_default();
            frame.site = sites[frame.site].unwrap_or_default();
        }
        let sums = std::mem::take(&mut part.sums).into_iter();
        let mut sums: Vec<Sums> = kept(sums, &functions);
        for edge in sums.iter_mut().flat_map(|sums| &mut sums.callees) {
            edge.callee = functions[edge.callee].unwrap_or_default();
        }
        part.sums = sums;
    }
    profile.functions = kept(profile.functions.into_iter(), &functions);
    profile.sites = kept(profile.sites.into_iter(), &sites);
    profile
}

/// The same of sites alone.
pub fn without_unused_sites(profile: &mut Profile) {
    let frames = profile.parts.iter().flat_map(|part| &part.frames);
    let sites = numbers(profile.sites.len(), frames.map(|frame| frame.site));
    for frame in profile.parts.iter_mut().flat_map(|part| &mut part.frames) {
        frame.site = sites[frame.site].unwrap_or_default();
    }
    profile.sites = kept(std::mem::take(&mut profile.sites).into_iter(), &sites);
}

/// The new numbers of those of so many that are used.
fn numbers(count: usize, used: impl Iterator<Item = usize>) -> Vec<Option<usize>> {
    let mut is_used = vec![false; count];
    used.for_each(|number| is_used[number] = true);
    let mut next = 0..;
    is_used.into_iter().map(|is_used| if is_used { next.next() } else { None }).collect()
}

fn kept<T>(all: impl Iterator<Item = T>, numbers: &[Option<usize>]) -> Vec<T> {
    all.zip(numbers).filter(|(_, number)| number.is_some()).map(|(one, _)| one).collect()
}

/// Ends the last open frame: behind all below it comes what was left out there.
fn close(open: &mut Vec<(Option<usize>, Frame)>, kept: &mut Vec<Frame>, ids: &[Option<usize>], left_out: LeftOut) {
    let Some((above, rest)) = open.pop() else { return };
    let parent = above.and_then(|above| ids[above]);
    if rest.calls > 0 || rest.self_ns > 0 {
        let end = kept.len() + 1;
        let LeftOut { function, site } = left_out;
        kept.push(Frame { parent, end, function, site, total_ns: rest.self_ns, ..rest });
    }
    if let Some(parent) = parent {
        kept[parent].end = kept.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(parent: Option<usize>, end: usize, function: usize, self_ns: u64, total_ns: u64) -> Frame {
        Frame { parent, end, function, calls: 1, self_ns, total_ns, ..Frame::default() }
    }

    /// main ─▶ handle ─▶ parse, write; main ─▶ log
    fn frames() -> Vec<Frame> {
        vec![
            frame(None, 5, 0, 1, 100),
            frame(Some(0), 4, 1, 9, 90),
            frame(Some(1), 3, 2, 60, 60),
            frame(Some(1), 4, 3, 21, 21),
            frame(Some(0), 5, 4, 9, 9),
        ]
    }

    fn left(wanted: Wanted, named: usize) -> Vec<(usize, Option<usize>, usize, u64, u64)> {
        let all = frames();
        let is_named: Vec<bool> = all.iter().map(|frame| frame.function == named).collect();
        let kept = wanted.of(&all, &is_named, LeftOut { function: 9, site: 0 });
        assert_eq!(kept.iter().map(|frame| frame.self_ns).sum::<u64>(), 100, "no time is lost");
        assert_eq!(kept.iter().map(|frame| frame.calls).sum::<u64>(), 5, "and no call");
        kept.iter().map(|frame| (frame.function, frame.parent, frame.end, frame.self_ns, frame.calls)).collect()
    }

    #[test]
    fn what_is_used_by_no_frame_is_gone() {
        use crate::export::sample::server;
        let mut profile = server();
        let part = &mut profile.parts[0];
        part.frames.truncate(2); // main, handle
        part.frames.iter_mut().for_each(|frame| frame.end = 2);
        part.sums[0].callees.retain(|edge| edge.callee == 1);
        part.sums[1].callees.clear();
        let names = |profile: &Profile| profile.functions.iter().map(|of| of.name.clone()).collect::<Vec<_>>();
        profile.functions.swap(0, 5);
        profile.parts[0].sums.swap(0, 5);
        profile.parts[0].frames[0].function = 5;
        let small = without_unused(profile);
        assert_eq!((names(&small), small.sites.len()), (vec!["handle".to_owned(), "main".to_owned()], 2));
        let part = &small.parts[0];
        assert_eq!(part.frames.iter().map(|frame| frame.function).collect::<Vec<_>>(), [1, 0]);
        assert_eq!((part.sums.len(), part.sums[1].callees[0].callee), (2, 0));
    }

    #[test]
    fn a_path_that_several_call_sites_lead_to_is_as_thick_as_all_of_them() {
        // main calls parse from two places, and log from one: of 100, 14, 12 and 20.
        let frames = [
            frame(None, 6, 0, 54, 100),
            frame(Some(0), 3, 1, 4, 14),
            frame(Some(1), 3, 2, 10, 10),
            frame(Some(0), 5, 1, 3, 12),
            frame(Some(3), 5, 2, 9, 9),
            frame(Some(0), 6, 3, 20, 20),
        ];
        assert_eq!(totals_of_paths(&frames), [100, 26, 19, 26, 19, 20]);
        let kept = |min_percent: f64| {
            let wanted = Wanted { min_percent, ..Wanted::default() };
            let kept = wanted.of(&frames, &[false; 6], LeftOut { function: 9, site: 0 });
            kept.into_iter().map(|frame| frame.function).collect::<Vec<_>>()
        };
        assert_eq!(kept(19.0), [0, 1, 2, 1, 2, 3]);
        assert_eq!(kept(20.0), [0, 1, 9, 1, 9, 3]);
        assert_eq!(kept(25.0), [0, 1, 9, 1, 9, 9]);
    }

    #[test]
    fn what_is_left_out_is_one_frame() {
        let whole = left(Wanted::default(), 0);
        assert_eq!(whole.len(), 5);
        let thick = left(Wanted { min_percent: 30.0, ..Wanted::default() }, 0);
        assert_eq!(
            thick,
            [
                (0, None, 5, 1, 1),
                (1, Some(0), 4, 9, 1),
                (2, Some(1), 3, 60, 1),
                (9, Some(1), 4, 21, 1),
                (9, Some(0), 5, 9, 1)
            ]
        );
        let flat = left(Wanted { depth: Some(1), ..Wanted::default() }, 0);
        assert_eq!(flat, [(0, None, 4, 1, 1), (1, Some(0), 3, 9, 1), (9, Some(1), 3, 81, 2), (4, Some(0), 4, 9, 1)]);
        let of_handle = left(Wanted { only_named: true, ..Wanted::default() }, 1);
        assert_eq!(of_handle.iter().map(|frame| frame.0).collect::<Vec<_>>(), [0, 1, 2, 3, 9]);
        let nothing = left(Wanted { min_percent: 100.0, depth: Some(0), only_named: true }, 7);
        assert_eq!(nothing, [(9, None, 1, 100, 5)]);
    }
}
