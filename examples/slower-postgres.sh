#!/usr/bin/env bash
# Which function got slower, when, on which host, and why? PostgreSQL under load on two hosts, of which one gets a slower build; whoever
# opens the service's page finds out by clicks.
#
#   examples/slower-postgres.sh [FOLDER]                 (default: ./diytrace-postgres, as examples/postgres.sh has it)
#   examples/slower-postgres.sh --click [FOLDER]         (Chromium clicks there; it takes npm, and is over then)
#   ROUNDS=6 SECONDS_OF_LOAD=4 RATE=10 examples/slower-postgres.sh …
#
# It builds PostgreSQL and the changed server as compare-postgres.sh does. Two servers with data of their own stand for the hosts db1 and db2:
# each has an agent that labels what it sends so. All answer the same queries at the same rate. After some rounds db2 gets the changed server.
# The first run takes minutes, later ones some. Everything stays inside FOLDER; the system is not changed.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/compare-postgres.sh"

rounds=${ROUNDS:-6} duration=${SECONDS_OF_LOAD:-4} rate=${RATE:-10}
declare -A ports=([db1]=18551 [db2]=18552)
hosts=(db1 db2)
started=()

# Beside the plain tree, one in which the server is the changed one: a program is told by its build, not by its name.
install_changed() {
    rm -rf "$folder/install-changed"
    cp -a "$folder/install" "$folder/install-changed"
    mv -f "$folder/install-changed/bin/postgres.changed" "$folder/install-changed/bin/postgres"
}

start_service() {
    rm -rf "$folder/found.db"* "$folder/spool"
    "$diytrace" serve --store "$folder/found.db" --listen 127.0.0.1:0 2>"$folder/service.log" &
    started+=($!)
    local _
    for _ in {1..100}; do
        service=$(sed -n 's/.*listening on //p' "$folder/service.log" | head -n 1)
        [[ -z $service ]] || break
        sleep 0.1
    done
    [[ -n $service ]] || fail "the service did not start; its output is in $folder/service.log"
    local host
    for host in "${hosts[@]}"; do
        rm -rf "$folder/$host"
        mkdir "$folder/$host"
        cp -a "$folder/data" "$folder/$host/data"
        fresh_folder "$folder/$host/profiles"
        "$diytrace" agent --to "$service" --dir "$folder/$host/profiles" --every 500ms --spool "$folder/$host/spool" \
            --label "host=$host" --label service=postgres 2>"$folder/$host/agent.log" &
        started+=($!)
    done
}

# ask HOST TREE: a server of that build answers for a while.
ask() {
    local host=$1 port=${ports[$1]} server _
    (cd "$folder/$host/data" && exec "${as_server[@]}" "$diytrace" record --root standard_ExecutorRun --out "$folder/$host/profiles" -- \
        "$folder/$2/bin/postgres" -D . -c listen_addresses=127.0.0.1 -c "port=$port" -c unix_socket_directories= -c fsync=off \
        -c autovacuum=off -c max_parallel_workers_per_gather=0) >>"$folder/$host/server.log" 2>&1 &
    server=$!
    for _ in {1..300}; do
        "$folder/install/bin/pg_isready" -q -h 127.0.0.1 -p "$port" && break
        kill -0 "$server" 2>/dev/null || fail "the server of $host did not start; its output is in $folder/$host/server.log"
        sleep 0.1
    done
    "$diytrace" load "postgres://$server_user@127.0.0.1:$port/postgres" --requests "$folder/found.sql" --rate "$rate" --poisson \
        --duration "${duration}s" --connections 4 --warm-up 0 >>"$folder/$host/load.log" 2>&1 || fail "the load for $host failed; see $folder/$host/load.log"
    kill -INT "$(head -n 1 "$folder/$host/data/postmaster.pid")"
    wait "$server" || true
}

# round BUILD-OF-DB1 BUILD-OF-DB2: both at once.
round() {
    local first second
    ask db1 "$1" &
    first=$!
    ask db2 "$2" &
    second=$!
    wait "$first" && wait "$second"
}

# The build ID of a server, as labels have it.
build_of() { readelf -n "$1" | awk '/Build ID/ { print $3 }'; }

click() {
    command -v npm >/dev/null || fail "missing: npm; install with: apt-get install npm"
    CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || fail "missing: chromium; install with: apt-get install chromium"
    mkdir -p "$folder/browser"
    cp "$repo"/tests/browser/{package.json,common.mjs,found.mjs} "$folder/browser"
    cd "$folder/browser"
    quietly npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts
    SERVICE=$service CHROMIUM=$CHROMIUM node found.mjs build "$before" "$after" "$changed" eval_windowaggregates db2 cost "$folder/found"
}

main() {
    local clicks=
    if [[ ${1:-} == --click ]]; then clicks=1; shift; fi
    if (($# > 1)) || [[ ${1:-} == -* ]]; then echo "usage: slower-postgres.sh [--click] [FOLDER]" >&2; exit 2; fi
    prepare "${1:-diytrace-postgres}"
    build_changed
    install_changed
    before=$(build_of "$folder/install/bin/postgres") after=$(build_of "$folder/install-changed/bin/postgres")
    find_diytrace
    trap 'stop_server; ((${#started[@]} == 0)) || kill "${started[@]}" 2>/dev/null || true; [[ -z ${temporary_socket:-} ]] || rm -rf "$temporary_socket"' EXIT
    trap 'exit 130' INT TERM HUP
    choose_socket_folder
    load_table
    cat >"$folder/found.sql" <<'END'
3 SELECT sum(c) FROM (SELECT count(*) OVER (ORDER BY a) c FROM x WHERE a <= 2000) s
1 SELECT count(*) FROM (SELECT a FROM x WHERE a <= 2000 ORDER BY -a OFFSET 0) s
4 SELECT * FROM x WHERE a = {random:1-100000}
END
    start_service
    heading "Two hosts under load; the page is at $service"
    local number
    for ((number = 0; number < rounds; number++)); do round install install; done
    heading "db2 gets another build"
    for ((number = 0; number < rounds; number++)); do round install install-changed; done
    sleep 2 # what was counted last is sent when a server has ended
    if [[ -n $clicks ]]; then
        heading "Chromium clicks"
        click
    else
        heading "Which function got slower, when, on which host, and why? $service (Ctrl-C ends it)"
        wait "${started[0]}"
    fi
}

main "$@"
