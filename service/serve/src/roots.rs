//! What roots have counted in all frames since the service started, for who scrapes it: their calls, time, and how long calls took.
//!
//! A frame that is sent anew, or stands in place of others, counts once: what each of a recording's latest frames has added is
//! remembered, and only what comes beyond that is added. So counters never fall, and are the recordings' own to the call.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use diytrace_profile::demangle::shown;
use diytrace_profile::histogram::Histogram;
use diytrace_profile::merge::PlaceId;
use diytrace_profile::module::ModuleKey;
use diytrace_profile::symbolize::Portable;
use diytrace_profile::time::Time;
use diytrace_store::{Labels, Put, Received};
use rustc_hash::FxHashMap;

/// Most roots that are told, over all series.
const MOST_ROOTS: usize = 10_000;

/// Frames of a recording that are remembered one by one: more than an agent sends between two readings that it remembers.
const FRAMES: usize = 160;

/// What is remembered of frames, at most, over all recordings: a few dozen megabytes.
const MOST_REMEMBERED: usize = 200_000;

/// Upper ends of the buckets that calls are told by, in nanoseconds: three to a decade, from 100 ns to 10 s.
pub const BOUNDS_NS: [u64; 25] = {
    let mut bounds = [0; 25];
    let (mut at, mut decade) = (0, 100);
    while at < bounds.len() {
        bounds[at] = [decade, decade * 5 / 2, decade * 5][at % 3];
        decade = if at % 3 == 2 { decade * 10 } else { decade };
        at += 1;
    }
    bounds
};

/// A function that nothing recorded has called, of one series: the numbers of its labels and module, and its address there.
type Key = (u32, u32, u64);

/// What its calls add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Calls entered, wherever from.
    pub calls: u64,
    /// Time of those that nothing recorded has made, with what they called, corrected.
    pub time: Time,
    /// Time of the calls in buckets.
    pub ended: Time,
    /// Calls that returned, by the number of their bucket; those that took longer than all of them in one more.
    pub buckets: BTreeMap<u8, u64>,
}

impl Sum {
    /// Files the calls that returned.
    fn file(&mut self, histogram: &Histogram) {
        for (_, to, calls) in histogram.bars() {
            let bucket = BOUNDS_NS.partition_point(|bound| to.ns() > *bound as f64) as u8;
            *self.buckets.entry(bucket).or_insert(0) += calls;
        }
        self.ended = histogram.mean().unwrap_or_default().times(self.buckets.values().sum());
    }

    /// Adds another's.
    pub fn add(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.time += other.time;
        self.ended += other.ended;
        for (bucket, calls) in &other.buckets {
            let sum = self.buckets.entry(*bucket).or_insert(0);
            *sum = sum.saturating_add(*calls);
        }
    }

    /// What it has beyond another.
    fn beyond(&self, other: &Self) -> Self {
        let less = |bucket: &u8| other.buckets.get(bucket).copied().unwrap_or_default();
        let returned = |of: &Self| of.buckets.values().fold(0, |sum: u64, calls| sum.saturating_add(*calls));
        let mut left = returned(self).saturating_sub(returned(other));
        let mut buckets = BTreeMap::new();
        for (bucket, calls) in &self.buckets {
            // What hooks cost is known better by now, and a call may be in another bucket than it was: it counts once.
            let more = calls.saturating_sub(less(bucket)).min(left);
            left -= more;
            if more > 0 {
                buckets.insert(*bucket, more);
            }
        }
        Self {
            calls: self.calls.saturating_sub(other.calls),
            time: (self.time - other.time).at_least_zero(),
            ended: (self.ended - other.ended).at_least_zero(),
            buckets,
        }
    }
}

type Sums = HashMap<u32, Sum>;

fn add_to(sums: &mut Sums, others: &Sums) {
    others.iter().for_each(|(root, sum)| sums.entry(*root).or_default().add(sum));
}

/// What frames of a recording have added.
#[derive(Default)]
struct Recording {
    latest: VecDeque<(u64, Sums)>,
    /// Those before them, together.
    earlier: Sums,
    /// When it was heard of last, in frames of all.
    heard: u64,
}

impl Recording {
    /// How many sums are remembered of it.
    fn size(&self) -> usize {
        self.latest.iter().map(|(_, sums)| sums.len()).sum::<usize>() + self.earlier.len()
    }

    /// Takes out what a frame stands in place of.
    fn replaced_by(&mut self, frame: &Received) -> Sums {
        let is_replaced = |sequence: u64| match frame.holds_later {
            true => sequence >= frame.sequence,
            false => sequence == frame.sequence,
        };
        let mut replaced = Sums::default();
        if frame.holds_later && self.latest.front().is_none_or(|(first, _)| frame.sequence < *first) {
            replaced = std::mem::take(&mut self.earlier);
        }
        self.latest.retain(|(sequence, sums)| {
            let goes = is_replaced(*sequence);
            if goes {
                add_to(&mut replaced, sums);
            }
            !goes
        });
        replaced
    }
}

