//! What the runs ran on, for whoever reads them later.

use std::fs;

use serde_json::{Value, json};

/// The machine's facts, as far as it tells them.
pub fn facts() -> Value {
    let line = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    let processor = line("/proc/cpuinfo").and_then(|text| {
        let model = text.lines().find(|line| line.starts_with("model name"))?;
        Some(model.split_once(':')?.1.trim().to_owned())
    });
    let memory = line("/proc/meminfo").and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
    json!({
        "host": line("/proc/sys/kernel/hostname"),
        "kernel": line("/proc/sys/kernel/osrelease"),
        "processor": processor,
        "processors": std::thread::available_parallelism().ok().map(usize::from),
        "memory_bytes": memory.map(|kibibytes| kibibytes << 10),
        "governor": line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "load_average": line("/proc/loadavg"),
        "diytrace": env!("CARGO_PKG_VERSION"),
    })
}
