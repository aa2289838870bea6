//! Simulated agents that send frames to a service: for `benches/service.sh`.
//!
//! `agents ADDRESS PID SERIES SECONDS RECORDING` reads the recording of a program that is running, once a second, makes frames of
//! what has come between two readings, and sends each series one a second, varied, over a connection of its own. Meanwhile it
//! watches the service's events. It prints a TSV of the service whose process has that number: what a frame costs in each tenth of
//! the time, and how it all went.
//!
//! `agents ADDRESS PID SERIES week RECORDING` sends frames of a minute each, as fast as they go, as if they were of the last week, and
//! prints the service's memory after the first hour of that and after each tenth.

mod crowd;
mod recorded;
#[path = "../fill/vary.rs"]
mod vary;
mod watched;

use std::error::Error;
use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use crowd::Crowd;
use watched::Watched;

/// The hertz of times in `/proc`, as all of today's Linux has it.
const TICKS: f64 = 100.0;

const MINUTE: Duration = Duration::from_secs(60);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, pid, series, seconds, recording] = &arguments[..] else {
        return Err("agents ADDRESS PID SERIES SECONDS|week RECORDING".into());
    };
    let (address, pid): (SocketAddr, u32) = (address.parse()?, pid.parse()?);
    let series: usize = series.parse()?;
    let frames = recorded::frames(recording.into(), 9)?;
    if seconds == "week" {
        return week(Crowd::new(frames, address, Instant::now(), series), pid, series);
    }
    let seconds: u64 = seconds.parse()?;
    let watched = Watched::start(address)?;
    let crowd = Arc::new(Crowd::new(frames, address, Instant::now(), series));
    let until = Instant::now() + Duration::from_secs(seconds);
    let agents: Vec<_> = (0..series)
        .map(|number| {
            let crowd = crowd.clone();
            thread::Builder::new().stack_size(256 << 10).spawn(move || crowd.send_until(number, until))
        })
        .collect::<Result<_, _>>()?;
    println!("what\tpart\tvalue");
    let mut before = (cpu_seconds(pid)?, crowd.told());
    let began = (Instant::now(), before);
    let mut costs = Vec::new();
    for tenth in 1..=10 {
        sleep((began.0 + Duration::from_secs_f64(seconds as f64 * f64::from(tenth) / 10.0)) - Instant::now());
        let now = (cpu_seconds(pid)?, crowd.told());
        let frames = now.1.frames - before.1.frames;
        costs.push((now.0 - before.0) / frames.max(1) as f64);
        println!("frames\t{tenth}\t{frames}");
        println!("cpu_us_per_frame\t{tenth}\t{:.1}", costs[costs.len() - 1] * 1e6);
        println!("rss_mb\t{tenth}\t{:.0}", status_kb(pid, "VmRSS:")? / 1024.0);
        before = now;
    }
    let ((cpu, first), (all, last)) = (began.1, before);
    let passed = began.0.elapsed().as_secs_f64();
    for agent in agents {
        agent.join().map_err(|_| "an agent has panicked")?;
    }
    let frames = (last.frames - first.frames).max(1) as f64;
    println!("cpu_share\tall\t{:.3}", (all - cpu) / passed);
    println!("cpu_last_over_first\tall\t{:.3}", costs[9] / costs[0]);
    println!("frames_per_second\tall\t{:.0}", frames / passed);
    println!("paths_per_frame\tall\t{:.1}", (last.paths - first.paths) as f64 / frames);
    println!(
        "bytes_per_path\tall\t{:.2}",
        (last.bytes - first.bytes) as f64 / (last.paths - first.paths).max(1) as f64
    );
    println!("bytes_per_frame\tall\t{:.0}", (last.bytes - first.bytes) as f64 / frames);
    println!("asked_to_come_again\tall\t{}", last.refused - first.refused);
    println!("failed\tall\t{}", last.failed - first.failed);
    println!("rss_mb\tall\t{:.0}", status_kb(pid, "VmRSS:")? / 1024.0);
    println!("peak_rss_mb\tall\t{:.0}", status_kb(pid, "VmHWM:")? / 1024.0);
    for (name, percentile) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1.0)] {
        println!("reading_to_event_ms\t{name}\t{:.1}", watched.percentile(percentile));
    }
    println!("events\tall\t{}", watched.count());
    println!("events_missed\tall\t{}", watched.missed());
    Ok(())
}

/// A week of frames of a minute.
fn week(crowd: Crowd, pid: u32, series: usize) -> Result<(), Box<dyn Error>> {
    const MINUTES: u32 = 7 * 24 * 60;
    let (crowd, began) = (Arc::new(crowd), (cpu_seconds(pid)?, Instant::now()));
    let send = |number: usize| {
        let crowd = crowd.clone();
        thread::Builder::new().stack_size(256 << 10).spawn(move || crowd.send_as_if(number, MINUTES, MINUTE))
    };
    let agents: Vec<_> = (0..series).map(send).collect::<Result<_, _>>()?;
    println!("what\tpart\tvalue");
    let all = u64::from(MINUTES) * series as u64;
    let hour = [("hour".to_owned(), 60 * series as u64)];
    for (part, frames) in hour.into_iter().chain((1..=10).map(|tenth| (tenth.to_string(), all * tenth / 10))) {
        while crowd.told().frames < frames && !agents.iter().all(|agent| agent.is_finished()) {
            sleep(Duration::from_millis(50));
        }
        println!("frames\t{part}\t{}", crowd.told().frames);
        println!("rss_mb\t{part}\t{:.0}", status_kb(pid, "VmRSS:")? / 1024.0);
    }
    for agent in agents {
        agent.join().map_err(|_| "an agent has panicked")?;
    }
    let told = crowd.told();
    println!("cpu_us_per_frame\tall\t{:.1}", (cpu_seconds(pid)? - began.0) / told.frames.max(1) as f64 * 1e6);
    println!("frames_per_second\tall\t{:.0}", told.frames as f64 / began.1.elapsed().as_secs_f64());
    println!("failed\tall\t{}", told.failed);
    println!("peak_rss_mb\tall\t{:.0}", status_kb(pid, "VmHWM:")? / 1024.0);
    Ok(())
}

/// Processor time of a process, user's and system's.
fn cpu_seconds(pid: u32) -> Result<f64, Box<dyn Error>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let numbers: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| numbers.get(at).and_then(|number| number.parse::<f64>().ok()).ok_or("no such number");
    Ok((ticks(11)? + ticks(12)?) / TICKS)
}

fn status_kb(pid: u32, what: &str) -> Result<f64, Box<dyn Error>> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(what)).ok_or("no such line")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
