//! Has a service's page show a run: how it goes, while it goes on, and its report.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{fs, io, process};

use diytrace_agent::{Access, Client};
use diytrace_load::crew::Shown;
use diytrace_load::{Document, Driven, Error, Going, Load, Observer, Pace, Step, Tally, Target};
use serde::Serialize;

/// A service takes a report in no longer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The page of a service.
pub struct Page {
    client: Arc<Client>,
    run: String,
    /// What is to be shown next; nothing once it has all.
    next: Option<SyncSender<Shown>>,
    sender: Option<JoinHandle<()>>,
}

impl Page {
    /// Of the service at an address.
    pub fn of(service: &str, access: &Access) -> Result<Self, diytrace_agent::Error> {
        let client = Arc::new(Client::new(service, access)?);
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let run = format!("{}-{}-{}", host.trim(), process::id(), since_1970.as_millis());
        // Load goes on, however long the service takes: what it is too slow for, is not sent.
        let (next, shown) = sync_channel::<Shown>(1);
        let to = client.clone();
        let sender = thread::spawn(move || {
            for shown in shown {
                // Who does not answer now may do so next time, and whether it has the report is looked at.
                let _ = to.exchange::<()>("/v1/load/shown", &shown, PATIENCE);
            }
        });
        Ok(Self { client, run, next: Some(next), sender: Some(sender) })
    }

    fn shown(&self, document: &impl Serialize, is_over: bool) -> Option<Shown> {
        let document = serde_json::to_value(document).ok()?;
        Some(Shown { run: self.run.clone(), is_over, document })
    }

    /// How it goes.
    fn show(&self, document: &Document) {
        let shown = self.shown(document, false);
        if let Some((next, shown)) = self.next.as_ref().zip(shown) {
            let _ = next.try_send(shown);
        }
    }

    /// Its report.
    pub fn report(mut self, document: &Document) -> Result<(), diytrace_agent::Error> {
        self.next = None;
        if let Some(sender) = self.sender.take() {
            let _ = sender.join(); // it has nothing to say
        }
        match self.shown(document, true) {
            Some(shown) => self.client.exchange("/v1/load/shown", &shown, PATIENCE),
            None => Ok(()),
        }
    }

    /// Where it is seen.
    pub fn place(&self, service: &str) -> String {
        format!("{}/#/load?run={}", service.trim_end_matches('/'), self.run)
    }
}

/// Tells a page how a run goes, if there is one, and hands everything on to whoever looks on, too.
pub struct Telling<'a> {
    page: Option<&'a Page>,
    target: Target,
    inner: &'a mut dyn Observer,
    pace: Option<Pace>,
    loads: Vec<Load>,
}

impl<'a> Telling<'a> {
    /// Of a run of that target.
    pub fn new(page: Option<&'a Page>, target: &Target, inner: &'a mut dyn Observer) -> Self {
        Self { page, target: target.clone(), inner, pace: None, loads: Vec::new() }
    }

    fn tell(&self, going: Option<&Driven>) {
        let Some(page) = self.page else { return };
        let document = Document::of(self.target.clone(), self.loads.clone());
        page.show(&match going.zip(self.pace) {
            Some((Driven { tally, elapsed, shares }, pace)) => {
                let (tally, elapsed) = (tally.clone(), *elapsed);
                let workers = [Vec::new(), shares.clone()];
                let warm_up = Tally::new(0);
                document.with_going(Load::of(&Step { pace, elapsed, tally, warm_up, is_cut_short: false, workers }))
            }
            None => document,
        });
    }
}

impl Observer for Telling<'_> {
    fn begin(&mut self, number: usize, pace: Pace) -> Result<(), Error> {
        self.pace = Some(pace);
        self.tell(None);
        self.inner.begin(number, pace)
    }

    fn look(&mut self, going: Going<'_>) -> Result<(), Error> {
        if going.so_far.is_some() {
            self.tell(going.so_far);
        }
        self.inner.look(going)
    }

    fn end(&mut self, step: &Step) -> Result<(), Error> {
        if self.page.is_some() {
            self.loads.push(Load::of(step));
            self.tell(None);
        }
        self.inner.end(step)
    }
}

/// What a service says to a report, where it does not take it: the run is over, and its report is here.
pub fn warn(error: &diytrace_agent::Error) {
    use io::Write;
    let _ = writeln!(io::stderr(), "diytrace: the service's page does not have this report: {error}");
}
