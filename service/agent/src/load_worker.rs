//! A worker: makes load that somebody wants from a service, to servers that its own command line allows.
//!
//! ```text
//! ear ── what is there to do? ──▶ service        told again and again; each answer may be an order
//!  │ order                           ▲
//!  ▼                                 │ frames, each 250 ms ([`Telling`])
//! work ── threads that drive ────────┘
//! ```
//!
//! It makes load on a lease: where the service has not answered for a while, it ends what it does, as whoever wanted it cannot end it.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use diytrace_load::crew::{Ask, Clock, Frame, Go, Heard, Order, Post, State, Task};
use diytrace_load::socket::Allowed;
use diytrace_load::{Driver, Job, Phase, Ready, Shared, Tally, drive};

use crate::telling::Telling;
use crate::{Access, Client, Error};

/// An answer takes no longer: it is asked for again.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where the service has not answered for so long, no more is sent: less than it takes to be given up for lost.
const LEASE: Duration = Duration::from_millis(1500);

/// Nor where questions have failed for so long: its connection is seen to end there, too.
const FAILING: Duration = Duration::from_millis(300);

/// After that it is asked for so long yet to hear what was sent.
const PARTING: Duration = Duration::from_secs(10);

/// Between two looks at what threads do.
const LOOK: Duration = Duration::from_millis(10);

/// Before a service that does not answer is asked again.
const PAUSE: Duration = Duration::from_millis(100);

/// A worker of a service.
pub struct LoadWorker {
    client: Client,
    /// What it is known by.
    id: String,
    name: String,
    allowed: Allowed,
    began: Instant,
    clock: Mutex<Clock>,
    /// When the latest question was asked that was answered, in nanoseconds since it began.
    answered_ns: AtomicU64,
    /// Since when questions have failed; 0 if the latest has not.
    failing_ns: AtomicU64,
    is_to_end: AtomicBool,
    orders: Mutex<Orders>,
    changed: Condvar,
}

/// What it is to do.
#[derive(Default)]
struct Orders {
    /// The latest, if nobody has taken it up.
    task: Option<Task>,
    /// The load that is being made.
    current: Option<Arc<Shared>>,
}

/// A server that it can drive, for a run.
struct Prepared {
    run: String,
    ready: Ready,
    drivers: Option<(Post, Vec<Box<dyn Driver>>)>,
}

impl Prepared {
    /// Threads of a post, which go on where they were if it is the same.
    fn drivers(&mut self, post: Post) -> Result<&mut [Box<dyn Driver>], diytrace_load::Error> {
        let drivers = match self.drivers.take() {
            Some((known, drivers)) if known == post => drivers,
            _ => self.ready.drivers(post.connections as usize, post.threads as usize)?,
        };
        Ok(&mut self.drivers.insert((post, drivers)).1)
    }
}

