#!/usr/bin/env bash
# What a service and an agent take of a processor: for each frame, for each path, and whether that stays so.
#
#   benches/service.sh [scale|week|agent]… [--short] [--series N] [--processes N] [--seconds N] [--retention TIER=AGE] [--out FOLDER]
#
#   scale         simulated agents send frames of a real recording, varied, one a second each, to a service
#   week          100 of them send a week's frames, of a minute each, as fast as they go: what memory that takes
#   agent         an agent reads 20 processes of 2000 paths each, four times a second: of few functions, and of 2000
#   --processes N how many in place of 20; of more, each calls its functions every 50 ms in place of 1, so that there is a processor left
#   --short       a minute of each, in place of an hour of scale and five minutes of each case of agent
#   --series N    how many simulated agents (default 1000)
#   --seconds N   how long each takes
#   --retention T what `serve` is told: `fine=2m` has it make minutes of slices, as it does after an hour, after two minutes
#   --out FOLDER  where service-*.tsv and service-machine.txt go (default: nothing is kept)
#
# The recordings are of programs/handlers.c: a tenth of its paths are called in every slice, and for agent also all of them; and for agent of
# programs/functions.c, a hundredth and a tenth of whose functions are called. All traffic goes to 127.0.0.1. Where others use the machine, processor time is the figure: user's and system's, as /proc tells it.
set -euo pipefail
export LC_ALL=C
benches=$(cd "$(dirname "$0")" && pwd)
what=() seconds='' short='' series=1000 processes=20 retention=() results=''
while (($#)); do
    case $1 in
        scale | week | agent) what+=("$1"); shift; continue ;;
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
for program in handlers functions; do
    cc -O2 -g -finstrument-functions "$benches/programs/$program.c" -o "$work/$program"
done
running=()
clean_up() {
    local one
    exec 7>&-
    for one in "${running[@]}"; do kill "$one" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT

# start_programs COUNT PROGRAM ARGUMENT…: recorded into $work/out, until stop_programs.
start_programs() {
    local one count=$1 program=$2
    shift 2
    rm -rf "$work/out" "$work/input"
    mkfifo "$work/input"
    for ((one = 0; one < count; one++)); do
        DIYTRACE_OUT=$work/out LD_PRELOAD=$target/release/libdiytrace.so "$work/$program" "$@" <"$work/input" &
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
    start_programs 1 handlers 18 2
    start_service
    local files=("$work"/out/*.diyt)
    "$target/release/examples/agents" "$address" "$service" "$series" "${seconds:-$([[ -n $short ]] && echo 60 || echo 3600)}" "${files[0]}"
    printf 'store_mb\tall\t%s\n' "$(du -m --apparent-size "$work/store.db" | cut -f1)"
    kill "$service"
    wait "$service" 2>/dev/null || true
    stop_programs
}

week() {
    cargo build --release --quiet --manifest-path "$benches/../Cargo.toml" -p diytrace-store --example agents
    start_programs 1 handlers 18 2
    start_service
    local files=("$work"/out/*.diyt)
    "$target/release/examples/agents" "$address" "$service" 100 week "${files[0]}"
    printf 'store_mb\tall\t%s\n' "$(du -m --apparent-size "$work/store.db" | cut -f1)"
    kill "$service"
    wait "$service" 2>/dev/null || true
    stop_programs
}

# cpu_ticks PROCESS: hundredths of a second that it has had.
cpu_ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"; }

# agent_reads WHAT PROGRAM ARGUMENT…: what an agent takes that follows so many of a program.
agent_reads() {
    local what=$1 before after length=${seconds:-$([[ -n $short ]] && echo 60 || echo 300)}
    local period=$((processes > 20 ? 50 : 1))
    ((processes == 20)) || what="$processes processes of $what"
    start_programs "$processes" "${@:2}" "$period"
    start_service
    rm -rf "$work/spool"
    "$diytrace" agent --to "http://$address" --dir "$work/out" --every 250ms --spool "$work/spool" 2>"$work/said.agent" &
    local sender=$!
    sleep 10 # names have been sent
    before=$(cpu_ticks "$sender")
    sleep "$length"
    after=$(cpu_ticks "$sender")
    awk -v ticks="$((after - before))" -v length_s="$length" -v what="$what" \
        'BEGIN { printf "agent_cpu_share\t%s\t%.4f\n", what, ticks / 100 / length_s }'
    awk -v what="$what" '/^VmHWM:/ { printf "agent_peak_rss_mb\t%s\t%.0f\n", what, $2 / 1024 }' "/proc/$sender/status"
    # Pages of recordings are the programs', too: what is shared counts by its share here.
    awk -v what="$what" '/^Pss:/ { printf "agent_pss_mb\t%s\t%.0f\n", what, $2 / 1024 }' "/proc/$sender/smaps_rollup"
    "$diytrace" sql --store "$work/store.db" \
        "SELECT count(*) * 1.0 / (max(ended) - min(ended)) * 1e9 / $processes FROM frame WHERE sequence > 0" 2>/dev/null |
        awk -v what="$what" 'NR == 2 { printf "frames_per_second_and_process\t%s\t%.2f\n", what, $1 }'
    kill "$sender"
    wait "$sender" 2>/dev/null || true
    kill "$service"
    wait "$service" 2>/dev/null || true
    stop_programs
}

agent() {
    local active
    printf 'what\tpart\tvalue\n'
    for active in 2 18; do
        agent_reads "$((111 * active + 1)) paths" handlers 18 "$active"
    done
    for active in 20 200; do
        agent_reads "$active of 2000 functions" functions "$active"
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
