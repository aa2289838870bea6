//! Runs both sides in turn, and keeps what is complete.
//!
//! The order is A B B A: what changes while it lasts (a processor that gets warm, a disk that fills) then weighs the same on
//! both. Every run has a profile of its own, which gets its place in the set when the run is complete.

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use super::counters::Available;
use super::interrupts::{Interrupt, Interrupts};
use super::looking::Looking;
use super::plan::{Amount, Layouts, Options, Plan, Query, Side};
use super::precision;
use super::progress::Progress;
use super::server::Running;
use super::step::{self, Environment};
use super::{Error, Stop, folder, layout, metrics, say, snapshots};
use crate::record;
use diytrace_compare::diff;
use diytrace_compare::runs::{Metrics, Run, Runs, metric};
use diytrace_profile::load;

/// What a session does everything with.
pub struct Session<'a> {
    /// How.
    pub options: &'a Options,
    /// What.
    pub plan: &'a Plan,
    /// The machine's facts.
    pub machine: &'a serde_json::Value,
    /// What can be counted.
    pub available: &'a Available,
    /// Whether to go on.
    pub interrupts: &'a Interrupts,
    /// How many layouts are made already.
    pub layouts_from: u32,
    /// How what was measured is compared.
    pub judging: &'a diff::Options,
}

/// What there is in the end.
pub struct Measured {
    /// A set of runs for each side.
    pub sides: Vec<Runs>,
    /// It was ended early.
    pub interrupt: Option<Interrupt>,
    /// The time limit came before everything was run that was asked for.
    pub is_cut_short: bool,
}

impl Session<'_> {
    /// Measures these queries (by number), and writes a set for each side into the folder after every run.
    pub fn measure(&self, queries: &[usize], folder: &Path, amount: Amount) -> Result<Measured, Error> {
        let mut work = Work::new(self, queries, folder, amount)?;
        let result = work.run();
        drop(work.progress.take());
        let cleaned = work.clean_up();
        folder::remove(&work.running())?;
        let interrupt = match result.and(cleaned) {
            Ok(()) => None,
            Err(Stop::Interrupted(interrupt)) => Some(interrupt),
            Err(Stop::Failed(error)) => return Err(error),
        };
        let Work { sides, is_cut_short, .. } = work;
        Ok(Measured { sides, interrupt, is_cut_short })
    }
}

/// A session at work.
struct Work<'a> {
    session: &'a Session<'a>,
    queries: Vec<usize>,
    names: Vec<String>,
    folder: PathBuf,
    amount: Amount,
    /// Where it is looked at whether more runs would decide anything.
    looking: Option<Looking>,
    begun: Instant,
    /// What all commands of this round see, beside what their side's do.
    turn: Environment,
    sides: Vec<Runs>,
    servers: Vec<Running<'a>>,
    /// Sides whose setup has begun.
    set_up: usize,
    progress: Option<Progress>,
    is_cut_short: bool,
    is_restless: bool,
}

impl<'a> Work<'a> {
    fn new(session: &'a Session<'a>, queries: &[usize], folder: &Path, amount: Amount) -> Result<Self, Error> {
        let set = |side: &Side| Runs {
            name: side.name.to_owned(),
            command: side.title.clone(),
            machine: session.machine.clone(),
            folder: folder.join(side.name),
            ..Runs::default()
        };
        let sides: Vec<_> = session.plan.sides.iter().map(set).collect();
        for side in &sides {
            folder::new(&side.folder)?;
        }
        let queries = queries.to_vec();
        Ok(Self {
            session,
            names: folder::names(session.plan.queries.iter().map(|query| query.name.as_deref())),
            folder: folder.to_owned(),
            amount,
            looking: match amount {
                Amount::Decided(looks) => Some(Looking::new(looks)),
                Amount::Runs(_) | Amount::Precision(_) => None,
            },
            begun: Instant::now(),
            turn: Environment::new(),
            sides,
            servers: Vec::new(),
            set_up: 0,
            progress: None,
            is_cut_short: false,
            is_restless: false,
            queries,
        })
    }