impl LoadWorker {
    /// Of a service, for servers that are allowed; people call it by its name.
    pub fn new(to: &str, access: &Access, allowed: Allowed, name: String) -> Result<Self, Error> {
        let random = || RandomState::new().build_hasher().finish();
        Ok(Self {
            client: Client::new(to, access)?,
            id: format!("{:016x}{:016x}", random(), random()),
            name,
            allowed,
            began: Instant::now(),
            clock: Mutex::default(),
            answered_ns: AtomicU64::new(0),
            failing_ns: AtomicU64::new(0),
            is_to_end: AtomicBool::new(false),
            orders: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// Does what it is told until `wait`, which takes a moment each time, says that it is to end; fails if the service says no for good.
    pub fn run(&self, mut wait: impl FnMut() -> bool) -> Result<(), Error> {
        thread::scope(|scope| {
            let ear = scope.spawn(|| self.listen());
            let work = scope.spawn(|| self.work());
            while !wait() && !ear.is_finished() && !work.is_finished() {}
            self.is_to_end.store(true, Ordering::Relaxed);
            self.end_load(&mut self.orders());
            let heard = ear.join();
            match (heard, work.join()) {
                (Ok(heard), Ok(())) => heard,
                (Err(panic), _) | (_, Err(panic)) => std::panic::resume_unwind(panic),
            }
        })
    }

    /// Asks what there is to do, again and again.
    fn listen(&self) -> Result<(), Error> {
        let mut ask = Ask { worker: self.id.clone(), name: self.name.clone(), heard: 0 };
        let (mut is_known, mut trouble) = (false, None);
        while !self.is_to_end() {
            let asked = self.now();
            match self.client.exchange::<Order>("/v1/load/workers", &ask, PATIENCE) {
                Ok(Order { clock, number, task }) => {
                    self.answered(asked, clock);
                    if !std::mem::replace(&mut is_known, true) {
                        tracing::info!("makes load for {}", self.client.service());
                    }
                    trouble = None;
                    ask.heard = number;
                    if let Some(task) = task {
                        let mut orders = self.orders();
                        // Whatever it is, it is not what is being done.
                        self.end_load(&mut orders);
                        orders.task = Some(task);
                        self.changed.notify_all();
                    }
                }
                Err(error @ Error::Denied { status: 400 | 401 | 403 | 404, .. }) => return Err(error),
                Err(error) => {
                    self.failed();
                    let error = error.to_string();
                    if trouble.as_ref() != Some(&error) {
                        tracing::warn!("{error}; it is asked again");
                    }
                    (is_known, trouble) = (false, Some(error));
                    thread::sleep(PAUSE);
                }
            }
        }
        Ok(())
    }

    /// Does what there is to do.
    fn work(&self) {
        let mut prepared = None;
        while let Some(task) = self.next() {
            match task {
                Task::Rest => prepared = None,
                Task::Stop => {}
                Task::Prepare { run, job } => prepared = self.prepare(run, &job),
                Task::Drive(go) => {
                    if let Some(prepared) = prepared.as_mut().filter(|prepared: &&mut Prepared| prepared.run == go.run)
                    {
                        self.make_load(prepared, &go);
                    }
                }
            }
        }
    }

    /// The next task; nothing at the end.
    fn next(&self) -> Option<Task> {
        let mut orders = self.orders();
        loop {
            if self.is_to_end() {
                return None;
            }
            if let Some(task) = orders.task.take() {
                return Some(task);
            }
            orders = self.changed.wait_timeout(orders, PAUSE).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Finds out whether it can drive a server, and says so.
    fn prepare(&self, run: String, job: &Job) -> Option<Prepared> {
        let server = job.server().and_then(|server| {
            tracing::info!("is to make load to {}", server.shown);
            server.connect(&self.allowed)
        });
        let refused = server.as_ref().err().map(ToString::to_string);
        if let Some(why) = &refused {
            tracing::warn!("{why}");
        }
        let state = State { worker: self.id.clone(), run: run.clone(), refused };
        self.tell("/v1/load/prepared", &state, || {})?;
        Some(Prepared { run, ready: server.ok()?, drivers: None })
    }

    /// Makes its part of a phase's load.
    fn make_load(&self, prepared: &mut Prepared, go: &Go) {
        let Some(post) = go.post.filter(|_| go.is_sound()) else {
            return tracing::warn!("{} wants load that cannot be made", self.client.service());
        };
        let now = self.now();
        let Some(begins_ns) = self.clock().here(go.begins_ns, now) else { return };
        let (sender, parts) = channel();
        let threads = post.first..post.first + post.threads;
        let mut telling = Telling::of(&self.id, go, threads.clone(), begins_ns, parts);
        let shared = Arc::new(Shared { began: self.began, ..Shared::telling(sender) });
        let drivers = match prepared.drivers(post) {
            Ok(drivers) if self.begin(&shared) => drivers,
            made => {
                if let Err(error) = &made {
                    tracing::warn!("{error}");
                }
                // It has sent nothing, and will not.
                let last = telling.last(Tally::new(0), self.clock_error(), made.is_err());
                self.tell_frame(&last, &shared);
                return;
            }
        };
        let length_ns = u64::try_from(go.stretch.duration.as_nanos()).unwrap_or(u64::MAX);
        let ends_ns = begins_ns.saturating_add(length_ns);
        let phase = Phase { pace: go.stretch.pace, begins_ns, ends_ns, threads: post.of, seed: go.stretch.seed };
        self.drive(drivers, &phase, threads, &shared, telling);
        self.orders().current = None;
    }

    /// Load begins, unless it was ended before it did.
    fn begin(&self, shared: &Arc<Shared>) -> bool {
        let mut orders = self.orders();
        let is_wanted = orders.task.is_none() && !self.is_to_end();
        orders.current = is_wanted.then(|| shared.clone());
        is_wanted
    }

    fn drive(
        &self,
        drivers: &mut [Box<dyn Driver>],
        phase: &Phase,
        threads: Range<u64>,
        shared: &Shared,
        mut telling: Telling,
    ) {
        let mut leaves = false;
        thread::scope(|scope| {
            let driving = scope.spawn(|| drive(drivers, phase, threads.start, shared, &mut |_| Ok(())));
            while !driving.is_finished() {
                if let Some(frame) = telling.due(self.now(), self.clock_error()) {
                    leaves |= self.tell_frame(&frame, shared);
                }
                leaves |= self.has_no_lease(shared);
                thread::sleep(LOOK);
            }
            let rest = match driving.join() {
                Ok(driven) => driven.map_or_else(|_| Tally::new(0), |(tally, _)| tally),
                Err(panic) => std::panic::resume_unwind(panic),
            };
            leaves |= self.is_to_end();
            let last = telling.last(rest, self.clock_error(), leaves);
            self.tell_frame(&last, shared);
        });
    }

    /// Tells a frame until it is heard; whether its load has to end meanwhile, which nobody has asked for.
    fn tell_frame(&self, frame: &Frame, shared: &Shared) -> bool {
        let mut leaves = false;
        let heard = self.tell("/v1/load/frames", frame, || leaves |= self.has_no_lease(shared));
        if heard.is_none_or(|heard| heard.is_over) {
            shared.is_over.store(true, Ordering::Relaxed);
        }
        leaves
    }

    /// Ends load that the service has not answered about for too long; whether that is so.
    fn has_no_lease(&self, shared: &Shared) -> bool {
        let is_late = self.silence() > LEASE || self.fails_for() > FAILING;
        if is_late && !shared.is_over.swap(true, Ordering::Relaxed) {
            tracing::warn!("{} has not answered for a while: load ends", self.client.service());
            return true;
        }
        false
    }

    /// Tells the service something until it answers; nothing if it says no, or is away for too long.
    fn tell(&self, path: &str, what: &impl serde::Serialize, mut meanwhile: impl FnMut()) -> Option<Heard> {
        loop {
            let asked = self.now();
            match self.client.exchange::<Heard>(path, what, PATIENCE) {
                Ok(heard) => {
                    self.answered(asked, heard.clock);
                    return Some(heard);
                }
                Err(Error::Away { .. }) if self.silence() < PARTING => {
                    self.failed();
                    meanwhile();
                    thread::sleep(PAUSE);
                }
                Err(error) => {
                    tracing::debug!("{error}");
                    return None;
                }
            }
        }
    }

    /// A question that was asked at a moment has an answer.
    fn answered(&self, asked: u64, there: (u64, u64)) {
        self.clock().learn((asked, self.now()), there);
        self.answered_ns.fetch_max(asked, Ordering::Relaxed);
        self.failing_ns.store(0, Ordering::Relaxed);
    }

    /// A question has no answer.
    fn failed(&self) {
        let _ = self.failing_ns.compare_exchange(0, self.now(), Ordering::Relaxed, Ordering::Relaxed);
    }

    /// For how long questions have failed.
    fn fails_for(&self) -> Duration {
        match self.failing_ns.load(Ordering::Relaxed) {
            0 => Duration::ZERO,
            since => Duration::from_nanos(self.now().saturating_sub(since)),
        }
    }

    /// How long ago the latest question was asked that was answered.
    fn silence(&self) -> Duration {
        Duration::from_nanos(self.now().saturating_sub(self.answered_ns.load(Ordering::Relaxed)))
    }

    fn clock_error(&self) -> u64 {
        let now = self.now();
        self.clock().offset(now).map_or(0, |(_, error)| error)
    }

    fn end_load(&self, orders: &mut Orders) {
        if let Some(current) = &orders.current {
            current.is_over.store(true, Ordering::Relaxed);
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn is_to_end(&self) -> bool {
        self.is_to_end.load(Ordering::Relaxed)
    }

    fn orders(&self) -> MutexGuard<'_, Orders> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clock(&self) -> MutexGuard<'_, Clock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
