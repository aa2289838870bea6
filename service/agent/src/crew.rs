//! Load that a service's workers make: whoever wants it says what, looks on, and has the sums at the end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use diytrace_load::crew::{Begun, Go, Look, Member, Named, PhaseSeen, Seen, Stage, Submitted, settle};
use diytrace_load::{Driven, Fleet, Going, Job, Share, Shared, Stretch, Worker};

use crate::{Access, Client, Error};

/// An answer takes no longer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The service is asked how it goes so often.
const LOOK: Duration = Duration::from_millis(50);

/// And what it has come to so far.
const TOLD: Duration = Duration::from_millis(500);

/// And so often while nobody asks: it would take the run for forgotten.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// A service that does not answer for so long has forgotten the run.
const AWAY: Duration = Duration::from_secs(5);

/// Workers of a service that make a load.
pub struct Crew {
    client: Arc<Client>,
    run: String,
    phases: u64,
    /// Requests that were done in all phases that are over.
    done: u64,
    members: Vec<Member>,
    heartbeat: Heartbeat,
}

impl Crew {
    /// Tells a service's workers what is to be sent, and waits until each has found out whether it can.
    pub fn begin(to: &str, access: &Access, job: Job, shared: &Shared) -> Result<Self, Error> {
        let client = Arc::new(Client::new(to, access)?);
        // A worker may wait for the server's answer as long as a request does.
        let most = job.timeout + PATIENCE;
        let begun = client.exchange("/v1/load/runs", &Submitted { job }, PATIENCE);
        let Begun { run } = begun.map_err(|error| match error {
            Error::Denied { service, status: 413, .. } => {
                let said = "requests, with what they carry, are more than the 32 MiB that it takes".to_owned();
                Error::Denied { service, status: 413, said }
            }
            error => error,
        })?;
        let heartbeat = Heartbeat::of(client.clone(), run.clone());
        let mut crew = Self { client, run, phases: 0, done: 0, members: Vec::new(), heartbeat };
        let began = Instant::now();
        loop {
            crew.members = crew.look(false)?.members;
            let is_asked = |member: &Member| member.stage == Stage::Asked;
            if !crew.members.iter().any(is_asked) || began.elapsed() > most || shared.is_over.load(Ordering::Relaxed) {
                break;
            }
            thread::sleep(LOOK);
        }
        match crew.members.iter().any(|member| member.stage == Stage::Ready) {
            true => Ok(crew),
            false => Err(Error::NobodyCan { said: crew.why_nobody_can() }),
        }
    }

    fn why_nobody_can(&self) -> String {
        // What all say is said once.
        let mut by_why = BTreeMap::<&str, Vec<&str>>::new();
        for Member { name, stage } in &self.members {
            let why = if let Stage::Refused(why) = stage { why } else { "it does not say whether it can" };
            by_why.entry(why).or_default().push(name);
        }
        by_why.iter().map(|(why, names)| format!("{}: {why}", names.join(", "))).collect::<Vec<_>>().join("; ")
    }

    /// The workers, as a document has them.
    pub fn workers(&self) -> Vec<Worker> {
        let worker = |member: &Member| Worker {
            name: member.name.clone(),
            lost: member.stage == Stage::Lost,
            refused: match &member.stage {
                Stage::Refused(why) => Some(why.clone()),
                _ => None,
            },
            ..Worker::default()
        };
        self.members.iter().map(worker).collect()
    }

    /// How it goes; with what it has come to so far, or without.
    fn look(&self, so_far: bool) -> Result<Seen, Error> {
        let look = Look { run: self.run.clone(), so_far };
        insistently(|| self.client.exchange("/v1/load/look", &look, PATIENCE))
    }

    fn stop(&self) -> Result<(), Error> {
        let named = Named { run: self.run.clone() };
        insistently(|| self.client.exchange("/v1/load/stop", &named, PATIENCE))
    }
}

