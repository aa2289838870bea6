#!/usr/bin/env bash
# Real servers, whole, under load, killed and restarted: every call that diytrace counts is compared with an event log.
#
#   tests/soak.sh [SERVER] [FOLDER]            redis or nginx, or one after the other; FOLDER is ./diytrace-soak as a rule.
#                                              Some minutes, and some gigabytes of event logs
#   tests/soak.sh --short [SERVER] [FOLDER]    a smaller load
#
# It builds the server from the distribution's source package, all of it instrumented, and then starts it under both
# recorders, loads it, disturbs it, and ends it, each time in another way: see tests/soak/<server>.sh. The counts of every
# function in every process, and of every caller of it, must be the same. Everything stays inside FOLDER. Exit status 77
# says that nothing was tested, as a tool is missing or the source could not be fetched.
# <SERVER>_TARBALL=FILE uses that source instead of the package; SOAK_SCALE=N makes a load of N (20 is short).
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
scale=${SOAK_SCALE:-200}
if [[ ${1:-} == --short ]]; then scale=${SOAK_SCALE:-20}; shift; fi
servers=(redis nginx)
if [[ -e $repo/tests/soak/${1:-}.sh && ${1:-} =~ ^(redis|nginx)$ ]]; then servers=("$1"); shift; fi
mkdir -p "${1:-diytrace-soak}"
folder=$(cd "${1:-diytrace-soak}" && pwd)

heading() { printf '\n== %s\n' "$*"; }
fail()    { printf 'soak.sh: %s\n' "$*" >&2; exit 1; }
skip()    { printf 'soak.sh: %s\n' "$*" >&2; exit 77; } # as test harnesses have it
quietly() { "$@" >>"$folder/build.log" 2>&1 || { tail -n 20 "$folder/build.log" >&2; fail "'$1' failed, see $folder/build.log"; }; }

wait_for() { # a condition
    for ((i = 0; i < 3000; i++)); do
        if "$@" 2>/dev/null; then return 0; fi
        sleep 0.02
    done
    fail "'$*' has waited for a minute"
}

# Becomes a command, in a subshell; its log and its profile go into the folder of the run. A server may give up the rights to
# open them.
under_both_recorders() {
    mkdir -m 777 "$run/logs"
    EVENTLOG_DIR=$run/logs DIYTRACE_OUT=$run/profile DIYTRACE_KEEP=100000 DIYTRACE_MEMORY=1G \
        LD_PRELOAD="$folder/libeventlog.so $folder/libdiytrace.so" exec "$@"
}

soak() { # server
    # shellcheck source=/dev/null # one of tests/soak/
    source "$repo/tests/soak/$1.sh"
    if [[ ! -e $folder/$1/built ]]; then
        heading "Building $1 (output in $folder/build.log)"
        build
        touch "$folder/$1/built"
    fi
    local end
    for end in "${ends[@]}"; do
        heading "$1, ended by $end"
        run=$folder/run-$1-$end
        rm -rf "$run" && mkdir -p "$run"
        run "$end"
    done
}

for tool in apt-get cargo cc curl jq make nm readelf pgrep; do
    command -v "$tool" >/dev/null || skip "$tool is missing"
done
source "$repo/tests/soak/source.sh"
source "$repo/tests/soak/comparison.sh"
(cd "$repo" && cargo build --release --quiet)
# Copies, as whoever builds meanwhile would take the library from a server that starts.
cp "${CARGO_TARGET_DIR:-$repo/target}"/release/{diytrace,libdiytrace.so} "$folder/"
cc -O2 -shared -fPIC -o "$folder/libeventlog.so" "$repo/c-fixtures/eventlog.c"
cc -O2 -o "$folder/eventlog-replay" "$repo/c-fixtures/eventlog-replay.c"
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT # a server, where something has failed
for server_name in "${servers[@]}"; do (soak "$server_name"); done