/// A root, and what it has counted.
pub struct Root {
    /// Its series.
    pub labels: Labels,
    module: ModuleKey,
    address: u64,
    /// `None`: names have not come yet.
    pub name: Option<String>,
    /// Since the service started.
    pub sum: Sum,
}

#[cfg(test)]
impl Root {
    /// Of no series and no module.
    pub fn named(name: &str, sum: Sum) -> Self {
        let module = ModuleKey::BuildId(Vec::new());
        Self { labels: Labels::default(), module, address: 0, name: Some(name.to_owned()), sum }
    }
}

#[derive(Default)]
struct State {
    roots: Vec<Root>,
    series: HashMap<Labels, u32>,
    modules: HashMap<ModuleKey, u32>,
    numbers: HashMap<Key, u32>,
    recordings: HashMap<String, Recording>,
    remembered: usize,
    frames: u64,
    /// Digests of those there was no room for.
    left_out: HashSet<u64>,
}

/// What all roots have counted.
#[derive(Default)]
pub struct Roots(Mutex<State>);

impl Roots {
    /// Adds a frame that is in the store.
    pub fn add(&self, frame: &Received, put: Put) {
        if matches!(put, Put::Known | Put::Relabelled) {
            return;
        }
        let functions = functions(frame);
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let series = state.series.get(frame.labels()).copied();
        let mut modules: HashMap<i64, Option<u32>> = HashMap::new();
        let mut sums = Sums::default();
        for (place, (is_root, mut sum)) in functions {
            let Some((Some(module), address)) = frame.place(place) else { continue };
            let number_of = || frame.module(module).and_then(|key| state.modules.get(key).copied());
            let number_of_module = *modules.entry(module).or_insert_with(number_of);
            let key = series.zip(number_of_module).map(|(series, module)| (series, module, address));
            // What was a root once is told wherever it is called: its paths may have given way to others.
            let known = key.and_then(|key| state.numbers.get(&key).copied());
            let number = known.or_else(|| is_root.then(|| state.introduce(frame, module, address)).flatten());
            if let Some(number) = number {
                sum.file(&frame.distribution(place));
                sums.insert(number, sum);
            }
        }
        state.count(frame, sums);
    }

    /// All that have names, in the order in which they came, with how many there was no room for; `names` finds what is known of a module.
    pub fn named<T>(
        &self,
        mut names: impl FnMut(&ModuleKey) -> Option<Portable>,
        tell: impl FnOnce(&[&Root], usize) -> T,
    ) -> T {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted: HashSet<ModuleKey> =
            lock().roots.iter().filter(|root| root.name.is_none()).map(|root| root.module.clone()).collect();
        // Frames are not kept waiting for that.
        let known: HashMap<ModuleKey, Portable> =
            wanted.into_iter().filter_map(|module| names(&module).map(|known| (module, known))).collect();
        let mut state = lock();
        for root in state.roots.iter_mut().filter(|root| root.name.is_none()) {
            let Some(known) = known.get(&root.module) else { continue };
            let symbol = known.symbols().find(|symbol| symbol.address == root.address);
            root.name = Some(symbol.map_or_else(|| format!("{:#x}", root.address), |one| shown(one.name).into_owned()));
        }
        let named: Vec<&Root> = state.roots.iter().filter(|root| root.name.is_some()).collect();
        tell(&named, state.left_out.len())
    }
}

/// Functions, whether each is a root, and what its paths tell.
fn functions(frame: &Received) -> FxHashMap<PlaceId, (bool, Sum)> {
    let mut functions: FxHashMap<PlaceId, (bool, Sum)> = FxHashMap::default();
    for path in frame.each_path() {
        let (is_root, sum) = functions.entry(path.function).or_default();
        sum.calls = sum.calls.saturating_add(path.calls);
        if let Some(time) = path.time {
            *is_root = true;
            sum.time += time.at_least_zero();
        }
    }
    functions
}

impl State {
    /// The number of a root of a frame that may not have been met before, if there is room.
    fn introduce(&mut self, frame: &Received, module: i64, address: u64) -> Option<u32> {
        let module = frame.module(module)?.clone();
        if self.roots.len() == MOST_ROOTS {
            if self.left_out.len() < MOST_ROOTS {
                let mut hasher = DefaultHasher::new();
                (frame.labels(), &module, address).hash(&mut hasher);
                self.left_out.insert(hasher.finish());
            }
            return None;
        }
        let next = self.series.len() as u32;
        let series = *self.series.entry(frame.labels().clone()).or_insert(next);
        let next = self.modules.len() as u32;
        let number_of_module = *self.modules.entry(module.clone()).or_insert(next);
        let next = self.roots.len() as u32;
        let number = *self.numbers.entry((series, number_of_module, address)).or_insert(next);
        if number == next {
            let (labels, name, sum) = (frame.labels().clone(), None, Sum::default());
            self.roots.push(Root { labels, module, address, name, sum });
        }
        Some(number)
    }

