#!/usr/bin/env bash
# What each reader takes of a profile, in time and memory: `report`, the same again, its JSON, `tree` both ways and the exports.
#
#   benches/readers.sh [--out FOLDER] [--binary DIYTRACE] [--paths N | PROFILE…]
#
#   PROFILE   profiles that were recorded before; without any, one is made: of a call tree of N paths (1,000,000) or up to four times as
#             many, met at random
#   --binary  another diytrace than that of the release build, to compare with
#
# The table goes to stdout, and with --out to readers.tsv there, with the machine beside it. It needs GNU time, awk, and to make a
# profile a C compiler and the release build.
set -euo pipefail
export LC_ALL=C
benches=$(cd "$(dirname "$0")" && pwd)
repo=$(dirname "$benches")
diytrace=$repo/target/release/diytrace results='' paths=1000000 profiles=()
while (($#)); do
    case $1 in
        --out) results=$2; shift 2 ;;
        --binary) diytrace=$(realpath "$2"); shift 2 ;;
        --paths) paths=$2; shift 2 ;;
        -*) sed -n '2,/^set -/{/^set -/d; s/^# \{0,1\}//; p}' "$0"; exit 2 ;;
        *) profiles+=("$(realpath "$1")"); shift ;;
    esac
done
work=$(mktemp -d "${TMPDIR:-/tmp}/diytrace-readers.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Each path of the tree goes on four ways, of which a walk takes two at random: a walk of D levels ends in 2^D of 4^D paths.
make_profile() {
    local depth=2
    while ((4 ** depth < paths)); do depth=$((depth + 1)); done
    awk -v depth="$depth" -v functions=512 -v sites=4 -v breadth=2 -v cold=1 -f "$benches/programs/tree.awk" >"$work/tree.c"
    cc -g -O1 -finstrument-functions "$work/tree.c" -o "$work/tree"
    DIYTRACE_MEMORY=8G "$diytrace" record -o "$work/tree.data" "$work/tree" $((3 * 2 ** depth)) >"$work/record.log" 2>&1 ||
        { cat "$work/record.log" >&2; exit 1; }
    profiles=("$work/tree.data")
}
((${#profiles[@]})) || make_profile

readers() {
    printf 'profile\tMB\treader\tseconds\tcpu_seconds\tMB_of_memory\n'
    local profile size reader
    for profile in "${profiles[@]}"; do
        size=$(du -cm --apparent-size "$profile" | awk 'END { print $1 }')
        for reader in 'report' 'report' 'report --format json' 'tree' 'tree --callers' 'export flamegraph' 'export speedscope' 'export html' \
            'export pprof' 'export firefox' 'export callgrind' 'export folded'; do
            # shellcheck disable=SC2086 # a reader is a command and its options
            command time -o "$work/time" -f '%e\t%U %S\t%M' "$diytrace" $reader "$profile" >"$work/output" 2>"$work/errors" ||
                { cat "$work/errors" >&2; echo "readers.sh: $reader failed" >&2; continue; }
            awk -F'\t' -v OFS='\t' -v profile="$(basename "$profile")" -v size="$size" -v reader="$reader" '
                { split($2, cpu, " "); print profile, size, reader, $1, cpu[1] + cpu[2], int($3 / 1024) }' "$work/time"
        done
    done
}
readers | tee "$work/readers.tsv"
if [[ -n $results ]]; then
    mkdir -p "$results"
    cp "$work/readers.tsv" "$results/readers.tsv"
    {
        awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo
        echo "$(nproc) processors, Linux $(uname -r); $(date -u '+%F %R') UTC; commit $(git -C "$repo" rev-parse --short HEAD); load average $(cut -d' ' -f1 /proc/loadavg)"
    } >"$results/readers-machine.txt"
fi
