#!/usr/bin/env bash
# The recordings behind the samples in docs/, anew: then `DIYTRACE_REGENERATE=1 cargo test --test docs` shows them anew.
#
#   docs/samples/make.sh [FOLDER [server|changes|postgres]…]     (default: /srv/diytrace-samples; PostgreSQL's build in it is used again)
#
# Recordings tell where programs and sources lay, so this should be a folder that says nothing about anyone.
# Needs what examples/postgres.sh needs. On a busy machine LAUNCHER='chrt -f 1', as root, keeps others off the processor.
set -euo pipefail

samples=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$samples/../.." && pwd)
mkdir -p "${1:-/srv/diytrace-samples}"
here=$(cd "${1:-/srv/diytrace-samples}" && pwd)

cargo build --release --manifest-path "$repo/Cargo.toml"
rm -rf "$here/bin" && mkdir "$here/bin"
cp "${CARGO_TARGET_DIR:-$repo/target}"/release/{diytrace,libdiytrace.so} "$here/bin"
diytrace=$here/bin/diytrace
export DIYTRACE_CACHE=off

# keep NAME PROFILE…: what a machine without the programs needs to show them.
keep() {
    mkdir -p "$(dirname "$samples/$1.diya")"
    "$diytrace" symbolize -o "$samples/$1.diya" "${@:2}"
}

# The quickstart's server, and 1,000 requests.
server() {
    cd "$here"
    cp "$repo"/examples/{server,client}.c .
    cc -O2 -g -finstrument-functions -o server server.c
    cc -O2 -o client client.c
    rm -rf server.data
    # shellcheck disable=SC2086 # a command and its options
    ${LAUNCHER:-} "$diytrace" record --root handle_request --out server.data -- ./server >port &
    local server=$!
    until [[ -s port ]]; do sleep 0.002; done
    # shellcheck disable=SC2086 # a command and its options
    ${LAUNCHER:-} ./client "$(<port)" >/dev/null
    kill -TERM "$server"
    wait "$server"
    rm port
    keep server server.data
}

# Two builds of one program: handle() calls lookup() five times instead of four. Ten runs of each, in turn, and recorded
# below handle(): main() has a caller in libc, whose symbols are twenty times as large.
changes() {
    cd "$here"
    cp "$repo/c-fixtures/changes.c" .
    cc -O2 -g -finstrument-functions -o old changes.c
    cc -O2 -g -finstrument-functions -DLOOKUPS=5 -o new changes.c
    rm -rf before after "$samples"/{before,after}
    local run first second
    for run in 01 02 03 04 05 06 07 08 09 10; do
        first=before second=after
        if ((10#$run % 2 == 0)); then first=after second=before; fi
        for side in $first $second; do
            local program=old
            [[ $side == before ]] || program=new
            # shellcheck disable=SC2086 # a command and its options
            ${LAUNCHER:-} "$diytrace" record --root handle --out "$side/$run" -- "./$program" 4000
            keep "$side/$run" "$side/$run"
        done
    done
}

# The question that diytrace began with, in PostgreSQL: examples/postgres.sh, under the launcher.
postgres() {
    (
        # shellcheck source=/dev/null
        . "$repo/examples/postgres.sh"
        prepare "$here/postgres"
        find_diytrace
        # shellcheck disable=SC2206 # a command and its options
        as_server=(${LAUNCHER:-} "${as_server[@]}")
        trap stop_server EXIT
        choose_socket_folder
        load_table
        profile 1 "select count(*) over(order by a) from x"
        profile 2 "select count(*) over() from x"
    )
    keep postgres-ordered "$here/postgres/profile-1"
    keep postgres-whole "$here/postgres/profile-2"
}

for recording in "${@:2}"; do "$recording"; done
(($# > 1)) || { server; changes; postgres; }
