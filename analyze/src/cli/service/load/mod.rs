//! The command `load`: drives a server by a schedule, beside what its recording counts.

mod targets;
mod telling;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use diytrace_agent::Crew;
use diytrace_load::profile::{Recording, Stored, Watch};
use diytrace_load::socket::Allowed;
use diytrace_load::view;
use diytrace_load::{
    Commands, Document, Error, Fleet, Limit, Part, Patience, Plan, Rates, Shared, Target, Threads, run_on,
};
use diytrace_profile::error::Error as Whole;

use self::telling::{Page, Telling};
use crate::cli::pager::Output;
use crate::cli::service::access::ByWorkers;
use crate::cli::service::progress::Progress;
use crate::cli::shown::Shown;
use crate::ctl::{self as control, Action};
use crate::signals::Signals;

const EXAMPLES: &str = "\
Examples:
  diytrace load http://127.0.0.1:8080 --rate 100,200,400
  diytrace load http://127.0.0.1:8080 --rate 100,200,400 --profile out
  diytrace load http://db1:8080 --store runs.db --select service=api
  diytrace load http://127.0.0.1:8080 --rate ramp --poisson --connections 50
  diytrace load http://127.0.0.1:8080 --rate max --duration 30s
  diytrace load http://127.0.0.1:8080 --requests mix.txt --fail-if 'p99>50ms'
  diytrace load postgres://me@127.0.0.1/shop --query 'SELECT * FROM items'
  diytrace load redis://127.0.0.1 --query 'GET key:{random:1-1000}' --rate 2k
  diytrace load http://web1:8080 --rate 40k --workers http://db1:7070
  diytrace load --command './ask.sh $DIYTRACE_REQUEST' --rate 20

Each request has a planned time, which does not depend on answers, and its latency counts from there. `max` has no \
plan: each connection sends when its answer is there. A rate may be written 2k. `ramp` doubles the rate from 100/s on \
(`ramp:FROM`), until less than 90% of the requests are answered.

A file of --requests has lines such as `9 GET /item/{random:1-1000}`: a weight, the method, the path, and a body or \
@FILE. For a database it has lines such as `9 SELECT * FROM items WHERE id = {random:1-1000}`, for redis such as \
`9 GET key:{random:1-1000}`. {seq} is the request's number, {random:LOW-HIGH} a number, {choice:A|B|C} one of these. The \
password of a database is that of its address, or PGPASSWORD; redis' is REDISCLI_AUTH.

With --profile, the recording of the server is read before and after each step: which function costs a request more when \
latency bends, and whether it is called more often or each call takes longer. With --store and --select that is read from \
a store that an agent's service keeps: load then rests before and after each step until a slice has ended.

With --workers, the workers of a service share the rate and the connections, and begin together: `diytrace agent --load-worker --to \
URL` on each machine that is to make load. What a worker has not sent because it died is told; the others have its share from the next step on.

Exit status: 0 done, 1 a --fail-if holds, 2 bad use, or nobody answers. Ctrl-C ends it with what there is.";

/// Drive a server by a schedule: latency from plan at each rate
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The server: http://HOST:PORT/PATH, https://, postgres://USER@HOST:PORT/DATABASE, or redis://HOST:PORT
    #[arg(value_name = "URL", required_unless_present = "command")]
    url: Option<String>,

    /// Run a shell command in place of each request; it sees the request's number as DIYTRACE_REQUEST
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["url", "method", "headers", "body", "requests", "no_keep_alive", "http2", "query", "tls_ca"])]
    command: Option<String>,

    /// Requests a second, one step for each; or ramp, ramp:FROM, max
    #[arg(long, value_name = "R,…", default_value = "100", value_parser = rates)]
    rate: Rates,

    /// How long a step takes: 500ms, 10s, 5m
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    duration: Duration,

    /// Load before each step, which does not count
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration_or_none)]
    warm_up: Duration,

    /// Requests come independently of each other, not at equal distances
    #[arg(long)]
    poisson: bool,

    /// Connections, or commands at once
    #[arg(long, short, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    connections: u32,

    /// Threads that share them; with --workers, of each worker
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256), conflicts_with = "command")]
    threads: u32,

    /// An answer that takes longer is none
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    timeout: Duration,

    /// A request that waits longer for a free connection is not sent [default: that of --timeout]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    too_late: Option<Duration>,

    /// Speak HTTP/2: over https:// where the server agrees to it, over http:// with prior knowledge. One request at a time on a connection
    #[arg(long)]
    http2: bool,

    /// A new connection for each request
    #[arg(long)]
    no_keep_alive: bool,

    /// The method [default: GET, or POST with a body]
    #[arg(long, value_name = "METHOD", conflicts_with = "requests")]
    method: Option<String>,

    /// A header of all requests (repeatable)
    #[arg(long = "header", short = 'H', value_name = "NAME: VALUE")]
    headers: Vec<String>,

    /// A file that each request carries
    #[arg(long, value_name = "FILE", conflicts_with = "requests")]
    body: Option<PathBuf>,

    /// What a database is asked; redis: the command that it is sent [default: PING]
    #[arg(long, value_name = "QUERY", conflicts_with = "requests")]
    query: Option<String>,

    /// A file of requests or queries, one a line, each with its weight
    #[arg(long, value_name = "FILE")]
    requests: Option<PathBuf>,

    /// Certificates that the server's must come from (PEM), for https:// [default: those that browsers trust]
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,

    /// Where the server is being recorded: a folder of profiles, or one; tells which functions cost a request more at which rate
    #[arg(long, value_name = "DIR")]
    profile: Option<PathBuf>,

    /// Where an agent sends what the server records, in place of --profile: the store of a service, a file or a database. It must
    /// send several times in a step: diytrace agent --every 250ms
    #[arg(long, value_name = "URL", conflicts_with = "profile")]
    store: Option<String>,

    /// Labels of the server's series there, with * and ?, a|b for either and !a for others: service=pg,build=ab* [default: all]
    #[arg(long, value_name = "LABELS", requires = "store", default_value = "", hide_default_value = true)]
    select: String,

    /// Make load at the lowest rate while the recording is paused, too (`ctl pause`): what recording costs
    #[arg(long, requires = "profile")]
    unrecorded: bool,

    /// Random numbers come of this: the same seed, the same requests
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Exit with 1 if a step is beyond this, as in 'p99>50ms', 'errors>1%' or 'rate<1000' (repeatable)
    #[arg(long, value_name = "LIMIT", value_parser = limit)]
    fail_if: Vec<Limit>,

    /// Have a service's workers make the load, each a share of it: http://HOST:PORT (on each machine: diytrace agent --load-worker)
    #[arg(long, value_name = "URL", conflicts_with = "command", group = "at_service")]
    workers: Option<String>,

    /// Show how it goes, and its report, on a service's page: http://HOST:PORT (with --workers it is shown on theirs)
    #[arg(long, value_name = "URL", group = "at_service")]
    to: Option<String>,

    #[command(flatten)]
    service: ByWorkers,

    #[command(flatten)]
    shown: Shown,
}

