//! A thread that drives its connections: it sends each request at its planned time, or as soon after as a connection is free.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mio::{Events, Poll, Token};

use super::connection::{Connection, Happened, Outcome, State};
use super::protocol::{End, Protocol, Scratch};
use super::tls::Tls;
use super::wait::{be_punctual, wait};
use crate::failure::{Failure, NotSent};
use crate::pace::{Pace, Plan};
use crate::phase::{Driver, EVERY, GRACE, Part, Patience, Phase, Shared};
use crate::tally::{Sent, Tally};

/// Events that are taken at once.
const EVENTS: usize = 1024;

/// Bytes that are read at once.
const BUFFER: usize = 1 << 16;

/// It looks after what takes too long, and whether the run is to end, no less often.
const LOOK: Duration = Duration::from_millis(5);

/// A connection that cannot be made is tried again no sooner, where nothing else sets the pace.
const REST: Duration = Duration::from_millis(10);

/// A request that has waited no longer than this when a step ends is late by chance, or because this thread is: it is sent yet.
const BACKLOG: Duration = Duration::from_millis(100);

/// For so long.
const DRAIN: Duration = Duration::from_millis(250);

/// Who is driven, and how.
#[derive(Debug)]
pub struct Target<P> {
    /// Where it is.
    pub address: SocketAddr,
    /// How TLS is spoken with it, if it is.
    pub tls: Option<Tls>,
    /// What it is sent.
    pub protocol: P,
    /// Whether a connection is used again.
    pub keeps_alive: bool,
    /// How patient the run is.
    pub patience: Patience,
}

impl<P> Target<P> {
    /// Where it is, and whether TLS is spoken there.
    fn place(&self) -> (SocketAddr, Option<&Tls>) {
        (self.address, self.tls.as_ref())
    }
}

/// A thread's part.
pub struct Worker<P: Protocol> {
    target: Arc<Target<P>>,
    poll: Poll,
    events: Events,
    connections: Vec<Connection<P::Dialogue>>,
    /// Connections that may be free: open ones, the one that has rested longest first.
    idle: VecDeque<usize>,
    /// And those that are not open.
    closed: VecDeque<usize>,
    /// Those that could not be made, and when they are tried again.
    resting: VecDeque<(u64, usize)>,
    busy: usize,
    buffer: Vec<u8>,
    scratch: Scratch,
    /// Requests that it has sent, in all phases.
    number: u64,
}

impl<P: Protocol> Worker<P> {
    /// With so many connections, none of them open.
    pub fn new(target: Arc<Target<P>>, connections: usize) -> io::Result<Self> {
        Ok(Self {
            target,
            poll: Poll::new()?,
            events: Events::with_capacity(EVENTS),
            connections: (0..connections).map(|_| Connection::new()).collect(),
            idle: VecDeque::new(),
            closed: (0..connections).collect(),
            resting: VecDeque::new(),
            busy: 0,
            buffer: vec![0; BUFFER],
            scratch: Scratch::default(),
            number: 0,
        })
    }

    /// Opens connections ahead of requests.
    fn open_all(&mut self, tally: &mut Tally, now_ns: u64) {
        for _ in 0..self.closed.len() {
            let Some(index) = self.closed.pop_front() else { break };
            let connection = &mut self.connections[index];
            // It is not the request's time yet, but the handshake's.
            connection.sent = Sent { planned_ns: now_ns, sent_ns: now_ns };
            match connection.open(self.target.place(), &self.target.protocol, self.poll.registry(), Token(index)) {
                Ok(()) => tally.connections += 1,
                Err(_) => self.closed.push_back(index),
            }
        }
    }

    /// A connection that is free.
    fn free(&mut self) -> Option<usize> {
        while let Some(index) = self.idle.pop_front() {
            if self.connections[index].state == State::Idle {
                return Some(index);
            }
        }
        while let Some(index) = self.closed.pop_front() {
            if self.connections[index].state == State::Closed {
                return Some(index);
            }
        }
        None
    }
}

impl<P: Protocol> Driver for Worker<P> {
    fn drive(&mut self, phase: &Phase, thread: u64, shared: &Shared) -> Tally {
        if phase.pace != Pace::Max {
            be_punctual();
        }
        let random = fastrand::Rng::with_seed(phase.seed.wrapping_add(thread));
        let plan = Plan::new(phase.pace, phase.begins_ns, (thread, phase.threads), random.clone());
        let mut tally = Tally::new(phase.begins_ns);
        if self.target.keeps_alive {
            self.open_all(&mut tally, shared.now_ns());
        }
        let waiting = VecDeque::new();
        // Other numbers than the plan has.
        let random = fastrand::Rng::with_seed(!phase.seed.wrapping_add(thread));
        let mut drive = Drive {
            worker: self,
            phase,
            shared,
            tally,
            plan,
            waiting,
            random,
            thread,
            next_look: 0,
            next_part: phase.begins_ns + EVERY.as_nanos() as u64,
            drains_until: None,
        };
        drive.run();
        drive.tally
    }
}

