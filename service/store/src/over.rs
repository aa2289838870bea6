//! A selection in parts that come one after the other: recordings by the value of a label, or slices of time.

use std::collections::BTreeMap;

use crate::engine::{Engine, FrameFacts};
use crate::{Error, Query, Range, SampledFacts};

/// The shortest slice, in nanoseconds.
const SHORTEST_NS: i64 = 250_000_000;

/// The share of all time in frames that must be in such as are no longer than a slice.
const FITTING: f64 = 0.9;

/// What a selection is taken apart by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Over {
    /// Recordings, those with the same value of a label one after the other.
    Label(String),
    /// Slices of its time, at most so many: of 250 ms or a power of two times that.
    Time {
        /// Most slices.
        most: usize,
    },
}

/// Of frames that are no longer than a slice, at least half as much time ends in it as lies in it.
const MOST_TIMES: f64 = 2.0;

/// A part of a selection.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The label's value; empty if it is a slice of time.
    pub value: String,
    /// When it began, in nanoseconds since 1970.
    pub started: i64,
    /// When it ended.
    pub ended: i64,
    /// Of a slice of time: how much time of all frames lies in it, as a part of the time of those that end in it and are told there.
    /// Frames of ten seconds end in a slice of sixteen once or twice.
    pub inside: f64,
    /// What is asked for it.
    pub query: Query,
}

/// A selection, taken apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Apart {
    /// By time; of a label, its values by when they came first.
    pub parts: Vec<Part>,
    /// How long a slice of time is.
    pub slice: Option<i64>,
    /// Where frames are longer than two slices, as they came late: all that they counted is in the slice in which they end.
    pub coarse: Vec<Range>,
}

/// The parts of a selection.
pub fn over(store: &dyn Engine, query: &Query, over: &Over) -> Result<Apart, Error> {
    apart(store.frames(query)?, query, over)
}

/// The same of sampled profiles: of a label, each is a part of its own, whose query names it as the recording.
pub fn sampled_over(profiles: &[SampledFacts], query: &Query, over: &Over) -> Result<Apart, Error> {
    let frame = |facts: &SampledFacts| FrameFacts {
        labels: facts.labels.clone(),
        session: facts.id.clone(),
        started: facts.started,
        ended: facts.ended,
        calls: 0,
        raw_ns: 0,
    };
    apart(profiles.iter().map(frame).collect(), query, over)
}

fn apart(frames: Vec<FrameFacts>, query: &Query, over: &Over) -> Result<Apart, Error> {
    Ok(match over {
        Over::Label(name) => Apart { parts: by_label(frames, query, name)?, ..Apart::default() },
        Over::Time { most } => {
            let (parts, slice) = by_time(&frames, query, (*most).max(1));
            Apart { parts, slice: Some(slice), coarse: coarse(&frames, slice) }
        }
    })
}

/// The time of frames that are longer than two slices, the earlier first.
fn coarse(frames: &[FrameFacts], slice: i64) -> Vec<Range> {
    let is_coarse = |frame: &&FrameFacts| frame.ended.saturating_sub(frame.started) > slice.saturating_mul(2);
    let mut ranges: Vec<Range> =
        frames.iter().filter(is_coarse).map(|frame| Range { since: frame.started, until: frame.ended }).collect();
    ranges.sort_unstable_by_key(|range| (range.since, range.until));
    ranges.dedup_by(|next, before| {
        let is_one = next.since < before.until;
        if is_one {
            before.until = before.until.max(next.until);
        }
        is_one
    });
    ranges
}