impl Arguments {
    /// Runs the command; its exit status.
    pub fn run(self, out: &mut Output) -> Result<u8, Whole> {
        let document = self.document().map_err(|error| match error {
            Error::Profile(error) => error,
            error => Whole::Elsewhere(error.into()),
        })?;
        let screen = self.shown.screen();
        self.shown.show::<Whole>(
            out,
            (&document, &document.warnings),
            |out| view::write_csv(&document, out),
            |out| view::write_table(&document, &screen, out),
        )?;
        let broken = document.steps.iter().flat_map(|step| self.fail_if.iter().filter_map(|limit| limit.broken(step)));
        let broken: Vec<String> = broken.collect();
        for sentence in &broken {
            let _ = writeln!(io::stderr(), "diytrace: {sentence}");
        }
        Ok(u8::from(!broken.is_empty()))
    }

    /// Makes load, here or by workers, and tells what it has come to.
    fn document(&self) -> Result<Document, Error> {
        let (told, parts) = channel();
        // Whoever looks on, here or on a page, is told what it has come to so far.
        let is_told = self.to.is_some() || io::stderr().is_terminal();
        let shared = Arc::new(if is_told { Shared::telling(told) } else { Shared::new() });
        // Before any other thread is there: one that does not hold signals back would be ended by them.
        end_on_signals(&shared);
        let page = self.page()?;
        let document = self.driven(page.as_ref(), parts, &shared)?;
        if let Some(Err(error)) = page.map(|page| page.report(&document)) {
            telling::warn(&error);
        }
        Ok(document)
    }

    /// The page that shows it, if one does.
    fn page(&self) -> Result<Option<Page>, Error> {
        let Some(service) = self.to.as_ref().or(self.workers.as_ref()) else { return Ok(None) };
        let access = self.service.shown().map_err(|error| Error::Fleet(error.into()))?;
        let page = Page::of(service, &access).map_err(|error| Error::Fleet(error.into()))?;
        let _ = writeln!(io::stderr(), "shown at {}", page.place(service));
        Ok(Some(page))
    }

    fn driven(&self, page: Option<&Page>, parts: Receiver<Part>, shared: &Arc<Shared>) -> Result<Document, Error> {
        if let Some(command) = &self.command {
            let commands = Commands::new(command.clone(), self.connections as usize, self.patience());
            let mut commands = [commands];
            return self.steps((command, 1), &mut Threads::of(&mut commands).telling(parts), (page, shared));
        }
        let job = self.job(self.url.as_deref().unwrap_or_default())?;
        let server = job.server()?;
        let shown = server.shown.clone();
        let Some(service) = &self.workers else {
            let ready = server.connect(&Allowed::anything())?;
            let mut drivers = ready.drivers(self.connections as usize, self.threads as usize)?;
            let threads = drivers.len();
            return self.steps((&shown, threads), &mut Threads::of(&mut drivers).telling(parts), (page, shared));
        };
        let access = self.service.shown().map_err(|error| Error::Fleet(error.into()))?;
        let crew = Crew::begin(service, &access, job, shared);
        let mut crew = crew.map_err(|error| Error::Fleet(error.into()))?;
        let document = self.steps((&shown, 0), &mut crew, (page, shared))?;
        Ok(document.by(crew.workers()))
    }

