//! Frames that have come and are not in the store yet. One thread puts them in, all that have gathered meanwhile together: so many
//! hosts that send often are few transactions. Each is answered when its own frame is in.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use diytrace_store::{Engine, Error, Put, Received, Stored};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::answer;

/// Most frames that wait, before others are asked to come again.
const MOST: usize = 4096;

/// Most that are put in together: nothing else is done with the store meanwhile.
const MOST_TOGETHER: usize = 128;

/// What is written for one frame, or many together, is much the same: so while frames come one after the other, each waits a few moments
/// for others.
const MOMENT: Duration = Duration::from_millis(5);
const MOST_MOMENTS: usize = 5;

/// When nothing has come for so long, the next is not one of many.
const LULL: Duration = Duration::from_millis(20);

/// A frame that is in.
pub struct Taken {
    pub frame: Received,
    pub put: Put,
    /// One more than the number of the recording's last frame.
    pub next: u64,
}

/// What became of a frame. What keeps one out may keep out all that came with it.
pub type Outcome = Result<Taken, Arc<Error>>;

struct Arrived {
    frame: Received,
    teller: Teller,
}

/// Whoever waits for a frame.
struct Teller {
    tell: oneshot::Sender<Outcome>,
    /// For the frame's bytes.
    room: OwnedSemaphorePermit,
}

/// Frames on their way into the store.
pub struct Arriving {
    /// `None`: it ends.
    arrived: Option<Sender<Arrived>>,
    writer: Option<JoinHandle<()>>,
    room: Arc<Semaphore>,
    most_bytes: usize,
    trouble: Arc<Trouble>,
}

/// Why nothing could be put into the store when that was tried last, if it could not: its disk may be full.
#[derive(Default)]
struct Trouble(Mutex<Option<Arc<Error>>>);

impl Trouble {
    /// Notes what became of frames. Those that are not as they should be say nothing of the store.
    fn note<T>(&self, outcomes: &[Result<T, Arc<Error>>]) {
        let mut trouble = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for outcome in outcomes {
            match outcome {
                Ok(_) => *trouble = None,
                Err(error) if answer::status_of(error).is_server_error() => *trouble = Some(error.clone()),
                Err(_) => {}
            }
        }
    }
}

impl Arriving {
    /// With the thread that puts them in; it ends with this. `most_bytes`: of those that wait, as they came.
    pub fn into_store(store: Arc<Mutex<Stored>>, most_bytes: usize) -> io::Result<Self> {
        let (arrived, arriving) = channel(MOST);
        let trouble = Arc::new(Trouble::default());
        let noted = trouble.clone();
        let writer = thread::Builder::new().name("writer".to_owned());
        let writer = Some(writer.spawn(move || put_all(arriving, &store, &noted))?);
        Ok(Self { arrived: Some(arrived), writer, room: Arc::new(Semaphore::new(most_bytes)), most_bytes, trouble })
    }

    /// Whether there is who puts them in.
    pub fn is_alive(&self) -> bool {
        self.arrived.as_ref().is_some_and(|arrived| !arrived.is_closed())
    }

    /// Why nothing could be put in when that was tried last, if it could not.
    pub fn trouble(&self) -> Option<Arc<Error>> {
        self.trouble.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What becomes of a frame, which came as so many bytes. `None`: there are too many.
    pub async fn put(&self, frame: Received, bytes: usize) -> Option<Outcome> {
        // One that is larger than all the room comes alone.
        let bytes = u32::try_from(bytes.min(self.most_bytes)).ok()?;
        let room = self.room.clone().try_acquire_many_owned(bytes).ok()?;
        let (tell, told) = oneshot::channel();
        self.arrived.as_ref()?.try_send(Arrived { frame, teller: Teller { tell, room } }).ok()?;
        told.await.ok() // else who puts it in has failed
    }
}

impl Drop for Arriving {
    /// The store is closed, and all of it in its own file, once this is gone and nobody else has it.
    fn drop(&mut self) {
        self.arrived = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join(); // of one that panicked nothing is left
        }
    }
}