    fn count(&mut self, frame: &Received, sums: Sums) {
        self.frames += 1;
        let recording = self.recordings.entry(frame.session.clone()).or_default();
        recording.heard = self.frames;
        let before = recording.size();
        let replaced = recording.replaced_by(frame);
        for (number, sum) in &sums {
            let more = replaced.get(number).map_or_else(|| sum.clone(), |replaced| sum.beyond(replaced));
            self.roots[*number as usize].sum.add(&more);
        }
        recording.latest.push_back((frame.sequence, sums));
        if recording.latest.len() > FRAMES
            && let Some((_, first)) = recording.latest.pop_front()
        {
            add_to(&mut recording.earlier, &first);
        }
        self.remembered = (self.remembered + recording.size()).saturating_sub(before);
        if self.remembered > MOST_REMEMBERED {
            self.forget();
        }
    }

    /// Forgets the recordings that were not heard of for longest.
    fn forget(&mut self) {
        let mut heard: Vec<u64> = self.recordings.values().map(|recording| recording.heard).collect();
        heard.sort_unstable();
        let middle = heard[heard.len() / 2];
        self.recordings.retain(|_, recording| recording.heard > middle);
        self.remembered = self.recordings.values().map(Recording::size).sum();
    }
}

#[cfg(test)]
mod tests {
    use diytrace_profile::load::Summary;
    use diytrace_profile::load::costs::Costs;
    use diytrace_profile::merge::{By, PartKey, merge};
    use diytrace_profile::testing::{Call, arena, family, record};

    use diytrace_store::{Frame, Incoming, encode};

    use super::*;

    /// A frame of calls of a root that call another function twice each.
    fn frame(sequence: u64, holds_later: bool, calls: usize) -> Received {
        let callee = || Call { function: 0x2000, own: 5, callees: Vec::new() };
        let call = || Call { function: 0x1000, own: 10, callees: vec![callee(), callee()] };
        let calls: Vec<Call> = (0..calls).map(|_| call()).collect();
        let family = family(vec![arena(record(&calls, Costs::default(), 3))]);
        let mut labels = Labels::default();
        labels.set("service", "s".to_owned());
        let frame = Frame {
            labels,
            session: "one".to_owned(),
            sequence,
            holds_later,
            start: 0,
            end: 10,
            part: PartKey::of(&family),
            summary: Summary::of(&family),
            merged: merge(&[family], By::All, None),
        };
        Incoming::default().decode(&encode(&frame), 1 << 20).unwrap()
    }

    fn counted(roots: &Roots) -> Vec<u64> {
        let known = |_: &ModuleKey| Some(Portable::default());
        roots.named(known, |roots, _| roots.iter().map(|root| root.sum.calls).collect())
    }

    #[test]
    fn only_roots_are_told_each_of_their_calls_once() {
        let roots = Roots::default();
        roots.add(&frame(0, true, 3), Put::Added);
        assert_eq!(counted(&roots), [3]);
        roots.add(&frame(1, false, 2), Put::Added);
        roots.add(&frame(1, false, 2), Put::Known);
        assert_eq!(counted(&roots), [5]);
        // The answer was lost, and there is more now.
        roots.add(&frame(1, false, 6), Put::Grown);
        assert_eq!(counted(&roots), [9]);
        roots.add(&frame(2, false, 1), Put::Added);
        roots.add(&frame(3, false, 1), Put::Added);
        // An agent that was started anew goes on from what it remembers,
        roots.add(&frame(2, true, 5), Put::Added);
        assert_eq!(counted(&roots), [14]);
        // and one that remembers nothing sends all.
        roots.add(&frame(0, true, 20), Put::Added);
        assert_eq!(counted(&roots), [20]);
    }

    #[test]
    fn what_is_remembered_of_frames_is_bounded_and_counts_once_all_the_same() {
        let roots = Roots::default();
        let frames = FRAMES as u64 * 3;
        (0..frames).for_each(|sequence| roots.add(&frame(sequence, sequence == 0, 1), Put::Added));
        assert!(roots.0.lock().unwrap().recordings["one"].latest.len() <= FRAMES);
        roots.add(&frame(frames - 100, true, 101), Put::Added);
        assert_eq!(counted(&roots), [frames + 1]);
        roots.add(&frame(0, true, frames as usize + 3), Put::Added);
        assert_eq!(counted(&roots), [frames + 3]);
    }

    /// Those that had gone to a longer bucket meanwhile were counted twice.
    #[test]
    fn a_call_that_is_in_another_bucket_now_counts_once() {
        let sum = |buckets: [(u8, u64); 2]| Sum { buckets: buckets.into_iter().collect(), ..Sum::default() };
        let (before, now) = (sum([(3, 10), (4, 5)]), sum([(3, 7), (4, 11)]));
        let mut all = before.clone();
        all.add(&now.beyond(&before));
        assert_eq!(all.buckets.values().sum::<u64>(), 18);
    }

    #[test]
    fn buckets_are_three_to_a_decade() {
        assert_eq!(BOUNDS_NS[..5], [100, 250, 500, 1_000, 2_500]);
        assert_eq!(BOUNDS_NS[24], 10_000_000_000);
    }
}
