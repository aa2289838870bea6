#!/usr/bin/env bash
# How long it takes to build diytrace: for who tries it, and for who changes it.
#
#   benches/build.sh [--bench quickstart|change] [--out FOLDER]
#
#   quickstart  what examples/quickstart.sh builds, from an empty target folder
#   change      from a line that was changed in a view to what `diytrace --version` of the release build says
#
# It builds a copy of the files that git tracks here, in a temporary folder that takes some gigabytes. Wall and processor time
# (user and system) in seconds go to stdout, and with --out to build.tsv and build-machine.txt there: where other programs ran
# meanwhile, and where there are more than two cores, the processor time says more. Crates that cargo does not have yet are fetched
# before anything is measured.
set -euo pipefail
export LC_ALL=C
benches=$(cd "$(dirname "$0")" && pwd)
repo=$(dirname "$benches")
bench='' results=''
while (($#)); do
    case $1 in
        --bench) bench=$2 ;;
        --out) results=$2 ;;
        *) sed -n '2,/^set -/{/^set -/d; s/^# \{0,1\}//; p}' "$0"; exit 2 ;;
    esac
    shift 2
done
work=$(mktemp -d "${TMPDIR:-/tmp}/diytrace-build.XXXXXX")
trap 'rm -rf "$work"' EXIT
git -C "$repo" ls-files -z | (cd "$repo" && tar --null --files-from=- -c) | tar -C "$work" -x
cargo fetch --quiet --locked --manifest-path "$work/Cargo.toml"
cd "$work"
export CARGO_TARGET_DIR=$work/target

# measured NAME COMMAND…: a row of the table.
measured() {
    local name=$1 TIMEFORMAT=$'%R\t%U\t%S' times
    shift
    times=$({ time "$@" >"$work/log" 2>&1; } 2>&1) || { cat "$work/log" >&2; exit 1; }
    printf '%s\t%s\n' "$name" "$times" | tee -a "$work/build.tsv"
}

build_and_run() { cargo build --release && target/release/diytrace --version; }

printf 'what\twall s\tuser s\tsystem s\n' | tee "$work/build.tsv"
if [[ ${bench:-quickstart} = quickstart ]]; then
    measured quickstart cargo build --profile quickstart --no-default-features
fi
if [[ ${bench:-change} = change ]]; then
    cargo build --release --quiet
    for turn in 1 2 3; do # the first after a whole build writes more
        sed -i "s/overhead subtracted[ 0-9]*:/overhead subtracted $turn:/" analyze/views/src/view/table/mod.rs
        measured "change $turn" build_and_run
    done
fi
if [[ -n $results ]]; then
    mkdir -p "$results"
    cp "$work/build.tsv" "$results/build.tsv"
    {
        awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo
        echo "$(nproc) processors, Linux $(uname -r), $(rustc --version); $(date -u '+%F %R') UTC; commit $(git -C "$repo" rev-parse --short HEAD); load average $(cut -d' ' -f1 /proc/loadavg)"
    } >"$results/build-machine.txt"
fi
