#!/usr/bin/env bash
# How fast a profile store is: rows in a second, bytes a row, and how long random selections take.
#
#   benches/store.sh [--series N] [--frames N] [--paths N] [--out FOLDER]
#
#   --series N    series, ten hosts a service (default 200)
#   --frames N    spans of ten seconds of each (default 25)
#   --paths N     call paths in each (default 2000): with the defaults, ten million rows
#   --out FOLDER  where store.tsv and store-machine.txt go (default: nothing is kept)
#
# The paths are those of c-fixtures/paths.c, or of the profile that STORE_PROFILE names. Of each kind of selection
# fifty are made at random: one host at one moment, one host at all times, a service at all times, the same by build, and the
# index of all series. Each opens the store anew. The table goes to stdout.
set -euo pipefail
benches=$(cd "$(dirname "$0")" && pwd)
series=200 frames=25 paths=2000 results=''
while (($#)); do
    case $1 in
        --series) series=$2 ;;
        --frames) frames=$2 ;;
        --paths) paths=$2 ;;
        --out) results=$2 ;;
        *) sed -n '2,/^set -/{/^set -/d; s/^# \{0,1\}//; p}' "$0"; exit 2 ;;
    esac
    shift 2
done
target=${CARGO_TARGET_DIR:-$benches/../target}
cargo build --release --quiet --manifest-path "$benches/../Cargo.toml" -p diytrace-store --example fill
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
profile=${STORE_PROFILE:-}
if [[ -z $profile ]]; then
    cargo build --release --quiet --manifest-path "$benches/../Cargo.toml"
    cc -O2 -g -finstrument-functions "$benches/../c-fixtures/paths.c" -o "$work/paths"
    profile=$work/profile
    "$target/release/diytrace" record --out "$profile" "$work/paths" >/dev/null 2>&1
fi
"$target/release/examples/fill" "$profile" "$work/store.db" "$series" "$frames" "$paths" | tee "$work/store.tsv" | column -t
if [[ -n $results ]]; then
    mkdir -p "$results"
    cp "$work/store.tsv" "$results/store.tsv"
    {
        awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo
        echo "$(nproc) processors, Linux $(uname -r); $(date -u '+%F %R') UTC; commit $(git -C "$benches" rev-parse --short HEAD); load average $(cut -d' ' -f1 /proc/loadavg)"
        echo "$series series, $frames frames of $paths paths; profile ${STORE_PROFILE:-c-fixtures/paths.c}"
    } >"$results/store-machine.txt"
fi