    fn patience(&self) -> Patience {
        Patience { timeout: self.timeout, for_connection: self.too_late.unwrap_or(self.timeout) }
    }

    fn steps(
        &self,
        (name, threads): (&str, usize),
        fleet: &mut dyn Fleet,
        (page, shared): (Option<&Page>, &Shared),
    ) -> Result<Document, Error> {
        let plan = Plan {
            rates: self.rate.clone(),
            is_poisson: self.poisson,
            duration: self.duration,
            warm_up: self.warm_up,
            seed: self.seed,
        };
        let target = Target {
            target: name.to_owned(),
            schedule: match (&plan.rates, plan.is_poisson) {
                (Rates::Max, _) => "max",
                (_, true) => "poisson",
                (_, false) => "constant",
            },
            http2: self.http2,
            connections: self.connections as usize,
            threads,
            keep_alive: !self.no_keep_alive,
            timeout_ns: u64::try_from(self.timeout.as_nanos()).unwrap_or(u64::MAX),
        };
        let mut progress = Progress::new();
        let Some(folder) = &self.profile else {
            let mut telling = Telling::new(page, &target, &mut progress);
            let Some(store) = &self.store else {
                let steps = run_on(&plan, fleet, shared, &mut telling)?;
                return Ok(Document::new(target, &steps));
            };
            let mut stored = Stored::open(store.parse()?, &self.select, &mut telling)?;
            let steps = run_on(&plan, fleet, shared, &mut stored)?;
            let seen = stored.seen;
            drop(progress);
            return Document::new(target, &steps).beside(&seen);
        };
        let recording = Recording::open(folder.clone())?;
        let unrecorded = match self.unrecorded {
            true => {
                let _paused = Paused::of(folder)?;
                let lowest = Plan { rates: plan.rates.lowest(), ..plan.clone() };
                run_on(&lowest, fleet, shared, &mut progress)?
            }
            false => Vec::new(),
        };
        let mut telling = Telling::new(page, &target, &mut progress);
        let mut watch = Watch::new(recording, &mut telling);
        let steps = run_on(&plan, fleet, shared, &mut watch)?;
        let seen = watch.seen;
        drop(progress);
        Document::new(target, &steps).with_unrecorded(unrecorded.first()).beside(&seen)
    }
}

/// A recording that counts nothing as long as this is there.
struct Paused {
    recording: control::Target,
}

impl Paused {
    fn of(folder: &Path) -> Result<Self, Error> {
        let recording = control::Target::from(folder.to_owned());
        let paused = control::run(&Action::Pause, &recording, &mut io::sink());
        paused.map_err(|error| Error::Profile(Whole::Elsewhere(error.into())))?;
        Ok(Self { recording })
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        // Where the server has ended meanwhile, there is nothing to resume.
        let _ = control::run(&Action::Resume, &self.recording, &mut io::sink());
    }
}

/// From here on Ctrl-C and its like end the run with what there is; a second one ends it without.
fn end_on_signals(shared: &Arc<Shared>) {
    // Threads that are started later have them held back, too.
    let signals = Signals::block(&[libc::SIGINT, libc::SIGTERM, libc::SIGHUP]);
    let shared = shared.clone();
    thread::spawn(move || {
        loop {
            let signal = signals.wait().si_signo;
            if [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].contains(&signal)
                && shared.is_over.swap(true, std::sync::atomic::Ordering::Relaxed)
            {
                std::process::exit(128 + signal);
            }
        }
    });
}

fn rates(text: &str) -> Result<Rates, String> {
    text.parse().map_err(|error: Error| error.to_string())
}

fn limit(text: &str) -> Result<Limit, String> {
    text.parse().map_err(|error: Error| error.to_string())
}

/// A time with its unit.
fn duration(text: &str) -> Result<Duration, &'static str> {
    duration_or_none(text).and_then(|time| if time.is_zero() { Err("it must be more than nothing") } else { Ok(time) })
}

fn duration_or_none(text: &str) -> Result<Duration, &'static str> {
    const EXPECTED: &str = "it must be a time such as 500ms, 10s or 5m";
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let digits = text.trim_end_matches(|letter: char| letter.is_alphabetic());
    let factor = match &text[digits.len()..] {
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(EXPECTED),
    };
    let seconds = digits.trim().parse().ok().map(|number: f64| number * factor);
    let seconds = seconds.filter(|seconds| (0.0..=86_400.0 * 30.0).contains(seconds)).ok_or(EXPECTED)?;
    Duration::try_from_secs_f64(seconds).map_err(|_| EXPECTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, expected) in [("500ms", 500), ("10s", 10_000), ("1.5m", 90_000), ("1h", 3_600_000)] {
            assert_eq!(duration(text), Ok(Duration::from_millis(expected)), "{text}");
        }
        for text in ["", "10", "s", "-1s", "1d", "nans", "infs", "0s", "0"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert_eq!(duration_or_none("0"), Ok(Duration::ZERO));
    }
}