/// A phase that is being driven.
struct Drive<'a, P: Protocol> {
    worker: &'a mut Worker<P>,
    phase: &'a Phase,
    shared: &'a Shared,
    tally: Tally,
    plan: Plan,
    /// When requests were planned for which no connection has been free yet.
    waiting: VecDeque<u64>,
    random: fastrand::Rng,
    thread: u64,
    next_look: u64,
    /// When it tells what it has counted, if anybody is told.
    next_part: u64,
    /// After the end, until when requests are still sent that were planned before.
    drains_until: Option<u64>,
}

impl<P: Protocol> Drive<'_, P> {
    fn run(&mut self) {
        let mut given_up = None;
        loop {
            let now = self.shared.now_ns();
            if given_up.is_none() && self.shared.is_over.load(Ordering::Relaxed) {
                given_up = Some(now + GRACE.as_nanos() as u64);
            }
            let is_open = given_up.is_none() && (now < self.phase.ends_ns || self.drains(now));
            if is_open && now >= self.phase.begins_ns {
                self.send_what_is_due(now);
            } else if !is_open {
                self.end(given_up.is_some());
                if self.worker.busy == 0 {
                    break;
                }
                if given_up.is_some_and(|given_up| now >= given_up) {
                    self.cut_off();
                    break;
                }
            }
            self.look(now);
            let next = match is_open {
                true if now < self.phase.begins_ns => self.phase.begins_ns,
                true if now < self.phase.ends_ns => self.plan.peek().min(self.phase.ends_ns),
                true => u64::MAX,
                false => u64::MAX,
            };
            let most = next.min(self.next_look).saturating_sub(self.shared.now_ns());
            let exactly = is_open && self.phase.pace != Pace::Max;
            let worker = &mut *self.worker;
            if wait(&mut worker.poll, &mut worker.events, Duration::from_nanos(most), exactly).is_err() {
                // Without events nothing would ever end; that is a broken system.
                self.cut_off();
                break;
            }
            self.take_events();
        }
    }

    /// Whether, after the end, there is something yet to be sent: not if the server has long been behind.
    fn drains(&mut self, now: u64) -> bool {
        let end = self.phase.ends_ns;
        // What this thread has not looked at yet waits for nobody else.
        let waited = self.waiting.front().map_or(0, |oldest| end.saturating_sub(*oldest));
        let until = *self.drains_until.get_or_insert_with(|| match waited {
            _ if waited <= BACKLOG.as_nanos() as u64 => now + DRAIN.as_nanos() as u64,
            _ => now,
        });
        let has_any = !self.waiting.is_empty() || self.plan.peek() < end;
        has_any && now < until
    }

    fn send_what_is_due(&mut self, now: u64) {
        if self.phase.pace == Pace::Max {
            while let Some(index) = self.worker.free() {
                let now = self.shared.now_ns();
                self.tally.planned += 1;
                // It has no plan to be late for.
                self.send(index, now, true);
            }
            return;
        }
        let too_late = self.worker.target.patience.for_connection.as_nanos() as u64;
        while let Some(&planned) = self.waiting.front() {
            if now.saturating_sub(planned) > too_late {
                self.tally.skip(planned, NotSent::NoFreeConnection);
            } else if let Some(index) = self.worker.free() {
                self.send(index, planned, true);
            } else {
                break;
            }
            self.waiting.pop_front();
        }
        let end = self.phase.ends_ns;
        while self.plan.peek() <= now && self.plan.peek() < end {
            let planned = self.plan.peek();
            self.plan.advance();
            self.tally.planned += 1;
            match self.worker.free().filter(|_| self.waiting.is_empty()) {
                Some(index) => self.send(index, planned, false),
                None => self.waiting.push_back(planned),
            }
        }
    }

    /// The phase is over: what has not been sent is not.
    fn end(&mut self, is_cut_short: bool) {
        for planned in std::mem::take(&mut self.waiting) {
            self.tally.skip(planned, NotSent::AtEnd);
        }
        while !is_cut_short && self.plan.peek() < self.phase.ends_ns {
            self.tally.planned += 1;
            self.tally.skip(self.plan.peek(), NotSent::AtEnd);
            self.plan.advance();
        }
    }

    fn send(&mut self, index: usize, planned_ns: u64, waited: bool) {
        let Worker { target, connections, poll, scratch, number, busy, .. } = &mut *self.worker;
        // No two threads have one.
        let own = *number * self.phase.threads + self.thread + 1;
        *number += 1;
        let (bytes, kind) = target.protocol.request(own, &mut self.random, scratch);
        let sent = Sent { planned_ns, sent_ns: self.shared.now_ns() };
        self.tally.send(sent, waited);
        *busy += 1;
        let connection = &mut connections[index];
        connection.sent = sent;
        let mut opened = Ok(());
        if connection.state == State::Closed {
            opened = connection.open(target.place(), &target.protocol, poll.registry(), Token(index));
            self.tally.connections += u64::from(opened.is_ok());
        }
        if let Err(failure) = opened.and_then(|()| connection.send(bytes, kind)) {
            self.fail(index, failure);
        }
    }

    fn fail(&mut self, index: usize, failure: Failure) {
        let worker = &mut *self.worker;
        let connection = &mut worker.connections[index];
        let is_away = failure == Failure::Connect || matches!(connection.state, State::Opening { .. });
        self.tally.fail(connection.sent, failure);
        self.shared.done.fetch_add(1, Ordering::Relaxed);
        connection.close();
        worker.busy -= 1;
        if is_away && self.phase.pace == Pace::Max {
            worker.resting.push_back((self.shared.now_ns() + REST.as_nanos() as u64, index));
        } else {
            worker.closed.push_back(index);
        }
    }

    fn take_events(&mut self) {
        let events = std::mem::replace(&mut self.worker.events, Events::with_capacity(1));
        for event in &events {
            let index = event.token().0;
            let happened =
                Happened { is_readable: event.is_readable(), is_closed: event.is_read_closed() || event.is_error() };
            let worker = &mut *self.worker;
            match worker.connections[index].happen(happened, &mut worker.buffer, &mut self.tally.bytes) {
                Outcome::Nothing => {}
                Outcome::Opened => worker.idle.push_back(index),
                Outcome::Left => {
                    worker.connections[index].close();
                    worker.closed.push_back(index);
                }
                Outcome::Failed(failure) => self.fail(index, failure),
                Outcome::Answered(end) => self.answered(index, end),
            }
        }
        self.worker.events = events;
    }

    fn answered(&mut self, index: usize, End { status, failure, keeps_alive }: End) {
        let now = self.shared.now_ns();
        let worker = &mut *self.worker;
        let connection = &mut worker.connections[index];
        if let Some(status) = status {
            *self.tally.statuses.entry(status).or_default() += 1;
        }
        match failure {
            None => self.tally.answer(connection.sent, now),
            Some(failure) => self.tally.fail(connection.sent, failure),
        }
        self.shared.done.fetch_add(1, Ordering::Relaxed);
        worker.busy -= 1;
        if keeps_alive && worker.target.keeps_alive {
            connection.state = State::Idle;
            worker.idle.push_back(index);
        } else {
            connection.close();
            worker.closed.push_back(index);
        }
    }

    /// Looks after what takes too long, now and then.
    fn look(&mut self, now: u64) {
        if now < self.next_look {
            return;
        }
        self.next_look = now + LOOK.as_nanos() as u64;
        self.tell(now);
        while let Some(&(_, index)) = self.worker.resting.front().filter(|(until, _)| *until <= now) {
            self.worker.resting.pop_front();
            self.worker.closed.push_back(index);
        }
        let timeout = self.worker.target.patience.timeout.as_nanos() as u64;
        for index in 0..self.worker.connections.len() {
            let connection = &mut self.worker.connections[index];
            if now.saturating_sub(connection.sent.sent_ns) <= timeout {
                continue;
            }
            match connection.state {
                State::Busy | State::Opening { has_request: true } => self.fail(index, Failure::Timeout),
                // A server that takes connections and says no more would keep them all.
                State::Opening { has_request: false } => {
                    connection.close();
                    self.worker.closed.push_back(index);
                }
                State::Idle | State::Closed => {}
            }
        }
    }

    /// Hands on what it has counted, when it is time: a move, as adding up would take time from requests.
    fn tell(&mut self, now: u64) {
        let Some(parts) = self.shared.parts.as_ref().filter(|_| now >= self.next_part) else { return };
        let every = EVERY.as_nanos() as u64;
        self.next_part += (now - self.next_part) / every * every + every;
        let tally = std::mem::replace(&mut self.tally, Tally::new(self.phase.begins_ns));
        // Who is told no more has gone, and with it whoever would want to know.
        let _ = parts.send(Part { thread: self.thread, until_ns: now, tally });
    }

    /// Ends without the answers that are on their way.
    fn cut_off(&mut self) {
        let worker = &mut *self.worker;
        for (index, connection) in worker.connections.iter_mut().enumerate() {
            if matches!(connection.state, State::Busy | State::Opening { has_request: true }) {
                self.tally.cut_off += 1;
                connection.close();
                worker.closed.push_back(index);
            }
        }
        worker.busy = 0;
    }
}
