//! The agents: each sends a frame a second, and what could not be sent once more.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use diytrace_store::{CONTENT_TYPE, Frame, Labels, Outgoing};

const PERIOD: Duration = Duration::from_secs(1);
const HOSTS: usize = 10;

/// Agents.
pub struct Crowd {
    /// Each is lent to one of them after the other: a copy for each takes longer than all else that they do.
    frames: Vec<Mutex<Lent>>,
    address: SocketAddr,
    began: Instant,
    /// How many there are.
    series: usize,
    sent: Counters,
}

/// A frame that is made each agent's own in turn.
struct Lent {
    frame: Frame,
    /// Build IDs of its modules as they were recorded.
    builds: Vec<Vec<u8>>,
}

#[derive(Default)]
struct Counters {
    frames: AtomicU64,
    paths: AtomicU64,
    bytes: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
}

/// What has been sent so far.
#[derive(Clone, Copy)]
pub struct Told {
    pub frames: u64,
    pub paths: u64,
    /// Of requests' bodies.
    pub bytes: u64,
    /// Times that the service has asked to come again.
    pub refused: u64,
    /// Other answers than that it has the frame.
    pub failed: u64,
}

impl Crowd {
    pub fn new(frames: Vec<Frame>, address: SocketAddr, began: Instant, series: usize) -> Self {
        let lent = |frame: Frame| {
            let builds = frame.merged.modules.iter().map(|module| module.build_id.clone()).collect();
            Mutex::new(Lent { frame, builds })
        };
        Self { frames: frames.into_iter().map(lent).collect(), address, began, series, sent: Counters::default() }
    }

    pub fn told(&self) -> Told {
        let Counters { frames, paths, bytes, refused, failed } = &self.sent;
        let [frames, paths, bytes, refused, failed] =
            [frames, paths, bytes, refused, failed].map(|at| at.load(Relaxed));
        Told { frames, paths, bytes, refused, failed }
    }

    /// Sends the frames of one series, a second's each; they are spread over the second.
    pub fn send_until(&self, number: usize, until: Instant) {
        let mut next = self.began + PERIOD.mul_f64((number as f64 + 1.0) / self.series as f64);
        self.send(number, unix_ns(), || {
            sleep(next.saturating_duration_since(Instant::now()));
            // Who is late leaves out no frame, but does not catch up either.
            next = (next + PERIOD).max(Instant::now());
            (Instant::now() < until).then(unix_ns)
        });
    }

    /// Sends so many frames of one series, one behind the other, as if each were of a longer time: until now.
    pub fn send_as_if(&self, number: usize, frames: u32, each: Duration) {
        let step = each.as_nanos() as i64;
        let start = unix_ns() - step * i64::from(frames);
        let mut ends = (1..=i64::from(frames)).map(|frame| start + step * frame);
        self.send(number, start, || ends.next());
    }

    /// Sends the frames of one series, which end when `next` says, until it says nothing.
    fn send(&self, number: usize, mut before: i64, mut next: impl FnMut() -> Option<i64>) {
        let config = ureq::Agent::config_builder().http_status_as_error(false).max_idle_connections(1);
        let agent: ureq::Agent = config.timeout_global(Some(Duration::from_secs(30))).build().into();
        let url = format!("http://{}/v1/frames", self.address);
        let mut outgoing = Outgoing::default();
        for sequence in 0.. {
            let Some(now) = next() else { return };
            let paths = loop {
                let (body, paths) = self.with_frame(number, sequence, before, now, |frame| {
                    (outgoing.encode(frame), frame.merged.groups[0].tree.paths.len() as u64)
                });
                self.sent.bytes.fetch_add(body.len() as u64, Relaxed);
                match agent.post(&url).content_type(CONTENT_TYPE).send(&body[..]).map(|mut answer| {
                    let _ = answer.body_mut().read_to_vec(); // so that the connection is used again
                    answer.status().as_u16()
                }) {
                    Ok(200) => break paths,
                    Ok(428) => {
                        outgoing.forgotten();
                        continue;
                    }
                    Ok(503) => drop(self.sent.refused.fetch_add(1, Relaxed)),
                    answer => {
                        if self.sent.failed.fetch_add(1, Relaxed) == 0 {
                            eprintln!("a frame was not taken: {answer:?}");
                        }
                    }
                }
                sleep(PERIOD); // as it is asked to
            };
            outgoing.acknowledged();
            self.sent.frames.fetch_add(1, Relaxed);
            self.sent.paths.fetch_add(paths, Relaxed);
            before = now;
        }
    }

    /// Makes something of the frame that is next in a series.
    fn with_frame<T>(&self, number: usize, sequence: u64, start: i64, end: i64, make: impl FnOnce(&Frame) -> T) -> T {
        let lent = &self.frames[(number * 7 + sequence as usize) % self.frames.len()];
        let mut lent = lent.lock().unwrap_or_else(PoisonError::into_inner);
        let Lent { frame, builds } = &mut *lent;
        (frame.sequence, frame.start, frame.end) = (sequence, start, end);
        (frame.holds_later, frame.session) = (sequence == 0, number.to_string());
        let (service, host) = (number / HOSTS, number % HOSTS);
        // Each service is a program of its own, and each host a machine.
        frame.part.boot_id[0] = host as u8;
        for (module, build) in frame.merged.modules.iter_mut().zip(builds).filter(|(module, _)| module.is_program) {
            module.build_id = [&build[..], &(service as u32).to_le_bytes()].concat();
        }
        let mut labels = Labels::default();
        labels.set("service", format!("s{service}"));
        labels.set("host", format!("h{host}"));
        labels.set("build", format!("b{service}"));
        frame.labels = labels;
        make(frame)
    }
}

fn unix_ns() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64)
}
