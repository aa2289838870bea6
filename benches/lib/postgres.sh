# PostgreSQL: a real server for each run, with the executor and the sorting code instrumented, built and started by the
# functions of examples/postgres.sh. Everything here runs in a subshell, so that those stay out of the others' way.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of run.sh, and results in variables

# The two questions diytrace began with, and one that returns a single row.
postgres_queries="select count(*) over(order by a) from x;
select count(*) over() from x;
select sum(c) from (select count(*) over(order by a) c from x) s;"

# Contenders that PostgreSQL is not built for: each would need a build of its own.
postgres_leaves_out=" gprof xray-basic xray-fdr "

# with_postgres COMMAND...: runs a function of ours where a server can be started.
with_postgres() (
    # shellcheck source=/dev/null
    . "$benches/../examples/postgres.sh"
    temporary_socket=
    trap 'stop_server; [[ -z $temporary_socket ]] || rm -rf "$temporary_socket"' EXIT
    trap 'exit 130' INT TERM HUP
    {
        prepare "$cache/postgres"
        choose_socket_folder
    } >&2
    # From here on a server that does not start is one contender's failure.
    # shellcheck disable=SC2317 # the functions of the example call it
    fail() { say "$*"; return 1; }
    root=standard_ExecutorRun
    program=$folder/install/bin/postgres
    "$@"
)

# start_contender CONTENDER [NAME=VALUE...]: a server under it. start_server puts the server's path behind what it is
# given, and the server without hooks lies beside the other.
start_contender() {
    use_contender "$1"
    fresh_folder "$out"
    local plain=()
    # shellcheck disable=SC2016 # expanded by the shell that is started
    [[ $variant != plain ]] || plain=(bash -c 'exec "$0.plain" "$@"')
    # shellcheck disable=SC2016
    [[ $1 != callgrind ]] || plain=(bash -c "exec ${launcher[*]} "'"$0.plain" "$@"') launcher=()
    start_server env "${settings[@]}" "${@:2}" "${launcher[@]}" "${plain[@]}"
}

# The backend's own processor time in ns and its largest resident set in bytes: the kernel tells a process's time to
# the nanosecond only as one sum, so it all stands under "user".
backend_sql="select 'cpu', split_part(pg_read_file('/proc/self/schedstat'), ' ', 1);"
memory_sql="select 'memory', 1024 * substring(pg_read_file('/proc/self/status') from 'VmHWM:\s+(\d+)')::bigint;"

# One session with the three queries; prints wall, user and system time and memory. The wall time is psql's, so it has
# what sending 200,000 rows to it takes.
query_session() {
    sql -At -F ' ' <<END | awk '/^cpu/ { cpu = $2 - cpu } /^memory/ { memory = $2 } /^Time:/ { wall += $2 }
                                END { if (!memory) exit 1; printf "%.0f\t%.0f\t0\t%.0f\n", wall * 1e6, cpu, memory }'
$backend_sql
\o /dev/null
\timing on
$postgres_queries
\timing off
\o
$backend_sql
$memory_sql
END
}

speed_of_postgres() { with_postgres postgres_rounds; }

postgres_rounds() {
    local calls round contender measured failed=$postgres_leaves_out
    load_table >&2
    for contender in "${contenders[@]}"; do
        [[ $failed != *" $contender "* ]] || say "postgres is not built for $contender"
    done
    calls=$(count_postgres_calls) || { say "postgres does not run (see $folder/server.log)"; return 1; }
    for ((round = 0; round < rounds; round++)); do
        for contender in "${contenders[@]}"; do
            [[ $failed != *" $contender "* ]] || continue
            if ! start_contender "$contender" || ! measured=$(query_session); then
                say "postgres fails under $contender, which is left out (see $folder/server.log)"
                failed+="$contender "
                stop_server
                continue
            fi
            stop_server
            speed_row postgres "$contender" "$round" "$calls" "$measured"
        done
    done
    rm -rf "$out"
}

# The calls of the session that makes most of them; those of the server's start are not in what is timed.
count_postgres_calls() {
    start_contender empty LD_PRELOAD="$work/libcount.so" BENCH_COUNT="$out/count" && query_session >/dev/null || return
    stop_server
    sort -n "$out/count" | tail -n 1
}
