#!/usr/bin/env bash
# A real server, whole, under load, killed and restarted: every call that diytrace counts is compared with an event log.
#
#   tests/soak.sh [FOLDER]            (default: ./diytrace-soak)   some minutes, and a few gigabytes of event logs
#   tests/soak.sh --short [FOLDER]    a smaller load, once Redis has been built
#
# It builds Redis from the distribution's source package, all of it and the libraries that come with it instrumented, and
# then, three times: starts the server under both recorders, loads it with redis-benchmark, scripts and a background save
# (a forked child), and ends it (by SHUTDOWN, by SIGTERM, by kill -9). The counts of every function in every process must be
# the same. Everything stays inside FOLDER. REDIS_TARBALL=FILE uses that source instead of the package.
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
requests=20000
if [[ ${1:-} == --short ]]; then
    requests=300
    shift
fi
mkdir -p "${1:-diytrace-soak}"
folder=$(cd "${1:-diytrace-soak}" && pwd)
server=$folder/source/src/redis-server
socket=$folder/socket

heading() { printf '\n== %s\n' "$*"; }
fail()    { printf 'soak.sh: %s\n' "$*" >&2; exit 1; }
quietly() { "$@" >>"$folder/build.log" 2>&1 || { tail -n 20 "$folder/build.log" >&2; fail "'$1' failed, see $folder/build.log"; }; }

# ---- the server --------------------------------------------------------------------------------------------------

# From the archives that this system already trusts, asked for their sources by package lists of our own.
download_source() {
    local apt=$folder/apt release options
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$folder/download"
    release=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
    # shellcheck disable=SC2016 # the dollars are apt's
    apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT) $(SIGNED_BY)' 'Created-By: Packages' |
        awk -v release="$release" 'index($2, release) == 1 && $3 == "main" {
            print "deb-src", ($4 ~ "^/" ? "[signed-by=" $4 "] " : "") $1, $2, $3 }' | sort -u >"$apt/sources.list"
    options=(-o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$apt/lists"
             -o Dir::Cache="$apt/cache" -o APT::Sandbox::User="$(id -un)")
    quietly apt-get "${options[@]}" update
    # An index may name versions whose files have gone from the mirror, so each is tried.
    local version
    for version in $(apt-cache "${options[@]}" showsrc redis | awk '$1 == "Version:" { print $2 }' | sort -Vru); do
        (cd "$folder/download" && apt-get "${options[@]}" source --download-only --tar-only "redis=$version") \
            >>"$folder/build.log" 2>&1 || continue
        tarball=$(find "$folder/download" -name '*.orig.tar.*' ! -name '*.asc' | sort | tail -n 1)
        [[ -z $tarball ]] || return 0
    done
    fail "no source package of Redis could be fetched; set REDIS_TARBALL to a source archive"
}

build() {
    heading "Building Redis (output in $folder/build.log)"
    tarball=${REDIS_TARBALL:-}
    [[ -n $tarball ]] || download_source
    rm -rf "$folder/source" && mkdir "$folder/source"
    quietly tar -xf "$tarball" -C "$folder/source" --strip-components=1
    CFLAGS="-g -finstrument-functions" quietly make -C "$folder/source/src" -j"$(nproc)" \
        MALLOC=libc OPTIMIZATION=-O2 USE_SYSTEMD=no BUILD_TLS=no redis-server redis-benchmark redis-cli
    touch "$folder/built"
}

# ---- a run -------------------------------------------------------------------------------------------------------

client() { "$folder/source/src/redis-cli" -s "$socket" "$@" >>"$folder/client.log"; }

wait_for() { # a condition
    for ((i = 0; i < 3000; i++)); do
        if "$@" 2>/dev/null; then return 0; fi
        sleep 0.02
    done
    fail "'$*' has waited for a minute"
}

is_ready() { "$folder/source/src/redis-cli" -s "$socket" ping | grep -q PONG; }
is_saved() { "$folder/source/src/redis-cli" -s "$socket" info persistence | grep -q 'rdb_bgsave_in_progress:0'; }

load() {
    "$folder/source/src/redis-benchmark" -s "$socket" -n "$requests" -c 20 -q \
        -t set,get,incr,lpush,rpop,sadd,hset,spop,zadd,zpopmin,lrange_100,mset >>"$folder/client.log"
    client eval 'local s = 0 for i = 1, 1000 do s = s + #tostring(i) end return redis.call("incrby", "sum", s)' 0
    client eval 'return redis.call("sort", "mylist", "alpha", "limit", 0, 10)' 0
    client bgsave
    wait_for is_saved
}

run() { # how it ends
    heading "A server that ends by $1"
    local run=$folder/run-$1
    rm -rf "$run" && mkdir -p "$run/logs"
    EVENTLOG_DIR=$run/logs DIYTRACE_OUT=$run/profile DIYTRACE_KEEP=100000 \
        LD_PRELOAD="$folder/libeventlog.so $repo/target/release/libdiytrace.so" \
        "$server" --port 0 --unixsocket "$socket" --dir "$folder" --save '' --appendonly yes >>"$folder/server.log" &
    local pid=$!
    wait_for is_ready
    load
    case $1 in
        shutdown) client shutdown nosave || true ;;
        signal) kill -TERM "$pid" ;;
        kill) sleep 1; kill -KILL "$pid" ;;
    esac
    wait "$pid" 2>/dev/null || [[ $1 == kill ]] || fail "the server has failed, see $folder/server.log"
    compare "$run"
}

# ---- the comparison ----------------------------------------------------------------------------------------------

# Lines of process, address in the program, calls.
logged() {
    "$folder/eventlog-replay" "$1" | {
        declare -A base
        local kind pid first second
        while IFS=$'\t' read -r kind pid first second _; do
            case $kind in
                module) [[ $second != "$server" || -n ${base[any]:-} ]] || base[any]=$first ;;
                func) printf '%s 0x%x %s\n' "$pid" $((16#$first - 16#${base[any]})) "$second" ;;
            esac
        done
    } | sort
}

recorded() {
    "$repo/target/release/diytrace" report --by process --by-address --format csv "$1" |
        awk -F, 'NR > 1 { calls[$1 " " $(NF - 15)] += $(NF - 14) } END { for (who in calls) if (calls[who]) print who, calls[who] }' |
        sort
}

compare() {
    logged "$1/logs" >"$1/logged"
    recorded "$1/profile" >"$1/recorded"
    [[ -s $1/logged ]] || fail "the event log is empty"
    diff "$1/logged" "$1/recorded" >"$1/differences" || fail "the counts differ, see $1/differences"
    awk '{ calls += $3; processes[$1] } END { print NR " functions, " length(processes) " processes, " calls " calls: the same" }' \
        "$1/recorded"
    rm -rf "$1/logs"
}

[[ -e $folder/built ]] || build
(cd "$repo" && cargo build --release --quiet)
cc -O2 -shared -fPIC -o "$folder/libeventlog.so" "$repo/c-fixtures/eventlog.c"
cc -O2 -o "$folder/eventlog-replay" "$repo/c-fixtures/eventlog-replay.c"
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT # a server, where something has failed
rm -rf "$folder/appendonlydir"
for end in shutdown signal kill; do run "$end"; done
