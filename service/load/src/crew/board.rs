//! What a service knows of workers and of the load that they make. Time is that of whoever tells it something, by one clock.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::frames::Frames;
use super::messages::{
    Ask, Frame, Go, Look, MOST_CONNECTIONS, MOST_THREADS, Member, Order, PartSeen, PhaseSeen, Refusal, Seen, Stage,
    State, Submitted, Task,
};
use super::post::{Post, posts};
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
    job: Arc<Job>,
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
        let job = Arc::new(submitted.job);
        if !(1..=MOST_CONNECTIONS).contains(&job.connections) || !(1..=MOST_THREADS).contains(&job.threads) {
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
            self.order(id, Task::Prepare { run: name.clone(), job: job.clone() });
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
        if !go.is_sound() {
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
    pub fn look(&mut self, now: u64, look: &Look) -> Result<Seen, Refusal> {
        self.tick(now);
        let run = named(&mut self.run, now, &look.run)?;
        let members = run.members.values().cloned().collect();
        Ok(Seen { members, phase: run.phase.as_ref().map(|phase| phase.seen(now, look.so_far)) })
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
    fn seen(&self, now: u64, wants_so_far: bool) -> PhaseSeen {
        let age = now.saturating_sub(self.begins_ns);
        let (done, done_since) = self
            .parts
            .values()
            .map(|part| part.frames.done(age))
            .fold((0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        let is_settled = |part: &Part| part.frames.is_done() || part.lost_ns.is_some();
        let is_over = self.parts.values().all(is_settled);
        PhaseSeen {
            number: self.number,
            age_ns: now as i64 - self.begins_ns as i64,
            done,
            done_since,
            so_far: (wants_so_far && !is_over).then(|| self.result()),
            result: is_over.then(|| self.result()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::Stretch;
    use crate::pace::Pace;
    use crate::tally::Sent;

    const MS: u64 = 1_000_000;

    fn job() -> Job {
        Job {
            target: "http://h".to_owned(),
            password: None,
            method: None,
            headers: Vec::new(),
            body: None,
            query: None,
            requests: None,
            authority: None,
            http2: false,
            keeps_alive: true,
            timeout: Duration::from_secs(1),
            too_late: Duration::from_secs(1),
            connections: 10,
            threads: 1,
        }
    }

    fn ask(board: &mut Board, now: u64, worker: &str, heard: u64) -> Order {
        let ask = Ask { worker: worker.to_owned(), name: format!("host\x1b/{worker}"), heard };
        board.ask(now * MS, &ask).unwrap()
    }

    fn go(phase: u64, run: &str) -> Go {
        let stretch = Stretch { pace: Pace::Constant(300.0), duration: Duration::from_secs(1), seed: 1 };
        Go { run: run.to_owned(), phase, stretch, post: None, begins_ns: 0 }
    }

    /// A board with these workers, of which those that `can` have prepared themselves at 10 ms.
    fn begun(workers: &[&str], can: &[&str]) -> (Board, String) {
        let mut board = Board::default();
        workers.iter().for_each(|worker| _ = ask(&mut board, 0, worker, 0));
        let run = board.begin(5 * MS, Submitted { job: job() }).unwrap();
        for worker in workers {
            let refused = (!can.contains(worker)).then(|| "no\nway".to_owned());
            let state = State { worker: (*worker).to_owned(), run: run.clone(), refused };
            board.prepared(10 * MS, state).unwrap();
        }
        (board, run)
    }

    fn frame(worker: &str, run: &str, sequence: u64, requests: u64, is_last: bool) -> Frame {
        let mut tally = Tally::new(0);
        for number in 0..requests {
            let sent = Sent { planned_ns: number * MS, sent_ns: number * MS };
            tally.planned += 1;
            tally.send(sent, false);
            tally.answer(sent, sent.sent_ns + MS);
        }
        Frame {
            worker: worker.to_owned(),
            run: run.to_owned(),
            phase: 1,
            sequence,
            until_ns: (sequence + 1) * 250 * MS,
            clock_error_ns: 5,
            is_last,
            leaves: false,
            tally,
        }
    }

    fn look(run: &str) -> Look {
        Look { run: run.to_owned(), so_far: true }
    }

    fn task(order: Order) -> Option<Task> {
        order.task
    }

    #[test]
    fn workers_are_asked_get_their_posts_and_are_added_up() {
        let (mut board, run) = begun(&["a", "b", "c"], &["a", "c"]);
        let prepare = ask(&mut board, 11, "a", 0);
        assert!(matches!(&prepare.task, Some(Task::Prepare { run: there, .. }) if *there == run));
        assert!(task(ask(&mut board, 12, "a", prepare.number)).is_none(), "nothing new");
        board.go(20 * MS, &go(1, &run)).unwrap();
        board.go(21 * MS, &go(1, &run)).unwrap(); // the answer was lost
        let posts: Vec<_> = ["a", "c"]
            .iter()
            .map(|worker| match task(ask(&mut board, 22, worker, 1)) {
                Some(Task::Drive(Go { post: Some(post), begins_ns, .. })) => (post, begins_ns),
                _ => panic!("{worker} has nothing to do"),
            })
            .collect();
        assert_eq!(
            posts.iter().map(|(post, _)| (post.first, post.of, post.connections)).collect::<Vec<_>>(),
            [(0, 2, 5), (1, 2, 5)]
        );
        assert!(posts.iter().all(|(_, begins_ns)| *begins_ns == 20 * MS + ns(LEAD)), "they begin together");
        assert!(!matches!(task(ask(&mut board, 22, "b", 0)), Some(Task::Drive(_))), "it cannot");
        for (sequence, now) in [(0, 600), (0, 610), (1, 850)] {
            assert!(!board.frame(now * MS, frame("a", &run, sequence, 20, false)).unwrap());
        }
        board.frame(860 * MS, frame("c", &run, 0, 30, true)).unwrap();
        let seen = board.look(900 * MS, &look(&run)).unwrap();
        let phase = seen.phase.unwrap();
        assert_eq!((phase.done, phase.age_ns, phase.result.is_none()), (70, 580_000_000, true));
        assert_eq!(phase.so_far.unwrap().0.answered, 70, "and what that was");
        board.frame(1000 * MS, frame("a", &run, 2, 1, true)).unwrap();
        let (sum, parts) = board.look(1010 * MS, &look(&run)).unwrap().phase.unwrap().result.unwrap();
        assert_eq!(
            (sum.sent, sum.latency.count(), parts.iter().map(|part| part.counts.sent).sum::<u64>()),
            (71, 71, 71)
        );
        // What others say is shown as it is, but for what would do something at a terminal.
        assert_eq!(
            seen.members.iter().find(|member| member.name == "host?/b").unwrap().stage,
            Stage::Refused("no?way".into())
        );
        board.end(&run);
        assert!(matches!(task(ask(&mut board, 1020, "a", 0)), Some(Task::Rest)));
        assert_eq!(board.look(1020 * MS, &look(&run)).unwrap_err(), Refusal::UnknownRun);
    }

    #[test]
    fn who_is_silent_is_lost_and_others_have_its_part_in_the_next_phase() {
        let (mut board, run) = begun(&["a", "b"], &["a", "b"]);
        board.go(20 * MS, &go(1, &run)).unwrap();
        board.frame(600 * MS, frame("b", &run, 0, 7, false)).unwrap();
        let mut sequence = 0;
        for now in (600..4000).step_by(250) {
            board.frame(now * MS, frame("a", &run, sequence, 1, false)).unwrap();
            sequence += 1;
            // It still asks what to do, but tells nothing.
            ask(&mut board, now, "b", 0);
        }
        let is_over = board.frame(4000 * MS, frame("a", &run, sequence, 1, true)).unwrap();
        assert!(!is_over);
        let seen = board.look(4001 * MS, &look(&run)).unwrap();
        let (sum, parts) = seen.phase.unwrap().result.unwrap();
        let lost = parts.iter().find(|part| part.name.ends_with('b')).unwrap();
        assert_eq!((lost.counts.sent, lost.told_ns, lost.is_done), (7, 250 * MS, false));
        assert!((2280..2600).contains(&(lost.lost_ns.unwrap() / MS)), "{lost:?}");
        assert_eq!(sum.sent, sequence + 1 + 7);
        assert!(seen.members.iter().any(|member| member.stage == Stage::Lost));
        assert!(matches!(task(ask(&mut board, 4002, "b", 0)), Some(Task::Rest)), "it is told to end");
        // What it tells yet is added, and it is told that it is over.
        assert!(board.frame(4003 * MS, frame("b", &run, 1, 2, false)).unwrap());
        board.go(4010 * MS, &go(2, &run)).unwrap();
        let Some(Task::Drive(alone)) = task(ask(&mut board, 4011, "a", 0)) else { panic!("it has nothing to do") };
        assert_eq!(alone.post, Some(Post { first: 0, threads: 1, of: 1, connections: 10 }));
    }

    #[test]
    fn whose_connection_ends_is_lost_soon_unless_it_comes_again() {
        let (mut board, run) = begun(&["a", "b"], &["a", "b"]);
        board.go(20 * MS, &go(1, &run)).unwrap();
        board.away(400 * MS, "a");
        board.away(400 * MS, "b");
        ask(&mut board, 500, "b", 0);
        let stages = |board: &mut Board, now: u64| {
            board
                .look(now * MS, &look(&run))
                .unwrap()
                .members
                .into_iter()
                .map(|member| member.stage)
                .collect::<Vec<_>>()
        };
        assert_eq!(stages(&mut board, 890), [Stage::Ready, Stage::Ready]);
        assert_eq!(stages(&mut board, 910), [Stage::Lost, Stage::Ready]);
        // Who goes by itself is gone at once.
        let leaving = Frame { leaves: true, ..frame("b", &run, 0, 3, true) };
        board.frame(920 * MS, leaving).unwrap();
        assert_eq!(stages(&mut board, 921), [Stage::Lost, Stage::Lost]);
        let (_, parts) = board.look(922 * MS, &look(&run)).unwrap().phase.unwrap().result.unwrap();
        assert_eq!(parts.iter().map(|part| part.is_done).collect::<Vec<_>>(), [false, true]);
        assert_eq!(board.go(930 * MS, &go(2, &run)).unwrap_err(), Refusal::AllGone);
    }

    #[test]
    fn load_that_nobody_asks_for_is_over_and_others_may_have_the_workers() {
        let (mut board, run) = begun(&["a"], &["a"]);
        board.go(20 * MS, &go(1, &run)).unwrap();
        let alive = |board: &mut Board, now: u64| ask(board, now, "a", 0);
        (0..5).for_each(|second| _ = alive(&mut board, second * 1000));
        assert_eq!(board.begin(4100 * MS, Submitted { job: job() }).unwrap_err(), Refusal::Busy);
        board.frame(4200 * MS, frame("a", &run, 0, 1, false)).unwrap();
        assert!(matches!(task(alive(&mut board, 5500)), Some(Task::Rest)), "whoever wanted it has gone");
        assert_eq!(board.frame(5501 * MS, frame("a", &run, 1, 1, false)).unwrap_err(), Refusal::UnknownRun);
        assert!(board.begin(5600 * MS, Submitted { job: job() }).is_ok());
        assert_eq!(Board::default().begin(0, Submitted { job: job() }).unwrap_err(), Refusal::NoWorkers);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let (mut board, run) = begun(&["a"], &["a"]);
        let wrong = Stretch { pace: Pace::Constant(f64::INFINITY), duration: Duration::from_secs(1), seed: 1 };
        let too_long = Stretch { pace: Pace::Max, duration: Duration::MAX, seed: 1 };
        for stretch in [wrong, too_long] {
            assert!(matches!(board.go(20 * MS, &Go { stretch, ..go(1, &run) }), Err(Refusal::NoLoad(_))));
        }
        let post = |first, threads, of, connections| Go {
            post: Some(Post { first, threads, of, connections }),
            ..go(1, &run)
        };
        assert!(post(2, 1, 3, 5).is_sound());
        for wrong in [post(3, 1, 3, 5), post(u64::MAX, 1, 3, 5), post(0, 300, 300, 5), post(0, 1, 1, 1 << 40)] {
            assert!(!wrong.is_sound());
        }
        let many = Job { connections: 1 << 40, ..job() };
        assert!(matches!(Board::default().begin(0, Submitted { job: many }), Err(Refusal::NoLoad(_))));
        (0..300).for_each(|number| {
            let ask = Ask { worker: format!("w{number}"), name: String::new(), heard: 0 };
            assert_eq!(board.ask(30 * MS, &ask).is_ok(), number < MOST_WORKERS - 1);
        });
    }
}
