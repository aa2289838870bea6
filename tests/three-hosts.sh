#!/usr/bin/env bash
# PostgreSQL under pgbench on three hosts, and one service: what it has of each host is what an event log has of the same run, to the last call.
#
#   tests/three-hosts.sh [FOLDER]                        (default: ./diytrace-postgres, as examples/postgres.sh has it)
#   SECONDS_OF_LOAD=20 CLIENTS=4 tests/three-hosts.sh …
#
# Hosts are network namespaces, each with a server, its data, an agent, and a wire to the first, where the service is; the wire to one is cut for
# a part of the time. Each server is recorded by diytrace and by c-fixtures/eventlog.c at once. Needs root; builds PostgreSQL as examples/postgres.sh does.
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=/dev/null
source "$repo/examples/postgres.sh"
# shellcheck source=/dev/null
source "$repo/tests/soak/comparison.sh"

duration=${SECONDS_OF_LOAD:-20} clients=${CLIENTS:-4}
hosts=(db1 db2 db3)
declare -A holder servers agents

# on HOST COMMAND…: with that host's network.
on() { nsenter --target "${holder[$1]}" --net -- "${@:2}"; }

# A network namespace, there as long as its holder is.
add_host() {
    unshare --net sleep 3600 &
    holder[$1]=$!
    until [[ $(readlink "/proc/${holder[$1]}/ns/net") != "$(readlink /proc/self/ns/net)" ]]; do sleep 0.01; done
    on "$1" ip link set lo up
}

wire() { # host number
    on service ip link add "wire$2" type veth peer name wire netns "${holder[$1]}"
    on service ip addr add "10.77.$2.1/24" dev "wire$2"
    on service ip link set "wire$2" up
    on "$1" ip addr add "10.77.$2.2/24" dev wire
    on "$1" ip link set wire up
}

start_service() {
    rm -f "$folder/three.db"*
    (umask 077 && echo "write $(head -c 24 /dev/urandom | base64)" >"$folder/tokens")
    nsenter --target "${holder[service]}" --net -- "$diytrace" serve --listen 0.0.0.0:7070 --store "$folder/three.db" --token-file "$folder/tokens" 2>"$folder/service.log" &
    service=$!
    until grep -q 'listening on' "$folder/service.log"; do
        kill -0 "$service" || fail "the service did not start; its output is in $folder/service.log"
        sleep 0.1
    done
}

start_host() { # host number
    local host=$1 here=$folder/$1 _
    rm -rf "$here" && mkdir "$here"
    cp -a "$folder/data" "$here/data"
    for one in profiles logs socket; do fresh_folder "$here/$one"; done
    (cd "$here/data" && exec env EVENTLOG_DIR="$here/logs" DIYTRACE_OUT="$here/profiles" DIYTRACE_KEEP=100000 \
        nsenter --target "${holder[$host]}" --net -- "${as_server[@]}" env LD_PRELOAD="$folder/libeventlog.so $folder/diytrace/libdiytrace.so" \
        "$folder/install/bin/postgres" -D . -c listen_addresses= -c "unix_socket_directories=$here/socket" -c fsync=off -c autovacuum=off) \
        >"$here/server.log" 2>&1 &
    servers[$host]=$!
    for _ in {1..600}; do
        "$folder/install/bin/pg_isready" -q -h "$here/socket" && break
        kill -0 "${servers[$host]}" 2>/dev/null || fail "the server of $host did not start; its output is in $here/server.log"
        sleep 0.1
    done
    nsenter --target "${holder[$host]}" --net -- "$diytrace" agent --to "http://10.77.$2.1:7070" --token-file "$folder/tokens" \
        --dir "$here/profiles" --every 250ms --spool "$here/spool" --label "host=$host" --label service=postgres 2>"$here/agent.log" &
    agents[$host]=$!
}

stored_calls() { # host
    "$diytrace" report --store "$folder/three.db" --select "host=$1" --format json 2>/dev/null | jq '[.reports[].calls] | add // 0' || echo 0
}