fn put_all(mut arriving: Receiver<Arrived>, store: &Mutex<Stored>, trouble: &Trouble) {
    let mut was_busy: Option<Instant> = None;
    while let Some(first) = arriving.blocking_recv() {
        let mut gathered = vec![first];
        let mut gather = |gathered: &mut Vec<Arrived>| {
            let before = gathered.len();
            while gathered.len() < MOST_TOGETHER
                && let Ok(next) = arriving.try_recv()
            {
                gathered.push(next);
            }
            gathered.len() > before
        };
        // Where many send, some more are on their way; who sends alone does not wait.
        let mut are_more = was_busy.is_some_and(|at| at.elapsed() < LULL);
        for _ in 0..MOST_MOMENTS {
            are_more |= gather(&mut gathered);
            if !are_more || gathered.len() == MOST_TOGETHER {
                break;
            }
            thread::sleep(MOMENT);
            are_more = gather(&mut gathered);
        }
        // What a writer that panicked had begun is undone by the store.
        let mut store = store.lock().unwrap_or_else(PoisonError::into_inner);
        gather(&mut gathered);
        let (frames, tellers): (Vec<Received>, Vec<Teller>) =
            gathered.into_iter().map(|Arrived { frame, teller }| (frame, teller)).unzip();
        let outcomes = together(&mut **store, &frames);
        drop(store);
        trouble.note(&outcomes);
        was_busy = Some(Instant::now());
        for ((frame, teller), outcome) in frames.into_iter().zip(tellers).zip(outcomes) {
            drop(teller.room); // before somebody is told who has more
            // Who has hung up sends it again, and it is known.
            let _ = teller.tell.send(outcome.map(|(put, next)| Taken { frame, put, next }));
        }
    }
}

fn together(store: &mut dyn Engine, frames: &[Received]) -> Vec<Result<(Put, u64), Arc<Error>>> {
    match store.put_received(frames) {
        Ok(put) => put.into_iter().map(|one| one.map_err(Arc::new)).collect(),
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
    use diytrace_store::{Address, Frame, GroupBy, Incoming, Labels, Query, encode, open};

    use super::*;

    const MOST_BYTES: usize = 1 << 20;

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

    /// The same as it comes.
    fn received(frame: &Frame) -> Received {
        Incoming::default().decode(&encode(frame), 1 << 20).unwrap()
    }

    #[test]
    fn each_of_many_frames_is_told_what_became_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let address: Address = folder.path().join("store.db").display().to_string().parse().unwrap();
        let store = Arc::new(Mutex::new(open(&address, true).unwrap()));
        let arriving = Arriving::into_store(store.clone(), MOST_BYTES).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let put = |frame: Frame| arriving.put(received(&frame), 1);
        runtime.block_on(async {
            put(frame("c", 5)).await.unwrap().map(drop).unwrap();
            // One that has a time which is there is refused, and those beside it are not.
            let overlapping = Frame { sequence: 2, start: 5, end: 20, holds_later: false, ..frame("c", 1) };
            // The first waits for the store, and the others for it: they are put in together.
            let held = store.lock().unwrap();
            let first = put(frame("z", 1));
            let others = futures_util::future::join4(
                put(frame("a", 1)),
                put(overlapping),
                put(frame("b", 2)),
                put(frame("c", 5)),
            );
            let all = futures_util::future::join(first, others);
            let freed = async { drop(held) };
            let ((_, (a, overlapping, b, c)), ()) = futures_util::future::join(all, freed).await;
            let why = overlapping.unwrap().map(|taken| taken.next).map_err(|error| error.to_string());
            assert!(matches!(why, Err(why) if !why.is_empty()));
            // What is new is told so, whatever became of others: metrics count it by that.
            for (taken, one) in [a, b, c].into_iter().zip([("a", Put::Added), ("b", Put::Added), ("c", Put::Known)]) {
                let taken = taken.unwrap().unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(((taken.frame.session.as_str(), taken.put), taken.next), (one, 1));
            }
        });
        let store = store.lock().unwrap();
        assert_eq!(store.select(&Query::default(), &GroupBy::All).unwrap().merged.groups[0].calls, 9);
    }

    #[test]
    fn what_there_is_no_room_for_is_to_come_again() {
        let folder = tempfile::tempdir().unwrap();
        let address: Address = folder.path().join("store.db").display().to_string().parse().unwrap();
        let store = Arc::new(Mutex::new(open(&address, true).unwrap()));
        let arriving = Arriving::into_store(store.clone(), MOST_BYTES).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let put = |bytes: usize| arriving.put(received(&frame("a", 1)), bytes);
        // One that is larger than all the room is alone there while it waits for the store.
        let held = store.lock().unwrap();
        let second = async {
            let second = put(1).await;
            drop(held);
            second
        };
        let (first, second) = runtime.block_on(futures_util::future::join(put(MOST_BYTES + 1), second));
        assert!(first.is_some() && second.is_none());
        // What is in has given its room back.
        assert!((0..3).all(|_| runtime.block_on(put(MOST_BYTES)).is_some()));
    }
}
