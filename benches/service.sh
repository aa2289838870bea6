#!/usr/bin/env bash
# What a service and an agent take of a processor: for each frame, for each path, and whether that stays so.
#
#   benches/service.sh [scale|agent]… [--short] [--series N] [--processes N] [--seconds N] [--retention TIER=AGE] [--out FOLDER]
#
#   scale         simulated agents send frames of a real recording, varied, one a second each, to a service
#   agent         an agent reads 20 processes of 2000 paths each, four times a second
#   --processes N how many in place of 20
#   --short       a minute of each, in place of an hour of scale and five minutes of each case of agent
#   --series N    how many simulated agents (default 1000)
#   --seconds N   how long each takes
#   --retention T what `serve` is told: `fine=2m` has it make minutes of slices, as it does after an hour, after two minutes
#   --out FOLDER  where service-*.tsv and service-machine.txt go (default: nothing is kept)
#
# The recordings are of programs/handlers.c: a tenth of its paths are called in every slice, and for agent also all of them. All traffic
# goes to 127.0.0.1. Where others use the machine, processor time is the figure: user's and system's, as /proc tells it.
set -euo pipefail
export LC_ALL=C
benches=$(cd "$(dirname "$0")" && pwd)
what=() seconds='' short='' series=1000 processes=20 retention=() results=''
while (($#)); do
    case $1 in
        scale | agent) what+=("$1"); shift; continue ;;
        --short) short=1; shift; continue ;;
        --series) series=$2 ;;
        --processes) processes=$2 ;;
        --seconds) seconds=$2 ;;
        --retention) retention+=(--retention "$2") ;;
        --out) results=$2 ;;
        *) sed -n '2,/^set -/{/^set -/d; s/^# \{0,1\}//; p}' "$0"; exit 2 ;;
    esac
    shift 2
done
((${#what[@]})) || what=(scale agent)
# shellcheck source=lib/machine.sh
. "$benches/lib/machine.sh"
target=${CARGO_TARGET_DIR:-$benches/../target}
cargo build --release --quiet --manifest-path "$benches/../Cargo.toml"
diytrace=$target/release/diytrace
work=$(mktemp -d)
cc -O2 -g -finstrument-functions "$benches/programs/handlers.c" -o "$work/handlers"
running=()
clean_up() {
    local one
    exec 7>&-
    for one in "${running[@]}"; do kill "$one" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT

# start_programs COUNT HANDLERS ACTIVE: recorded into $work/out, until stop_programs.
start_programs() {
    local one
    rm -rf "$work/out" "$work/input"
    mkfifo "$work/input"
    for ((one = 0; one < $1; one++)); do
        DIYTRACE_OUT=$work/out LD_PRELOAD=$target/release/libdiytrace.so "$work/handlers" "$2" "$3" <"$work/input" &
        running+=($!)
    done
    exec 7>"$work/input"
    sleep 2
}
stop_programs() {
    exec 7>&-
    stop "${running[@]}"
}
# stop PROCESS…: waits until they have ended.
stop() {
    wait "$@" 2>/dev/null || true
    running=()
}

# start_service: its process in $service, its address in $address.
start_service() {
    rm -f "$work/store.db"*
    "$diytrace" serve --listen 127.0.0.1:0 --store "$work/store.db" "${retention[@]}" 2>"$work/said" &
    service=$!
    local tries
    for tries in {1..200}; do
        address=$(sed -n 's,^listening on http://,,p' "$work/said")
        [[ -z $address ]] || return 0
        sleep 0.05
    done
    echo "the service does not start (after $tries tries): $(cat "$work/said")" >&2
    exit 1
}

scale() {
    cargo build --release --quiet --manifest-path "$benches/../Cargo.toml" -p diytrace-store --example agents
    start_programs 1 18 2
    start_service
    local files=("$work"/out/*.diyt)
    "$target/release/examples/agents" "$address" "$service" "$series" "${seconds:-$([[ -n $short ]] && echo 60 || echo 3600)}" "${files[0]}"
    printf 'store_mb\tall\t%s\n' "$(du -m --apparent-size "$work/store.db" | cut -f1)"
    kill "$service"
    wait "$service" 2>/dev/null || true
    stop_programs
}

# cpu_ticks PROCESS: hundredths of a second that it has had.
cpu_ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"; }

agent() {
    printf 'what\tpart\tvalue\n'
    local active before after of='' length=${seconds:-$([[ -n $short ]] && echo 60 || echo 300)}
    ((processes == 20)) || of="$processes processes of "
    for active in 2 18; do
        start_programs "$processes" 18 "$active"
        start_service
        "$diytrace" agent --to "http://$address" --dir "$work/out" --every 250ms --spool "$work/spool-$active" 2>"$work/said.agent" &
        local sender=$!
        sleep 10 # names have been sent
        before=$(cpu_ticks "$sender")
        sleep "$length"
        after=$(cpu_ticks "$sender")
        awk -v ticks="$((after - before))" -v length_s="$length" -v active="$active" -v of="$of" \
            'BEGIN { printf "agent_cpu_share\t%s%d paths\t%.4f\n", of, 111 * active + 1, ticks / 100 / length_s }'
        awk -v active="$active" -v of="$of" \
            '/^VmHWM:/ { printf "agent_peak_rss_mb\t%s%d paths\t%.0f\n", of, 111 * active + 1, $2 / 1024 }' "/proc/$sender/status"
        "$diytrace" sql --store "$work/store.db" \
            "SELECT count(*) * 1.0 / (max(ended) - min(ended)) * 1e9 / $processes FROM frame WHERE sequence > 0" 2>/dev/null |
            awk -v active="$active" -v of="$of" \
                'NR == 2 { printf "frames_per_second_and_process\t%s%d paths\t%.2f\n", of, 111 * active + 1, $1 }'
        kill "$sender"
        wait "$sender" 2>/dev/null || true
        kill "$service"
        wait "$service" 2>/dev/null || true
        stop_programs
    done
}

if [[ -n $results ]]; then
    mkdir -p "$results"
    describe_machine "${what[@]}" ${short:+--short} ${seconds:+--seconds "$seconds"} --series "$series" --processes "$processes" "${retention[@]}" >"$results/service-machine.txt"
fi
for one in "${what[@]}"; do
    echo "== $one"
    "$one" >"$work/$one.tsv"
    column -t -s $'\t' "$work/$one.tsv"
    [[ -z $results ]] || cp "$work/$one.tsv" "$results/service-$one.tsv"
done
