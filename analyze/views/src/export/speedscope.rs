//! Speedscope's own format: for each part its times, and its calls as another profile.
//!
//! Stacks are in the order of their paths, not of time: "left heavy" is the view that says something.

use std::io;

use serde::Serialize;

use super::profile::{Frame, Part, Profile};

/// The file.
pub fn write(profile: &Profile) -> io::Result<Vec<u8>> {
    let label = |part: &Part, what: &str| match profile.parts.len() {
        1 => format!("{} · {what}", profile.title),
        _ => format!("{} · {what}", part.name),
    };
    let profiles = profile.parts.iter().flat_map(|part| {
        let times = sampled(part, label(part, "time"), "nanoseconds", |frame| frame.self_ns);
        let calls = sampled(part, label(part, "calls"), "none", |frame| frame.calls);
        [times, calls]
    });
    let frames = profile.functions.iter().map(|function| FrameInfo {
        name: &function.label,
        file: function.line.as_ref().map(|line| line.file.as_str()),
        line: function.line.as_ref().map(|line| line.number),
    });
    let file = File {
        schema: "https://www.speedscope.app/file-format-schema.json",
        exporter: concat!("diytrace ", env!("CARGO_PKG_VERSION")),
        name: &profile.title,
        active_profile_index: 0,
        shared: Shared { frames: frames.collect() },
        profiles: profiles.collect(),
    };
    let mut bytes = serde_json::to_vec(&file)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn sampled(part: &Part, name: String, unit: &'static str, value: impl Fn(&Frame) -> u64) -> Sampled {
    let mut samples = Vec::new();
    let mut weights = Vec::new();
    for (id, frame) in part.frames.iter().enumerate().filter(|(_, frame)| value(frame) > 0) {
        let mut stack: Vec<usize> = part.stack(id).map(|frame| frame.function).collect();
        stack.reverse();
        samples.push(stack);
        weights.push(value(frame));
    }
    Sampled { r#type: "sampled", name, unit, start_value: 0, end_value: weights.iter().sum(), samples, weights }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: &'static str,
    name: &'a str,
    active_profile_index: usize,
    shared: Shared<'a>,
    profiles: Vec<Sampled>,
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<FrameInfo<'a>>,
}

#[derive(Serialize)]
struct FrameInfo<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sampled {
    r#type: &'static str,
    name: String,
    unit: &'static str,
    start_value: u64,
    end_value: u64,
    /// Frames, the outermost first.
    samples: Vec<Vec<usize>>,
    weights: Vec<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::sample::{by_process, golden, server};

    #[test]
    fn times_and_calls_of_one_part() {
        golden("server.speedscope.json", &write(&server()).unwrap());
    }

    #[test]
    fn a_pair_of_profiles_for_each_part() {
        let file: serde_json::Value = serde_json::from_slice(&write(&by_process()).unwrap()).unwrap();
        let names: Vec<_> = file["profiles"].as_array().unwrap().iter().map(|profile| &profile["name"]).collect();
        let expected = ["server 100 · time", "server 100 · calls", "server 101 · time", "server 101 · calls"];
        assert_eq!(names, expected);
    }

    #[test]
    fn weights_add_up() {
        let profile = server();
        let sum = |value: fn(&Frame) -> u64| sampled(&profile.parts[0], String::new(), "none", value).end_value;
        assert_eq!((sum(|frame| frame.self_ns), sum(|frame| frame.calls)), (profile.total_ns(), profile.calls()));
    }
}