# What the store has of a host, beside its event log: functions, and each by its callers.
compare_host() {
    local here=$folder/$1
    logged "$here/logs" "$folder/install/bin/postgres" | awk '{ sum[$2] += $3 } END { for (what in sum) print what, sum[what] }' | sort >"$here/logged"
    # shellcheck disable=SC2016 # the dollars are jq's
    "$diytrace" report --store "$folder/three.db" --select "host=$1" --format json | jq -r '.reports[].functions[] |
        (select(.calls > 0) | "\(.address) \(.calls)"), (.address as $caller | .callees[] | select(.calls > 0) | "\($caller)→\(.address) \(.calls)")' |
        awk '{ sum[$1] += $2 } END { for (what in sum) print what, sum[what] }' | sort >"$here/stored"
    [[ -s $here/logged ]] || fail "the event log of $1 is empty"
    diff "$here/logged" "$here/stored" >"$here/differences" || fail "the counts of $1 differ, see $here/differences"
    awk -v host="$1" '/→/ { pairs++; next } { functions++; calls += $2 } END { printf "%s: %d calls of %d functions, %d pairs: the same\n", host, calls, functions, pairs }' "$here/stored"
}

main() {
    ((EUID == 0)) || fail "networks of their own take root"
    for tool in ip nsenter unshare jq readelf; do command -v "$tool" >/dev/null || fail "missing: $tool"; done
    prepare "${1:-diytrace-postgres}"
    find_diytrace
    cc -O2 -shared -fPIC -o "$folder/libeventlog.so" "$repo/c-fixtures/eventlog.c"
    cc -O2 -o "$folder/eventlog-replay" "$repo/c-fixtures/eventlog-replay.c"
    trap 'kill $(jobs -p) 2>/dev/null || true; [[ -z ${temporary_socket:-} ]] || rm -rf "$temporary_socket"' EXIT
    trap 'exit 130' INT TERM HUP
    choose_socket_folder
    load_table
    cat >"$folder/three.sql" <<'END'
\set n random(1, 100000)
SELECT sum(c) FROM (SELECT count(*) OVER (ORDER BY a) c FROM x WHERE a <= 200) s;
SELECT count(*) FROM (SELECT a FROM x WHERE a <= 200 ORDER BY -a OFFSET 0) s;
SELECT * FROM x WHERE a = :n;
END
    heading "A service and three hosts"
    add_host service
    local number host before
    for number in 1 2 3; do add_host "${hosts[number - 1]}" && wire "${hosts[number - 1]}" "$number"; done
    start_service
    for number in 1 2 3; do start_host "${hosts[number - 1]}" "$number"; done
    heading "$duration seconds of pgbench on each; the wire to db2 is cut for a third of them"
    local loads=()
    for host in "${hosts[@]}"; do
        "$folder/install/bin/pgbench" -n -h "$folder/$host/socket" -U "$server_user" -c "$clients" -T "$duration" -f "$folder/three.sql" postgres \
            >"$folder/$host/load.log" 2>&1 &
        loads+=($!)
    done
    sleep $((duration / 3))
    for host in "${hosts[@]}"; do (($(stored_calls "$host") > 0)) || fail "nothing of $host is there while it runs"; done
    on service ip link set wire2 down
    sleep $((duration / 3))
    before=$(stored_calls db3)
    sleep 1
    (($(stored_calls db3) > before)) || fail "db3 does not go on while db2 is cut off"
    on service ip link set wire2 up
    wait "${loads[@]}" || fail "the load failed; see load.log below $folder/db1 and its neighbours"
    for host in "${hosts[@]}"; do
        kill -INT "$(head -n 1 "$folder/$host/data/postmaster.pid")"
        wait "${servers[$host]}" || true
    done
    for host in "${hosts[@]}"; do
        kill -TERM "${agents[$host]}"
        wait "${agents[$host]}" || fail "the agent of $host failed; its output is in $folder/$host/agent.log"
    done
    heading "What the service has, beside the event logs"
    for host in "${hosts[@]}"; do compare_host "$host"; done
}

main "$@"