fn by_label(frames: Vec<FrameFacts>, query: &Query, name: &str) -> Result<Vec<Part>, Error> {
    query.check(&frames.iter().map(|frame| &frame.labels).collect::<Vec<_>>(), Some(name), "")?;
    let mut parts: BTreeMap<String, Part> = BTreeMap::new();
    for FrameFacts { labels, session, started, ended, .. } in frames {
        let part = parts.entry(session.clone()).or_insert_with(|| Part {
            value: labels.get(name).unwrap_or_default().to_owned(),
            started,
            ended,
            inside: 1.0,
            query: Query { session: Some(session), ..query.clone() },
        });
        part.started = part.started.min(started);
        part.ended = part.ended.max(ended);
    }
    let mut first: BTreeMap<String, i64> = BTreeMap::new();
    for part in parts.values() {
        let first = first.entry(part.value.clone()).or_insert(part.started);
        *first = part.started.min(*first);
    }
    let mut parts: Vec<Part> = parts.into_values().collect();
    parts.sort_by(|a, b| (first[&a.value], &a.value, a.started).cmp(&(first[&b.value], &b.value, b.started)));
    Ok(parts)
}

fn by_time(frames: &[FrameFacts], query: &Query, most: usize) -> (Vec<Part>, i64) {
    let first = frames.iter().map(|frame| frame.started).min().unwrap_or(0).max(query.range.since);
    let last = frames.iter().map(|frame| frame.ended).max().unwrap_or(0);
    let span = usual_span(frames);
    let number = |ended: i64, slice: i64| ended.saturating_sub(1).div_euclid(slice); // what ended at a slice's end is in it
    let is_too_many = |slice: i64| number(last, slice) - first.div_euclid(slice) >= most as i64;
    let mut slice = SHORTEST_NS;
    while slice < i64::MAX / 2 && (slice < span || is_too_many(slice)) {
        slice *= 2;
    }
    // Of each slice: the time of frames that lies in it, and that of those that end in it.
    let mut times: BTreeMap<i64, [f64; 2]> = BTreeMap::new();
    for frame in frames {
        let last = number(frame.ended, slice);
        let first = last.saturating_sub(most as i64).max(frame.started.div_euclid(slice)).min(last);
        for at in first..=last {
            let (from, to) = (at.saturating_mul(slice), at.saturating_add(1).saturating_mul(slice));
            times.entry(at).or_default()[0] +=
                frame.ended.min(to).saturating_sub(frame.started.max(from)).max(0) as f64;
        }
        times.entry(last).or_default()[1] += frame.ended.saturating_sub(frame.started).max(0) as f64;
    }
    let inside = |number: i64| match times.get(&number) {
        // Nothing is told of a long time by what came in a moment of it.
        Some([lie, end]) if *lie > 0.0 && *end > 0.0 => (lie / end).min(MOST_TIMES),
        _ => 1.0,
    };
    let mut parts: BTreeMap<i64, Part> = BTreeMap::new();
    for frame in frames {
        let number = number(frame.ended, slice);
        let (started, ended) = (number.saturating_mul(slice), number.saturating_add(1).saturating_mul(slice));
        parts.entry(number).or_insert_with(|| {
            let range = Range { since: started.max(query.range.since), until: ended.min(query.range.until) };
            let query = Query { range, ..query.clone() };
            Part { value: String::new(), started, ended, inside: inside(number), query }
        });
    }
    (parts.into_values().collect(), slice)
}

