//! What all routes share.

use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::Response;
use diytrace_store::{Incoming, Stored};
use tokio::sync::{Semaphore, watch};

use crate::answer;
use crate::arriving::Arriving;
use crate::desk::Desk;
use crate::live::Live;
use crate::memory::Memory;
use crate::roots::Roots;
use crate::runs::Runs;
use crate::views::Views;

/// How long anybody waits for what takes long.
const LONGEST: Duration = Duration::from_secs(120);

/// How many wait for a thread before others are asked to come again.
const MOST_WAITING: usize = 64;

/// Most profiles of the next seconds that are waited for at once.
const MOST_PROFILES: usize = 64;

/// What has happened so far.
#[derive(Default)]
pub struct Counters {
    pub frames: AtomicU64,
    pub bytes: AtomicU64,
    pub calls: AtomicU64,
    pub refused: AtomicU64,
}

/// That it ends.
#[derive(Clone)]
pub struct Ending(pub watch::Receiver<bool>);

impl Ending {
    /// Whether it has come.
    pub fn has_come(&self) -> bool {
        *self.0.borrow()
    }

    /// Comes when it ends.
    pub async fn cancelled(mut self) {
        let _ = self.0.wait_for(|ends| *ends).await; // whoever would say so is gone: that is the end, too
    }
}

/// What routes share.
pub struct Service {
    pub views: Arc<dyn Views>,
    pub live: Arc<Live>,
    pub load: Desk,
    pub runs: Runs,
    pub counters: Counters,
    pub roots: Roots,
    pub ending: Ending,
    pub incoming: Arc<Incoming>,
    pub arriving: Arriving,
    /// For whoever waits for a profile of the next seconds.
    pub profiles: Semaphore,
    store: Arc<Mutex<Stored>>,
    threads: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

impl Service {
    /// With as many threads for what takes long as there are processors.
    pub fn new(mut store: Stored, views: Arc<dyn Views>, memory: Memory, ending: Ending) -> io::Result<Self> {
        store.bound_memory(memory.store());
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        let store = Arc::new(Mutex::new(store));
        Ok(Self {
            views,
            live: Arc::new(Live::new()),
            load: Desk::default(),
            runs: Runs::default(),
            counters: Counters::default(),
            roots: Roots::default(),
            ending,
            incoming: Arc::new(Incoming::bounded(memory.recordings())),
            arriving: Arriving::into_store(store.clone(), memory.frames())?,
            profiles: Semaphore::new(MOST_PROFILES),
            store,
            threads: Arc::new(Semaphore::new(threads)),
            waiting: Arc::new(Semaphore::new(MOST_WAITING)),
        })
    }

    /// The store, for who writes.
    pub fn writer(&self) -> MutexGuard<'_, Stored> {
        // What a writer that panicked had begun is undone by the store.
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what takes long in a thread of its own, if not too many wait for one.
    pub async fn busy<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Response> {
        let place = self.waiting.clone().try_acquire_owned().map_err(|_| answer::busy())?;
        let thread = self.threads.clone().acquire_owned().await.map_err(|_| answer::busy())?;
        let done = tokio::task::spawn_blocking(move || {
            let _held = (place, thread);
            work()
        });
        match tokio::time::timeout(LONGEST, done).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(_)) => {
                let failed = "the service has failed in this: see its log";
                Err(answer::error(StatusCode::INTERNAL_SERVER_ERROR, failed))
            }
            // Its thread goes on to its end, and is none for others until then.
            Err(_) => {
                let late = "this takes longer than two minutes: ask for less, by select, since and until";
                Err(answer::error(StatusCode::SERVICE_UNAVAILABLE, late))
            }
        }
    }
}