/// Asks again for a while: a service may be busy, and what is asked twice is done once.
fn insistently<T>(mut ask: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    let began = Instant::now();
    loop {
        match ask() {
            Err(Error::Away { .. }) if began.elapsed() < AWAY => thread::sleep(LOOK),
            answered => return answered,
        }
    }
}

impl Fleet for Crew {
    fn drive(
        &mut self,
        stretch: &Stretch,
        shared: &Shared,
        look: &mut dyn FnMut(Going<'_>) -> Result<(), diytrace_load::Error>,
    ) -> Result<Driven, diytrace_load::Error> {
        self.phases += 1;
        let go = Go { run: self.run.clone(), phase: self.phases, stretch: *stretch, post: None, begins_ns: 0 };
        match insistently(|| self.client.exchange::<()>("/v1/load/go", &go, PATIENCE)) {
            // With nobody left it ends with what there is.
            Err(Error::Denied { status: 409, .. }) if self.phases > 1 => {
                shared.is_over.store(true, Ordering::Relaxed);
                return Ok(Driven::nothing());
            }
            answered => answered.map_err(of_crew)?,
        }
        let length_ns = stretch.duration.as_nanos().max(1) as f64;
        let (mut elapsed, mut most_done, mut looked) = (stretch.duration, self.done, Ok(()));
        let (mut is_stopped, mut told) = (false, Instant::now());
        loop {
            let wants_so_far = told.elapsed() >= TOLD;
            if wants_so_far {
                told = Instant::now();
            }
            let seen = self.look(wants_so_far).map_err(of_crew)?;
            self.members = seen.members;
            let phase = seen.phase.filter(|phase| phase.number == self.phases);
            let Some(PhaseSeen { age_ns, done, done_since, so_far, result, .. }) = phase else { continue };
            let age = Duration::from_nanos(age_ns.max(0).unsigned_abs());
            if let Some((tally, parts)) = result {
                self.done += done;
                looked?;
                let is_cut_short = shared.is_over.load(Ordering::Relaxed);
                let (tally, shares) = settle(stretch, is_cut_short, tally, parts);
                return Ok(Driven { tally, elapsed, shares });
            }
            if shared.is_over.load(Ordering::Relaxed) && !is_stopped {
                elapsed = elapsed.min(age);
                self.stop().map_err(of_crew)?;
                is_stopped = true;
            }
            let part = age.as_nanos() as f64 / length_ns;
            if looked.is_ok() && part <= 1.0 {
                // Frames come four times a second: what was done since is told as it was before, and all of it at the end.
                most_done = most_done.max(self.done + done + done_since as u64);
                let so_far = so_far.map(|(tally, parts)| {
                    let shares = parts.into_iter().map(Share::from).collect();
                    Driven { tally, elapsed: age.min(stretch.duration), shares }
                });
                looked = look(Going { done: most_done, part, so_far: so_far.as_ref() });
            }
            if looked.is_err() {
                shared.is_over.store(true, Ordering::Relaxed);
            }
            thread::sleep(LOOK);
        }
    }
}

fn of_crew(error: Error) -> diytrace_load::Error {
    diytrace_load::Error::Fleet(error.into())
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.heartbeat.end();
        // If this does not arrive, the service finds out by itself.
        let _ = self.client.exchange::<()>("/v1/load/end", &Named { run: self.run.clone() }, PATIENCE);
    }
}

/// Asks for a run again and again, whatever else is done meanwhile.
struct Heartbeat {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    fn of(client: Arc<Client>, run: String) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let here = is_over.clone();
        let thread = thread::spawn(move || {
            while !here.load(Ordering::Relaxed) {
                thread::park_timeout(HEARTBEAT);
                // Who needs the answer asks again.
                let _ = client.exchange::<()>("/v1/load/alive", &Named { run: run.clone() }, PATIENCE);
            }
        });
        Self { is_over, thread: Some(thread) }
    }

    fn end(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join(); // it has nothing to say
        }
    }
}