/// How long most frames are, by the time that is in them: a slice that is shorter would show all of a frame where it ended.
fn usual_span(frames: &[FrameFacts]) -> i64 {
    let mut spans: Vec<i64> = frames.iter().map(|frame| frame.ended.saturating_sub(frame.started).max(0)).collect();
    spans.sort_unstable();
    let all: f64 = spans.iter().map(|span| *span as f64).sum();
    let mut so_far = 0.0;
    for span in spans {
        so_far += span as f64;
        if so_far >= FITTING * all {
            return span;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Labels;

    fn frame(session: &str, build: &str, started: i64, ended: i64) -> FrameFacts {
        let mut labels = Labels::default();
        labels.set("build", build.to_owned());
        FrameFacts { labels, session: session.to_owned(), started, ended, calls: 0, raw_ns: 0 }
    }

    #[test]
    fn recordings_come_by_the_first_of_their_value() {
        let frames = vec![frame("c", "old", 30, 40), frame("b", "new", 20, 30), frame("a", "old", 10, 20)];
        let parts = by_label(frames, &Query::default(), "build").unwrap();
        let order: Vec<_> = parts.iter().map(|part| (&*part.value, part.started)).collect();
        assert_eq!(order, [("old", 10), ("old", 30), ("new", 20)], "of a side-by-side bench too");
        assert!(matches!(
            by_label(vec![frame("a", "x", 0, 1)], &Query::default(), "commit"),
            Err(Error::UnknownLabel { .. })
        ));
    }

    #[test]
    fn slices_double_until_they_are_few_and_are_no_shorter_than_frames() {
        let second = 1_000_000_000;
        let frames: Vec<_> = (0..1000).map(|at| frame("a", "x", at * second / 4, (at + 1) * second / 4)).collect();
        let (parts, slice) = by_time(&frames, &Query::default(), 100);
        assert_eq!((slice, parts.len()), (4 * second, 63), "250 s");
        let whole = [frame("a", "x", 0, 90 * second), frame("b", "x", 100 * second, 101 * second)];
        let (parts, slice) = by_time(&whole, &Query::default(), 100);
        assert_eq!((slice, parts.len()), (128 * second, 1));
        let all: i64 = parts.iter().map(|part| part.query.range.until - part.query.range.since).sum();
        assert_eq!(all, 128 * second, "each frame ends in one slice");
    }

    /// Of a program that called as often all the time, rates went up and down by a half: frames ended in slices once or twice.
    #[test]
    fn what_came_at_once_is_of_all_slices_that_it_lies_in() {
        let second = 1_000_000_000;
        let frames: Vec<_> =
            (0..60).map(|at| frame("a", "x", (at * 10 + 3) * second, (at * 10 + 13) * second)).collect();
        let (parts, slice) = by_time(&frames, &Query::default(), 100);
        assert_eq!(slice, 16 * second);
        let ended =
            |part: &Part| frames.iter().filter(|one| one.ended > part.started && one.ended <= part.ended).count();
        for part in &parts[1..parts.len() - 1] {
            let seconds = ended(part) as f64 * 10.0 * part.inside;
            assert!((seconds - 16.0).abs() < 1e-9, "{seconds} s of 16 in {part:?}");
        }
        let begun =
            [frame("a", "x", 20 * second, 20 * second + 1000), frame("a", "x", 20 * second + 1000, 33 * second)];
        assert_eq!(
            by_time(&begun, &Query::default(), 100).0[0].inside,
            2.0,
            "a microsecond says nothing of 12 seconds"
        );
        let short = [frame("a", "x", 20 * second, 21 * second), frame("b", "x", 22 * second, 22 * second)];
        assert!(by_time(&short, &Query::default(), 100).0.iter().all(|part| part.inside == 1.0));
    }

    #[test]
    fn what_came_late_is_told() {
        let second = 1_000_000_000;
        let usual = (0..2000).map(|at| frame("a", "x", at * second, (at + 1) * second));
        let late = [(300, 380), (375, 450), (700, 740)].map(|(from, to)| frame("b", "x", from * second, to * second));
        let frames: Vec<_> = usual.chain(late).collect();
        let Apart { slice, coarse, .. } = apart(frames.clone(), &Query::default(), &Over::Time { most: 100 }).unwrap();
        let ranges: Vec<_> = coarse.iter().map(|range| (range.since / second, range.until / second)).collect();
        assert_eq!((slice, &ranges[..]), (Some(32 * second), &[(300, 450)][..]), "40 s are not much more than a slice");
        assert_eq!(apart(frames, &Query::default(), &Over::Label("build".to_owned())).unwrap().coarse, []);
    }
}
