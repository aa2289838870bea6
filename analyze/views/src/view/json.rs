//! JSON in the shape of the documents.

use std::io::{self, Write};

use serde::Serialize;

/// Writes a document as JSON.
pub fn write(document: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, document)?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::document;

    #[test]
    fn the_shape_that_others_rely_on() {
        let mut out = Vec::new();
        write(&document(&["handle"]), &mut out).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let has = |value: &serde_json::Value, keys: &str| {
            for key in keys.split_whitespace() {
                assert!(value.get(key).is_some(), "{key}");
            }
        };
        has(&json, "schema clock warnings reports");
        has(&json["clock"], "source hz");
        let report = &json["reports"][0];
        has(report, "process thread processes calls lost_calls folded_calls unwound overhead functions");
        has(&report["process"], "pid ppid exe cmdline started_unix_ns state");
        has(&report["overhead"], "inner_ns outer_ns error_ns");
        let function = &report["functions"][0];
        has(function, "name module address file line calls open inlined_calls total_ns self_ns total_error_ns");
        has(function, "total_raw_ns self_raw_ns mean_ns min_ns p50_ns p90_ns p99_ns p999_ns max_ns callees");
        let callee = &function["callees"][0];
        has(callee, "name module address call via sites calls total_ns self_ns total_raw_ns");
        has(&callee["sites"][0], "address file line calls");
        assert_eq!((&function["address"], &callee["call"]), (&"0x1200".into(), &"direct".into()));
    }
}
