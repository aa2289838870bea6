//! Frames that have come and are not in the store yet. While one request puts frames in, those of others gather, and the next puts
//! all of them in together: so many hosts that send often are few inserts. Each is answered when its own frame is in.

use std::sync::{Arc, Mutex, PoisonError};

use diytrace_store::{Engine, Error, Frame, Put};
use tokio::sync::{Mutex as Turn, oneshot};

/// Most that wait, before others are asked to come again.
const MOST: usize = 64;

/// A frame that is in.
pub struct Taken {
    pub frame: Frame,
    pub put: Put,
    /// One more than the number of the recording's last frame.
    pub next: u64,
}

/// What became of a frame. What keeps one out may keep out all that came with it.
pub type Outcome = Result<Taken, Arc<Error>>;

type Arrived = (Frame, oneshot::Sender<Outcome>);

/// Frames on their way into the store.
#[derive(Default)]
pub struct Arriving {
    frames: Mutex<Vec<Arrived>>,
    /// Whoever has it puts in what has gathered.
    pub turn: Turn<()>,
}

impl Arriving {
    /// Adds one, which is told of when somebody has put it in. `None`: there are too many.
    pub fn add(&self, frame: Frame) -> Option<oneshot::Receiver<Outcome>> {
        let mut frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        let (tell, told) = oneshot::channel();
        (frames.len() < MOST).then(|| {
            frames.push((frame, tell));
            told
        })
    }

    /// Puts in all that there are.
    pub fn put(&self, store: &mut dyn Engine) {
        let arrived = std::mem::take(&mut *self.frames.lock().unwrap_or_else(PoisonError::into_inner));
        let (frames, tellers): (Vec<Frame>, Vec<_>) = arrived.into_iter().unzip();
        let outcomes = together(store, &frames);
        for ((frame, tell), outcome) in frames.into_iter().zip(tellers).zip(outcomes) {
            // Who has hung up sends it again, and it is known.
            let _ = tell.send(outcome.map(|(put, next)| Taken { frame, put, next }));
        }
    }
}

fn together(store: &mut dyn Engine, frames: &[Frame]) -> Vec<Result<(Put, u64), Arc<Error>>> {
    let put = store.put_all(frames).and_then(|puts| {
        let sessions: Vec<&str> = frames.iter().map(|frame| frame.session.as_str()).collect();
        Ok(puts.into_iter().zip(store.next_sequences(&sessions)?).collect::<Vec<_>>())
    });
    match put {
        Ok(done) => done.into_iter().map(Ok).collect(),
        // One of them is at fault; which, each shows by itself. Those before it are in, and known.
        Err(Error::Overlap { .. } | Error::Full { .. }) if frames.len() > 1 => {
            frames.iter().flat_map(|frame| together(store, std::slice::from_ref(frame))).collect()
        }
        Err(error) => {
            let error = Arc::new(error);
            frames.iter().map(|_| Err(error.clone())).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use diytrace_profile::load::Summary;
    use diytrace_profile::load::costs::Costs;
    use diytrace_profile::merge::{By, PartKey, merge};
    use diytrace_profile::testing::{Call, arena, family, record};
    use diytrace_store::{Address, GroupBy, Labels, Query, open};

    use super::*;

    fn frame(session: &str, calls: usize) -> Frame {
        let call = || Call { function: 0x1000, own: 10, callees: Vec::new() };
        let calls: Vec<Call> = (0..calls).map(|_| call()).collect();
        let family = family(vec![arena(record(&calls, Costs::default(), 3))]);
        let mut labels = Labels::default();
        labels.set("service", "s".to_owned());
        Frame {
            labels,
            session: session.to_owned(),
            sequence: 0,
            holds_later: true,
            start: 0,
            end: 10,
            part: PartKey::of(&family),
            summary: Summary::of(&family),
            merged: merge(&[family], By::All, None),
        }
    }

    #[test]
    fn each_of_many_frames_is_told_what_became_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let address: Address = folder.path().join("store.db").display().to_string().parse().unwrap();
        let mut store = open(&address, true).unwrap();
        store.put(&frame("c", 5)).unwrap();
        let arriving = Arriving::default();
        // One that has a time which is there is refused, and those beside it are not.
        let overlapping = Frame { sequence: 2, start: 5, end: 20, holds_later: false, ..frame("c", 1) };
        let frames = [frame("a", 1), overlapping, frame("b", 2), frame("c", 5)];
        let mut told = frames.map(|frame| arriving.add(frame).unwrap());
        arriving.put(&mut *store);
        let [a, overlapping, b, c] = told.each_mut().map(|told| told.try_recv().unwrap());
        assert!(
            matches!(overlapping.map(|taken| taken.next).map_err(|error| error.to_string()), Err(why) if !why.is_empty())
        );
        for (taken, session) in [a, b, c].into_iter().zip(["a", "b", "c"]) {
            let taken = taken.unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((taken.frame.session.as_str(), taken.next), (session, 1));
        }
        assert_eq!(store.select(&Query::default(), &GroupBy::All).unwrap().merged.groups[0].calls, 8);
        arriving.put(&mut *store); // there is nothing more
    }
}
