//! The Firefox Profiler's processed format, version 55, which later ones read.
//!
//! Samples are call paths whose weights are self times in milliseconds. The time axis is made up: a profile of counters
//! knows how long, not when; samples stand behind each other in the order of their paths.
//!
//! (fxprof-processed-profile, a crate for this format, has weights that are whole numbers of 32 bits: a profile of nanoseconds to
//! hours does not fit.)

mod tables;

use std::io;

use serde_json::{Value, json};

use super::profile::{Module, Part, Profile};
use tables::Tables;

/// The profile.
pub fn write(profile: &Profile) -> io::Result<Vec<u8>> {
    let threads: Vec<Value> = (1..).zip(&profile.parts).map(|(number, part)| thread(profile, part, number)).collect();
    let started = profile.parts.iter().filter_map(|part| part.started_unix_ns).min().unwrap_or(0);
    let notes = profile.warnings.iter().map(|warning| entry("Warning", warning));
    let about = [
        entry("Times", &format!("self times, {}, as weights of samples", profile.kind_of_time())),
        entry("Time axis", "made up: samples stand in the order of their call paths"),
    ];
    let everything = json!({
        "meta": {
            "categories": [
                {"name": "Other", "color": "grey", "subcategories": ["Other"]},
                {"name": "Function", "color": "blue", "subcategories": ["Other"]},
                {"name": "Inlined", "color": "lightblue", "subcategories": ["Other"]},
            ],
            "debug": false,
            "extensions": {"length": 0, "baseURL": [], "id": [], "name": []},
            "extra": [{"label": "diytrace", "entries": about.into_iter().chain(notes).collect::<Vec<_>>()}],
            "importedFrom": concat!("diytrace ", env!("CARGO_PKG_VERSION")),
            "interval": 1,
            "markerSchema": [],
            "preprocessedProfileVersion": 55,
            "processType": 0,
            "product": profile.title,
            "sourceCodeIsNotOnSearchfox": true,
            "startTime": started as f64 / 1e6,
            "symbolicated": true,
            "usesOnlyOneStackType": true,
            "version": 24,
        },
        "libs": profile.modules.iter().map(|module| library(profile, module)).collect::<Vec<_>>(),
        "pages": [],
        "threads": threads,
    });
    let mut bytes = serde_json::to_vec(&everything)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn entry(label: &str, value: &str) -> Value {
    json!({"label": label, "format": "string", "value": value})
}

fn library(profile: &Profile, module: &Module) -> Value {
    let name = module.path.rsplit('/').next().unwrap_or(&profile.title);
    json!({
        "arch": "x86_64", "name": name, "path": module.path, "debugName": name, "debugPath": module.path,
        "breakpadId": breakpad_id(&module.build_id), "codeId": (!module.build_id.is_empty()).then_some(&module.build_id),
    })
}

/// A build ID as Breakpad has it: 16 bytes as a GUID, whose first three fields are turned around, and an age of 0.
fn breakpad_id(build_id: &str) -> String {
    let padded: String = build_id.chars().chain(std::iter::repeat('0')).take(32).collect();
    let turned = |from: usize, to: usize| -> String {
        let bytes = (from..to).step_by(2).rev().map(|at| &padded[at..at + 2]);
        bytes.collect()
    };
    format!("{}{}{}{}0", turned(0, 8), turned(8, 12), turned(12, 16), &padded[16..]).to_uppercase()
}

fn thread(profile: &Profile, part: &Part, number: u64) -> Value {
    let mut tables = Tables::new(profile);
    let (mut stacks, mut times, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    let mut sum = 0;
    let ms = |ns: u64| ns as f64 / 1e6;
    for (id, frame) in part.frames.iter().enumerate().filter(|(_, frame)| frame.self_ns > 0) {
        stacks.push(tables.stack(part, id));
        times.push(ms(sum));
        weights.push(ms(frame.self_ns));
        sum += frame.self_ns;
    }
    let pid = part.pid.map_or(number, u64::from);
    let is_main = part.thread.as_ref().is_none_or(|(tid, _)| Some(*tid) == part.pid);
    let mut thread = json!({
        "processType": "default",
        "processStartupTime": 0,
        "processShutdownTime": null,
        "processName": part.name,
        "registerTime": 0,
        "unregisterTime": null,
        "pausedRanges": [],
        "name": part.thread.as_ref().map_or(&part.name, |(_, name)| name),
        "isMainThread": is_main,
        "pid": pid.to_string(),
        "tid": part.thread.as_ref().map_or(pid, |(tid, _)| (*tid).into()),
        "showMarkersInTimeline": false,
        "markers": {
            "length": 0, "data": [], "name": [], "startTime": [], "endTime": [], "phase": [], "category": [],
        },
        "samples": {
            "length": stacks.len(), "stack": stacks, "time": times, "weight": weights, "weightType": "tracing-ms",
        },
    });
    tables.write(&mut thread);
    thread
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::sample::{by_process, golden, server};

    fn pretty(profile: &Profile) -> Vec<u8> {
        let value: Value = serde_json::from_slice(&write(profile).unwrap()).unwrap();
        serde_json::to_vec_pretty(&value).unwrap()
    }

    #[test]
    fn tables_of_one_thread() {
        golden("server.firefox.json", &pretty(&server()));
    }

    #[test]
    fn a_thread_for_each_part() {
        let value: Value = serde_json::from_slice(&write(&by_process()).unwrap()).unwrap();
        let pids: Vec<_> = value["threads"].as_array().unwrap().iter().map(|thread| &thread["pid"]).collect();
        assert_eq!(pids, ["100", "101"]);
    }

    #[test]
    fn build_ids_as_breakpad_has_them() {
        assert_eq!(breakpad_id("0123456789abcdef0011223344556677aabbccdd"), "67452301AB89EFCD00112233445566770");
        assert_eq!(breakpad_id(""), "000000000000000000000000000000000");
    }
}
