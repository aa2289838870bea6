#!/usr/bin/env bash
# Thousands of random histories of programs, agents, services and what lies between them; and a network that is cut for minutes.
#
#   tests/histories.sh [HISTORIES [SECONDS]]      1000 histories, and a wire that is cut for 120 seconds, unless told
#
# What the store has at the end is held against the recordings: calls of functions and edges, bins and times. Each history begins with its
# seed: DIYTRACE_SEED=SEED cargo test --test histories whatever repeats it, as far as clocks and processors let it. A history takes a second
# or two. `cargo test` runs a few, and the gate a hundred.
set -euo pipefail
cd "$(dirname "$0")/.."
export DIYTRACE_HISTORIES=${1:-1000} DIYTRACE_CUT_S=${2:-120}
cargo test --test histories -- --nocapture
