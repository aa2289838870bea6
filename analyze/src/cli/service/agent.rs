//! The command `agent`: what programs of this host count goes to a service, while they run.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process;
use std::sync::Arc;
use std::time::{Duration, Instant};

use diytrace_agent::{Agent, Error, LoadWorker, Options};
use diytrace_load::socket::Allowed;
use diytrace_profile::error::Error as Whole;
use diytrace_profile::load::DEFAULT_FOLDER;
use diytrace_serve::{Tokens, answer_alone};
use diytrace_store::{Labelled, Labels};

use super::access::Access;
use super::agent_pprof::Folders;
use super::{log, supervisor};
use crate::cli::size::size;
use crate::signals::Signals;

/// Whether a worker is to end is looked for so often, beside signals, which come at once.
const LOOK: Duration = Duration::from_millis(100);

const EXAMPLES: &str = "\
Examples:
  diytrace agent --to http://127.0.0.1:7070              # of diytrace.data here
  diytrace agent --to http://db1:7070 --dir /var/lib/diytrace --label env=prod
  diytrace agent --to http://127.0.0.1:7070 --every 250ms
  diytrace agent --to http://db1:7070 --listen 127.0.0.1:7071 &
  go tool pprof 'http://127.0.0.1:7071/debug/pprof/diytrace?seconds=10'
  diytrace agent --to http://db1:7070 --load-worker --load-target 'web*:8080'

Files of programs are only read; the programs are not touched. What cannot be sent is sent later: nothing is lost, and \
nothing counts twice, whatever ends in between. SIGTERM sends what there is, and ends it.

A worker makes load that `diytrace load --workers URL` asks for, to servers of this machine and those of --load-target alone, \
whatever the service says; it ends load that the service has not asked about for 1.5 seconds.";

/// Send what programs of this host count to a service, while they run
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The service: http://HOST:PORT or https://HOST:PORT
    #[arg(long, value_name = "URL")]
    to: String,

    /// A folder that programs record into (repeatable); it need not be there yet [default: diytrace.data]
    #[arg(long = "dir", value_name = "DIR")]
    folders: Vec<PathBuf>,

    /// A label of all that is sent (repeatable); service, host and build are the program's, this host's and its build ID's unless told
    #[arg(long = "label", value_name = "NAME=VALUE")]
    labels: Vec<String>,

    /// How often to send: 250ms, 10s, 1m [default: as the service wants it: 250ms while somebody watches, else 10s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    every: Option<Duration>,

    /// Make load that `diytrace load --workers` wants from the service, in place of sending recordings
    #[arg(long, conflicts_with_all = ["folders", "labels", "every", "spool"])]
    load_worker: bool,

    /// A server that a worker may make load to, beside those on this machine: HOST or HOST:PORT with * and ? (repeatable)
    #[arg(long = "load-target", value_name = "PATTERN", requires = "load_worker")]
    load_targets: Vec<String>,

    /// Answer /debug/pprof/diytrace?seconds=N here, too: what is recorded on this host in the next N seconds, as pprof
    #[arg(long, value_name = "ADDRESS", conflicts_with = "load_worker", value_parser = super::serve::address)]
    listen: Option<SocketAddr>,

    /// A file of lines `read TOKEN`, one of which each request there must show; other addresses than this machine's own need it
    #[arg(long, value_name = "FILE", requires = "listen")]
    listen_token_file: Option<PathBuf>,

    #[command(flatten)]
    access: Access,

    /// Where it remembers how far it has got [default: diytrace/agent in $XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "DIR")]
    spool: Option<PathBuf>,

    /// Most bytes there; recordings beyond that are sent whole after it was started again
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = bytes)]
    spool_bytes: u64,
}

impl Arguments {
    /// Runs the command.
    pub fn run(self) -> Result<(), Whole> {
        log::to_stderr();
        // From here on a signal is taken between two rounds.
        let signals = Signals::block(&[libc::SIGTERM, libc::SIGINT]);
        if self.load_worker {
            return self.make_load(&signals);
        }
        let answer = self.listen.map(|listen| (listen, self.listen_token_file.clone()));
        let folders = self.folders();
        let mut agent = self.agent()?;
        if let Some((listen, tokens)) = answer {
            let tokens = tokens.as_deref().map(Tokens::read).transpose();
            let listening = tokens.and_then(|tokens| answer_alone(listen, tokens, Arc::new(Folders(folders))));
            let address = listening.map_err(|error| Whole::Elsewhere(error.into()))?;
            tracing::info!("answers http://{address}/debug/pprof/diytrace");
        }
        tracing::info!("sends to {}", agent.service());
        supervisor::is_ready();
        let ended = agent.run(|until: Instant| signals.wait_until(Some(until)).is_some_and(is_to_end));
        ended.map_err(|error: Error| Whole::Elsewhere(error.into()))
    }

    /// Makes load, until a signal comes.
    fn make_load(self, signals: &Signals) -> Result<(), Whole> {
        let elsewhere = |error: Box<dyn std::error::Error + Send + Sync>| Whole::Elsewhere(error);
        let access = self.access.shown().map_err(|error| elsewhere(error.into()))?;
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let name = format!("{}/{}", host.trim(), process::id());
        let worker = LoadWorker::new(&self.to, &access, Allowed::these(self.load_targets), name);
        let worker = worker.map_err(|error| elsewhere(error.into()))?;
        supervisor::is_ready();
        let is_over = || signals.wait_until(Some(Instant::now() + LOOK)).is_some_and(is_to_end);
        worker.run(is_over).map_err(|error| elsewhere(error.into()))
    }

    /// Wherever it is by then.
    fn folders(&self) -> Vec<PathBuf> {
        let usual = [PathBuf::from(DEFAULT_FOLDER)];
        let folders = if self.folders.is_empty() { &usual[..] } else { &self.folders };
        folders.iter().map(|folder| std::path::absolute(folder).unwrap_or_else(|_| folder.clone())).collect()
    }

    fn agent(self) -> Result<Agent, Whole> {
        let labels = self.labels.iter().map(|label| Labels::parse(label)).collect::<Result<_, _>>();
        let labels = labels.map_err(|error| Whole::Elsewhere(error.into()))?;
        let folders = self.folders();
        let options = Options {
            to: self.to,
            access: self.access.shown().map_err(|error| Whole::Elsewhere(error.into()))?,
            folders,
            labelled: Labelled { labels },
            every: self.every,
            spool: match self.spool {
                Some(spool) => spool,
                None => {
                    super::home::state("agent").ok_or_else(|| Whole::Usage("name a folder by --spool".to_owned()))?
                }
            },
            spool_bytes: self.spool_bytes,
        };
        Agent::new(options).map_err(|error| Whole::Elsewhere(error.into()))
    }
}

fn is_to_end(signal: libc::siginfo_t) -> bool {
    [libc::SIGTERM, libc::SIGINT].contains(&signal.si_signo)
}

pub fn duration(text: &str) -> Result<Duration, &'static str> {
    let digits = text.trim_end_matches(|letter: char| letter.is_alphabetic());
    let unit = match &text[digits.len()..] {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        _ => return Err("it must have a unit, such as 250ms, 10s or 1m"),
    };
    let ms = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    let ms = ms.filter(|ms| (50..=3_600_000).contains(ms)).ok_or("it must be a time from 50ms to 60m")?;
    Ok(Duration::from_millis(ms))
}

fn bytes(text: &str) -> Result<u64, &'static str> {
    size(text).ok_or("it must be a size, such as 64M or 2G")
}
