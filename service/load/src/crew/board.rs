//! What a service knows of workers and of the load that they make. Time is that of whoever tells it something, by one clock.

use std::collections::BTreeMap;
use std::time::Duration;

use super::frames::Frames;
use super::messages::{
    Ask, Frame, Go, Member, Order, PartSeen, PhaseSeen, Refusal, Seen, Stage, State, Submitted, Task,
};
use super::post::{Post, posts};
use crate::fleet::Stretch;
use crate::job::Job;
use crate::tally::Tally;

/// Who says nothing for so long is gone.
pub const SILENCE: Duration = Duration::from_secs(2);

/// Whose connection has ended, and who does not come again in so long, is gone.
const AWAY: Duration = Duration::from_millis(500);

/// A run that nobody asks for is over.
const FORGOTTEN: Duration = Duration::from_secs(5);

/// A phase begins so long after it was asked for: all workers must have heard of it.
const LEAD: Duration = Duration::from_millis(300);

/// Most workers.
const MOST_WORKERS: usize = 256;

/// Most letters of a name.
const MOST_LETTERS: usize = 100;

/// And of a sentence.
const MOST_WORDS: usize = 1000;

/// The longest phase.
const LONGEST: Duration = Duration::from_secs(86_400 * 30);

/// Workers that are there, and what they do.
#[derive(Default)]
pub struct Board {
    workers: BTreeMap<String, Worker>,
    run: Option<Run>,
    /// Orders that were given.
    orders: u64,
    /// Runs that there were.
    runs: u64,
}

struct Worker {
    name: String,
    presence: Presence,
    order: u64,
    task: Task,
}

/// When somebody was heard of.
#[derive(Clone, Copy)]
struct Presence {
    heard_ns: u64,
    /// When its connection has ended, if it has not come again.
    away_ns: Option<u64>,
}

impl Presence {
    fn at(now: u64) -> Self {
        Self { heard_ns: now, away_ns: None }
    }

    fn is_gone(&self, now: u64) -> bool {
        now > self.heard_ns + ns(SILENCE) || self.away_ns.is_some_and(|away| now > away + ns(AWAY))
    }
}

struct Run {
    name: String,
    job: Job,
    heard_ns: u64,
    members: BTreeMap<String, Member>,
    phase: Option<Phase>,
}

struct Phase {
    number: u64,
    begins_ns: u64,
    is_over: bool,
    parts: BTreeMap<String, Part>,
}

struct Part {
    name: String,
    post: Post,
    frames: Frames,
    /// When a frame came last.
    heard_ns: u64,
    clock_error_ns: u64,
    lost_ns: Option<u64>,
}

impl Board {
    /// A worker asks what there is to do. An answer without a task has nothing new; `clock` is whoever's answers it.
    pub fn ask(&mut self, now: u64, ask: &Ask) -> Result<Order, Refusal> {
        self.tick(now);
        if !self.workers.contains_key(&ask.worker) {
            if self.workers.len() >= MOST_WORKERS {
                return Err(Refusal::TooMany);
            }
            if ask.worker.is_empty() || ask.worker.len() > MOST_LETTERS {
                return Err(Refusal::NoFrame);
            }
            let name = shown(&ask.name, MOST_LETTERS);
            self.orders += 1;
            let worker = Worker { name, presence: Presence::at(now), order: self.orders, task: Task::Rest };
            self.workers.insert(ask.worker.clone(), worker);
        }
        let Some(worker) = self.workers.get_mut(&ask.worker) else { return Err(Refusal::TooMany) };
        worker.presence = Presence::at(now);
        let is_new = ask.heard != worker.order;
        Ok(Order { clock: (now, now), number: worker.order, task: is_new.then(|| worker.task.clone()) })
    }

    /// A worker's connection has ended while it waited for an answer.
    pub fn away(&mut self, now: u64, worker: &str) {
        if let Some(worker) = self.workers.get_mut(worker) {
            worker.presence.away_ns.get_or_insert(now);
        }
    }

    /// Names of those that are there.
    pub fn names(&mut self, now: u64) -> Vec<String> {
        self.tick(now);
        self.workers.values().map(|worker| worker.name.clone()).collect()
    }