    fn run(&mut self) -> Result<(), Stop> {
        let Session { options, plan, .. } = self.session;
        for (index, side) in plan.sides.iter().enumerate() {
            self.set_up = index + 1;
            if let Some(command) = &side.setup {
                let mut environment = step::environment(side);
                if side.server.is_some() {
                    environment.push(("DIYTRACE_OUT".to_owned(), self.profiles_of(side).into_os_string()));
                }
                self.step(side, "setup", command, &environment)?;
            }
        }
        self.link()?;
        self.progress = Some(Progress::new(self.expected()));
        for round in 0.. {
            let open = self.open()?;
            if open.is_empty() {
                break;
            }
            if round == 0 || self.restarts() && round % plan.restart_after == 0 {
                self.start_servers(round)?;
                for warmup in 0..options.warmup {
                    for &query in &open {
                        self.pair(round + warmup, query, false)?;
                    }
                }
                if round == 0 {
                    self.begun = Instant::now();
                }
            }
            for query in open {
                let is_late = self.limit().is_some_and(|limit| Instant::now() >= limit);
                if is_late && self.runs_of(0, query) > 0 {
                    self.is_cut_short = true;
                    return Ok(());
                }
                self.pair(round, query, true)?;
            }
        }
        Ok(())
    }

    /// Has each side's layouts made.
    fn link(&mut self) -> Result<(), Stop> {
        let Session { options, plan, layouts_from, .. } = self.session;
        let Some(Layouts { count, link }) = &options.layouts else { return Ok(()) };
        for round in 0..*count {
            self.turn = layout::variables(round, Some((*layouts_from, *count)));
            for side in &plan.sides {
                self.step(side, "linking", link, &self.environment(side))?;
            }
        }
        Ok(())
    }

    /// From here on it is this round: where things lie differs from the last.
    fn turn_to(&mut self, round: u32) {
        let layouts = self.session.options.layouts.as_ref();
        self.turn = layout::variables(round, layouts.map(|layouts| (self.session.layouts_from, layouts.count)));
    }

    /// What a side's commands see in this round.
    fn environment(&self, side: &Side) -> Environment {
        step::environment(side).into_iter().chain(self.turn.clone()).collect()
    }

    /// Starts the servers, afresh if they are running: the one first that runs first.
    fn start_servers(&mut self, round: u32) -> Result<(), Stop> {
        self.turn_to(round);
        let Session { plan, interrupts, available, .. } = self.session;
        for server in std::mem::take(&mut self.servers) {
            let profiles = server.folder.clone();
            server.stop(interrupts)?;
            // What it did in its runs is in their snapshots.
            folder::clear(&profiles)?;
        }
        for index in order(plan.sides.len(), round) {
            let side = &plan.sides[index];
            if let Some(server) = &side.server {
                let profiles = self.profiles_of(side);
                let recorded = self.recorded(side, &profiles)?;
                let places = (profiles, self.folder.join(side.name).join("server.log"));
                self.servers.push(Running::start((side, server), &recorded, places, (available, interrupts))?);
            }
        }
        self.servers.sort_by_key(|server| plan.sides.iter().position(|side| side.name == server.side.name));
        Ok(())
    }

    fn restarts(&self) -> bool {
        !self.servers.is_empty() && self.session.plan.restart_after > 0
    }

    fn profiles_of(&self, side: &Side) -> PathBuf {
        self.folder.join(side.name).join("server")
    }

    /// One run of each side: A B, and B A the next time.
    fn pair(&mut self, round: u32, query: usize, counts: bool) -> Result<(), Stop> {
        self.turn_to(round);
        for side in order(self.sides.len(), round) {
            let plan = self.session.plan;
            let (side_of_plan, query_of_plan) = (&plan.sides[side], &plan.queries[query]);
            let number = if counts { self.runs_of(side, query) as u32 + 1 } else { 0 };
            let what = title(side_of_plan, query_of_plan, number);
            if let Some(progress) = &self.progress {
                progress.begin(&what);
            }
            self.session.interrupts.check()?;
            folder::remove(&self.running())?;
            if let Some(command) = &query_of_plan.prepare {
                self.step(side_of_plan, "prepare", command, &self.environment(side_of_plan))?;
            }
            let started = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            let measured = match self.servers.is_empty() {
                true => self.command(side, query, &what),
                false => self.query(side, query, &what),
            }?;
            if counts {
                let number_of_folder = format!("{number:03}");
                let place = self.sides[side].folder.join(&self.names[query]).join(number_of_folder);
                folder::give_place(&self.running(), &place)?;
                folder::save_names(&place);
                let moved = |profile: PathBuf| moved(&profile, &self.running(), &place);
                let run = Run {
                    query: query_of_plan.name.clone(),
                    number,
                    started_unix_ns: u64::try_from(started.as_nanos()).ok(),
                    profiles: measured.profiles.into_iter().map(moved).collect(),
                    status: measured.status,
                    metrics: measured.metrics,
                    elsewhere: None,
                };
                self.sides[side].runs.push(run);
                self.sides[side].write().map_err(Error::from)?;
            }
            let (expected, limit) = (self.expected(), self.limit());
            if let Some(progress) = &mut self.progress {
                progress.step(expected, limit);
            }
        }
        Ok(())
    }

