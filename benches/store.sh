#!/usr/bin/env bash
# How fast a profile store is: rows in a second, bytes a row, and how long random selections take.
#
#   benches/store.sh [--clickhouse] [--store URL] [--series N] [--frames N] [--paths N] [--seconds N] [--out FOLDER] [--name NAME]
#
#   --clickhouse  on a ClickHouse that is started for this, of a library that npm has
#   --store URL   in this store, which must be empty: a database of a ClickHouse, or a file; it is left there
#   --series N    series, ten hosts a service (default 200)
#   --frames N    frames of each (default 25)
#   --paths N     call paths in each (default 2000): with the defaults, ten million rows
#   --seconds N   how long a frame is (default 10)
#   --out FOLDER  where NAME.tsv and store-machine.txt go (default: nothing is kept)
#   --name NAME   what the table is called there (default: store, or store-clickhouse)
#
# On a busy machine LAUNCHER='chrt -f 1', as root, has the program and a ClickHouse of its own go before others.
#
# The paths are those of c-fixtures/paths.c, or of the profile that STORE_PROFILE names, in each frame with other numbers. Of each
# kind of selection fifty are made at random: one host at one moment, one host at all times, an hour of a service, a service at all
# times, the same by build, and the index of all series. Each opens the store anew. The table goes to stdout; `rows_per_second` is
# of the time in which the store had a frame, `writer_mb` and `reader_mb` are the most memory that the program had then, and
# `compression` is what ClickHouse says of the table of paths.
set -euo pipefail
benches=$(cd "$(dirname "$0")" && pwd)
series=200 frames=25 paths=2000 seconds=10 results='' store='' name='' own=''
while (($#)); do
    case $1 in
        --clickhouse) own=1; shift; continue ;;
        --store) store=$2 ;;
        --series) series=$2 ;;
        --frames) frames=$2 ;;
        --paths) paths=$2 ;;
        --seconds) seconds=$2 ;;
        --out) results=$2 ;;
        --name) name=$2 ;;
        *) sed -n '2,/^set -/{/^set -/d; s/^# \{0,1\}//; p}' "$0"; exit 2 ;;
    esac
    shift 2
done
# shellcheck source=lib/clickhouse.sh
. "$benches/lib/clickhouse.sh"
target=${CARGO_TARGET_DIR:-$benches/../target}
cargo build --release --quiet --manifest-path "$benches/../Cargo.toml" -p diytrace-store --example fill
work=$(mktemp -d)
trap 'stop_clickhouse; rm -rf "$work"' EXIT
if [[ -n $own ]]; then
    start_clickhouse "$work/engine"
    store=clickhouse://127.0.0.1:$clickhouse_port/bench
fi
case $store in clickhouse:*) name=${name:-store-clickhouse} ;; *) name=${name:-store} ;; esac
profile=${STORE_PROFILE:-}
if [[ -z $profile ]]; then
    cargo build --release --quiet --manifest-path "$benches/../Cargo.toml"
    cc -O2 -g -finstrument-functions "$benches/../c-fixtures/paths.c" -o "$work/paths"
    profile=$work/profile
    "$target/release/diytrace" record --out "$profile" "$work/paths" >/dev/null 2>&1
fi
fill=$target/release/examples/fill
store=${store:-$work/store.db}
read -ra launcher <<<"${LAUNCHER:-}"
"${launcher[@]}" "$fill" put "$store" "$series" "$frames" "$seconds" "$profile" "$paths" >"$work/store.tsv"
"${launcher[@]}" "$fill" ask "$store" "$series" "$frames" "$seconds" >>"$work/store.tsv"
column -t "$work/store.tsv"
if [[ -n $results ]]; then
    mkdir -p "$results"
    cp "$work/store.tsv" "$results/$name.tsv"
    {
        awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo
        echo "$(nproc) processors, Linux $(uname -r); $(date -u '+%F %R') UTC; commit $(git -C "$benches" rev-parse --short HEAD); load average $(cut -d' ' -f1 /proc/loadavg)${LAUNCHER:+, under $LAUNCHER}"
        echo "$series series, $frames frames of $paths paths, each of $seconds s; profile ${STORE_PROFILE:-c-fixtures/paths.c} ($name.tsv)"
    } >>"$results/store-machine.txt"
fi