    /// Somebody wants load to be made: the run's name.
    pub fn begin(&mut self, now: u64, submitted: Submitted) -> Result<String, Refusal> {
        self.tick(now);
        let job = submitted.job;
        if !(1..=60_000).contains(&job.connections) || !(1..=256).contains(&job.threads) {
            return Err(Refusal::NoLoad("connections are 1 to 60000, and threads 1 to 256"));
        }
        if self.run.is_some() {
            return Err(Refusal::Busy);
        }
        if self.workers.is_empty() {
            return Err(Refusal::NoWorkers);
        }
        self.runs += 1;
        let name = format!("{}-{now}", self.runs);
        let member =
            |(id, worker): (&String, &Worker)| (id.clone(), Member { name: worker.name.clone(), stage: Stage::Asked });
        let members: BTreeMap<_, _> = self.workers.iter().map(member).collect();
        for id in members.keys() {
            self.order(id, Task::Prepare { run: name.clone(), job: Box::new(job.clone()) });
        }
        self.run = Some(Run { name: name.clone(), job, heard_ns: now, members, phase: None });
        Ok(name)
    }

    /// A worker has prepared itself, or cannot.
    pub fn prepared(&mut self, now: u64, state: State) -> Result<(), Refusal> {
        self.heard(now, &state.worker);
        let run = self.run.as_mut().filter(|run| run.name == state.run).ok_or(Refusal::UnknownRun)?;
        let member = run.members.get_mut(&state.worker).ok_or(Refusal::UnknownRun)?;
        if member.stage == Stage::Asked {
            member.stage = state.refused.map_or(Stage::Ready, |why| Stage::Refused(shown(&why, MOST_WORDS)));
        }
        Ok(())
    }

    /// All workers of a run that can are to make load.
    pub fn go(&mut self, now: u64, go: &Go) -> Result<(), Refusal> {
        self.tick(now);
        let run = named(&mut self.run, now, &go.run)?;
        if run.phase.as_ref().is_some_and(|phase| phase.number == go.phase) {
            return Ok(()); // the answer was lost, and it is asked again
        }
        let Stretch { pace, duration, .. } = go.stretch;
        if !pace.is_sound() || duration.is_zero() || duration > LONGEST {
            return Err(Refusal::NoLoad("a rate or a time cannot be"));
        }
        let ready: Vec<(String, String)> = run.ready().collect();
        let posts = posts(ready.len(), run.job.connections, run.job.threads);
        if posts.is_empty() {
            return Err(Refusal::AllGone);
        }
        let begins_ns = now + ns(LEAD);
        let part = |((id, name), post): ((String, String), Post)| {
            let frames = Frames::default();
            (id, Part { name, post, frames, heard_ns: begins_ns, clock_error_ns: 0, lost_ns: None })
        };
        let parts: BTreeMap<_, _> = ready.into_iter().zip(posts).map(part).collect();
        let tasks: Vec<(String, Task)> = parts
            .iter()
            .map(|(id, part)| (id.clone(), Task::Drive(Go { post: Some(part.post), begins_ns, ..go.clone() })))
            .collect();
        run.phase = Some(Phase { number: go.phase, begins_ns, is_over: false, parts });
        tasks.into_iter().for_each(|(id, task)| self.order(&id, task));
        Ok(())
    }

    /// A worker tells what it has counted; whether nobody waits for more of it.
    pub fn frame(&mut self, now: u64, frame: Frame) -> Result<bool, Refusal> {
        self.heard(now, &frame.worker);
        self.tick(now);
        let run = self.run.as_mut().filter(|run| run.name == frame.run).ok_or(Refusal::UnknownRun)?;
        let phase = run.phase.as_mut().filter(|phase| phase.number == frame.phase).ok_or(Refusal::UnknownRun)?;
        let part = phase.parts.get_mut(&frame.worker).ok_or(Refusal::UnknownRun)?;
        let (worker, leaves, clock_error_ns) = (frame.worker.clone(), frame.leaves, frame.clock_error_ns);
        part.frames.add(frame)?;
        // Who was taken for lost has not been heard; it has ended its load, or will now.
        let is_over = phase.is_over || part.lost_ns.is_some();
        part.heard_ns = now.max(phase.begins_ns);
        part.clock_error_ns = clock_error_ns;
        if leaves {
            part.lost_ns.get_or_insert(now);
            lose(&mut run.members, &worker);
        }
        Ok(is_over)
    }

    /// A run's phase is to end with what there is.
    pub fn stop(&mut self, now: u64, run: &str) -> Result<(), Refusal> {
        let run = named(&mut self.run, now, run)?;
        let Some(phase) = &mut run.phase else { return Ok(()) };
        if !std::mem::replace(&mut phase.is_over, true) {
            let workers: Vec<String> = phase.parts.keys().cloned().collect();
            workers.iter().for_each(|id| self.order(id, Task::Stop));
        }
        Ok(())
    }

    /// How a run goes.
    pub fn look(&mut self, now: u64, run: &str) -> Result<Seen, Refusal> {
        self.tick(now);
        let run = named(&mut self.run, now, run)?;
        let members = run.members.values().cloned().collect();
        Ok(Seen { members, phase: run.phase.as_ref().map(|phase| phase.seen(now)) })
    }