    /// A fresh process.
    fn command(&mut self, side: usize, query: usize, what: &str) -> Result<One, Stop> {
        let Session { options, plan, interrupts, available, .. } = self.session;
        let running = self.running();
        let environment = self.recorded(&plan.sides[side], &running)?;
        let command = &plan.queries[query].commands[side];
        let mut counters = available.open(false);
        let ended = step::end_of((what, command), &environment, options.show_output, interrupts)?;
        let counted = counters.read();
        self.check(&ended, what, command)?;
        match load::find(std::slice::from_ref(&running)) {
            Ok(_) => {}
            Err(load::Error::Empty { .. }) => {
                let (what, command) = (what.to_owned(), command.clone());
                return Err(Error::NoProfile { what, command, folder: running }.into());
            }
            Err(error) => return Err(Error::from(error).into()),
        }
        let mut metrics = metrics::of(&ended);
        metrics.extend(counted.into_iter().map(|(name, value)| (name.to_owned(), value)));
        Ok(One { profiles: vec![running], status: record::exit_code(ended.status), metrics })
    }

    /// What a server does for a command.
    fn query(&mut self, side: usize, query: usize, what: &str) -> Result<One, Stop> {
        let Session { options, plan, interrupts, .. } = self.session;
        let running = self.running();
        folder::new(&running)?;
        let command = &plan.queries[query].commands[side];
        let environment = self.environment(&plan.sides[side]);
        self.settle(side)?;
        let server = &mut self.servers[side];
        let before = snapshots::take(&server.folder, &running, "before").map_err(Error::from)?;
        let counted_before = server.counters.read();
        let ended = step::end_of((what, command), &environment, options.show_output, interrupts)?;
        self.settle(side)?;
        let server = &mut self.servers[side];
        let counted_after = server.counters.read();
        let after = snapshots::take(&server.folder, &running, "after").map_err(Error::from)?;
        self.check(&ended, what, command)?;
        let profiles = snapshots::between(&before, after);
        if profiles.is_empty() {
            return Err(Error::NothingCounted { side: plan.sides[side].name, what: what.to_owned() }.into());
        }
        let mut metrics = Metrics::from([(metric::WALL.to_owned(), ended.wall.as_nanos() as f64)]);
        for (name, value) in counted_after {
            if let Some((_, earlier)) = counted_before.iter().find(|(other, _)| *other == name) {
                metrics.insert(name.to_owned(), value - earlier);
            }
        }
        Ok(One { profiles, status: record::exit_code(ended.status), metrics })
    }

    fn settle(&mut self, side: usize) -> Result<(), Stop> {
        let is_at_rest = self.servers[side].settle(self.session.interrupts)?;
        if !is_at_rest && !self.is_restless {
            self.is_restless = true;
            let name = self.session.plan.sides[side].name;
            say(&format!(
                "warning: the {name} server goes on counting after a query (`settle` in the scenario): what it does then may be in its runs"
            ));
        }
        Ok(())
    }

    fn check(&self, ended: &super::shell::Ended, what: &str, command: &str) -> Result<(), Error> {
        let options = self.session.options;
        if ended.status.success() || options.ignore_failure {
            return Ok(());
        }
        Err(step::failed(what.to_owned(), ended.status, command, options.show_output))
    }

    /// Stops and cleans up what was started and set up, all of it whatever fails.
    fn clean_up(&mut self) -> Result<(), Stop> {
        let Session { plan, interrupts, options, .. } = self.session;
        let mut result = Ok(());
        for server in std::mem::take(&mut self.servers) {
            result = result.and(server.stop(interrupts));
        }
        for side in &plan.sides[..self.set_up] {
            if let Some(command) = &side.cleanup {
                result = result.and(step::run(side, "cleanup", command, options.show_output, interrupts));
            }
        }
        result
    }

    fn step(&self, side: &Side, what: &str, command: &str, environment: &Environment) -> Result<(), Stop> {
        let Session { options, interrupts, .. } = self.session;
        let what = format!("{what} of {}", side.name);
        let ended = step::end_of((&what, command), environment, options.show_output, interrupts)?;
        if ended.status.success() {
            return Ok(());
        }
        Err(step::failed(what, ended.status, command, options.show_output).into())
    }

    /// What a side's recorded command sees. Both sides record to one place, so that their environments are of one length.
    fn recorded(&self, side: &Side, out: &Path) -> Result<Environment, Error> {
        let Session { options, plan, .. } = self.session;
        let mut how = record::Options { out: Some(out.to_owned()), ..options.record.clone() };
        if how.roots.is_empty() {
            how.roots.clone_from(&plan.roots);
        }
        if how.excludes.is_empty() {
            how.excludes.clone_from(&plan.excludes);
        }
        how.depth = how.depth.or(plan.depth);
        // Every query's processes would lie in every later snapshot.
        if side.server.is_some() && std::env::var_os("DIYTRACE_KEEP").is_none() {
            how.keep = how.keep.or(Some(0));
        }
        let recorder = record::environment(&how)?.into_iter().map(|(name, value)| (name.to_owned(), value));
        Ok(self.environment(side).into_iter().chain(recorder).collect())
    }

