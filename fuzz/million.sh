#!/usr/bin/env bash
# A million mutations of frames, and of pprof profiles, through their decoders and what comes behind them.
#
#   fuzz/million.sh [EXECUTIONS]
#
# DIYTRACE_SEED repeats one: it is printed, and new each time unless it is set. `cargo test` tries a few thousand, always the same.
set -euo pipefail
cd "$(dirname "$0")/.."
export DIYTRACE_EXECUTIONS=${1:-1000000} DIYTRACE_SEED=${DIYTRACE_SEED:-$(date +%s%N)}
cargo test --release -p diytrace-store -p diytrace-pprof --lib -- --nocapture bytes_that_are_nearly
