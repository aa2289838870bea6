#!/usr/bin/env bash
# How fast a profile store is: rows in a second, bytes a row, and how long random selections take.
#
#   benches/store.sh [--clickhouse] [--store URL] [--data FOLDER] [--parts PART,…] [--series N] [--frames N] [--paths N] [--seconds N]
#                    [--out FOLDER] [--name NAME]
#
#   --clickhouse  on a ClickHouse that is started for this, of a library that npm has
#   --store URL   in this store: a database of a ClickHouse, or a file; it is left there, for other parts
#   --data FOLDER where the ClickHouse that is started has its data; it is left there, for other parts
#   --parts       what to do (default: put,ask,cold,by-hand):
#                 put      fill the store, which must be empty
#                 ask      fifty random selections of each kind
#                 cold     the same, each of files that the kernel has forgotten, and ClickHouse its caches
#                 by-hand  the same questions by the best queries that are written by hand, warm
#                 coarser  make slices of an hour of those that there are, and ask for all times; nothing else can be asked of it then
#   --series N    series, ten hosts a service (default 200)
#   --frames N    frames of each (default 25)
#   --paths N     call paths in each (default 2000): with the defaults, ten million rows
#   --seconds N   how long a frame is (default 150)
#   --out FOLDER  where NAME-PART.tsv and store-machine.txt go (default: nothing is kept)
#   --name NAME   what the tables are called there (default: store, or store-clickhouse)
#
# On a busy machine LAUNCHER='chrt -f 1', as root, has the program and a ClickHouse of its own go before others.
#
# The paths are those of c-fixtures/paths.c, or of the profile that STORE_PROFILE names (and STORE_FUNCTION, a function there), in
# each frame with other numbers. Each selection opens the store anew: one host at one moment or at all times, an hour of a service, a
# service at all times, by build too; by the command, of an hour of a service, its functions, its flame graph, one function over time
# with percentiles, and two builds compared; and lists of series, of recordings in an hour, of the values of a label, and of the types of
# sampled profiles. By hand they are asked of the tables of ClickHouse, and of a table of plain rows that SQLite has beside the store: calls
# and self times as measured, without distributions. `rows_per_second` is of the time in which the store had a frame, `writer_mb` and
# `reader_mb` are the most memory that the program had then, and `compression` is what ClickHouse says of the table of paths.
set -euo pipefail
benches=$(cd "$(dirname "$0")" && pwd)
series=200 frames=25 paths=2000 seconds=150 parts=put,ask,cold,by-hand results='' store='' data='' name='' own=''
while (($#)); do
    case $1 in
        --clickhouse) own=1; shift; continue ;;
        --store) store=$2 ;;
        --data) data=$2 ;;
        --parts) parts=$2 ;;
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
cargo build --release --quiet --manifest-path "$benches/../Cargo.toml"
work=$(mktemp -d)
trap 'stop_clickhouse; rm -rf "$work"' EXIT
if [[ -n $own ]]; then
    data=$(realpath -m "${data:-$work/engine}")
    start_clickhouse "$data"
    store=clickhouse://127.0.0.1:$clickhouse_port/bench
fi
case $store in clickhouse:*) name=${name:-store-clickhouse} ;; *) name=${name:-store} ;; esac
profile=${STORE_PROFILE:-} function=${STORE_FUNCTION:-level_5}
fill=$target/release/examples/fill
store=${store:-$work/store.db}
read -ra launcher <<<"${LAUNCHER:-}"

# run PART WORD…: what it prints is the part's table.
run() {
    local part=$1 load
    shift
    load=$(cut -d' ' -f1 /proc/loadavg)
    "${launcher[@]}" "$fill" "$@" >"$work/$part.tsv"
    column -t "$work/$part.tsv"
    [[ -n $results ]] || return 0
    mkdir -p "$results"
    cp "$work/$part.tsv" "$results/$name-$part.tsv"
    {
        awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo
        echo "$(nproc) processors, Linux $(uname -r); $(date -u '+%F %R') UTC; commit $(git -C "$benches" rev-parse --short HEAD); load average $load before and $(cut -d' ' -f1 /proc/loadavg) after${LAUNCHER:+, under $LAUNCHER}"
        echo "$series series, $frames frames of $paths paths, each of $seconds s; profile ${STORE_PROFILE:-c-fixtures/paths.c} ($name-$part.tsv)"
    } >>"$results/store-machine.txt"
}
recorded() {
    [[ -z $profile ]] || return 0
    cc -O2 -g -finstrument-functions "$benches/../c-fixtures/paths.c" -o "$work/paths"
    profile=$work/profile
    "$target/release/diytrace" record --out "$profile" "$work/paths" >/dev/null 2>&1
}
of=("$store" "$series" "$frames" "$seconds")
for part in ${parts//,/ }; do
    case $part in
        put) recorded; run put put "${of[@]}" "$profile" "$paths" ;;
        ask) run ask ask "${of[@]}" "$target/release/diytrace" "$function" ;;
        cold) COLD=${data:-$store} run cold ask "${of[@]}" "$target/release/diytrace" "$function" ;;
        by-hand)
            case $store in
                clickhouse:*) ;;
                *) [[ -e $store.plain ]] || { recorded; "${launcher[@]}" "$fill" plain "${of[@]}" "$profile" "$paths"; } ;;
            esac
            run by-hand by-hand "${of[@]}"
            ;;
        coarser)
            "${launcher[@]}" "$fill" coarser "$store" hour
            # The others are of times that no slice ends in now.
            export WITHOUT=one_profile,service_hour,top_functions,flame_graph,function_over_time,diff_of_builds,index_of_range
            run coarser ask "${of[@]}" "$target/release/diytrace" "$function"
            ;;
        *) echo "$0: there is no part $part" >&2; exit 2 ;;
    esac
done
