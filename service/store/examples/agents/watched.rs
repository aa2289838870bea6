//! Somebody who watches: how old what they are told is when they hear of it.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

/// What was heard so far.
#[derive(Default)]
struct Heard {
    /// Since the readings of the frames told of, in milliseconds.
    ms: Vec<f32>,
    missed: u64,
}

/// A connection to a service's events.
pub struct Watched(Arc<Mutex<Heard>>);

impl Watched {
    /// From now on.
    pub fn start(address: SocketAddr) -> Result<Self, Box<dyn Error>> {
        let mut stream = TcpStream::connect(address)?;
        write!(stream, "GET /v1/live HTTP/1.1\r\nhost: {address}\r\n\r\n")?;
        let heard = Arc::new(Mutex::new(Heard::default()));
        let here = heard.clone();
        thread::spawn(move || {
            let mut is_missed = false;
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                if let Some(event) = line.strip_prefix("event: ") {
                    is_missed = event == "missed";
                }
                let Some(data) = line.strip_prefix("data: ") else { continue };
                let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64);
                let mut heard = here.lock().unwrap_or_else(PoisonError::into_inner);
                if is_missed {
                    heard.missed += data.parse::<u64>().unwrap_or(0);
                } else if let Some(ended) = ended(data) {
                    heard.ms.push((now - ended) as f32 / 1e6);
                }
            }
        });
        Ok(Self(heard))
    }

    /// Events heard.
    pub fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).ms.len()
    }

    /// Events that came faster than they were read.
    pub fn missed(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).missed
    }

    /// Milliseconds from a reading to its event, at a percentile.
    pub fn percentile(&self, share: f64) -> f32 {
        let mut ms = self.0.lock().unwrap_or_else(PoisonError::into_inner).ms.clone();
        ms.sort_by(f32::total_cmp);
        let at = (ms.len() as f64 * share).ceil() as usize;
        ms.get(at.clamp(1, ms.len().max(1)) - 1).copied().unwrap_or(f32::NAN)
    }
}

/// When the frame that an event tells of was read.
fn ended(data: &str) -> Option<i64> {
    let (_, rest) = data.split_once("\"ended_unix_ns\":")?;
    let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().ok()
}