    fn running(&self) -> PathBuf {
        self.folder.join("running")
    }

    fn limit(&self) -> Option<Instant> {
        Some(self.begun + self.session.options.time_limit?)
    }

    fn runs_of(&self, side: usize, query: usize) -> usize {
        self.sides[side].of(self.session.plan.queries[query].name.as_deref()).count()
    }

    /// The queries that there are not enough runs of.
    fn open(&mut self) -> Result<Vec<usize>, Error> {
        let mut open = Vec::new();
        for &query in &self.queries {
            let is_enough = match self.amount {
                Amount::Runs(runs) => self.runs_of(0, query) >= runs as usize,
                Amount::Precision(wanted) => self.half_width(query).is_some_and(|reached| reached <= wanted),
                Amount::Decided(_) => {
                    let name = self.session.plan.queries[query].name.as_deref();
                    let looking = self.looking.as_mut();
                    looking.map_or(Ok(true), |looking| looking.is_enough(name, &self.sides, self.session.judging))?
                }
            };
            if !is_enough {
                open.push(query);
            }
        }
        Ok(open)
    }

    /// How well the median is known of the side of which it is known worst.
    fn half_width(&self, query: usize) -> Option<f64> {
        let name = self.session.plan.queries[query].name.as_deref();
        let of_side = |side: &Runs| precision::half_width(&walls(side, name));
        let widths: Option<Vec<f64>> = self.sides.iter().map(of_side).collect();
        widths.map(|widths| widths.into_iter().fold(0.0, f64::max))
    }

    /// About how many runs there will be in all.
    fn expected(&self) -> u64 {
        let query_name = |query: usize| self.session.plan.queries[query].name.as_deref();
        let rounds = |&query: &usize| match self.amount {
            Amount::Runs(runs) => f64::from(runs),
            Amount::Decided(looks) => {
                let runs = self.runs_of(0, query);
                let is_over = self.looking.as_ref().is_some_and(|looking| looking.is_over(query_name(query)));
                (if is_over { runs } else { looks.next(runs) }) as f64
            }
            Amount::Precision(wanted) => {
                let so_far = self.runs_of(0, query) as f64;
                // The width falls with the root of the number.
                let needed = self.half_width(query).map_or(6.0, |reached| so_far * (reached / wanted).powi(2));
                needed.clamp(so_far.max(6.0), 1e6)
            }
        };
        let warmup = f64::from(self.session.options.warmup);
        let warmups = |rounds: f64| match self.restarts() {
            true => warmup * (rounds / f64::from(self.session.plan.restart_after)).ceil(),
            false => warmup,
        };
        let rounds = self.queries.iter().map(|query| rounds(query).ceil());
        let rounds: f64 = rounds.map(|rounds| rounds + warmups(rounds)).sum();
        (rounds * self.sides.len() as f64) as u64
    }
}

/// The wall times of a side's runs of a query, in nanoseconds.
pub fn walls(side: &Runs, query: Option<&str>) -> Vec<f64> {
    side.of(query).filter_map(|run| run.metrics.get(metric::WALL).copied()).collect()
}

/// One run.
struct One {
    profiles: Vec<PathBuf>,
    status: u8,
    metrics: Metrics,
}

/// The sides as they take turns: A B, then B A.
fn order(sides: usize, round: u32) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sides).collect();
    if round % 2 == 1 {
        order.reverse();
    }
    order
}

fn title(side: &Side, query: &Query, number: u32) -> String {
    let of = query.name.as_ref().map_or_else(String::new, |name| format!(" of {name}"));
    match number {
        0 => format!("a warm-up{of}, {}", side.name),
        _ => format!("run {number}{of}, {}", side.name),
    }
}

/// A profile whose folder was moved.
fn moved(profile: &Path, from: &Path, to: &Path) -> PathBuf {
    use diytrace_profile::load::interval::Interval;
    let one = |path: &Path| match path.strip_prefix(from) {
        Ok(rest) if rest.as_os_str().is_empty() => to.to_owned(),
        Ok(rest) => to.join(rest),
        Err(_) => path.to_owned(),
    };
    match Interval::names(profile) {
        _ if profile == from => to.to_owned(),
        None => one(profile),
        Some((before, after)) => Interval::join(&one(&before), &one(&after)),
    }
}