    /// Somebody still wants a run.
    pub fn alive(&mut self, now: u64, run: &str) -> Result<(), Refusal> {
        named(&mut self.run, now, run).map(|_| ())
    }

    /// A run is over.
    pub fn end(&mut self, run: &str) {
        let Some(run) = self.run.take_if(|here| here.name == run) else { return };
        run.members.keys().for_each(|id| self.order(id, Task::Rest));
    }

    fn heard(&mut self, now: u64, worker: &str) {
        if let Some(worker) = self.workers.get_mut(worker) {
            worker.presence = Presence::at(now);
        }
    }

    fn order(&mut self, worker: &str, task: Task) {
        self.orders += 1;
        if let Some(worker) = self.workers.get_mut(worker) {
            (worker.order, worker.task) = (self.orders, task);
        }
    }

    /// Finds out who is gone.
    fn tick(&mut self, now: u64) {
        if let Some(run) = self.run.as_ref().filter(|run| now > run.heard_ns + ns(FORGOTTEN)) {
            let name = run.name.clone();
            self.end(&name);
        }
        let gone: Vec<String> =
            self.workers.iter().filter(|(_, worker)| worker.presence.is_gone(now)).map(|(id, _)| id.clone()).collect();
        let mut lost = gone.clone();
        if let Some(phase) = self.run.as_mut().and_then(|run| run.phase.as_mut()) {
            // Who still asks, and tells nothing, is of no use either.
            let is_silent = |part: &Part| !part.frames.is_done() && now > part.heard_ns + ns(SILENCE);
            lost.extend(phase.parts.iter().filter(|(_, part)| is_silent(part)).map(|(id, _)| id.clone()));
        }
        for id in gone {
            self.workers.remove(&id);
        }
        for id in lost {
            let Some(run) = &mut self.run else { break };
            if let Some(part) = run.phase.as_mut().and_then(|phase| phase.parts.get_mut(&id)) {
                // Who is gone after its last frame has not left anything open.
                if !part.frames.is_done() {
                    part.lost_ns.get_or_insert(now);
                }
            }
            if lose(&mut run.members, &id) {
                self.order(&id, Task::Rest);
            }
        }
    }
}

/// A member is gone; whether it was there.
fn lose(members: &mut BTreeMap<String, Member>, id: &str) -> bool {
    match members.get_mut(id) {
        Some(member) if matches!(member.stage, Stage::Asked | Stage::Ready) => {
            member.stage = Stage::Lost;
            true
        }
        _ => false,
    }
}

/// The run of this name, which somebody has just asked for.
fn named<'a>(run: &'a mut Option<Run>, now: u64, name: &str) -> Result<&'a mut Run, Refusal> {
    let run = run.as_mut().filter(|run| run.name == name).ok_or(Refusal::UnknownRun)?;
    run.heard_ns = now;
    Ok(run)
}

impl Run {
    /// Workers that can make load, and their names.
    fn ready(&self) -> impl Iterator<Item = (String, String)> {
        let ready = self.members.iter().filter(|(_, member)| member.stage == Stage::Ready);
        ready.map(|(id, member)| (id.clone(), member.name.clone()))
    }
}

impl Phase {
    fn seen(&self, now: u64) -> PhaseSeen {
        let age = now.saturating_sub(self.begins_ns);
        let (done, done_since) = self
            .parts
            .values()
            .map(|part| part.frames.done(age))
            .fold((0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        let is_settled = |part: &Part| part.frames.is_done() || part.lost_ns.is_some();
        PhaseSeen {
            number: self.number,
            age_ns: now as i64 - self.begins_ns as i64,
            done,
            done_since,
            result: self.parts.values().all(is_settled).then(|| self.result()),
        }
    }

    fn result(&self) -> (Tally, Vec<PartSeen>) {
        let mut sum = Tally::new(0);
        self.parts.values().for_each(|part| sum.merge(part.frames.tally().clone()));
        let seen = |part: &Part| PartSeen {
            name: part.name.clone(),
            post: part.post,
            counts: part.frames.counts(),
            told_ns: part.frames.until_ns(),
            clock_error_ns: part.clock_error_ns,
            is_done: part.frames.is_done(),
            lost_ns: part.lost_ns.map(|lost| lost.saturating_sub(self.begins_ns)),
        };
        (sum, self.parts.values().map(seen).collect())
    }
}

/// Text of others, as it may be shown at a terminal.
fn shown(text: &str, most: usize) -> String {
    text.chars().map(|letter| if letter.is_control() { '?' } else { letter }).take(most).collect()
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
